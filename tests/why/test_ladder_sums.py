"""Every step of a ladder computes the same."""

from __future__ import annotations

import ladders
import numpy as np
import pytest
from slow_and_fast import BLOCK

from memsim.sources.describe import Recorder


@pytest.mark.parametrize("step", [0, 1, 2, 3, 4, 6, 7])
def test_reduction_is_sum_of_its_blocks_numbers(step):
    numbers, blocks = BLOCK * ladders.EACH.get(step, 1), 4
    launch = ladders.reduction.build(dict(n=numbers * blocks, step=step))
    launch.arguments["x"][:] = np.random.default_rng(step).integers(0, 100, numbers * blocks)
    Recorder(ladders.reduction, launch).run(np.arange(blocks))
    assert (launch.arguments["sums"] == launch.arguments["x"].reshape(blocks, numbers).sum(axis=1)).all()
