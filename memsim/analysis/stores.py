"""Per static store and reduction, for which no warp waits: what it asks of L2, and what becomes of that."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np

from memsim.analysis.choices import Convention
from memsim.analysis.conventions import AccessKind, hit_ratio
from memsim.analysis.loads import array_name
from memsim.analysis.statistics import Ratio
from memsim.analysis.table import Table, TableColumn
from memsim.analysis.tables import ABSENT, number, with_interval
from memsim.hierarchy.counters import CountUnit, Level
from memsim.montecarlo.trials import Trials

_KINDS = ("store", "reduction")  # an atomic that returns a value is waited for, and stands with the loads
_GOES_TO_L2 = (AccessKind.write, AccessKind.atomic)


@dataclass(frozen=True)
class Store:
    """A static store, or an atomic whose old value nobody uses (a reduction): all of one location, text and array.

    Attributes:
        ops: static instruction numbers.
        kind, file, line, column, text, array: what and where it is, and the array that it changes.
        instructions: warp instructions; nan, as the next two, in results from before version 1.2.
        sectors: of 32 bytes, that these ask for.
        partial: share of them that it covers in part.
        l2_hit: hit ratio of its sectors at L2.
        dram_sectors: that main memory moves for it, a trial.
    """

    ops: tuple[int, ...]
    kind: str
    file: str
    line: int
    column: int
    text: str
    array: str
    instructions: float
    sectors: float
    partial: float
    l2_hit: Ratio
    dram_sectors: float

    @property
    def names(self) -> tuple[str, ...]:
        """What it may be asked for by: its text, its array."""
        return self.text, self.array

    def record(self) -> dict[str, Any]:
        """Every field as one flat dict of text and numbers (nan where a value does not exist)."""
        own = {name: value for name, value in vars(self).items() if name != "ops"}
        return own | {"l2_hit": self.l2_hit.mean}


def store_table(trials: Trials, convention: Convention) -> Table[Store]:
    """All static stores and reductions that leave the SM, in source order of the trace."""
    groups: dict[tuple[Any, ...], list[int]] = {}
    for op, of in enumerate(trials.ops):
        if of["kind"] in _KINDS and of["space"] != "shared":
            key = tuple(of[name] for name in ("kind", "file", "line", "column", "text", "array"))
            groups.setdefault(key, []).append(op)
    rows = [_store(trials, tuple(ops), convention) for ops in groups.values()]
    columns = [
        TableColumn[Store]("line", lambda row: f"{PurePath(row.file).name}:{row.line}", right=False),
        TableColumn[Store]("", lambda row: f"{row.kind} {row.text}", right=False),
        TableColumn[Store]("array", lambda row: row.array or ABSENT, right=False),
        TableColumn[Store]("sectors", lambda row: number(row.sectors)),
        TableColumn[Store]("per warp instr.", lambda row: number(_ratio(row.sectors, row.instructions), 1)),
        TableColumn[Store]("partial %", lambda row: number(100 * row.partial, 1)),
        TableColumn[Store]("L2 %", lambda row: with_interval(row.l2_hit, 100)),
        TableColumn[Store]("DRAM", lambda row: number(row.dram_sectors)),
    ]
    return Table(rows, columns, Store.record, lambda row: row.names)


def _store(trials: Trials, ops: tuple[int, ...], convention: Convention) -> Store:
    of, counters = trials.ops[ops[0]], trials.counters[:, list(ops)].sum(axis=1)
    instructions, sectors, partial = (
        sum(float(trials.ops[op].get("profile", {}).get(name, np.nan)) for op in ops)
        for name in ("instructions", "sectors", "partial_sectors")
    )
    ratio = hit_ratio(counters, Level.l2, _GOES_TO_L2, convention, trials.about["gpu"]["compute_capability"])
    return Store(
        ops,
        **{name: of[name] for name in ("kind", "file", "line", "column", "text")},
        array=array_name(trials, of),
        instructions=instructions,
        sectors=sectors,
        partial=_ratio(partial, sectors),
        l2_hit=Ratio(ratio, convention),
        dram_sectors=float(counters[:, Level.dram, :, CountUnit.sectors].sum(axis=1).mean()),
    )


def _ratio(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else float("nan")
