"""Blocks become work items: every instruction once, whole sequences, warps of a block in step with its barriers."""

from __future__ import annotations

import machines
import numpy as np
import pytest
from budget import drawn
from hypothesis import given
from hypothesis import strategies as st
from machines import instruction

from memsim.hierarchy.sm.blocks import work_items
from memsim.hierarchy.system import System
from memsim.trace.schema import Flag


@pytest.mark.slow
@drawn(100)
@given(st.data())
def test_items_cover_instructions_once_and_agree_on_barriers(data):
    tx = machines.without_mbarriers(data.draw(machines.traces(machines.gpu())))
    n = len(tx.first_warp) - 1
    started = data.draw(st.integers(1, n))
    phases = np.array(data.draw(st.lists(st.floats(0, 1, exclude_max=True), min_size=started, max_size=started)))
    first, end, block = work_items(tx, started, phases)
    replayed = np.concatenate([np.arange(a, b) for a, b in zip(first.ravel(), end.ravel(), strict=True)])
    assert sorted(replayed.tolist()) == list(range(len(tx.instructions)))
    assert sorted(block.tolist()) == sorted([*range(n), *range(started)])
    flags = tx.instructions["flags"]
    for item in range(len(first)):
        b, whole = block[item], len(first[item]) == int(np.diff(tx.first_warp)[block[item]])
        barriers = {
            int(((flags[a:z] & Flag.barrier) != 0).sum())
            for k, (a, z) in enumerate(zip(first[item], end[item], strict=True))
            if whole or tx.first_warp[b] + k < tx.first_warp[b + 1]
        }
        assert len(barriers) == 1, "warps of one item pass the same number of barriers"
    for k in np.flatnonzero(tx.divergences["reconvergence"]):
        cuts = first[(first > k) & (first < k + int(tx.divergences["reconvergence"][k]))]
        assert not len(cuts), "no item begins or ends where a warp is divergent"


@drawn(50)
@given(st.floats(0, 1, exclude_max=True), st.lists(st.booleans(), min_size=1, max_size=20))
def test_phase_cuts_at_start_of_sequence(phase, starts):
    tx = machines.one_warp(*(instruction([(0, 1)], sequence=start) for start in starts))
    first, end, _ = work_items(tx, 1, np.array([phase]))
    assert first[0, 0] == end[1, 0] and (first[0, 0] == 0 or starts[first[0, 0]])
    before = int(phase * len(starts))
    assert first[0, 0] == max([i for i in range(before + 1) if i < len(starts) and starts[i]], default=0)


def test_no_phase_cuts_where_lanes_are_parted():
    rows = [instruction([(0, 1)]) for _ in range(10)]
    rows[3]["divergence"] = 2, 5
    tx = machines.one_warp(*rows)
    cuts = [int(work_items(tx, 1, np.array([k / 10]))[0][0, 0]) for k in range(10)]
    assert cuts == [0, 1, 2, 3, 3, 3, 3, 3, 8, 9]


def test_without_phases_blocks_are_items_in_order():
    tx = machines.trace([[[instruction([(0, 1)])]] * 2, [[instruction([(0, 1)])] * 3]])
    first, end, block = work_items(tx, 1, None)
    assert block.tolist() == [0, 1] and first.tolist() == [[0, 1], [2, 5]] and end.tolist() == [[1, 2], [5, 5]]


def test_blocks_fill_sms_breadth_first_then_free_slots():
    """Three one-warp blocks on two SMs with one slot: the short one's SM takes the third, launch_cycles later."""
    gpu = machines.gpu(sm__count=2, sm__launch_cycles=50)
    short, long = [instruction(compute_run=1)], [instruction(compute_run=100)]
    tx = machines.trace([[long], [short], [[instruction([(0, 1)], op=1)]]])
    system = System(tx, gpu, 1, np.random.SeedSequence(0))
    trial = system.run()
    ended = system.machine.sms.sms["end"]
    assert ended[0] == 100 * gpu.sm.instruction_cycles
    latency = int(trial.latency_sum[1])
    assert ended[1] == gpu.sm.instruction_cycles + gpu.sm.launch_cycles + latency
