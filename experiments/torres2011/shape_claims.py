"""What the paper says of shapes besides times: lines that they request (table III(b)), occupancy, and the best ones.

That shapes with as many threads have the same occupancy, and the same time in the random copy, holds by construction:
occupancy depends on the number of threads, and one shape stands for all of its size.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import memsim
from experiments.harness.study import AtMost, Claim, Points, Within
from experiments.torres2011.cells import ADD, MULTIPLY, RANDOM, SHAPES, Cells, Shape, published
from experiments.torres2011.kernels import matrix_sum
from experiments.torres2011.predict import GPU, resident
from memsim.gpu.occupancy import resident_blocks
from memsim.gpu.presets import load_gpu
from memsim.trace.coalesce import coalesce

LINES = "t3b_lines"
BEST: tuple[Shape, ...] = ((2, 128), (2, 256))  # of the product, section VI.D
FEWEST_REGISTERS = 1
SOURCE = "Torres et al., HPCS 2011"


def requested_lines(shape: Shape) -> int:
    """Lines that one block of the sum requests, times the blocks that an SM holds together."""
    gpu = load_gpu(GPU)
    with TemporaryDirectory() as folder:
        trace = memsim.trace(
            matrix_sum, out=Path(folder, "block.h5"), gpu=gpu, blocks="0:1", rows=shape[0], columns=shape[1]
        )
        return len(np.asarray(coalesce(trace, gpu).lines)) * resident(ADD, shape)


def claims(product: Cells, copy: Cells, copy_without_l1: Cells, quick: bool) -> Iterator[Claim]:
    """One claim per statement; quick: lines of the shapes that were simulated alone."""
    asked = [shape for shape in published(LINES) if not quick or shape in product]
    equal = sum(requested_lines(shape) == published(LINES)[shape] for shape in asked)
    yield Claim("sum: shapes whose requested lines are those printed", len(asked), equal,
                source=f"{SOURCE}, table III(b)", aim=Points(0))  # fmt: skip
    yield from _occupancy()
    for shape in BEST:
        if shape in product:
            theirs, ours = (cells[shape] / min(cells.values()) for cells in (published(MULTIPLY), product))
            yield Claim(f"product: time of {shape[0]} x {shape[1]} over that of the best shape", theirs, ours, unit="x",
                        source=f"{SOURCE}, table IV(a)", aim=Within(0.02))  # fmt: skip
    slowest = max(copy_without_l1[shape] / ms for shape, ms in copy.items())
    yield Claim("random copy: time without L1 over that with it, at its worst shape", np.nan, slowest, unit="x",
                source=f"{SOURCE}, section VI.B: faster", aim=AtMost(1))  # fmt: skip


def _occupancy() -> Iterator[Claim]:
    for shape, blocks in (((8, 8), 8), ((16, 16), 6)):
        yield Claim(f"sum: blocks of {shape[0]} x {shape[1]} that an SM holds", blocks, resident(ADD, shape),
                    source=f"{SOURCE}, section IV.A", aim=Points(0))  # fmt: skip
    most = {shape: resident_blocks(load_gpu(GPU), prod(shape), FEWEST_REGISTERS, 0) for shape in SHAPES}
    less = sum(resident(table, shape) < most[shape] for table in (ADD, MULTIPLY) for shape in SHAPES)
    yield Claim("sum, product: shapes whose occupancy is below that of any kernel", 0, less,
                source=f"{SOURCE}, section VI.A, figure 1", aim=Points(0))  # fmt: skip
    fit = sum(resident(RANDOM, shape) > 0 for shape in SHAPES if prod(shape) == 1024)
    yield Claim("random copy: shapes of 1,024 threads that fit an SM", 0, fit,
                source=f"{SOURCE}, section VI.A, figure 1", aim=Points(0))  # fmt: skip
