"""Per static load: hit ratios, observed latency, the paper's expected latency, and the share of all waiting.

The same quantities by array and by source line: counters and latencies are added over a group's loads before any ratio
is formed, so a group's ratio is that of its requests, not an average of ratios.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from memsim.analysis.choices import Convention
from memsim.analysis.conventions import FETCHES, hit_ratio, of_caches_in_use
from memsim.analysis.latency import LatencyDistribution, expected_latency_terms
from memsim.analysis.statistics import Interval, Ratio, Sample
from memsim.hierarchy.counters import Level
from memsim.montecarlo.trials import Trials
from memsim.support.deprecated import old_fields

_WAITING = ("load", "atomic")  # kinds that a warp waits for


@dataclass(frozen=True, repr=False)
class Load:
    """A static load, or a group of them; a field is empty (text) or None where the group's loads differ.

    Attributes:
        ops: static instruction numbers.
        file, line, column, text, array: its location in the source, and the array it reads.
        l1_hit, l2_hit: hit ratios of its requests, L2's of the sectors that it asks L2 for.
        latency: observed latency of one transaction (lookup to data), the trial's mean, cycles.
        distribution: the same, every transaction of all trials.
        instruction_latency: of a whole warp instruction, first lookup to last data, cycles.
        x: the paper's X, cycles; from the ``model`` ratios whatever convention the others have.
        x_terms: X's terms: from L1, from L2, from memory.
        share: of all observed latency; the loads' shares sum to 1.
    """

    ops: tuple[int, ...]
    file: str
    line: int | None
    column: int | None
    text: str
    array: str
    l1_hit: Ratio
    l2_hit: Ratio
    latency: Sample
    distribution: LatencyDistribution
    instruction_latency: Sample
    x: Sample
    x_terms: tuple[Sample, Sample, Sample]
    share: Sample

    if not TYPE_CHECKING:
        __getattr__ = old_fields("Load")

    @property
    def location(self) -> str:
        """Where it stands, short: ``spmv.py:12``; the file alone when the line is not one, or not known (0)."""
        return f"{PurePath(self.file).name}:{self.line}" if self.line else PurePath(self.file).name

    @property
    def names(self) -> tuple[str, ...]:
        """What it may be selected by: its text, its array, its location."""
        return self.text, self.array, self.location

    def __repr__(self) -> str:
        ratios = f"L1 {self.l1_hit.mean:.1%}, L2 {self.l2_hit.mean:.1%}"
        waits = f"{self.latency.mean:,.0f} cycles, share {self.share.mean:.1%}"
        return f"<Load {self.location} {self.text}: {ratios}, {waits}>"

    def record(self) -> dict[str, Any]:
        """Every field as one flat dict of text and numbers (nan where a value does not exist)."""
        out: dict[str, Any] = {name: getattr(self, name) for name in ("file", "line", "column", "text", "array")}
        out |= {"l1_hit": self.l1_hit.mean, "l2_hit": self.l2_hit.mean}
        for name in ("latency", "instruction_latency", "x", "share"):
            sample: Sample = getattr(self, name)
            low, high = sample.interval() or Interval(float("nan"), float("nan"))
            out |= {name: sample.mean, f"{name}_low": low, f"{name}_high": high}
        return out | {f"latency_p{p}": self.distribution.quantile(p / 100) for p in (5, 50, 95)}


def _ratio(total: np.ndarray, count: np.ndarray) -> np.ndarray:
    return np.divide(total, count, out=np.full(np.shape(total), np.nan), where=count > 0)


def _common(values: list[Any], default: Any) -> Any:
    return values[0] if len(set(values)) == 1 else default


def array_name(trials: Trials, op: dict[str, Any]) -> str:
    """Name of the array that a static instruction accesses; empty when it accesses none."""
    return trials.arrays[op["array"]]["name"] if op["array"] >= 0 else ""


def memory_latency(trials: Trials) -> Sample:
    """Tm, the main-memory step's mean latency of each trial, cycles."""
    return Sample(_ratio(trials.memory_sum, trials.memory_count))


def load(trials: Trials, ops: tuple[int, ...], convention: Convention) -> Load:
    """The quantities of static instructions `ops` taken together."""
    members, index = [trials.ops[op] for op in ops], list(ops)
    counters = of_caches_in_use(trials)[:, index].sum(axis=1)
    gpu = trials.about["gpu"]

    def ratio(counts: np.ndarray, level: Level, by: Convention) -> np.ndarray:
        return hit_ratio(counts, level, FETCHES, by, gpu["compute_capability"])

    # Without an L2 all goes to memory, as if it missed.
    sent = trials.counters[:, index].sum(axis=1)
    h1, h2 = (ratio(counts, level, Convention.model) for counts, level in ((counters, Level.l1), (sent, Level.l2)))
    # A load all of whose L1 misses merge asks L2 for nothing itself: it waits for the fetches of the others.
    h2 = np.where(np.isnan(h2) & (h1 < 1), ratio(trials.counters.sum(axis=1), Level.l2, Convention.model), h2)
    t1, t2 = gpu["l1"]["hit_latency_cycles"], gpu["l2"]["hit_latency_cycles"]
    terms = expected_latency_terms(h1, h2, t1, t2, memory_latency(trials).values)
    waited = trials.latency_sum[:, index].sum(axis=1)
    texts = list(dict.fromkeys(op["text"] for op in members))
    return Load(
        ops=ops,
        file=_common([op["file"] for op in members], ""),
        line=_common([op["line"] for op in members], None),
        column=_common([op["column"] for op in members], None),
        text="; ".join(texts),
        array=_common([array_name(trials, op) for op in members], ""),
        l1_hit=Ratio(ratio(counters, Level.l1, convention), convention),
        l2_hit=Ratio(ratio(counters, Level.l2, convention), convention),
        latency=Sample(_ratio(waited, trials.latency_count[:, index].sum(axis=1))),
        distribution=LatencyDistribution(trials.latency_histogram[:, index].sum(axis=(0, 1))),
        instruction_latency=Sample(
            _ratio(
                trials.instruction_latency_sum[:, index].sum(axis=1),
                trials.instruction_latency_count[:, index].sum(axis=1),
            )
        ),
        x=Sample(terms[0] + terms[1] + terms[2]),
        x_terms=(Sample(terms[0]), Sample(terms[1]), Sample(terms[2])),
        share=Sample(_ratio(waited, trials.latency_sum.sum(axis=1))),
    )


def grouped(trials: Trials, key: Callable[[int, dict[str, Any]], Hashable], convention: Convention) -> list[Load]:
    """Loads (and atomics that return a value) grouped by `key(op number, op)`, in order of first appearance."""
    groups: dict[Hashable, list[int]] = {}
    for number, op in enumerate(trials.ops):
        if op["kind"] in _WAITING:
            groups.setdefault(key(number, op), []).append(number)
    return [load(trials, tuple(ops), convention) for ops in groups.values()]
