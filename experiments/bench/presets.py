"""Eight workloads on GPUs of three sizes: what a transaction costs, where, and how long a small kernel's trial takes.

All have the default snapshot of the smallest GPU, so that the same kernel is replayed on each; the sparse product is
that of the whole benchmark. A larger GPU's state does not fit the host's caches: that is what the ratios show.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

import memsim
from experiments.bench.table import Row
from experiments.bench.workload import FULL, Prepared
from memsim.hierarchy.execution import Execution
from memsim.hierarchy.machine import ReusableMachine
from memsim.hierarchy.system import System
from memsim.montecarlo import shared_stages
from memsim.trace.reader import Trace

GPUS = {
    "tesla-c2050": 6,
    "tesla-v100": 5,
    "h100": 4,
}  # the sparse product's transactions per second that must be reached
LARGEST = "h100"
SMALL = ("saxpy", "conv2d", "lbm")  # kernels of thirty thousand transactions
OTHERS = ("matmul", "stencil", "transpose", "histogram")


@dataclass(frozen=True)
class Cost:
    """Of the best of some trials: seconds of all of it and by level, and its transactions."""

    seconds: float
    levels: Mapping[str, float]
    transactions: int

    @property
    def rate(self) -> float:
        """Million transactions per second."""
        return self.transactions / self.seconds / 1e6

    @property
    def by_level(self) -> str:
        """Nanoseconds of a transaction in SMs, slices and channels."""
        levels = (1e9 * self.levels[name] / self.transactions for name in ("sms", "slices", "channels"))
        return " / ".join(f"{nanoseconds:.0f}" for nanoseconds in levels)


def presets(prepared: Prepared) -> list[Row]:
    """Rows of the sparse product by GPU, of the slowest workload, and of small kernels."""
    size = prepared.size
    with TemporaryDirectory(prefix="memsim-bench-") as folder:
        place = Path(folder)
        traces = {
            name: memsim.trace(name, gpu="tesla-c2050", out=place / f"{name}.h5")
            for name in SMALL + OTHERS * (size == FULL)
        }
        traces["spmv"] = prepared.trace
        costs = {
            (name, gpu): cost(trace, gpu, place / f"{name}-{gpu}", size.repeats)
            for name, trace in traces.items()
            for gpu in GPUS
        }
    rows = [_sparse(costs["spmv", gpu], gpu, must) for gpu, must in GPUS.items()]
    return [*rows, _slowest(costs, tuple(traces)), _small(costs)]


def cost(trace: Trace, gpu: str, folder: Path, trials: int) -> Cost:
    """The best of whole trials in one machine, of which the first does not count."""
    execution, _ = shared_stages.prepared(Execution.of(trace, memsim.load_gpu(gpu), folder), trace)
    reusable, costs = ReusableMachine(), []
    for trial in range(1 + trials):
        begin = perf_counter()
        seeds = np.random.SeedSequence(1, spawn_key=(trial,))
        transactions, where = execution.transactions, execution.layout
        system = System(transactions, execution.gpu, execution.resident, seeds, where, reusable=reusable)
        done = system.run(grouping=np.random.default_rng(trial))
        costs.append(Cost(perf_counter() - begin, system.seconds, int(done.transactions)))
        reusable.put(system.machine, transactions, where)
    return min(costs[1:], key=lambda cost: cost.seconds)


def _sparse(cost: Cost, gpu: str, must: float) -> Row:
    how = f"best whole trial of {cost.transactions / 1e6:.2f} M, wall; ns in SMs / slices / channels: {cost.by_level}"
    return Row(f"SpMV replayed on {gpu}", cost.rate, "M/s", must, 10, how, cost.transactions)


def _slowest(costs: Mapping[tuple[str, str], Cost], names: tuple[str, ...]) -> Row:
    """Of each workload, its slowest GPU's rate over its fastest one's."""
    shares, parts = {}, []
    for name in names:
        rates = [costs[name, gpu].rate for gpu in GPUS]
        shares[name] = min(rates) / max(rates)
        parts.append(f"{name} {', '.join(f'{rate:.1f}' for rate in rates)}")
    how = f"M/s on {', '.join(GPUS)}: {'; '.join(parts)}"
    what = "slowest workload's slowest GPU over its fastest"
    return Row(what, min(shares.values()), "x", 0.5, 0.67, how, len(names))


def _small(costs: Mapping[tuple[str, str], Cost]) -> Row:
    """The slowest of the small kernels on the largest GPU."""
    found = {name: costs[name, LARGEST] for name in SMALL}
    parts = (f"{name} {1e3 * cost.seconds:.0f} ({1e3 * sum(cost.levels.values()):.0f})" for name, cost in found.items())
    how = f"whole trials, ms (inside compiled loops), of {SMALL[0]} and the like, 0.03 M: {', '.join(parts)}"
    slowest = max(cost.seconds for cost in found.values())
    return Row(f"a small kernel's trial on {LARGEST}", 1e3 * slowest, "ms", 15, 5, how, len(SMALL), less_is_better=True)
