"""The launches: what hardware counted, which description predicts it, and how the program itself is captured."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

MEASURED = Path(__file__).with_name("measured.csv")


@dataclass(frozen=True)
class Row:
    """One launch of ``measured.csv``.

    Attributes:
        kernel: its name there.
        workload, parameters: of the library, with the sizes of the measured run.
        quick: whether it is traced and replayed within two seconds or so.
    """

    kernel: str
    workload: str
    parameters: Mapping[str, object] = field(default_factory=dict)
    quick: bool = False


ROWS = (
    Row("gramschmidt_kernel1", "gram_schmidt", dict(n=2048), quick=True),
    Row("Convolution2D_kernel", "conv2d", dict(n=4096)),
    Row("atax_kernel1", "atax", dict(rows=4096, columns=4096, variant="rows")),
    Row("atax_kernel2", "atax", dict(rows=4096, columns=4096, variant="columns")),
    Row("calculate_temp", "hotspot", dict(n=512), quick=True),
    Row("dynproc_kernel", "pathfinder", quick=True),
    Row("Fan1", "gaussian", dict(n=1024, variant="multipliers"), quick=True),
    Row("Fan2", "gaussian", dict(n=1024, step=1), quick=True),
    Row("lud_diagonal", "lud", dict(n=2048, variant="diagonal"), quick=True),
    Row("lud_perimeter", "lud", dict(n=2048, variant="perimeter"), quick=True),
    Row("lud_internal", "lud", dict(n=2048)),
    Row("Kernel", "bfs", dict(n=1_000_000), quick=True),
)


@dataclass(frozen=True)
class Counters:
    """What hardware or memsim counted of a launch.

    Attributes:
        l1, l1_load: hit ratio of loads and stores in sectors, and of loads alone, 0 to 1.
        l2: hit ratio of reads and stores in sectors; every store hits.
        read_requests, write_requests: instructions of warps that access global memory.
        read_sectors, write_sectors: of 32 bytes, that they touch.
        l2_reads: sectors that L1s asked for.
        dram_sectors: read and written.
        cycles: elapsed.
    """

    l1: float
    l1_load: float
    l2: float
    read_requests: float
    write_requests: float
    read_sectors: float
    write_sectors: float
    l2_reads: float
    dram_sectors: float
    cycles: float


def measured() -> dict[str, Counters]:
    """The hardware's counters by kernel.

    >>> round(measured()["lud_perimeter"].l1, 4)
    0.4674
    """
    with MEASURED.open(encoding="utf-8", newline="") as lines:
        return {row["kernel"]: _counters(row) for row in csv.DictReader(lines)}


def _counters(row: Mapping[str, str]) -> Counters:
    ratios = {name: float(row[f"{name}_hit_pct"]) / 100 for name in ("l1", "l1_load", "l2")}
    requests = {f"{kind}_{unit}": float(row[f"l1_{kind}_{unit}"]) for kind in ("read", "write")
                for unit in ("requests", "sectors")}  # fmt: skip
    rest = {name: float(row[name]) for name in ("l2_reads", "dram_sectors", "cycles")}
    return Counters(**ratios, **requests, **rest)
