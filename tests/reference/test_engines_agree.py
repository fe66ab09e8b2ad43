"""The compiled engine equals the reference model in everything that they count, on random machines and traces."""

from __future__ import annotations

from dataclasses import replace

import machines
import numpy as np
import pytest
from budget import drawn
from engines import assert_equal, both, reference
from hypothesis import given
from hypothesis import strategies as st

from memsim.hierarchy.initial_l2 import carry_over_l2
from memsim.hierarchy.system import System


@drawn(150, quick=15)
@given(st.data())
def test_engines_agree_on_random_machines_and_traces(data):
    gpu = data.draw(machines.machines())
    tx = data.draw(machines.traces(gpu))
    resident, seed = data.draw(st.integers(1, 3)), data.draw(st.integers(0, 9))
    assert_equal(*both(tx, gpu, resident, seed))


CHOICES = {
    "any": lambda gpu: True,
    "partitions": lambda gpu: gpu.l2.partitions == 2,
    "inclusive": lambda gpu: gpu.l2.inclusion == "inclusive",
}


@pytest.mark.parametrize("kind", CHOICES)
@drawn(40, quick=4)
@given(data=st.data())
def test_engines_agree_on_a_launch_after_another(kind, data):
    """The second launch finds the L2 that the first has left."""
    gpu = data.draw(machines.machines().filter(CHOICES[kind]))
    one, two = data.draw(machines.traces(gpu)), data.draw(machines.traces(gpu))
    address = max(one.line_address, two.line_address, key=len)  # lines have the same numbers in both
    resident = data.draw(st.integers(1, 3))
    system = model = None
    for seed, tx in enumerate(replace(tx, line_address=address) for tx in (one, two)):
        before, system = system, System(tx, gpu, resident, np.random.SeedSequence(seed), commands=1 << 14)
        if before:
            carry_over_l2(before.machine, system.machine)
        trial = system.run()
        model = reference(tx, gpu, system.resident, seed, model)
        assert_equal(system, trial, model)


@pytest.mark.parametrize("wavefronts", [1, 20, 100, 5000])
def test_wavefronts_overlap_the_wait_for_l2(wavefronts):
    """One load misses two lines, the second when its only MSHR is free: wavefronts that outlast both decide."""
    gpu = machines.gpu(l1__mshrs=1)

    def latency(wavefronts: int) -> int:
        tx = machines.trace([[[machines.instruction([(0, 1), (1, 1)], wavefronts=wavefronts)]]])
        system, trial, model = both(tx, gpu, 1, 0)
        assert_equal(system, trial, model)
        return int(trial.instruction_latency_sum.sum())

    assert latency(wavefronts) == max(latency(0), wavefronts - 1)
