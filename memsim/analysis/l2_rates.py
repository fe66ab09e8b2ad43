"""How long the slices of L2 work: for whole sectors, and longer for sectors that a store covers in part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from memsim.hierarchy.counters import CountUnit, Level
from memsim.montecarlo.trials import Trials


def slice_cycles(trials: Trials) -> np.ndarray:
    """SM cycles, f8 [trials], in which the slices of L2 serve all sectors of a trial, each at work all the time.

    No replay or launch is over in less: stores, for which no warp waits, need this time as well.
    """
    gpu: dict[str, Any] = trials.about["gpu"]
    l2 = gpu["l2"]
    sectors = trials.counters[:, :, Level.l2, :, CountUnit.sectors].sum(axis=(1, 2))
    longer = sum(partial_store_cycles(op, l2) for op in trials.ops)
    return np.asarray((sectors * l2["sector_cycles"] + longer) / (l2["slices"] * l2_clocks(gpu)))


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
