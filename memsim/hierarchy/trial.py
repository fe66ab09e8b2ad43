"""What one trial counted: written once, here, for the replay, for workers, for files and for analysis."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from memsim.gpu.components import COUNTERS
from memsim.hierarchy.block_sample import GROUPS
from memsim.hierarchy.block_times import EIGHTHS
from memsim.hierarchy.counters import LATENCY_BINS, CountUnit, Event, Level, latency_bin_edges

OPS = -1  # in a shape: static instructions; ROWS is one more, for what no static instruction caused
ROWS = -2


def _counted(*shape: int, dtype: str = "<i8", **more: Any) -> Any:
    return field(metadata={"dtype": dtype, "shape": shape}, **more)


@dataclass(kw_only=True)
class Trial:
    """Raw results of one trial; every field becomes an array of the dtype and shape it declares.

    Attributes:
        counters: i8 [n_ops + 1, levels, events, units], see hierarchy.counters.
        cycles: i8, SM cycles from the first block's start to the last warp's end, or to the end of the last store's
            service in L2 (``launch.waits_for_stores``).
        latency_histogram: i8 [n_ops, LATENCY_BINS], observed latency of load (and atomic) transactions, cycles.
        latency_sum, latency_count: i8 [n_ops], of the same.
        instruction_latency_sum, instruction_latency_count: i8 [n_ops], of whole warp instructions (first
            transaction's lookup to last transaction's data).
        memory_histogram: i8 [LATENCY_BINS], the main-memory step's latencies (Baghsorkhi 2012, 3.2.3), load to use.
        memory_sum, memory_count: i8.
        transactions: i8, transactions replayed.
        wall_seconds, compiled_seconds: f8, of the replay; compiled is the part inside compiled loops.
        full_until: i8, cycles until a slot for a block stays empty, see hierarchy.block_times; zero (or None) where
            that is not known.
        components: i8 [components.COUNTERS], what components count (memsim.gpu.components); zeros (or None) where the
            GPU has none of them.
        dirty_sectors: i8, that L2 holds dirty at the end; zero (or None) where that is not known.
        blocks_done: f8 [EIGHTHS + 1], blocks done at each eighth of that time.
        group_cycles: i8 [GROUPS], of each group of a sample of blocks, what hierarchy.block_sample measured;
            zeros (or None) where all blocks were replayed.
        group_weight: f8 [GROUPS], transactions of blocks that were not replayed for which the group stands.
        group_traffic: f8 [GROUPS], sectors per transaction that reach DRAM right before the group, as walked.
        group_counters: i8 [GROUPS, levels, events, units], the same.
    """

    counters: np.ndarray = _counted(ROWS, len(Level), len(Event), len(CountUnit))
    cycles: np.ndarray = _counted()
    latency_histogram: np.ndarray = _counted(OPS, LATENCY_BINS)
    latency_sum: np.ndarray = _counted(OPS)
    latency_count: np.ndarray = _counted(OPS)
    instruction_latency_sum: np.ndarray = _counted(OPS)
    instruction_latency_count: np.ndarray = _counted(OPS)
    memory_histogram: np.ndarray = _counted(LATENCY_BINS)
    memory_sum: np.ndarray = _counted()
    memory_count: np.ndarray = _counted()
    transactions: np.ndarray = _counted()
    wall_seconds: np.ndarray = _counted(dtype="<f8")
    compiled_seconds: np.ndarray = _counted(dtype="<f8")
    components: np.ndarray = _counted(len(COUNTERS), default=None)
    full_until: np.ndarray = _counted(default=None)
    dirty_sectors: np.ndarray = _counted(default=None)
    blocks_done: np.ndarray = _counted(EIGHTHS + 1, dtype="<f8", default=None)
    group_cycles: np.ndarray = _counted(GROUPS, default=None)
    group_weight: np.ndarray = _counted(GROUPS, dtype="<f8", default=None)
    group_traffic: np.ndarray = _counted(GROUPS, dtype="<f8", default=None)
    group_counters: np.ndarray = _counted(GROUPS, len(Level), len(Event), len(CountUnit), default=None)

    def __post_init__(self) -> None:
        """Raises ValueError for an array of another shape, or whose values do not fit its dtype."""
        n_ops = np.shape(self.latency_sum)[-1]
        for name, (dtype, shape) in self.columns(n_ops).items():
            if getattr(self, name) is None:
                setattr(self, name, np.zeros((*self._before, *shape), dtype))
            values = np.asarray(getattr(self, name)).astype(dtype, casting="same_kind", copy=False)
            if values.shape != (*self._before, *shape):
                raise ValueError(f"{name} is {list(values.shape)}; it must be {[*self._before, *shape]}")
            setattr(self, name, values)

    @classmethod
    def columns(cls, n_ops: int) -> dict[str, tuple[str, tuple[int, ...]]]:
        """Name of every array -> its dtype, and its shape in one trial of a kernel with `n_ops` static instructions."""
        lengths = {OPS: n_ops, ROWS: n_ops + 1}
        return {
            column.name: (
                column.metadata["dtype"],
                tuple(lengths.get(length, length) for length in column.metadata["shape"]),
            )
            for column in fields(cls)
            if column.metadata
        }

    @property
    def _before(self) -> tuple[int, ...]:
        """Axes before those of one trial: none."""
        return ()


def latency_counts(latencies: np.ndarray) -> np.ndarray:
    """Latencies in cycles as a histogram, i8 [LATENCY_BINS]."""
    return np.histogram(latencies, latency_bin_edges())[0]
