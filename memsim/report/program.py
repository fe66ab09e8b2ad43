"""A program's time by kernel, from the results of its launches."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import sqrt
from pathlib import Path

from memsim.analysis.result import RunResult
from memsim.analysis.table import aligned
from memsim.analysis.tables import number
from memsim.report.document import document

_HEADERS = ("kernel", "launches", "ms", "share %", "L1 %", "L2 %")
_RIGHT = (False, True, True, True, True, True)


def program_table(results: Sequence[RunResult]) -> str:
    """What the launches of a program take together, by kernel, the longest first.

    Args:
        results: one of each launch.

    Hit ratios are of reads, the mean of a kernel's launches weighted with their time. The total's 95 % interval takes
    the launches' errors as independent.
    """
    kernels: dict[str, list[RunResult]] = {}
    for result in results:
        kernels.setdefault(result.trials.about["trace"]["kernel"], []).append(result)
    total = sum(_milliseconds(results))
    ordered = sorted(kernels.items(), key=lambda one: -sum(_milliseconds(one[1])))
    rows = [_row(kernel, of_it, total) for kernel, of_it in ordered]
    widths = [one.kernel_time.interval() for one in results]
    half = sqrt(sum((one.width / 2) ** 2 for one in widths if one is not None))
    last = f"{len(results)} launches take {number(total, 4)}±{number(half, 4)} ms on {results[0].gpu}"
    return f"{aligned(_HEADERS, rows, _RIGHT)}\n\n{last}"


def program_document(traces: Sequence[Path], results: Sequence[RunResult]) -> str:
    """The launches of a program as JSON: `launches`, in their order, each the object of ``memsim show --json`` with the
    name of its `file`; findings are without replays, as a launch alone would find another L2.

    Args:
        traces: their files.
        results: one of each launch that was replayed.
    """
    launches = [
        {"file": path.name} | document(result) for path, result in zip(traces, results, strict=False)
    ]  # fewer results, where Ctrl-C ended the run
    return json.dumps({"launches": launches}, indent=2, allow_nan=False, ensure_ascii=False)


def _milliseconds(results: Sequence[RunResult]) -> list[float]:
    return [float(one.kernel_time.mean) for one in results]


def _row(kernel: str, results: Sequence[RunResult], total: float) -> tuple[str, ...]:
    times = _milliseconds(results)
    ratios = (
        number(100 * _weighted([getattr(one, level).mean for one in results], times), 1)
        for level in ("l1_read", "l2_read")
    )
    return kernel, str(len(results)), number(sum(times), 4), number(100 * sum(times) / total, 1), *ratios


def _weighted(values: Sequence[float], weights: Sequence[float]) -> float:
    """The mean of those that are numbers; none of them: not a number."""
    known = [(value, weight) for value, weight in zip(values, weights, strict=True) if value == value]
    over = sum(weight for _, weight in known)
    return sum(value * weight for value, weight in known) / over if over else float("nan")
