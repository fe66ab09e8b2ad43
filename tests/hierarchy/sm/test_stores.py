"""What a store waits for, and what it leaves in L1."""

import machines
import numpy as np
import pytest
from machines import instruction

import memsim
from memsim.hierarchy.counters import CountUnit, Event, Level
from memsim.hierarchy.system import System
from memsim.trace.schema import OpKind


def test_saxpy_stores_to_sectors_that_its_loads_brought():
    """y is read before it is written, so a V100's L2 has every sector when the store comes."""
    trace = memsim.trace("saxpy", n=1 << 14)
    result = memsim.simulate(trace, gpu="tesla-v100", trials=2)
    assert result.l2_write.mean == 1.0


@pytest.mark.parametrize(
    ("policy", "reads", "writes"),
    [
        ("write_through", Event.read_miss, Event.write_miss),  # nothing is there but what loads brought
        ("write_evict", Event.read_miss, Event.write_miss),
        ("write_allocate", Event.read_hit, Event.write_hit),
        ("write_back", Event.read_hit, Event.write_hit),
    ],
)
def test_what_a_store_leaves_in_l1(policy, reads, writes):
    store = instruction([(0, 15)], OpKind.store)
    system = System(
        machines.one_warp(store, store, instruction([(0, 15)])),
        machines.gpu(l1__write_policy=policy), 1, np.random.SeedSequence(0),
    )  # fmt: skip
    l1 = system.run().counters[:, Level.l1, :, CountUnit.sectors].sum(axis=0)
    assert l1[reads] == 4 and l1[writes] == (8 if writes == Event.write_miss else 4)
    below = system.machine.counters[Level.l2, :, Event.write_miss, CountUnit.sectors].sum()
    assert below == (0 if policy == "write_back" else 4)
