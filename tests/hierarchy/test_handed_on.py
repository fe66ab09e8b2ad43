"""Two launches one after the other, the second with the L2 that the first left, against the oracle."""

from __future__ import annotations

from dataclasses import replace

import machines
import numpy as np
import pytest
from budget import drawn
from hypothesis import given
from hypothesis import strategies as st
from oracles.hierarchy import World
from test_hierarchy_oracle import assert_equal

from memsim.hierarchy.handed_on import hand_on
from memsim.hierarchy.system import System

CHOICES = {
    "any": lambda gpu: True,
    "partitions": lambda gpu: gpu.l2.partitions == 2,
    "inclusive": lambda gpu: gpu.l2.inclusion == "inclusive",
}


@pytest.mark.parametrize("kind", CHOICES)
@drawn(40, quick=4)
@given(data=st.data())
def test_a_launch_after_another_is_as_in_the_oracle(kind, data):
    gpu = data.draw(machines.machines().filter(CHOICES[kind]))
    one, two = data.draw(machines.traces(gpu)), data.draw(machines.traces(gpu))
    address = max(one.line_address, two.line_address, key=len)  # lines have the same numbers in both
    resident = data.draw(st.integers(1, 3))
    system = oracle = None
    for seed, tx in enumerate(replace(tx, line_address=address) for tx in (one, two)):
        before, system = system, System(tx, gpu, resident, np.random.SeedSequence(seed), commands=1 << 14)
        if before:
            hand_on(before.machine, system.machine)
        trial = system.run()
        oracle = World(tx, gpu, system.resident, *machines.drawn(tx, gpu, system.resident, seed), oracle).run()
        assert_equal(system, trial, oracle)
