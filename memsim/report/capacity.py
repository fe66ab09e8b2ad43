"""Hit ratio against capacity: what ``memsim capacity`` prints, and a figure."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from memsim.analysis.percent import percent
from memsim.analysis.table import Table, TableColumn
from memsim.analysis.tables import ABSENT, number, with_interval
from memsim.report.output import Block, CommandOutput, PrintedTable
from memsim.studies.capacity import SHARES, CacheCapacity, Capacity

_NAMES = {"l1": "L1 of an SM", "l2": "L2"}
_KB, _MB = 1 << 10, 1 << 20

Row = tuple[str, int, CacheCapacity]


def output(found: Capacity) -> CommandOutput:
    """What is needed, the curves by doublings, and the replays; as rows, the curves."""
    return CommandOutput(lambda: _blocks(found), table(found).records, lambda: _document(found))


def _blocks(found: Capacity) -> list[Block]:
    return [_head(found), "\n".join(_needs(found)), _curves(found), *_replays(found)]


def size(nbytes: int) -> str:
    """Bytes for people.

    >>> size(16384), size(40 << 20), size(800)
    ('16 KB', '40 MB', '800 bytes')
    """
    if nbytes >= _MB:
        return f"{nbytes / _MB:.4g} MB"
    return f"{nbytes / _KB:.4g} KB" if nbytes >= _KB else f"{nbytes} bytes"


def _head(found: Capacity) -> str:
    lines = [
        f"{found.kernel} on {found.gpu}: read hit ratio against capacity; trace {found.digest[:12]}",
        "fully associative LRU, one order of accesses; hit: no request went to the next level (traffic)",
        "details: docs/how_to/capacity.md",
    ]
    if found.sampled > 1:
        lines.append(f"estimated from one line in {found.sampled}")
    return "\n".join(lines)


def _needs(found: Capacity) -> Iterator[str]:
    for name, cache in found.caches.items():
        now = 100 * float(cache.hit_ratio(cache.bytes))
        best_percent = 100 * cache.curve.max_hit_ratio
        if not best_percent:
            yield f"{_NAMES[name]}: nothing is read again, no capacity helps"
            continue
        needs = " and ".join(f"{size(cache.needed(share))} for {percent(share)}" for share in SHARES)
        has = f"{now:.1f} % at the present {size(cache.bytes)}, at best {best_percent:.1f} %"
        yield f"{_NAMES[name]}: {has}; needs {needs} of that"


def _curves(found: Capacity) -> PrintedTable:
    present = {cache.bytes for cache in found.caches.values()}
    most = max(int(cache.sizes[-1]) for cache in found.caches.values())
    doublings = {_KB << k for k in range((most // _KB).bit_length() + 1)}
    rows = []
    for nbytes in sorted(doublings | present):
        cells = [size(nbytes)]
        for cache in found.caches.values():
            mark = " <" if nbytes == cache.bytes else "  "
            cells.append(number(100 * float(cache.hit_ratio(nbytes)), 1) + mark)
        rows.append(cells)
    headers = ["capacity", *(f"{name.upper()} %  " for name in found.caches)]
    note = "<: current capacity; L2 behind L1s of their current size"
    return PrintedTable(headers, rows, [True] * len(headers), note=note)


def _replays(found: Capacity) -> Iterator[PrintedTable]:
    rows = []
    for name, cache in found.caches.items():
        for one in cache.replayed:
            difference = 100 * (one.hit.mean - one.curve)
            rows.append([
                name.upper(), size(one.bytes), str(one.ways), number(100 * one.curve, 1), with_interval(one.hit, 100),
                f"{difference:+.1f}" if difference == difference else ABSENT,
            ])  # fmt: skip
    if rows:
        headers = ["cache", "capacity", "ways", "curve %", "replayed %", "difference"]
        yield PrintedTable(headers, rows, [False] + [True] * 5, "replayed, with sets, policies and latencies")


def table(found: Capacity) -> Table[Row]:
    """Every capacity of every cache, for ``to_csv`` and ``to_frame``."""
    rows = [(name, int(nbytes), cache) for name, cache in found.caches.items() for nbytes in cache.sizes]
    return Table(rows, [TableColumn("cache", lambda row: row[0], right=False)], _record)


def _record(row: Row) -> dict[str, Any]:
    name, nbytes, cache = row
    return {"cache": name, "bytes": nbytes, "hit_ratio": float(cache.hit_ratio(nbytes))}


def _document(found: Capacity) -> dict[str, Any]:
    """The JSON object; docs/how_to/capacity.md lists the fields."""
    return {
        "kernel": found.kernel,
        "gpu": found.gpu,
        "trace": found.digest,
        "convention": "traffic",
        "sampled": found.sampled,
        "caches": {name: _cache(cache) for name, cache in found.caches.items()},
    }


def _cache(cache: CacheCapacity) -> dict[str, Any]:
    return {
        "bytes": cache.bytes,
        "line_bytes": cache.curve.line_bytes,
        "reads": cache.curve.uses,
        "best": cache.curve.max_hit_ratio,
        "needed": {f"{share:g}": cache.needed(share) for share in SHARES},
        "curve": [{"bytes": int(size), "hit_ratio": float(cache.hit_ratio(size))} for size in cache.sizes],
        "replayed": [
            {"bytes": one.bytes, "ways": one.ways, "curve": one.curve, "hit_ratio": one.hit.mean,
             "interval": one.hit.interval()}
            for one in cache.replayed
        ],
    }  # fmt: skip


def draw(found: Capacity, path: Path) -> Path:
    """The curves, the present capacities, and the replays as points."""
    from memsim.report.figure_style import BLUE, GREY, VERMILION, panels, styled, write

    with styled():
        figure, axes = panels(1, len(found.caches), 4.8 * len(found.caches), 3.2)
        for axis, (name, cache) in zip(axes, found.caches.items(), strict=True):
            sizes = cache.sizes
            axis.plot(sizes, 100 * cache.hit_ratio(sizes), color=BLUE, linewidth=1.6, label="fully associative LRU")
            axis.axvline(cache.bytes, color=GREY, linewidth=1, linestyle="--", label="current capacity")
            at = [one.bytes for one in cache.replayed]
            means = np.array([100 * one.hit.mean for one in cache.replayed])
            half = [50 * its.width if (its := one.hit.interval()) else 0.0 for one in cache.replayed]
            if at:
                axis.errorbar(at, means, yerr=half, fmt="D", color=VERMILION, markersize=4, label="replayed")
            axis.set_xscale("log", base=2)
            axis.xaxis.set_major_formatter(lambda value, _: size(int(value)))
            axis.tick_params(axis="x", labelsize=7.5)
            axis.set(title=_NAMES[name], xlabel="capacity", ylim=(0, None), ylabel="read hit ratio, %")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        figure.suptitle(f"{found.kernel} on {found.gpu}", x=0.01, ha="left", fontsize=9, color=GREY)
        return write(figure, path)
