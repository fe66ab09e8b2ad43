"""What makes a spread, and what is uncertain in the model, as ``memsim sensitivity`` prints it, and figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from memsim.analysis.percent import percent
from memsim.analysis.result import RunResult
from memsim.analysis.sobol import Index, Indices
from memsim.analysis.statistics import Interval, Sample
from memsim.analysis.tables import ABSENT, number
from memsim.gpu.uncertain_fields import Factor
from memsim.report.output import Block, CommandOutput, PrintedTable
from memsim.report.prose import wrapped
from memsim.report.result_json import without_nan
from memsim.studies.sources import BySource
from memsim.studies.uncertain import Effect, ModelError

_RATIOS = ("l1_read", "l2_read", "l2_write")
_NAMES = {
    "l1_read": "L1 read hit ratio, %", "l2_read": "L2 read hit ratio, %", "l2_write": "L2 write hit ratio, %",
    "cycles": "cycles of the traced blocks", "time_ms": "time of the kernel, ms", "tm": "DRAM latency, cycles",
}  # fmt: skip
_SHOWN = 12  # factors in a tornado
_NOTABLE = 0.01  # of the variance

Split = Mapping[str, Indices]


def sources_output(found: BySource) -> CommandOutput:
    """``memsim sensitivity TRACE``."""

    def values() -> dict[str, Any]:
        head = {"kernel": found.kernel, "gpu": found.gpu, "trace": found.digest, "replays": found.trials}
        return head | {"sources": list(found.sources), "outputs": _outputs(found.outputs)}

    return CommandOutput(lambda: _sources(found), lambda: _indices(found.outputs), values)


def study_output(cases: Mapping[str, Split]) -> CommandOutput:
    """``memsim sensitivity STUDY``: every case."""
    return CommandOutput(
        lambda: (block for number, case in enumerate(cases) for block in _study(case, cases[case], number)),
        lambda: ({"case": case} | row for case, found in cases.items() for row in _indices(found)),
        lambda: {"cases": {name: _outputs(found) for name, found in cases.items()}},
    )


def _indices(found: Split) -> Iterator[dict[str, Any]]:
    """A record per output and input."""
    for output, of in found.items():
        for one in of.inputs:
            yield {
                "output": output, "input": one.name, "first": one.first, "first_low": one.first_interval[0],
                "first_high": one.first_interval[1], "total": one.total, "total_low": one.total_interval[0],
                "total_high": one.total_interval[1],
            }  # fmt: skip


def _sources(found: BySource) -> list[Block]:
    head = [
        f"{found.kernel} on {found.gpu}: which source of randomness causes the variance of one run "
        f"({found.trials} replays; trace {found.digest[:12]})",
        "first order: part of the variance that vanishes if the source is fixed",
        "total: part of the variance that remains if only this source is drawn",
    ]
    return ["\n".join(head), *_split(found.outputs)]


def _study(title: str, found: Split, number: int) -> list[Block]:
    head = [
        f"{title}: Sobol indices of the fields (95 % intervals by bootstrap)",
        "first order: part of the variance that vanishes if the field is known",
        "total: part of the variance that remains if only this field is unknown",
    ]
    return ["\n" * (number > 0) + "\n".join(head), *_split(found)]


def _split(found: Split) -> Iterator[Block]:
    for name, of in found.items():
        if name == "time_ms" and "cycles" in found:
            continue  # the same, in other units
        scale = _scale(name)
        title = f"{_NAMES[name]}: mean {number(of.mean * scale, 2)}, sd {number(of.sd * scale, 3)}"
        if not of.inputs:
            yield f"{title}; {'no such accesses' if of.mean != of.mean else 'no variance'}"
            continue
        rows = [
            [one.name, *_with_interval(one.first, one.first_interval), *_with_interval(one.total, one.total_interval),
             number(of.sd * scale * max(one.total, 0) ** 0.5, 3)]
            for one in of.ranked
        ]  # fmt: skip
        headers = ["", "first order %", "", "total %", "", "sd from it"]
        yield PrintedTable(headers, rows, [False, True, False, True, False, True], title)


def _scale(output: str) -> float:
    return 100.0 if output in _RATIOS else 1.0


def _with_interval(index: float, its: Interval) -> list[str]:
    return [f"{100 * index:.0f}", f"{100 * its.low:.0f} … {100 * its.high:.0f}"]


def uncertain_output(found: ModelError) -> CommandOutput:
    """``memsim sensitivity --uncertain``."""
    return CommandOutput(
        lambda: _uncertain(found),
        lambda: (
            {"factor": one.factor.name, "status": one.factor.status, "value": one.factor.value, "low": one.factor.low,
             "high": one.factor.high, "cycles_at_low": one.low["cycles"], "cycles_at_high": one.high["cycles"],
             "share": one.share}
            for one in found.effects
        ),
        lambda: uncertain_document(found),
    )  # fmt: skip


def _uncertain(found: ModelError) -> list[Block]:
    head = (
        f"{found.kernel} on {found.gpu}: {len(found.factors)} fields of the preset are fitted or assumed; varied by "
        f"{percent(found.uncertainty)} where nothing else is stated"
    )
    return [head, error_table(found), *_effects(found), *_left(found)]


def error_table(found: ModelError, own: Mapping[str, Sample] | None = None, note: str = "") -> PrintedTable:
    """The model's error bar next to the sampling one.

    Args:
        found: what was varied.
        own: the outputs of a longer run of the same; the model's bar is put around them.
        note: lines below.
    """
    rows = []
    for name in ("time_ms", *_RATIOS, "tm"):
        base, its = (own or found.base)[name], found.interval(name)
        if its is None:
            continue
        shift = base.mean - found.base[name].mean
        its = Interval(its.low + shift, its.high + shift)
        scale, decimals = _scale(name), 4 if name == "time_ms" else 2
        sampling = base.interval()
        rows.append(
            [
                _NAMES[name],
                number(base.mean * scale, decimals),
                f"±{sampling.width / 2 * scale:.{decimals}f}" if sampling else ABSENT,
                f"{its.low * scale:,.{decimals}f} … {its.high * scale:,.{decimals}f}",
            ]
        )
    headers = ["error bars", "preset", "sampling (95 %)", f"uncertain fields (95 % of {_points(found)} points)"]
    return PrintedTable(headers, rows, [False, True, True, True], note=note)


def two_error_bars(result: RunResult, found: ModelError) -> PrintedTable:
    """Both error bars, that of sampling from a run's own trials (``memsim run --uncertain``)."""
    own = {"time_ms": result.kernel_time, "tm": result.memory_latency, **result.ratios}
    share, numbers = 100 * found.uncertainty, len(found.factors)
    note = (
        f"{numbers} fitted or assumed fields of the preset, varied by {share:.0f} % where nothing else is stated;\n"
        "memsim sensitivity --uncertain reports which of them matter"
    )
    return error_table(found, own, note)


def _points(found: ModelError) -> int:
    return len(next(iter(found.points.values())))


def _effects(found: ModelError) -> Iterator[Block]:
    if not found.effects:
        return
    rows = []
    for one in found.effects:
        low, high = (_percent(found, at) for at in (one.low, one.high))
        values = f"{one.factor.low:g} … {one.factor.high:g}"
        rows.append([one.factor.name, f"{one.factor.value:g}", values, low, high, f"{100 * one.share:.0f}"])
    shown = [row for row in rows if row[3:5] != ["+0.0", "+0.0"]]
    headers = ["one at a time", "preset", "varied", "time %", "time %", "variance %"]
    still = len(rows) - len(shown)
    note = f"{still} more change the time by less than 0.05 %" if still else ""
    yield PrintedTable(headers, shown, [False] + [True] * 5, note=note)
    yield advice(found)


def _percent(found: ModelError, at: Mapping[str, float]) -> str:
    change = 100 * (at["cycles"] / found.base["cycles"].mean - 1)
    return f"{change:+.1f}".replace("-0.0", "+0.0")


def advice(found: ModelError) -> str:
    """Which measurement would help most."""
    notable = [one for one in found.effects if one.share > _NOTABLE]
    if not notable:
        return "No measurement would help: none of them moves the time."
    first, *others = notable
    text = (
        f"Measuring {_named(first.factor)} would help most: it makes {percent(first.share)} of the variance of the "
        f"time ({first.factor.status}: {first.factor.source})."
    )
    if others:
        named = [f"{one.factor.name} ({percent(one.share)})" for one in others[:3]]
        text += f" Then {', '.join(named)}."
    return wrapped(text, then="")


def _named(factor: Factor) -> str:
    return " with ".join([factor.name, *[name for name in factor.fields if name != factor.name][:1]])


def _left(found: ModelError) -> Iterator[str]:
    lines = [f"not varied: {name}, {why}" for name, why in found.left.items()]
    if found.choices:
        lines.append(f"not varied, choices of a mechanism: {', '.join(found.choices)}")
    if lines:
        yield "\n".join(wrapped(line) for line in lines)


def _outputs(found: Split) -> dict[str, Any]:
    """Of the JSON object; docs/how_to/sensitivity.md lists the fields."""
    return {
        name: {"mean": of.mean, "sd": of.sd, "points": of.points, "inputs": [_index(one) for one in of.inputs]}
        for name, of in found.items()
    }


def _index(one: Index) -> dict[str, Any]:
    return vars(one) | {"first_interval": list(one.first_interval), "total_interval": list(one.total_interval)}


def uncertain_document(found: ModelError) -> dict[str, Any]:
    """The object of ``--uncertain --json``, and of ``uncertain`` in ``memsim run --uncertain --json``."""
    return without_nan(
        {
            "kernel": found.kernel,
            "gpu": found.gpu,
            "uncertainty": found.uncertainty,
            "points": _points(found),
            "outputs": {
                name: {
                    "mean": of.mean,
                    "sampling_interval": of.interval(),
                    "model_interval": found.interval(name),
                }
                for name, of in found.base.items()
            },
            "factors": [_factor(one) for one in found.factors],
            "effects": [_effect(one) for one in found.effects],
            "not_varied": dict(found.left),
            "choices": list(found.choices),
        }
    )


def _factor(one: Factor) -> dict[str, Any]:
    return vars(one) | {"fields": dict(one.fields), "value": one.value}


def _effect(one: Effect) -> dict[str, Any]:
    return {"factor": one.factor.name, "low": dict(one.low), "high": dict(one.high), "share": one.share}


def draw_split(title: str, found: Split, path: Path) -> Path:
    """Total indices with their intervals as bars, and within them the first-order ones, a panel an output."""
    from memsim.report.figure_style import FAR, FARTHEST, GREY, INK, panels, styled, write

    shown = {name: of for name, of in found.items() if of.inputs and name != "time_ms"}
    rows = max((len(of.inputs) for of in shown.values()), default=1)
    with styled():
        figure, axes = panels(1, max(len(shown), 1), 4.2 * max(len(shown), 1), 1.3 + 0.3 * rows)
        for axis, (name, of) in zip(axes, shown.items(), strict=False):
            ranked = of.ranked
            at = np.arange(len(ranked))
            totals = np.array([100 * one.total for one in ranked])
            bounds = np.array([[100 * bound for bound in one.total_interval] for one in ranked]).T
            errors = np.maximum([totals - bounds[0], bounds[1] - totals], 0)
            axis.barh(at, totals, 0.6, color=FAR, label="total")
            axis.barh(at, [100 * max(one.first, 0) for one in ranked], 0.26, color=FARTHEST, label="first order")
            axis.errorbar(totals, at, xerr=errors, fmt="none", ecolor=INK, elinewidth=0.9, capsize=2)
            axis.set_yticks(at, [one.name for one in ranked])
            axis.invert_yaxis()
            axis.grid(axis="y", visible=False)
            axis.set(title=_NAMES[name].split(",")[0], xlabel="share of the variance, %", xlim=(0, None))
        if shown:
            figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower right", ncols=2)
        figure.suptitle(title, x=0.01, ha="left", fontsize=9, color=GREY)
        return write(figure, path)


def draw_uncertain(found: ModelError, path: Path) -> Path:
    """A tornado: the change of the time with each number at its low and its high end."""
    from memsim.report.figure_style import BLUE, GREY, INK, VERMILION, panels, styled, write

    shown = [one for one in found.effects if one.share][:_SHOWN]
    base, its = found.base["cycles"].mean, found.interval("cycles")
    with styled():
        figure, (axis,) = panels(1, 1, 7.0, 1.3 + 0.3 * max(len(shown), 1))
        at = np.arange(len(shown))
        for name, color, side in (("low", BLUE, "low"), ("high", VERMILION, "high")):
            changes = [100 * (getattr(one, side)["cycles"] / base - 1) for one in shown]
            axis.barh(at, changes, 0.6, color=color, alpha=0.85, label=f"{name} end")
        if its is not None:
            bounds = [100 * (bound / base - 1) for bound in its]
            axis.axvspan(*bounds, color="#000000", alpha=0.06, linewidth=0, label="all together: 95 % of points")
        axis.axvline(0, color=INK, linewidth=0.9)
        axis.set_yticks(at, [f"{one.factor.name} {one.factor.low:g} … {one.factor.high:g}" for one in shown])
        axis.invert_yaxis()
        axis.grid(axis="y", visible=False)
        axis.set(title=f"{found.kernel} on {found.gpu}", xlabel="change in time, %")
        figure.legend(loc="outside lower center", ncols=3)
        figure.suptitle("uncertain fields of the preset", x=0.01, ha="left", fontsize=9, color=GREY)
        return write(figure, path)
