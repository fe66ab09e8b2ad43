"""What all measurements share: SpMV on a Tesla C2050, traced and coalesced once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import memsim
from memsim.gpu.config import GPU
from memsim.hierarchy.execution import Execution
from memsim.montecarlo import shared_stages
from memsim.montecarlo.worker import TrialJob
from memsim.trace.reader import Trace
from memsim.trace.transactions import Transactions


@dataclass(frozen=True)
class Size:
    """How much to measure.

    Attributes:
        rows, nnz_per_row: of the sparse matrix.
        trials: of a replay.
        repeats: of quick things.
        runs: of whole programs.
        captured: blocks of saxpy captured.
        imported: blocks of saxpy imported.
        n: rows of the dense matrices whose product is imported.
        growth: trials of each of the traces that grow, by blocks.
    """

    rows: int
    nnz_per_row: int
    trials: int
    repeats: int
    runs: int
    captured: int
    imported: int
    n: int
    growth: Mapping[str, int]

    @property
    def parameters(self) -> dict[str, object]:
        return {"rows": self.rows, "nnz_per_row": self.nnz_per_row}


# The sparse matrix is that of Baghsorkhi 2012, section 5.3.
FULL = Size(
    rows=86_016, nnz_per_row=51, trials=3, repeats=5, runs=3, captured=100_000, imported=40_000, n=256,
    growth={960: 5, 9_600: 2, 96_000: 1},
)  # fmt: skip
QUICK = Size(
    rows=4_096, nnz_per_row=8, trials=2, repeats=2, runs=1, captured=1_000, imported=96, n=32, growth={2: 2, 200: 1}
)


@dataclass(frozen=True)
class Prepared:
    """The workload, ready to replay."""

    size: Size
    gpu: GPU
    trace: Trace
    transactions: Transactions
    job: TrialJob


@contextmanager
def prepared(size: Size) -> Iterator[Prepared]:
    """The workload's trace and transactions, in a folder that goes with the block."""
    with TemporaryDirectory(prefix="memsim-bench-") as folder:
        gpu = memsim.load_gpu("tesla-c2050")
        trace = memsim.trace("spmv", out=Path(folder) / "spmv.h5", gpu=gpu, **size.parameters)
        execution, _ = shared_stages.prepared(Execution.of(trace, gpu, folder), trace)
        yield Prepared(size, gpu, trace, execution.transactions, TrialJob(execution, seed=1))
