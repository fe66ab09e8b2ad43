"""How long the issue of instructions, and of a barrier, takes where it alone decides."""

from __future__ import annotations

import machines
import numpy as np
from machines import instruction

from memsim.hierarchy.system import System


def cycles(warp: list[dict], warps: int, **changes) -> int:
    gpu = machines.gpu(**changes)
    return System(machines.trace([[warp] * warps]), gpu, 1, np.random.SeedSequence(0)).run().cycles


def test_one_port_issues_instruction_every_so_many_cycles():
    """Ten warps of a hundred instructions, in a trace that accesses nothing."""
    for issue, expected in ((1, 1000), (4, 4000)):
        assert cycles([instruction(compute_run=100)], 10, sm__issue_cycles=issue) == expected


def test_memory_instructions_take_issue_slots_where_they_do():
    """Ten warps, each alternates between an instruction and an access that hits L1 or is to shared memory."""
    warp = [instruction(slots=1, compute_run=1) for _ in range(100)]
    off, on = (
        cycles(warp, 10, sm__issue_cycles=4, sm__memory_issue=whether, sm__shared_latency_cycles=1)
        for whether in (False, True)
    )
    assert 4000 <= off < 4000 * 1.05 and 8000 <= on < 8000 * 1.05


def test_address_unit_takes_access_every_so_many_cycles():
    """Accesses to shared memory: 100 of each of four warps, by their schedulers' units or by the SM's one."""
    warp = [instruction(slots=1, sequence=False) for _ in range(100)]
    four = dict(sm__memory_issue=True, sm__schedulers=4, sm__issue_per_cycle=4, sm__shared_latency_cycles=1)
    assert 396 <= cycles(warp, 1, sm__address_cycles=4, **four) <= 404
    assert (
        400 <= cycles(warp, 4, sm__address_cycles=4, **four) <= 408
    )  # a unit each; the load-store unit takes 1 a cycle
    assert 800 <= cycles(warp, 8, sm__address_cycles=4, **four) <= 816
    assert cycles(warp, 1, **four) < 110


def test_access_without_lanes_takes_turn_where_configured():
    """Eight warps, two a scheduler, whose 100 accesses are all off: four cycles each of their scheduler's unit."""
    warp = [instruction(masked=True, sequence=False) for _ in range(100)]
    four = dict(sm__memory_issue=True, sm__schedulers=4, sm__issue_per_cycle=4, sm__address_cycles=4)
    assert 796 <= cycles(warp, 8, sm__masked_issue=True, **four) <= 804
    assert cycles(warp, 8, **four) < 10


def test_barrier_takes_turn_of_address_unit_where_configured():
    """Warps that share a scheduler by twos or fours: their access and barrier take eight cycles each a round."""
    warp = [instruction(slots=1, sequence=False), instruction(compute_run=1, barrier=True)]
    sm = dict(sm__memory_issue=True, sm__schedulers=4, sm__issue_per_cycle=4, sm__address_cycles=4)
    for sharing in (2, 4):
        off, on = (
            cycles(warp * 50, 4 * sharing, sm__queued_barriers=queued, sm__shared_latency_cycles=1, **sm)
            for queued in (False, True)
        )
        assert off < 50 * 7 * sharing < 50 * 8 * sharing - 8 < on <= 50 * 8 * sharing + 8


def test_address_unit_waits_for_no_other_warps_gap():
    """Two warps of a scheduler: one computes for 4,000 cycles before its access, the other accesses all the time."""
    long, short = [instruction(slots=1, compute_run=1000)], [instruction(slots=1, sequence=False)] * 100
    sm = dict(sm__memory_issue=True, sm__schedulers=1, sm__instruction_cycles=4, sm__address_cycles=4)
    both = System(machines.trace([[long, short]]), machines.gpu(**sm), 1, np.random.SeedSequence(0)).run().cycles
    assert both < 4000 + 100


def test_constants_have_own_unit_where_configured():
    """Warps that access shared memory in two passes and a constant by turns: the two units work side by side."""
    both = [
        [instruction(slots=2, sequence=False), instruction(slots=1, sequence=False, constant=own)] for own in (0, 1)
    ]
    own = dict(sm__shared_latency_cycles=1, sm__constant_cycles=1)
    one, two = (cycles(turn * 100, 4, **own) for turn in both)
    assert 1200 <= one <= 1212 and 800 <= two <= 812
    assert 2400 <= cycles([instruction(slots=3, constant=True)] * 100, 4, **own | dict(sm__constant_cycles=2)) <= 2412


def test_a_barrier_takes_arrivals_one_after_the_other():
    """Eight warps arrive ten times: the last one is taken 7 turns after the first, and 5 cycles later all go on."""
    warp = [instruction(barrier=True) for _ in range(10)]
    assert cycles(warp, 8, sm__barrier_cycles=5) == 10 * 5
    assert cycles(warp, 8, sm__barrier_cycles=5, sm__arrival_cycles=2) == 10 * (7 * 2 + 5)
    assert cycles(warp, 1, sm__barrier_cycles=5, sm__arrival_cycles=2) == 10 * 5
