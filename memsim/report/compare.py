"""Results side by side: what ``memsim compare`` prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memsim.analysis.compare import Difference, HasSpeedUp, ResultComparison, Row, Rows
from memsim.analysis.loads import Load
from memsim.analysis.result import RunResult
from memsim.analysis.tables import ABSENT, number, one_time
from memsim.report.changes import changes
from memsim.report.output import Block, CommandOutput, PrintedTable
from memsim.support.deprecated import with_old_keys

_RATIOS = {"l1_read": "L1 read", "l2_read": "L2 read", "l2_write": "L2 write"}
_FIELDS = ("latency", "l1_hit", "l2_hit", "share")  # of a load or an array


def output(first: str, others: Mapping[str, ResultComparison]) -> CommandOutput:
    """Everything of some comparisons; as rows, each quantity of the first result and of another.

    Args:
        first: what the first result is called.
        others: every comparison by the name of its second result.
    """
    return CommandOutput(
        lambda: (block for number, name in enumerate(others) for block in _blocks(first, name, others[name], number)),
        lambda: (row for name, found in others.items() for row in _rows(name, found)),
        lambda: {"first": first, "comparisons": [_document(name, found) for name, found in others.items()]},
    )


def _blocks(label: str, other: str, found: ResultComparison, number: int) -> Iterator[Block]:
    yield "\n" * (number > 0) + _head(label, other, found)
    yield from changes(found.first, found.second).blocks()
    yield _ratios(found)
    yield from _tables("loads", found.loads, ["line", "load", "array"])
    yield from _tables("arrays", found.arrays, ["array"])


def _rows(name: str, found: ResultComparison) -> Iterator[dict[str, Any]]:
    yield _row(name, "time_ms", "", found.time)
    for ratio, of in found.ratios.items():
        yield _row(name, f"{ratio}_hit", "", of)
    for kind, rows in (("load", found.loads), ("array", found.arrays)):
        for one in rows.matched:
            location = " ".join(word for word in (one.location, one.text, one.array) if word)
            for field in _FIELDS:
                yield _row(name, f"{kind}_{field}", location, getattr(one, field))


def _row(name: str, quantity: str, location: str, of: Difference) -> dict[str, Any]:
    low, high = of.interval or (float("nan"), float("nan"))
    return {
        "second_result": name, "quantity": quantity, "of": location, "first": of.first, "second": of.second,
        "change": of.change, "change_low": low, "change_high": high,
    }  # fmt: skip


def times(found: ResultComparison) -> str:
    """The two times."""
    what = "kernel" if found.whole_kernel else "block sample (a file does not state its waves)"
    return f"time of the {what} {one_time(found.time.first)}, {one_time(found.time.second)}"


def speed_up(found: HasSpeedUp) -> str:
    """The speed-up with its interval."""
    its = found.speedup_interval
    return f"{found.speedup:.4g}x" + (f" ({its.low:.4g} … {its.high:.4g})" if its else "")


def _head(label: str, other: str, found: ResultComparison) -> str:
    lines = [
        f"first  {label}: {_about(found.first)}",
        f"second {other}: {_about(found.second)}",
        f"speed-up of the second {speed_up(found)}: {verdict(found)}",
        times(found),
        pairing(found),
        *(f"note: {caution}" for caution in found.cautions),
    ]
    return "\n".join(lines)


def verdict(found: HasSpeedUp) -> str:
    """Whether the second is faster, in words."""
    its = found.speedup_interval
    if its is None:
        return "no interval from one trial"
    if its.low <= 1 <= its.high:
        return "no significant difference"
    return "faster" if its.low > 1 else "slower"


def _about(result: RunResult) -> str:
    kernel = result.trials.about["trace"]["kernel"]
    return f"{kernel} on {result.gpu}, {len(result.trials.trial)} trials, seed {result.seed}"


def pairing(found: ResultComparison) -> str:
    if found.pairing.why_not:
        return f"95 % intervals after Welch, as trials cannot be paired: {found.pairing.why_not}"
    return f"95 % intervals from {len(found.pairing.first)} pairs of trials with the same random numbers"


def _ratios(found: ResultComparison) -> PrintedTable:
    headers, rows = ratio_rows(found)
    return PrintedTable(headers, rows, [False, True, True, True])


def ratio_rows(found: ResultComparison) -> tuple[list[str], list[list[str]]]:
    """Headers and rows of the hit ratios."""
    rows = [
        [_RATIOS[name], number(100 * of.first, 2), number(100 * of.second, 2), _change(of, 100, 2)]
        for name, of in found.ratios.items()
    ]
    return ["hit ratio", "first %", "second %", "points"], rows


def _change(of: Difference, scale: float, decimals: int) -> str:
    """The change and half its interval: ``+1.2±0.3``."""
    if of.change != of.change:
        return ABSENT
    half = "" if of.interval is None else f"±{of.interval.width / 2 * scale:,.{decimals}f}"
    return f"{of.change * scale:+,.{decimals}f}{half}"


def _tables(title: str, rows: Rows, names: list[str]) -> Iterator[Block]:
    if rows.matched:
        headers, lines = matched(rows, names)
        right = [False] * len(names) + [True] * (len(headers) - len(names))
        yield PrintedTable(headers, lines, right, f"{title}, latency in ns, first and second")
    for which, found in (("first", rows.only_first), ("second", rows.only_second)):
        if found:
            yield f"{title} of the {which} only\n" + "\n".join(f"  {_unmatched(one, names)}" for one in found)


def matched(rows: Rows, names: list[str]) -> tuple[list[str], list[list[str]]]:
    """Headers and rows of what is in both; each pair of columns is the first's and the second's."""
    headers = [*names, "latency", "", "change", "L1 %", "", "L2 %", "", "share %", ""]
    return headers, [[*_named(row, names), *_numbers(row)] for row in rows.matched]


def _named(row: Row, names: list[str]) -> list[str]:
    location = (
        row.location
        if row.location == row.second_location
        else f"{row.location} → {row.second_location.rpartition(':')[2]}"
    )
    cells = {"line": location, "load": row.text, "array": row.array or ABSENT}
    return [cells[name] for name in names]


def _numbers(row: Row) -> list[str]:
    cells = [number(row.latency.first), number(row.latency.second), _change(row.latency, 1, 0)]
    for of in (row.l1_hit, row.l2_hit, row.share):
        cells += [number(100 * of.first, 1), number(100 * of.second, 1)]
    return cells


def _unmatched(load: Load, names: list[str]) -> str:
    words = [load.location, load.text, load.array and f"({load.array})"] if "load" in names else [load.array or ABSENT]
    return " ".join(filter(None, words)) + f", {number(100 * load.share.mean, 1)} % of all latency"


def _document(name: str, found: ResultComparison) -> dict[str, Any]:
    """The JSON object; docs/how_to/compare.md lists the fields."""
    return {
        "second": name,
        "speedup": found.speedup,
        "speedup_interval": found.speedup_interval,
        "pairs": len(found.pairing.first),
        "why_not_paired": found.pairing.why_not or None,
        "cautions": list(found.cautions),
        "whole_kernel": found.whole_kernel,
        "time_ms": vars(found.time),
        "ratios": {ratio: vars(of) for ratio, of in found.ratios.items()},
        "changes": [
            {"name": one.name, "first": one.first, "second": one.second, "factor": one.ratio}
            for one in changes(found.first, found.second).shown
        ],
        "loads": _listed(found.loads),
        "arrays": _listed(found.arrays),
    }


def _listed(rows: Rows) -> dict[str, Any]:
    return {
        "matched": [
            with_old_keys(
                "compared load",
                {
                    "location": row.location,
                    "second_location": row.second_location,
                    "text": row.text,
                    "array": row.array,
                },
            )
            | {name: vars(getattr(row, name)) for name in _FIELDS}
            for row in rows.matched
        ],
        "only_first": [_load(load) for load in rows.only_first],
        "only_second": [_load(load) for load in rows.only_second],
    }


def _load(load: Load) -> dict[str, Any]:
    found = {"location": load.location, "text": load.text, "array": load.array, "share": load.share.mean}
    return with_old_keys("compared load", found)
