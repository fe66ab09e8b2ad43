"""When blocks ran, and how many were done: by hand, and the same for every cut of time into windows."""

from __future__ import annotations

import machines
import numpy as np
import pytest

from memsim.hierarchy.block_times import BlockTimes
from memsim.hierarchy.sm.state import FREED
from memsim.hierarchy.system import System

FREED_FIELDS = ("time", "sm", "block")


def _freed(*rows):
    freed = np.zeros(len(rows), FREED)
    for name, column in zip(FREED_FIELDS, zip(*rows, strict=True), strict=True):
        freed[name] = column
    return freed


def _two_slots(items, block=None):
    """Items of one instruction each on two SMs of one slot; a block starts 10 cycles after the one before."""
    first = np.zeros((items, 1), int)
    return BlockTimes(first, first + 1, np.arange(items) if block is None else np.array(block), (2, 1), 10, 100)


def test_three_blocks_by_hand():
    """Two start at 100, the first ends at 180 and the second at 260; the third runs from 190 to 390: full until 160."""
    times = _two_slots(3)
    times.take(_freed((180, 0, 0)), 1)
    times.take(_freed((260, 1, 0), (390, 0, 0)), 0)
    assert times.start.tolist() == [100, 100, 190] and times.end.tolist() == [180, 260, 390]
    assert times.full_until == 160
    assert times.done[8] == pytest.approx(1 + 1 + 70 / 200)
    assert times.done[4] == pytest.approx(1 + 80 / 160)  # at 180


def test_parts_of_split_block_are_one_block():
    times = _two_slots(4, block=[0, 1, 0, 1])
    times.take(_freed((200, 0, 0), (200, 1, 0)), 2)
    times.take(_freed((310, 0, 0), (310, 1, 0)), 0)
    assert times.full_until == 210 and times.done[8] == pytest.approx(2.0)


def test_unused_slots_are_empty_from_start():
    times = _two_slots(1)
    times.take(_freed((150, 0, 0)), 0)
    assert times.full_until == 0 and not times.done.any()


@pytest.mark.parametrize("quantum", [1, 7, None])
def test_no_quantum_changes_the_result(quantum):
    gpu = machines.gpu(sm__count=2)
    load = machines.instruction([(0, 1)])
    tx = machines.trace([[[load] * count] for count in (1, 4, 2, 3, 1, 2)])

    def time_with(cut):
        trial = System(tx, gpu, 1, np.random.SeedSequence(0), quantum=cut).run()
        return int(trial.full_until), trial.blocks_done.tolist()

    full, done = time_with(quantum)
    assert (full, done) == time_with(None)
    assert full > 0 and done[0] == 0 and done == sorted(done) and done[8] <= 6
