"""The paper's kernels and matrices, and how they are replayed.

Sizes are the paper's where it prints them (section 5.3: SpMV), else those of the suites that its authors took their
kernels from: Parboil's LBM (120 x 120 x 150 cells, rows padded to 128, values sent to the neighbours) and stencil
(512 x 512 x 64), and NVIDIA's Black-Scholes (4,000,000 options) and merge sort (4 Mi keys). A snapshot is that of
section 5.3, four times the threads that fit at once; more where a thread does little, so that L2 is filled often.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import memsim
from memsim.analysis.result import RunResult
from memsim.support import progress

GPU = "tesla-c2050"
SEED = 1
# The paper's caches know no time: what is looked up is there from then on, so a merge counts as a hit.
CONVENTION = "traffic"


@dataclass(frozen=True)
class Kernel:
    """A workload with the parameters of the study."""

    title: str
    workload: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    residencies: float = 4  # the snapshot, in multiples of the threads that fit on the GPU at once

    def but(self, title: str, **changed: Any) -> Kernel:
        """The same with other parameters."""
        return replace(self, title=title, parameters={**self.parameters, **changed})

    def part(self, share: float) -> Kernel:
        """The same with so much of its snapshot."""
        return replace(self, residencies=share * self.residencies)


LBM = Kernel("LBM", "lbm", dict(width=120, height=120, depth=150, block=120, padding=8), 32)
FFT = Kernel("FFT", "fft", dict(n=512, signals=8192, variant="global", span=1), 32)
MERGE = Kernel("merge sort, shared", "merge_sort", dict(n=1 << 22), 32)
DMM = Kernel("DMM", "matmul", dict(n=1024, variant="tiled"))
SPMV = Kernel("SpMV", "spmv", dict(rows=86016, nnz_per_row=51))
KERNELS = (
    DMM,
    SPMV,
    FFT,
    Kernel("Black-Scholes", "black_scholes", dict(n=4_000_000)),
    LBM,
    MERGE.but("merge sort, global", variant="global"),
    MERGE,
    Kernel("stencil", "stencil", dict(n=512, planes=64)),
)
# What the paper does not print: which of several known versions it ran.
VERSIONS = (
    DMM.but("DMM, no tiles", variant="naive"),
    FFT.but("FFT, global, 6th pass", span=32),
    FFT.but("FFT, shared", variant="shared"),
    LBM.but("LBM, pull", order="pull"),
    LBM.but("LBM, 19 values side by side", layout="aos"),
    MERGE.but("merge sort, global, runs of 16 Ki", variant="global", tile=1 << 14),
)
_RANDOM, _BLOCK = dict(structure="random"), dict(structure="block_diagonal")
MATRICES = {  # section 6.2, figure 8
    "u": Kernel("u", "spmv", dict(nnz_per_row=32, **_RANDOM)),
    "b": Kernel("b", "spmv", dict(nnz_per_row=32, **_BLOCK)),
    "U": Kernel("U", "spmv", dict(nnz_per_row=128, **_RANDOM)),
    "B": Kernel("B", "spmv", dict(nnz_per_row=128, **_BLOCK)),
}


def replay(kernel: Kernel, trials: int, jobs: int, settings: Mapping[str, object] | None = None) -> RunResult:
    """Trace a snapshot of a kernel and replay it so many times."""
    trace = memsim.trace(kernel.workload, blocks=f"{kernel.residencies}x", gpu=GPU, **kernel.parameters)
    with progress.bar(f"trials of {kernel.title}") as advance:
        done = 0

        def count(_: object) -> None:
            nonlocal done
            done += 1
            advance(done, trials)

        return memsim.simulate(
            trace,
            GPU,
            trials=trials,
            seed=SEED,
            jobs=jobs,
            settings=settings,
            convention=CONVENTION,
            progress=count,
        )
