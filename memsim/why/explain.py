"""The causes of a result, with what replays predict where the trace is at hand."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from memsim.analysis.result import RunResult
from memsim.hierarchy.not_compiled import check_compiled
from memsim.montecarlo.trial_cache import cache_key
from memsim.support.errors import InputError
from memsim.support.result_cache import StoredRows
from memsim.why.bottlenecks import find_bottlenecks, gpu_of
from memsim.why.finding import LEAST_SHARE, Bottleneck, Cause
from memsim.why.stored import bottlenecks, documents

if TYPE_CHECKING:
    from memsim.trace.reader import Trace

_SKIPPED = f"skipped: {Cause.barriers}, {Cause.trees}"


@dataclass(frozen=True)
class Bottlenecks:
    """The bottlenecks of a result.

    Attributes:
        bottlenecks: the largest predicted saving first.
        note: why nothing was replayed, where that was not requested, and which causes were skipped because only a trace
            shows them; else empty.
    """

    bottlenecks: list[Bottleneck]
    note: str = ""


def explain(
    result: RunResult,
    trace: Trace | str | Path | None = None,
    *,
    quick: bool = False,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Bottlenecks:
    """Find what makes a kernel slow, and replay the trace with each of the first few causes removed.

    Args:
        result: of a run.
        trace: that was run, or its file; None: the file where it was then, if it is still there.
        quick: replay nothing.
        jobs: processes.
        progress: called with the replays done, and all.

    A launch that followed others of its program is not replayed alone.

    Raises:
        InputError: a result of a version before 1.2, a bad trace, or another one than was run.
    """
    found = find_bottlenecks(result)
    if quick:
        return Bottlenecks(found, f"{_SKIPPED} (--quick does not read the trace)")
    if "launches_before" in result.trials.about:
        alone = "no speed-ups were estimated: launches that followed others are not replayed alone"
        return Bottlenecks(found, f"{alone}; {_SKIPPED}")
    explained = StoredRows(_key(result) if trace is None else None)
    for _, row in explained.read():
        return Bottlenecks(bottlenecks("the cache", json.loads(row["causes"].tobytes()), len(result.trials.ops)))
    from memsim.why.gains import with_gains  # replays need Numba, which takes longer to load than to show

    recorded = _where_it_was(result) if trace is None else _given(result, trace)
    if recorded is None:
        where = result.trials.about["trace"].get("path", "a path that the file does not record")
        gone = f"the trace is no longer at {where}; give it with --trace"
        return Bottlenecks(found, f"no speed-ups were estimated: {gone}; {_SKIPPED}")
    found = find_causes(result, recorded)
    try:
        check_compiled(gpu_of(result))
    except InputError as error:  # replays are compiled
        return Bottlenecks(found, f"no speed-ups were estimated: {error}")
    causes = with_gains(result, recorded, found, jobs=jobs, progress=progress) if found else []
    explained.add(0, {"causes": np.frombuffer(json.dumps(documents(causes)).encode(), np.uint8)})
    return Bottlenecks(causes)


def _key(result: RunResult) -> str | None:
    """Names all that the causes of a result depend on; None where its trace is no longer what it was."""
    try:
        state = Path(result.trials.about["trace"]["path"]).stat()
    except (KeyError, OSError, ValueError):
        return None
    numbers = hashlib.sha256()
    for values in (result.trials.trial, result.kernel_time.values, result.trials.counters):
        numbers.update(np.ascontiguousarray(values).tobytes())
    described = json.dumps([result.trials.ops, result.trials.arrays], sort_keys=True)
    depends = (numbers.hexdigest(), hashlib.sha256(described.encode()).hexdigest(), str(result.convention))
    file = (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns)
    return cache_key(result.trials.about, "causes", *depends, *file, rooms=("analysis", "why"))


def find_causes(result: RunResult, trace: Trace) -> list[Bottleneck]:
    """What makes a kernel slow, the largest share first: without replays, but with what only its trace shows.

    Args:
        result: of a run.
        trace: that was run.
    """
    from memsim.why.barriers import find_barriers_of_one_warp
    from memsim.why.trees import find_sums_of_few_elements

    found = find_bottlenecks(result)
    in_order = [find_barriers_of_one_warp(result, trace, gpu_of(result))]
    if all(one.cause is not Cause.conflicts for one in found):  # else what is wrong with the sums comes first
        in_order.append(find_sums_of_few_elements(result, trace))
    found += [one for one in in_order if one is not None and one.attributable_share >= LEAST_SHARE]
    return sorted(found, key=Bottleneck.rank)


def _given(result: RunResult, trace: Trace | str | Path) -> Trace:
    from memsim.trace.reader import Trace

    opened, digest = trace if isinstance(trace, Trace) else Trace.open(trace), result.trials.about["trace"]["digest"]
    if opened.digest != digest:
        problem = f"is {opened.digest[:12]}, the result has {digest[:12]}; give the trace that was run"
        raise InputError(opened.path, "digest", problem)
    return opened


def _where_it_was(result: RunResult) -> Trace | None:
    from memsim.trace.reader import Trace

    about = result.trials.about["trace"]
    path = Path(about.get("path", ""))
    try:
        if not path.is_file():
            return None
        trace = Trace.open(path)
    except (InputError, OSError):  # a path too long for this system, no permission
        return None
    return trace if trace.digest == about["digest"] else None
