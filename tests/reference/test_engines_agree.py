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

from memsim.hierarchy.system import System
from memsim.trace.schema import GROUP, MIX, NO_SCOREBOARD, NO_WAIT, PRODUCT


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
            system.machine.carry_over_l2(before.machine)
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


def _product_row(kind: int, left: int, compute_run: int) -> dict:
    """A product of a warp group, one that ends a group, a load, or instructions; it may wait for groups."""
    if kind == LOAD:
        return machines.instruction([(left, 1)], sequence=False, control=(0, 0, 1, 0, left))
    result = kind if kind in (PRODUCT, GROUP) else 0
    control = (NO_SCOREBOARD, int(kind == WAIT), 0, result, NO_WAIT if kind in (PRODUCT, GROUP) else left)
    run = dict(compute_run=1 if result else compute_run, off_path=0, instruction_mix=1 if result else 0)
    return machines.instruction(sequence=False, waits=[NO_WAIT] * 3, control=control, **run)


LOAD, WAIT = 100, 101
PRODUCT_ROWS = st.builds(
    _product_row, st.sampled_from([PRODUCT, GROUP, GROUP, LOAD, WAIT, 0]), st.sampled_from([0, 1, 2, NO_WAIT]),
    st.sampled_from([1, 5, 60]),
)  # fmt: skip


@drawn(60, quick=6)
@given(
    warps=st.lists(st.lists(PRODUCT_ROWS, min_size=1, max_size=12), min_size=1, max_size=6),
    schedulers=st.sampled_from([1, 2]),
)
def test_engines_agree_on_products_of_warp_groups(warps, schedulers):
    mixes = np.zeros(2, MIX)
    mixes["count_tensor"], mixes["count_tensor_group_f16"] = [0, 1], [0, 16400]
    pipes = dict(tensor_group_f16_macs=512)
    gpu = machines.gpu(
        sm__dependence="scoreboard", sm__schedulers=schedulers, sm__issue_per_cycle=schedulers, sm__pipes=pipes
    )
    tx = machines.trace([[warp] for warp in warps], addresses=range(256), mixes=mixes)
    assert_equal(*both(tx, gpu, 4, 0))


def test_engines_agree_on_loads_waited_for_twice():
    """By scoreboard and by the count of its class, of which a warp may have two loads under way."""

    def load(line: int, most: int = 1, wait: int = 0) -> dict:
        return machines.instruction([(line, 1)], sequence=False, waits=[most, NO_WAIT, NO_WAIT], control=(0, wait))

    first = machines.instruction(sequence=False, waits=[1, NO_WAIT, NO_WAIT], control=(0, 0), compute_run=1)
    warps = [[first, load(1), load(0), load(1)], [first, load(1), load(0, wait=1), load(0, NO_WAIT)]]
    scheduler = "loose_round_robin"
    gpu = machines.gpu(sm__dependence="scoreboard", sm__loads_per_warp=2, sm__warp_scheduler=scheduler)
    assert_equal(*both(machines.trace([warps]), gpu, 1, 0))
