"""How long the issue of instructions takes, where it alone decides."""

from __future__ import annotations

import machines
import numpy as np
from machines import instruction

from memsim.hierarchy.system import System


def cycles(warp: list[dict], warps: int, **changes) -> int:
    gpu = machines.gpu(**changes)
    return System(machines.trace([[warp] * warps]), gpu, 1, np.random.SeedSequence(0)).run().cycles


def test_one_port_issues_an_instruction_every_so_many_cycles():
    """Ten warps of a hundred instructions, in a trace that accesses nothing."""
    for issue, expected in ((1, 1000), (4, 4000)):
        assert cycles([instruction(gap=100)], 10, sm__issue_cycles=issue) == expected


def test_memory_instructions_take_issue_slots_where_they_do():
    """Ten warps, each alternates between an instruction and an access that hits L1 or is to shared memory."""
    warp = [instruction(slots=1, gap=1) for _ in range(100)]
    off, on = (
        cycles(warp, 10, sm__issue_cycles=4, sm__memory_issue=whether, sm__shared_latency_cycles=1)
        for whether in (False, True)
    )
    assert 4000 <= off < 4000 * 1.05 and 8000 <= on < 8000 * 1.05
