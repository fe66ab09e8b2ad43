"""The study of Torres et al., HPCS 2011: its kernels and its arithmetic against laws and printed figures."""

from __future__ import annotations

import math

import numpy as np
import pytest

import memsim
from experiments.torres2011.cells import MISSES, MULTIPLY, SHAPES, published
from experiments.torres2011.kernels import N, matrix_sum
from experiments.torres2011.predict import GPU, Job, Size, predict
from memsim.gpu.occupancy import resident_blocks
from memsim.gpu.presets import load_gpu
from memsim.trace.coalesce import coalesce

CLOCK, SMS = 1.401e6, 15  # cycles a millisecond


@pytest.mark.slow
def test_sum_requests_lines_of_papers_table(tmp_path):
    """Table III(b), of blocks of 32 columns or more; it takes the blocks that an SM holds together."""
    gpu = load_gpu(GPU)
    wide = {shape: lines for shape, lines in published("t3b_lines").items() if shape[1] > 32 and math.prod(shape) > 32}
    assert len(wide) == 15
    for (rows, columns), lines in wide.items():
        trace = memsim.trace(
            matrix_sum, out=tmp_path / f"{rows}x{columns}.h5", gpu=gpu, blocks="0:1", rows=rows, columns=columns
        )
        requested = len(np.asarray(coalesce(trace, gpu).lines))
        assert requested * resident_blocks(gpu, rows * columns, 12, 0) == lines


def test_every_launchable_shape_is_predicted():
    assert len(SHAPES) == len(set(SHAPES)) == 66
    assert all(rows * columns <= 1024 and N % rows == N % columns == 0 for rows, columns in SHAPES)
    assert {shape for table in (MULTIPLY, MISSES) for shape in published(table)} <= set(SHAPES)


@pytest.mark.slow
def test_the_product_follows_reuse_and_latency():
    """Two rows of 512: each line of B once for both, each of A once in 32 steps. 1 x 4: one memory latency a step."""
    size = Size((32, 96), 0, 0, 1)
    wide, narrow = predict([Job(MULTIPLY, shape, "16 KB", size) for shape in ((2, 512), (1, 4))], workers=1)
    steps = N**3 / 1024 / SMS / 1e6  # steps of one SM's blocks, millions
    assert steps * (16 + 2 / 32) <= wide.misses[0] <= 1.03 * steps * (16 + 2 / 32)
    assert wide.misses[0] == pytest.approx(published(MISSES)[2, 512], rel=0.03)
    cycles = narrow.ms[0] * CLOCK / (N * N / 4 / (SMS * 8) * N)
    assert cycles == pytest.approx(627, rel=0.02)
