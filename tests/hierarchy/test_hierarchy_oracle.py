"""The compiled loops against the oracle: everything they count, on random machines and traces."""

from __future__ import annotations

import machines
import numpy as np
import pytest
from budget import drawn
from hypothesis import given
from hypothesis import strategies as st
from oracles.dram import ACT, PRE, RD, REF, WR
from oracles.hierarchy import World

from memsim.hierarchy.counters import Event, Level, Unit
from memsim.hierarchy.dram.state import ACTIVATE, PRECHARGE, READ, REFRESH, WRITE
from memsim.hierarchy.system import System

NAMES = {PRECHARGE: PRE, ACTIVATE: ACT, READ: RD, WRITE: WR, REFRESH: REF}


def both(tx, gpu, resident: int, seed: int):
    """(trial of the simulator, finished oracle) of the same draws."""
    system = System(tx, gpu, resident, np.random.SeedSequence(seed), commands=1 << 14)
    oracle = World(tx, gpu, system.resident, *machines.drawn(tx, gpu, system.resident, seed)).run()
    return system, system.run(), oracle


def assert_equal(system: System, trial, oracle: World) -> None:
    different = [
        (int(op), Level(level).name, Event(event).name, Unit(unit).name, int(trial.counters[op, level, event, unit]),
         int(oracle.counters[op, level, event, unit]))
        for op, level, event, unit in np.argwhere(trial.counters != oracle.counters)
    ]  # fmt: skip
    assert not different, "(op, level, event, unit, simulator, oracle)"
    assert not oracle.translation or trial.translation.tolist() == oracle.translation.counters.tolist()
    assert trial.cycles == oracle.cycles
    assert np.transpose([system.blocks.start, system.blocks.end]).tolist() == oracle.spans
    dirty = sum(len(way.dirty) for part in oracle.slices for group in part.sets for way in group.slots)
    assert trial.dirty_sectors == dirty
    names = ("latency_sum", "latency_count", "instruction_latency_sum", "instruction_latency_count")
    assert list(zip(*(getattr(trial, name).tolist() for name in names), strict=True)) == oracle.times()
    np.testing.assert_array_equal(trial.latency_histogram, oracle.histogram())
    assert trial.transactions == oracle.transactions
    channels = system.machine.channels
    logged = channels.commands[: channels.logged[0]]
    for channel in oracle.channels:
        mine = logged[logged["channel"] == channel.number]
        assert [(c, NAMES[n], b, r) for c, n, b, _, r in mine.tolist()] == channel.commands


@drawn(150, quick=15)
@given(st.data())
def test_random_machines_and_traces(data):
    gpu = data.draw(machines.machines())
    tx = data.draw(machines.traces(gpu))
    resident, seed = data.draw(st.integers(1, 3)), data.draw(st.integers(0, 9))
    assert_equal(*both(tx, gpu, resident, seed))


@pytest.mark.parametrize("wavefronts", [1, 20, 100, 5000])
def test_wavefronts_overlap_the_wait_for_l2(wavefronts):
    """One load misses two lines, the second when its only MSHR is free: wavefronts that outlast both decide."""
    gpu = machines.gpu(l1__mshrs=1)

    def latency(wavefronts: int) -> int:
        tx = machines.trace([[[machines.instruction([(0, 1), (1, 1)], wavefronts=wavefronts)]]])
        system, trial, oracle = both(tx, gpu, 1, 0)
        assert_equal(system, trial, oracle)
        return int(trial.instruction_latency_sum.sum())

    assert latency(wavefronts) == max(latency(0), wavefronts - 1)
