"""How long the slices of L2 work: for whole sectors, and longer for sectors that a store covers in part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from memsim.hierarchy.counters import CountUnit, Event, Level
from memsim.montecarlo.trials import Trials


def slice_cycles(trials: Trials) -> np.ndarray:
    """SM cycles, f8 [trials], in which the slices of L2 serve all sectors of a trial, each at work all the time.

    No replay or launch is over in less: stores, for which no warp waits, need this time as well. A store to the sector
    that was stored last counts as any other; all slices would have to get such stores for that to matter.
    """
    gpu: dict[str, Any] = trials.about["gpu"]
    l2 = gpu["l2"]
    sectors = trials.counters[:, :, Level.l2, :, CountUnit.sectors].sum(axis=1)
    longer = sum(partial_store_cycles(op, l2) for op in trials.ops)
    return np.asarray((sectors @ sector_cycles(l2) + longer) / (l2["slices"] * l2_clocks(gpu)))


def sector_cycles(l2: Mapping[str, Any]) -> np.ndarray:
    """Cycles of their clock for which L2's slices serve a sector of each event, f8 [events]: reads may take less.

    >>> sector_cycles({"sector_cycles": 1, "read_sectors": 2}).tolist()[3:5]
    [0.5, 1.0]
    """
    each = np.full(len(Event), float(l2["sector_cycles"]))
    each[: Event.write_hit] = read_cycles(l2)
    return each


def read_cycles(l2: Mapping[str, Any]) -> float:
    """Cycles of its clock for which a slice of L2 reads a sector of a request for many."""
    return float(l2["sector_cycles"] / (l2.get("read_sectors") or 1))


def l2_clocks(gpu: Mapping[str, Any]) -> float:
    """Cycles of L2's clock in one of the SMs', of a GPU's fields.

    >>> l2_clocks({"sm": {"clock_mhz": 1410}, "l2": {"clock_mhz": 705}})
    0.5
    >>> l2_clocks({"sm": {"clock_mhz": 1410}, "l2": {}})
    1.0
    """
    sm_mhz = gpu["sm"]["clock_mhz"]
    return float((gpu["l2"].get("clock_mhz") or sm_mhz) / sm_mhz)


def partial_store_cycles(op: Mapping[str, Any], l2: Mapping[str, Any]) -> float:
    """Cycles of their clock for which L2's slices work longer than for whole sectors, for what an op stores in part.

    Args:
        op: one of ``Trials.ops``.
        l2: the GPU's fields.

    >>> l2 = {"sector_cycles": 1, "partial_store_cycles": 4}
    >>> partial_store_cycles({"profile": {"partial_sectors": 10}}, l2)
    30.0
    """
    longer = max(0, (l2.get("partial_store_cycles") or 0) - l2["sector_cycles"])
    return float(longer * op.get("profile", {}).get("partial_sectors", 0))
