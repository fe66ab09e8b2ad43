"""The two paths of a branch at once: times worked out by hand, and what does not change."""

import machines
import numpy as np
import pytest
from budget import drawn
from hypothesis import given
from hypothesis import strategies as st
from machines import instruction

from memsim.hierarchy.system import System
from memsim.trace.schema import NO_WAIT

NONE = NO_WAIT, NO_WAIT, NO_WAIT
SHORT = NO_WAIT, 0, NO_WAIT
LATENCY = 20  # of shared memory, in machines.BASE


def cycles(tx, warps=1, **changes):
    gpu = machines.gpu(**{"sm__dependence": "scoreboard", **changes})
    return int(System(tx, gpu, warps, np.random.SeedSequence(0)).run().cycles)


def step(waits=SHORT, compute_run=0):
    """A load of shared memory, whose address the one before it brings."""
    return instruction(slots=1, sequence=False, waits=waits, compute_run=compute_run)


def work(count, off_path=None, waits=NONE):
    return instruction(
        compute_run=count,
        off_path=count if off_path is None else off_path,
        sequence=False,
        waits=waits,
    )


def branch(first, second, before=(), after=()):
    """A warp's rows with a branch of two paths."""
    first = [dict(row) for row in first]
    first[0]["divergence"] = len(first), len(first) + len(second)
    return machines.one_warp(*before, *first, *second, *after)


@pytest.mark.parametrize("steps", [1, 5, 40])
def test_two_paths_of_dependent_loads_overlap(steps):
    """A step is a pass and the latency; the second path's first pass comes after the first one's."""
    path = [step() for _ in range(steps)]
    alone = cycles(machines.one_warp(*path))
    assert alone == steps * LATENCY
    assert cycles(branch(path, path)) == alone + 1
    assert cycles(machines.in_turn(branch(path, path))) == 2 * alone


def test_the_longer_side_decides():
    """A step of it waits for the other's pass at most, once."""
    for paths in ([20, 3], [3, 20]):
        assert 0 <= cycles(branch(*([step()] * steps for steps in paths))) - 20 * LATENCY <= 1


def test_chains_overlap_and_issue_slots_do_not():
    """A scheduler issues an instruction a cycle, of whichever path; four cycles lie between dependent ones."""
    chain, many = [work(100, off_path=0)], [work(400)]
    assert cycles(branch(chain, chain)) <= 100 * 4 + 100
    assert cycles(machines.in_turn(branch(chain, chain))) == 2 * 100 * 4
    assert cycles(branch(many, many)) == cycles(machines.in_turn(branch(many, many))) == 800


def test_both_paths_have_the_warps_scheduler():
    """With a port for each of three schedulers, the second path does not get another one's."""
    three = dict(sm__schedulers=3, sm__issue_per_cycle=3)
    assert cycles(branch([work(400)], [work(400)]), **three) == 800


def test_lanes_meet_when_both_paths_have_ended():
    path = [step() for _ in range(5)]
    after = [work(300, waits=SHORT)]
    assert cycles(branch(path, path, after=after)) == 5 * LATENCY + 1 + 300
    assert cycles(branch(path, path, before=after, after=after)) == 300 + 5 * LATENCY + 1 + 300


def test_barrier_waits_for_warp_with_both_its_paths():
    barrier = instruction(barrier=True)
    diverged = [step() for _ in range(20)]
    diverged[0] = diverged[0] | {"divergence": (10, 20)}
    together = machines.trace([[[*diverged, barrier, work(100)], [barrier]]])
    alone = machines.trace([[[*diverged, barrier, work(100)]]])
    assert cycles(together) == cycles(alone)


def test_branches_and_blocks_run_in_order():
    path = [step() for _ in range(4)]
    diverged = [*({**path[0], "divergence": (4, 8)}, *path[1:]), *path]
    one = cycles(machines.one_warp(*diverged))
    assert cycles(machines.one_warp(*diverged, *diverged, *diverged)) == 3 * one
    blocks = machines.trace([[diverged], [diverged]])
    assert cycles(blocks) == 2 * one + 100  # sm.launch_cycles between them


def test_by_sequence_paths_are_in_turn():
    tx = branch([step()] * 5, [step()] * 5)
    tx.instructions["flags"] = 1
    assert cycles(tx, sm__dependence="sequence") == cycles(machines.in_turn(tx), sm__dependence="sequence")


@drawn(20)
@given(st.data())
def test_the_same_is_issued_either_way(data):
    """What goes to memory does not depend on whether paths take turns: transactions, and who asks for how many."""
    gpu = data.draw(machines.machines())
    tx = data.draw(machines.traces(gpu))
    apart, turn = (System(one, gpu, 2, np.random.SeedSequence(1)).run() for one in (tx, machines.in_turn(tx)))
    assert apart.transactions == turn.transactions
    assert apart.latency_count.tolist() == turn.latency_count.tolist()
