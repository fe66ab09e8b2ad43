"""What an exploration found: what ``memsim explore`` prints, and a figure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from memsim.analysis.percent import percent
from memsim.analysis.statistics import Interval
from memsim.analysis.table import Table, TableColumn
from memsim.analysis.tables import ABSENT, number, with_interval
from memsim.exploration import Exploration, Version
from memsim.exploration.effects import Decision
from memsim.exploration.model import FEWER
from memsim.report.output import Block, CommandOutput, PrintedTable, joined
from memsim.report.prose import wrapped

SHOWN = 20  # versions in the text; the CSV has all
_REASONS = 3
_FAR_MORE = 100  # a factor beyond says no more than that there was next to nothing


def output(found: Exploration) -> CommandOutput:
    """The ranking, and what decides; as rows, all versions."""
    return CommandOutput(lambda: _blocks(found), table(found).records, lambda: _document(found))


def text(found: Exploration) -> str:
    """The same as text."""
    return joined(_blocks(found))


def _blocks(found: Exploration) -> list[Block]:
    return [_head(found), _ranking(found), *_deciding(found)]


def named(version: Version) -> str:
    """A version by its choices.

    >>> from memsim.exploration.model import Modelled
    >>> named(Version({"layout": "rows", "pad": 1}, Modelled({}, 1.0, 1.0, 1.0, 1.0, {})))
    'layout=rows pad=1'
    """
    return " ".join(f"{name}={value}" for name, value in version.chosen.items())


def _head(found: Exploration) -> str:
    given = " ".join(f"{name}={value}" for name, value in found.parameters.items())
    simulated = sum(version.result is not None for version in found.versions)
    lines = [
        f"{found.workload} {given}".strip() + f" on {found.gpu}",
        f"{len(found.versions)} versions by closed-form models, the best {simulated} by simulation",
        "details: docs/how_to/explore.md",
    ]
    if not found.complete:
        lines.append("interrupted: not all that should have been were simulated")
    if found.rejected:
        reasons = Counter(reason for _, reason in found.rejected).most_common()
        lines.append(f"{len(found.rejected)} more cannot be:")
        lines += [f"  {count} times: {reason}" for reason, count in reasons[:_REASONS]]
        if len(reasons) > _REASONS:
            lines.append(f"  and {len(reasons) - _REASONS} other reasons")
    return "\n".join(lines)


def _ranking(found: Exploration) -> PrintedTable:
    decimals = 3 if found.best.model.milliseconds < 10 else 1
    rows = []
    for rank, version in enumerate(found.versions[:SHOWN], 1):
        model, result = version.model, version.result
        rows.append([
            str(rank), *map(str, version.chosen.values()),
            ABSENT if result is None else with_interval(result.kernel_time, decimals=decimals),
            number(model.milliseconds, decimals), model.limit, number(100 * model.occupancy),
            number(model.mwp_cwp_milliseconds, decimals), f"{model.mpe:.3g}",
        ])  # fmt: skip
    headers = ["rank", *found.choices, "simulated ms", "model ms", "bound by", "occupancy %", "MWP/CWP ms", "MPE"]
    right = [header not in found.choices and header != "bound by" for header in headers]
    left_out = len(found.versions) - SHOWN
    more = f"{left_out:,} more are slower; -o FILE.csv has all" if left_out > 0 else ""
    return PrintedTable(headers, rows, right, note=more)


def _deciding(found: Exploration) -> Iterator[str]:
    lines, fixed = [], ""
    for step, one in enumerate(found.decisions, 1):
        lines.append(wrapped(f"{step}. {_sentence(one, fixed)}", then="   "))
        fixed += f"{', ' if fixed else ''}{one.choice}={one.best}"
    yield "\n".join(
        ["Most important choices, by model:", *lines]
        if lines
        else ["No choice matters: all versions take equally long."]
    )
    alike = indistinguishable(found)
    if len(alike) > 1:
        yield f"Simulation does not distinguish the first {len(alike)}: their intervals overlap."


def _sentence(one: Decision, fixed: str) -> str:
    among = f"among the {one.among} versions with {fixed} " if fixed else ""
    return (
        f"{one.choice} decides {among}({percent(one.share)} of the variance of log time): {one.worst} takes "
        f"{one.ratio:.3g} times as long as {one.best}. There {_THE[one.limit]} is the limit{_because(one)}."
    )


def _because(one: Decision) -> str:
    differences = []
    for measure, factor in one.causes.items():
        less, far = measure in FEWER, factor > _FAR_MORE
        amount = "far" if far else f"{factor:.1f} times"
        differences.append(f"{amount} {'fewer' if less else 'more' if far else 'the'} {measure}")
    return f": {' and '.join(differences)}" if differences else ""


_THE = {
    "issue": "issue",
    "load-store unit": "the load-store unit",
    "port from L2": "the SM's port from L2",
    "L2 slices": "the busiest L2 slice",
    "memory channels": "the busiest memory channel",
    "latency": "latency",
}


def indistinguishable(found: Exploration) -> list[Version]:
    """The best by simulation, and those whose intervals overlap with its."""
    simulated = [version for version in found.versions if version.result is not None]
    intervals = [_interval(version) for version in simulated]
    if not simulated or intervals[0] is None:
        return []
    high = intervals[0].high
    return [one for one, its in zip(simulated, intervals, strict=True) if its is not None and its.low <= high]


def _interval(version: Version) -> Interval | None:
    return version.result.kernel_time.interval() if version.result is not None else None


def table(found: Exploration) -> Table[Version]:
    """All versions, for ``to_csv`` and ``to_frame``."""
    return Table(found.versions, [TableColumn("version", named, right=False)], _record)


def _record(version: Version) -> dict[str, Any]:
    interval, model = _interval(version), version.model
    return {
        **version.chosen,
        "simulated_ms": version.milliseconds,
        "simulated_ms_low": interval.low if interval else float("nan"),
        "simulated_ms_high": interval.high if interval else float("nan"),
        "model_ms": model.milliseconds,
        "limit": str(model.limit),
        "occupancy": model.occupancy,
        "mwp_cwp_ms": model.mwp_cwp_milliseconds,
        "mpe": model.mpe,
        **{f"{part} cycles": cycles for part, cycles in model.cycles.items()},
        **model.measures,
    }


def _document(found: Exploration) -> dict[str, Any]:
    """The JSON object; docs/how_to/explore.md lists the fields."""
    return {
        "workload": found.workload,
        "gpu": found.gpu,
        "parameters": dict(found.parameters),
        "choices": found.choices,
        "versions": [_version(version) for version in found.versions],
        "rejected": [{"chosen": chosen, "reason": reason} for chosen, reason in found.rejected],
        "complete": found.complete,
        "shares": found.shares,
        "decisions": [vars(one) | {"limit": str(one.limit)} for one in found.decisions],
    }


def _version(version: Version) -> dict[str, Any]:
    model = version.model
    return {
        "chosen": version.chosen,
        "simulated_ms": None if version.result is None else version.milliseconds,
        "simulated_interval_ms": _interval(version),
        "model_ms": model.milliseconds,
        "limit": str(model.limit),
        "cycles": {str(part): cycles for part, cycles in model.cycles.items()},
        "measures": model.measures,
        "occupancy": model.occupancy,
        "mwp_cwp_ms": model.mwp_cwp_milliseconds,
        "mpe": model.mpe,
    }


def _shown_time(version: Version) -> float:
    """The simulated time, or, without one, the model's."""
    return version.milliseconds if version.milliseconds == version.milliseconds else version.model.milliseconds


def _in_line(versions: list[Mapping[str, Any]]) -> list[str]:
    """Each version's choices as text, every choice in a column of its own."""
    widths = {name: max(len(str(one[name])) for one in versions) for name in (versions[0] if versions else ())}
    return ["  ".join(f"{name}={one[name]!s:<{width}}" for name, width in widths.items()) for one in versions]


def draw(found: Exploration, path: Path) -> Path:
    """The first versions as points: modelled times, and simulated ones with the interval of their mean."""
    from memsim.report.figure_style import BLUE, GREY, panels, styled, write

    shown = sorted(found.versions[:SHOWN], key=_shown_time)
    rows, times = np.arange(len(shown)), [version.milliseconds for version in shown]
    with styled():
        figure, (axes,) = panels(1, 1, 7.5, 1.1 + 0.22 * len(shown))
        axes.plot([one.model.milliseconds for one in shown], rows, "o", color=GREY, markersize=5, label="model")
        axes.plot(times, rows, "D", color=BLUE, markersize=4, label="simulated, 95 % interval of the mean")
        for row, version in enumerate(shown):
            if interval := _interval(version):
                axes.plot(interval, [row, row], color=BLUE, linewidth=1.5)
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter(lambda x, _: f"{x:g}" if f"{x:e}"[0] in "25" else "")
        axes.set_yticks(rows, _in_line([version.chosen for version in shown]), fontsize=7.5, family="monospace")
        axes.invert_yaxis()
        axes.set_xlabel("time of the kernel, ms")
        axes.set_title(f"{found.workload} on {found.gpu}")
        figure.legend(loc="outside lower right", ncols=2)
        return write(figure, path)
