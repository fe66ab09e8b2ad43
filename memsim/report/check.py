"""The outcome of ``memsim check`` as text, and as annotations of GitHub's workflow commands."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memsim.analysis.percent import percent_change
from memsim.gate.regressions import TITLES, Regression
from memsim.report.output import CommandOutput, PrintedTable

if TYPE_CHECKING:
    from memsim.gate.figures import KernelFigures

_DECIMALS = {"time": "µs"}


def change_text(one: Regression) -> str:
    """One figure's change.

    >>> change_text(Regression("time", "k", "a100", 2.0, 3.0, 0.05, "a.cu", 3, ""))
    'time 2 → 3 µs (+50.0 %, allowed +5 %)'
    >>> change_text(Regression("occupancy", "k", "a100", 1.0, 0.5, 0.0, "a.cu", 3, ""))
    'occupancy 1 → 0.5 (-50.0 %, allowed -0 %)'
    """
    unit = f" {_DECIMALS[one.figure]}" if one.figure in _DECIMALS else ""
    sign = "-" if one.figure == "occupancy" else "+"
    share = percent_change(one.now / one.before - 1, 1) if one.before else "none before"
    values = f"{_number(one.before)} → {_number(one.now)}{unit}"
    return f"{TITLES[one.figure]} {values} ({share}, allowed {sign}{100 * one.allowed:g} %)"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def failures(found: Iterable[Regression]) -> Iterator[tuple[str, int, str, str]]:
    """File, line, title and text of each line that made a kernel worse; the figures of one line together."""

    def location(one: Regression) -> tuple[str, str, str, int]:
        return one.kernel, one.gpu, one.file, one.line

    for (kernel, gpu, file, line), group in groupby(sorted(found, key=location), key=location):
        its = list(group)
        changes = "; ".join(change_text(one) for one in its)
        reasons = "; ".join(dict.fromkeys(one.reason for one in its))
        advice = f". {its[0].advice[0].upper()}{its[0].advice[1:]}" if its[0].advice else ""
        slower = any(one.figure == "time" for one in its)
        title = f"{kernel} on {gpu} {'is slower' if slower else 'uses the memory worse'}"
        yield file, line, title, f"{changes}. {reasons}{advice}"


def plain(found: Iterable[Regression]) -> list[str]:
    """A line for each, as compilers print them."""
    return [f"{file}:{line}: {title}: {text}" for file, line, title, text in failures(found)]


def github_annotations(found: Iterable[Regression], root: Path) -> list[str]:
    """Workflow commands that GitHub shows on the lines of a pull request.

    Args:
        root: of the checkout, from which GitHub counts paths.

    Source: docs.github.com, "Workflow commands for GitHub Actions", setting an error message.
    """
    lines = []
    for file, line, title, text in failures(found):
        path = os.path.relpath(file, root) if Path(file).exists() else file
        where = f"file={_property(path)},line={max(line, 1)},title={_property(title)}"
        lines.append(f"::error {where}::{_data(text)}")
    return lines


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


Compared = tuple["KernelFigures", "KernelFigures | None", str]  # now, in the baseline (None: not there), the verdict


def check_output(kernels: Sequence[Compared], found: Sequence[Regression], missing: Sequence[str]) -> CommandOutput:
    """A table of all kernels, then a line for each that became worse; as values, all of both.

    Args:
        kernels: figures now, those of the baseline, and the verdict.
        found: what became worse.
        missing: kernels of the baseline that are not launched any more, a sentence each.
    """
    lines = "\n".join([*plain(found), *missing])
    return CommandOutput(
        lambda: [_figures(kernels), lines] if lines else [_figures(kernels)],
        lambda: map(_record, kernels),
        lambda: {
            "kernels": [_record(one) for one in kernels],
            "regressions": [asdict(one) for one in found],
            "missing": list(missing),
        },
    )


def _record(one: Compared) -> dict[str, Any]:
    now, before, verdict = one
    return asdict(now) | {"baseline_us": None if before is None else before.time_us, "verdict": verdict}


def _figures(kernels: Sequence[Compared]) -> PrintedTable:
    headers = ("kernel", "GPU", "µs", "baseline", "sectors/request", "conflicts", "DRAM bytes", "occupancy %", "")
    rows = [
        (
            now.kernel,
            now.gpu,
            _number(now.time_us),
            "–" if before is None else _number(before.time_us),
            f"{now.sectors_per_request:.3g}",
            f"{now.bank_conflicts:.3g}",
            f"{now.dram_bytes:,.0f}",
            f"{100 * now.occupancy:.0f}",
            verdict,
        )
        for now, before, verdict in kernels
    ]
    return PrintedTable(headers, rows, (False, False, True, True, True, True, True, True, False))
