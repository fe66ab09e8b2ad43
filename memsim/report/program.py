"""A program's time by kernel, from the results of its launches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

from memsim.analysis.result import RunResult
from memsim.analysis.statistics import Sample
from memsim.analysis.tables import number
from memsim.report.output import Block, CommandOutput, PrintedTable
from memsim.report.result_json import document

_HEADERS = ("kernel", "launches", "ms", "share %", "L1 %", "L2 %")
_RIGHT = (False, True, True, True, True, True)


def program_output(traces: Sequence[Path], results: Sequence[RunResult]) -> CommandOutput:
    """What the launches of a program take together, by kernel, the longest first; as values, `launches` in their order.

    Each of `launches` is the object of ``memsim show --json`` with the name of its `file`; findings are without
    replays, as a launch alone would find another L2. Hit ratios are of reads, the mean of a kernel's launches weighted
    with their time. The total's 95 % interval is that of each trial's sum where trials replayed the launches in their
    order; else it takes the errors of replayed launches as independent. Launches that have one result in common are
    `sampled`.

    Args:
        traces: their files.
        results: one of each launch that was replayed.
    """

    def values() -> dict[str, Any]:
        both = zip(traces, results, strict=False)  # fewer results, where Ctrl-C ended the run
        shared = Counter(map(id, results))
        launches = [{"file": path.name, "sampled": shared[id(result)] > 1} | document(result) for path, result in both]
        return {"launches": launches}

    return CommandOutput(lambda: _blocks(results), lambda: map(_record, _by_kernel(results)), values)


def _by_kernel(results: Sequence[RunResult]) -> list[tuple[str, list[RunResult]]]:
    kernels: dict[str, list[RunResult]] = {}
    for result in results:
        kernels.setdefault(result.trials.about["trace"]["kernel"], []).append(result)
    return sorted(kernels.items(), key=lambda one: -sum(_milliseconds(one[1])))


def _blocks(results: Sequence[RunResult]) -> list[Block]:
    total = sum(_milliseconds(results))
    rows = [_row(kernel, of_it, total) for kernel, of_it in _by_kernel(results)]
    last = f"{len(results)} launches take {number(total, 4)}±{number(_half_width(results), 4)} ms on {results[0].gpu}"
    replayed = len(set(map(id, results)))
    if replayed == len(results):
        return [PrintedTable(_HEADERS, rows, _RIGHT), last]
    sampled = "each trial replayed a sample of them" if _are_in_order(results) else f"{replayed} of them were replayed"
    return [PrintedTable(_HEADERS, rows, _RIGHT), f"{last}; {sampled}"]


def _are_in_order(results: Sequence[RunResult]) -> bool:
    """Whether each trial replayed the launches one after the other."""
    return all("launches_before" in one.trials.about for one in results)


def _half_width(results: Sequence[RunResult]) -> float:
    """Half the 95 % interval of the total, milliseconds."""
    if _are_in_order(results):
        total = Sample(np.sum([one.kernel_time.values for one in results], axis=0)).interval()
        return 0.0 if total is None else total.width / 2
    launches = Counter(map(id, results))
    widths = [(launches[key], one.kernel_time.interval()) for key, one in {id(one): one for one in results}.items()]
    return sqrt(sum((number * one.width / 2) ** 2 for number, one in widths if one is not None))


def _milliseconds(results: Sequence[RunResult]) -> list[float]:
    return [float(one.kernel_time.mean) for one in results]


def _record(one: tuple[str, Sequence[RunResult]]) -> dict[str, Any]:
    kernel, results = one
    times = _milliseconds(results)
    ratios = {
        level: _weighted([getattr(result, level).mean for result in results], times) for level in ("l1_read", "l2_read")
    }
    return {"kernel": kernel, "launches": len(results), "time_ms": sum(times), **ratios}


def _row(kernel: str, results: Sequence[RunResult], total: float) -> tuple[str, ...]:
    of = _record((kernel, results))
    ratios = (number(100 * of[level], 1) for level in ("l1_read", "l2_read"))
    return kernel, str(len(results)), number(of["time_ms"], 4), number(100 * of["time_ms"] / total, 1), *ratios


def _weighted(values: Sequence[float], weights: Sequence[float]) -> float:
    """The mean of those that are numbers; none of them: not a number."""
    known = [(value, weight) for value, weight in zip(values, weights, strict=True) if value == value]
    over = sum(weight for _, weight in known)
    return sum(value * weight for value, weight in known) / over if over else float("nan")
