"""The profiler's figures of a result: alone, and compared with a measured launch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from memsim.analysis.percent import percent_change
from memsim.analysis.profiler import Metric, metrics, scale
from memsim.analysis.result import RunResult
from memsim.analysis.tables import ABSENT, number
from memsim.report.output import CommandOutput, PrintedTable
from memsim.report.result_json import mean_and_interval, profiler_document

if TYPE_CHECKING:  # its readers of the profiler's files take time to load, and a result alone needs none
    from memsim.measured import MetricLine, ReportComparison

_L1, _L2 = "l1tex__t_sectors_pipe_lsu_mem_global_op", "lts__t_sectors_op"


def listing(result: RunResult, names_only: bool = False) -> CommandOutput:
    """``memsim show --ncu``: a line a figure, name, value and unit; or the names alone, for ``ncu --metrics``."""
    found = metrics(result)
    if names_only:
        return CommandOutput(lambda: ["\n".join(found)], lambda: ({"metric": name} for name in found), lambda: [*found])
    rows = [[one.name, _value(one, one.values.mean), one.unit] for one in found.values()]
    note = "\n".join(f"note: {note}" for note in _scaled(result))
    table = PrintedTable(["metric", "simulated", "unit"], rows, [False, True, False], note=note)
    return CommandOutput(
        lambda: [table],
        lambda: ({"metric": one.name, "simulated": one.values.mean, "unit": one.unit} for one in found.values()),
        lambda: {"metrics": profiler_document(result)},
    )


def _scaled(result: RunResult) -> list[str]:
    by = scale(result)
    return [f"counts are those of the traced blocks, times {by:,.4g} for the whole launch"] if by != 1 else []


def _value(metric: Metric, value: float) -> str:
    return number(value, 2 if metric.unit == "%" else 0)


def levels(result: RunResult) -> PrintedTable:
    """The table that stands for the counters under ``--convention profiler``: requests, sectors and hits a level."""
    found = metrics(result)
    rows = [
        _level(found, "L1 loads", f"{_L1}_ld", "l1tex__t_requests_pipe_lsu_mem_global_op_ld"),
        _level(found, "L1 stores", f"{_L1}_st", "l1tex__t_requests_pipe_lsu_mem_global_op_st"),
        ["L1", ABSENT, ABSENT, ABSENT, ABSENT, _mean(found, "l1tex__t_sector_hit_rate.pct", 2)],
        _level(found, "L2 reads", f"{_L2}_read"),
        _level(found, "L2 writes", f"{_L2}_write"),
        _level(found, "L2 from L1", "lts__t_sectors_srcunit_tex", "lts__t_requests_srcunit_tex"),
        ["L2", ABSENT, ABSENT, ABSENT, ABSENT, _mean(found, "lts__t_sector_hit_rate.pct", 2)],
        *(
            [f"DRAM {access}s", ABSENT, _mean(found, f"dram__sectors_{access}.sum"), ABSENT, ABSENT, ABSENT]
            for access in ("read", "write")
        ),
    ]
    headers = ["level", "requests", "sectors", "hits", "misses", "hit %"]
    title = "global memory as the profiler counts it (mean of a trial); memsim show --ncu has its names"
    return PrintedTable(headers, rows, [False] + [True] * 5, title, "\n".join(_scaled(result)))


def _level(found: Mapping[str, Metric], title: str, sectors: str, requests: str = "") -> list[str]:
    of = {part: found.get(f"{sectors}{part}.sum") for part in ("", "_lookup_hit", "_lookup_miss")}
    means = {part: metric.values.mean if metric else float("nan") for part, metric in of.items()}
    rate = 100 * means["_lookup_hit"] / means[""] if means[""] else float("nan")
    return [title, _mean(found, f"{requests}.sum"), *(number(mean) for mean in means.values()), number(rate, 2)]


def _mean(found: Mapping[str, Metric], name: str, decimals: int = 0) -> str:
    return number(found[name].values.mean, decimals) if name in found else ABSENT


def comparison_output(label: str, report: str, result: RunResult, found: ReportComparison) -> CommandOutput:
    """``memsim compare --ncu``: both, with the differences."""
    return CommandOutput(
        lambda: _compared(label, report, result, found),
        lambda: (
            {"metric": line.metric.name, "simulated": line.metric.values.mean, "measured": line.measured,
             "unit": line.metric.unit, "difference": line.difference}
            for line in found.lines
        ),
        lambda: _document(label, report, found),
    )  # fmt: skip


def _compared(label: str, report: str, result: RunResult, found: ReportComparison) -> list[str | PrintedTable]:
    rows = [
        [line.metric.name, *(_value(line.metric, value) for value in (line.metric.values.mean, line.measured)),
         line.metric.unit, _difference(line)]
        for line in found.lines
    ]  # fmt: skip
    headers = ["metric", "simulated", "measured", "unit", "difference"]
    about = result.trials.about["trace"]
    head = [
        f"simulated {label}: {about['kernel']} on {result.gpu}, {len(result.trials.trial)} trials, seed {result.seed}",
        f"measured  {report}: {found.launch.kernel}",
    ]
    notes = [f"note: {note}" for note in (*found.cautions, *_scaled(result))]
    return ["\n".join(head), PrintedTable(headers, rows, [False, True, True, False, True], note="\n".join(notes))]


def _difference(line: MetricLine) -> str:
    if line.difference != line.difference:
        return ABSENT
    return f"{line.difference:+.2f} points" if line.metric.unit == "%" else percent_change(line.difference, 1)


def _document(label: str, report: str, found: ReportComparison) -> dict[str, Any]:
    """The JSON object; docs/how_to/profiler.md lists the fields."""
    lines = {
        line.metric.name: {
            "unit": line.metric.unit, "simulated": mean_and_interval(line.metric.values),
            "measured": line.measured, "difference": line.difference,
        }
        for line in found.lines
    }  # fmt: skip
    return {
        "simulated": label, "measured": report, "kernel": found.launch.kernel, "grid": found.launch.grid,
        "block": found.launch.block, "cautions": found.cautions, "metrics": lines,
    }  # fmt: skip
