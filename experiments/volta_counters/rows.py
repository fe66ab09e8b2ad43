"""The kernels: what hardware counted, and which description with which sizes predicts it."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

MEASURED = Path(__file__).with_name("measured.csv")


@dataclass(frozen=True)
class Row:
    """One kernel of ``measured.csv``.

    Attributes:
        kernel: its name there.
        workload, parameters: of the library, with the sizes of the measured run.
        quick: whether it is traced and replayed within a second or so.
        texture: its loads go through texture, which the counters of L1 loads leave out.
    """

    kernel: str
    workload: str
    parameters: Mapping[str, object] = field(default_factory=dict)
    quick: bool = False
    texture: bool = False


ROWS = (
    Row("findRangeK", "btree", dict(variant="range", queries=6000)),
    Row("findK", "btree"),
    Row("bpnn_layerforward_CUDA", "backprop", quick=True),
    Row("bpnn_adjust_weights_cuda", "backprop", dict(variant="adjust"), quick=True),
    Row("calculate_temp", "hotspot", quick=True),
    Row("kmeansPoint", "kmeans", texture=True),
    Row("srad", "srad"),
    Row("mysgemmNT", "sgemm", dict(k=992)),
    Row("ComputeQ_GPU", "mri_q", dict(voxels=1 << 18, samples=1024)),
    Row("CUDAkernel1DCT", "dct8x8", dict(variant="pixels"), quick=True, texture=True),
    Row("CUDAkernel2DCT", "dct8x8", quick=True),
    Row("fwtBatch2Kernel", "fast_walsh", dict(n=1 << 23, variant="global", stride=1 << 17)),
    Row("fwtBatch1Kernel", "fast_walsh", dict(n=1 << 23)),
    Row("histogram64Kernel", "histogram64", dict(n=1 << 26)),
    Row("mergeSortSharedKernel", "merge_sort", dict(n=1 << 22)),
    Row("mergeElementaryIntervalsKernel", "merge_intervals", dict(n=1 << 22, run=1 << 16)),
    Row("quasirandomGeneratorKernel", "quasirandom"),
    Row("inverseCNDKernel", "quasirandom", dict(variant="normal"), quick=True),
    Row("sobolGPU_kernel", "sobol"),
    Row("wmma_gemm_nn k1", "tensor_gemm", dict(m=2560, n=16, k=2560), quick=True),
    Row("wmma_gemm_nn k2", "tensor_gemm", dict(m=4096, n=128, k=4096)),
    Row("wmma_gemm_nn k3", "tensor_gemm", dict(m=2560, n=512, k=2560)),
    Row("compute_gemm", "tensor_gemm", dict(m=4096, n=4096, k=4096, variant="persistent")),
)


@dataclass(frozen=True)
class Measured:
    """Counters of one kernel, means over its launches; sectors are of 32 bytes.

    Attributes:
        l1_read, l2_read, l1_write: hit ratios, nan where nothing was read or written.
        dram_reads, dram_writes: sectors.
        cycles: of the SMs' clock, elapsed.
    """

    l1_read: float
    l2_read: float
    l1_write: float
    dram_reads: float
    dram_writes: float
    cycles: float


def measured() -> dict[str, Measured]:
    """The hardware's counters by kernel.

    >>> round(measured()["srad"].l2_read, 3)
    0.702
    """
    with MEASURED.open(encoding="utf-8", newline="") as lines:
        return {row["kernel"]: _row(row) for row in csv.DictReader(lines)}


def _row(row: Mapping[str, str]) -> Measured:
    def ratio(kind: str) -> float:
        hits, misses = float(row[f"{kind}_hits"]), float(row[f"{kind}_misses"])
        return hits / (hits + misses) if hits + misses else float("nan")

    ratios = (ratio(kind) for kind in ("l1_read", "l2_read", "l1_write"))
    return Measured(*ratios, *(float(row[name]) for name in ("dram_reads", "dram_writes", "cycles")))
