"""The study of Torres et al., HPCS 2011: its kernels and its arithmetic against laws and printed figures."""

from __future__ import annotations

import math

import pytest

from experiments.torres2011.cells import MISSES, MULTIPLY, SHAPES, published
from experiments.torres2011.kernels import N
from experiments.torres2011.predict import Job, Size, predict
from experiments.torres2011.shape_claims import LINES, requested_lines

CLOCK, SMS = 1.401e6, 15  # cycles a millisecond


@pytest.mark.slow
def test_sum_requests_lines_of_papers_table():
    """Table III(b), of blocks of 32 columns or more; it takes the blocks that an SM holds together."""
    wide = {shape: lines for shape, lines in published(LINES).items() if shape[1] > 32 and math.prod(shape) > 32}
    assert len(wide) == 15
    assert {shape: requested_lines(shape) for shape in wide} == wide


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
