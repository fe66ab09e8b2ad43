"""Results made by hand: what a simulation of SpMV might give, for tests of everything behind it."""

from __future__ import annotations

import numpy as np

from memsim.hierarchy.counters import LATENCY_BINS, CountUnit, Event, Level, latency_bin_edges
from memsim.montecarlo.trials import Trials

FILE = "traces/spmv.py"
TRANSACTIONS = 10_000  # of every op
ARRAYS = ("row_ptr", "indices", "val", "y", "x")
# kind, array, line, column, text, (hit, miss, sector miss, merge) at L1, L2's hit ratio, mean latency
OPS = [
    ("load", "row_ptr", 41, 10, "row_ptr[row]", (0.20, 0.70, 0.05, 0.05), 0.50, 700),
    ("load", "row_ptr", 41, 24, "row_ptr[row + 1]", (0.90, 0.02, 0.03, 0.05), 0.60, 140),
    ("load", "indices", 43, 14, "indices[j]", (0.30, 0.60, 0.00, 0.10), 0.40, 820),
    ("load", "val", 44, 15, "val[j]", (0.28, 0.60, 0.00, 0.12), 0.38, 860),
    ("load", "y", 44, 24, "y[ind]", (0.05, 0.90, 0.02, 0.03), 0.93, 330),
    ("store", "x", 45, 4, "x[row] = acc", (0.0, 0.0, 0.0, 0.0), 0.10, 0),
]


def spmv(trials: int = 24, seed: int = 0) -> Trials:
    """Random but consistent: counts add up, ratios scatter by about 0.01 around those of OPS."""
    rng = np.random.default_rng(seed)
    n = len(OPS)
    counters = np.zeros((trials, n + 1, len(Level), len(Event), len(CountUnit)), "<i8")
    histogram = np.zeros((trials, n, LATENCY_BINS), "<i8")
    edges = latency_bin_edges()
    for t in range(trials):
        for op, (kind, *_, outcomes, l2_hit, latency) in enumerate(OPS):
            _fill(counters[t, op], rng, kind, np.array(outcomes), l2_hit)
            if kind == "load":
                drawn = rng.gamma(4, latency / 4, TRANSACTIONS)
                histogram[t, op] = np.histogram(drawn, edges)[0]
    middle = ((edges[:-1] + edges[1:]) / 2).astype("<i8")
    memory = np.zeros((trials, LATENCY_BINS), "<i8")
    for t in range(trials):
        memory[t] = np.histogram(400 + rng.gamma(3, 150, 5000), edges)[0]
    count, total = histogram.sum(axis=-1), histogram @ middle
    return Trials(
        trial=np.arange(trials),
        counters=counters,
        cycles=rng.integers(900_000, 1_000_000, trials),
        latency_histogram=histogram,
        latency_sum=total,
        latency_count=count,
        instruction_latency_sum=total * 2,
        instruction_latency_count=count,
        memory_histogram=memory,
        memory_sum=memory @ middle,
        memory_count=memory.sum(axis=-1),
        transactions=np.full(trials, n * TRANSACTIONS),
        wall_seconds=np.full(trials, 0.02),
        compiled_seconds=np.full(trials, 0.018),
        about=about(),
        ops=[
            {"kind": kind, "space": "global", "width": 4, "array": ARRAYS.index(array)}
            | {"line": line, "column": column, "file": FILE, "text": text}
            for kind, array, line, column, text, *_ in OPS
        ],
        arrays=[{"name": name, "base": 256 * i, "bytes": 4096, "element_bytes": 4} for i, name in enumerate(ARRAYS)],
    )


def about() -> dict:
    gpu = {
        "name": "tesla-c2050",
        "compute_capability": "2.0",
        "sm": {"clock_mhz": 1150.0},
        "l1": {"hit_latency_cycles": 104},
        "l2": {
            "enabled": True,
            "hit_latency_cycles": 288,
            "size_bytes": 4 << 20,
            "ways": 16,
            "max_dirty_ways": None,
            "slices": 6,
            "sector_cycles": 1,
            "clock_mhz": None,
        },
    }
    trace = {"digest": "ab" * 32, "kernel": "spmv", "source": FILE, "parameters": {"rows": 86016}}
    trace |= {"grid": [336, 1, 1], "block": [256, 1, 1], "blocks": 336, "wave_blocks": 84}
    return {
        "gpu": gpu,
        "gpu_provenance": {},
        "seed": 7,
        "versions": {"memsim": "0.1.0"},
        "trace": trace,
        "created": "2026-01-01T00:00:00+00:00",
    }


def _fill(counters: np.ndarray, rng: np.random.Generator, kind: str, outcomes: np.ndarray, l2_hit: float) -> None:
    """Counters [levels, events, units] of one op: L1 as given, what missed goes to L2, what missed there to DRAM."""
    missed = TRANSACTIONS
    access = "read" if kind == "load" else "write"
    if kind == "load":
        drawn = rng.multinomial(TRANSACTIONS, rng.dirichlet(outcomes * 2000 + 1e-3))  # sd of about 0.01
        missed = int(drawn[1] + drawn[2])
        for outcome, count in zip(("hit", "miss", "sector_miss", "merge"), drawn.tolist(), strict=True):
            _count(counters[Level.l1, Event[f"read_{outcome}"]], count)
    else:
        _count(counters[Level.l1, Event.write_miss], TRANSACTIONS)
    hits = int(rng.binomial(missed, min(max(l2_hit + rng.normal(0, 0.01), 0), 1)))
    _count(counters[Level.l2, Event[f"{access}_hit"]], hits)
    _count(counters[Level.l2, Event[f"{access}_miss"]], missed - hits)
    counters[Level.dram, Event[f"{access}_miss"]] = 4 * (missed - hits)


def _count(units: np.ndarray, transactions: int) -> None:
    units[CountUnit.transactions], units[CountUnit.sectors] = transactions, 4 * transactions
