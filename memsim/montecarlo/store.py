"""The results of all trials and their file: HDF5, schema ``memsim-result``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

SCHEMA = "memsim-result"
VERSION = (1, 0)


@dataclass
class Trials:
    """Raw results, trial by trial. First axis: finished trials, in order of `trial`.

    Attributes:
        trial: i8 [t], number of the trial (its random draws depend on the seed and this alone).
        counters: i8 [t, n_ops + 1, levels, events, units], see hierarchy.counters.
        cycles: i8 [t], SM cycles from the first block's start to the last warp's end.
        latency_histogram: i8 [t, n_ops, LATENCY_BINS], observed latency of load (and atomic) transactions, cycles.
        latency_sum, latency_count: i8 [t, n_ops], of the same.
        instruction_latency_sum, instruction_latency_count: i8 [t, n_ops], of whole warp instructions (first
            transaction's lookup to last transaction's data).
        memory_histogram: i8 [t, LATENCY_BINS], the main-memory step's latencies (Baghsorkhi 2012, 3.2.3), load to use.
        memory_sum, memory_count: i8 [t].
        transactions: i8 [t], transactions replayed.
        wall_seconds, compiled_seconds: f8 [t], of the replay; compiled is the part inside compiled loops.
        about: gpu (dict, whole configuration), gpu_provenance (dict), seed, versions (dict), trace (dict: digest, kernel, source,
            parameters, grid, block, traced blocks), created (ISO time).
        ops: list of dicts kind, space, width, array, line, column, file, text; arrays: list of dicts name, base, bytes, element_bytes.
    """

    trial: np.ndarray
    counters: np.ndarray
    cycles: np.ndarray
    latency_histogram: np.ndarray
    latency_sum: np.ndarray
    latency_count: np.ndarray
    instruction_latency_sum: np.ndarray
    instruction_latency_count: np.ndarray
    memory_histogram: np.ndarray
    memory_sum: np.ndarray
    memory_count: np.ndarray
    transactions: np.ndarray
    wall_seconds: np.ndarray
    compiled_seconds: np.ndarray
    about: dict[str, Any] = field(default_factory=dict)
    ops: list[dict[str, Any]] = field(default_factory=list)
    arrays: list[dict[str, Any]] = field(default_factory=list)
