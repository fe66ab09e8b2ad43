"""Blocks that find free slots start one after the other, at the rate that the GPU states."""

from __future__ import annotations

from math import ceil

import machines
import pytest
from engines import both


def _replay(n_blocks: int, block_cycles: float | None, resident: int = 4):
    gpu = machines.gpu(sm__count=2, launch__block_cycles=block_cycles)
    trace = machines.trace([[[machines.instruction([(block, 1)])]] for block in range(n_blocks)])
    _, trial, model = both(trace, gpu, resident, 0)
    assert int(trial.cycles) == model.cycles
    return model


@pytest.mark.parametrize("each", [0.5, 1.0, 40.0, 150.5])
def test_first_blocks_start_one_after_the_other(each):
    starts = [start for start, _ in _replay(8, each).blocks.spans]
    assert starts == [ceil(number * each) for number in range(8)]


def test_slow_blocks_are_not_delayed():
    assert _replay(6, 1e-2, resident=1).cycles == _replay(6, None, resident=1).cycles
