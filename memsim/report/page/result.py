"""What the page shows of one result."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from math import prod
from pathlib import Path, PurePath
from typing import Any

from memsim.analysis.choices import Grouping
from memsim.analysis.model_error import LEVEL
from memsim.analysis.percent import percent, percent_change
from memsim.analysis.result import RunResult
from memsim.analysis.table import Table
from memsim.analysis.tables import between, milliseconds, number, one_time, with_interval
from memsim.analysis.time_breakdown import time_breakdown
from memsim.analysis.utilization import utilization
from memsim.report import figures
from memsim.report.best_possible import shown_parts
from memsim.report.page.pictures import svg
from memsim.report.page.roofline import roofline
from memsim.report.page.source import sources
from memsim.report.text import counter_rows, notes
from memsim.report.why import gain_text, is_reported
from memsim.why import Bottleneck

_PICTURES = {
    "ratios": (figures.ratios, "Hit ratios of the trials", "Histograms of the hit ratios over the trials."),
    "loads": (figures.loads, "Loads", "Each load's share of latency, and its expected latency by level."),
    "latency": (figures.latency, "Latencies", "Densities of main memory's latency and of each load's."),
    "convergence": (figures.convergence, "Convergence", "The ratios' standard deviation and interval against trials."),
    "roofline": (roofline, "Instruction roofline", "Warp instructions per second against those per sector, by level."),
}
_UNITS = (  # what a load's accesses may crowd: title, sectors of the busiest unit and of all, how many units there are
    ("sets of L1", "l1_busiest_set", "l1_set_sectors", lambda gpu: _l1_sets(gpu)),
    ("slices of L2", "busiest_slice", "slice_sectors", lambda gpu: gpu["l2"]["slices"]),
    ("channels of DRAM", "busiest_channel", "channel_sectors", lambda gpu: gpu["dram"]["channels"]),
)


def of_result(
    label: str, result: RunResult, number_on_page: int, bottlenecks: Sequence[Bottleneck] | None
) -> dict[str, Any]:
    """Everything of one result that the template asks for.

    Args:
        label: what the page calls it.
        result: the result.
        number_on_page: its number on the page, which makes the names within it unlike those of others.
        bottlenecks: of its slowness; None: the file does not hold what they rest on.
    """
    about = result.trials.about
    return {
        "id": f"r{number_on_page}",
        "label": label,
        "kernel": about["trace"]["kernel"],
        "gpu": result.gpu,
        "launch": _launch(result),
        "key": _key_figures(result),
        "breakdown": [] if (found := time_breakdown(result)) is None else shown_parts(found),
        "parts": utilization(result),
        "waiting": _waiting(result),
        "findings": _findings(bottlenecks),
        "without_gain": [
            f"{one.cause} (time {percent_change(-one.expected_saving, 1)})"
            for one in bottlenecks or ()
            if not is_reported(one)
        ],
        "sources": sources(result, bottlenecks or ()),
        "loads": _table(result.loads),
        "arrays": _table(result.loads_by(Grouping.array)),
        "stores": _table(result.stores),
        "counts": dict(zip(("headers", "lines"), counter_rows(result), strict=True)),
        "crowding": _crowding(result),
        "pictures": [
            {"name": name, "title": title, "svg": svg(draw(result), f"r{number_on_page}-{name}", alt)}
            for name, (draw, title, alt) in _PICTURES.items()
        ],
        "notes": notes(result),
        "command": command(result),
        "configuration": about.get("gpu_provenance", {}),
        "made": f"{about['created']}, memsim {about['versions']['memsim']}",
    }


def _launch(result: RunResult) -> str:
    trace = result.trials.about["trace"]
    grid, block = ("×".join(map(str, trace[name])) for name in ("grid", "block"))
    blocks, traced = prod(trace["grid"]), trace["blocks"]
    replayed = "all blocks replayed" if blocks == traced else f"{traced:,} of {blocks:,} blocks replayed"
    trials = len(result.trials.trial)
    return f"grid {grid}, block {block}; {replayed} in {trials} trial{'s' * (trials != 1)}, seed {result.seed}"


def _key_figures(result: RunResult) -> list[tuple[str, str, str]]:
    """Name, value, and what it is, of the numbers that come first."""
    moved = sum(result.counters["dram"]["sectors"].values()) * 32 / 1e6
    least = "at least " if result.is_least_time else ""
    its, best = result.prediction_interval, time_breakdown(result)
    sure = "whole kernel" if its is None else f"{percent(LEVEL)} prediction interval {between(its.low, its.high)}"
    found = [("predicted time", f"{least}{milliseconds(result.kernel_time)}", sure)]
    if best is not None:
        limit = f"{percent(best.of_best)} of the predicted time; limit: {best.limit}"
        found.append(("best possible time", one_time(best.best_possible), limit))
    for name, ratio in result.ratios.items():
        level, access = name.split("_")
        if ratio.finite.size:
            text = f"{with_interval(ratio, 100, 2)} %"
            found.append((f"{level.upper()} {access} hits", text, f"convention {result.convention}"))
    found.append(("DRAM traffic", f"{moved:,.1f} MB", "reads and writes per trial"))
    if result.memory_latency.mean == result.memory_latency.mean:  # something was read from it
        found.append(("memory latency", f"{number(result.memory_latency.mean)} cycles", "loaded DRAM latency"))
    return found


def _waiting(result: RunResult) -> list[tuple[str, float]]:
    """The loads' expected latency by the level that it comes from, shares of the whole."""
    levels = [0.0, 0.0, 0.0]
    for load in result.loads:
        count = float(load.distribution.counts.sum())
        for level, part in enumerate(load.x_terms):
            levels[level] += count * (0.0 if part.mean != part.mean else part.mean)
    total = sum(levels)
    return [(name, level / total) for name, level in zip(("L1", "L2", "main memory"), levels, strict=True) if total]


def _findings(bottlenecks: Sequence[Bottleneck] | None) -> list[dict[str, Any]] | None:
    if bottlenecks is None:
        return None
    return [
        {
            "cause": str(one.cause),
            "share_of_time": one.expected_saving,
            "gain": gain_text(one),
            "replayed": one.gain.transform if one.gain else "",
            "advice": "; or ".join(dict.fromkeys(finding.advice for finding in one.findings)),
            "findings": one.findings,
        }
        for one in bottlenecks
        if is_reported(one)
    ]


def _table(table: Table[Any]) -> dict[str, Any]:
    return {"headers": table.headers, "lines": table.cells(), "right": table.right}


def _crowding(result: RunResult) -> dict[str, Any]:
    """How much more than its share the busiest unit gets, by load and kind of unit; a heat map."""
    gpu, rows = result.trials.about["gpu"], []
    for op in result.trials.ops:
        profile = op.get("profile")
        if profile is None or not profile["sectors"]:
            continue
        times = [
            profile[busiest] / profile[every] * units(gpu) if profile[every] else float("nan")
            for _, busiest, every, units in _UNITS
        ]
        rows.append({"text": f"{op['kind']} {op['text']}", "line": op["line"], "times": times})
    return {"units": [title for title, *_ in _UNITS], "rows": rows}


def _l1_sets(gpu: dict[str, Any]) -> int:
    return max(1, gpu["l1"]["size_bytes"] // (gpu["l1"]["line_bytes"] * gpu["l1"]["ways"]))


def command(result: RunResult) -> str:
    """The commands that make a result again: the trace, as far as the file states it, and the run of these trials."""
    about = result.trials.about
    trace = about["trace"]
    lines = []
    if trace["source"].endswith(".py"):
        library = Path(trace["source"]).parent == Path("traces")
        name = Path(trace["source"]).stem if library else trace["source"]
        given = " ".join(f"-p {shlex.quote(f'{key}={value}')}" for key, value in trace["parameters"].items())
        blocks = " --blocks all" if trace["blocks"] == prod(trace["grid"]) else f" --gpu {shlex.quote(result.gpu)}"
        lines.append(f"memsim trace {shlex.quote(name)} {given}{blocks} -o trace.h5".replace("  ", " "))
    else:
        source = " ".join(PurePath(word).name for word in trace["source"].split())  # paths are of the author's machine
        lines.append(f"# trace.h5: {source}, digest {trace['digest'][:12]}")
    warm = " --warm" if about.get("warm") else ""
    gpu, trials = shlex.quote(result.gpu), len(result.trials.trial)
    if (before := about.get("launches_before")) is not None:
        traces = "[..., 'trace.h5']" if before else "['trace.h5']"
        call = f"memsim.simulate_program({traces}, {result.gpu!r}, trials={trials}, seed={result.seed})[{len(before)}]"
        lines.append(f"# in Python, with the {len(before)} launches before it: {call}")
        return "\n".join(lines)
    lines.append(f"memsim run trace.h5 --gpu {gpu} --trials {trials} --seed {result.seed}{warm} -o result.h5")
    return "\n".join(lines)
