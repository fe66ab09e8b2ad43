"""Memory partitions without an L2; the oracle's random machines have them too."""

from __future__ import annotations

import machines
import numpy as np
import pytest
from machines import instruction

import memsim
from memsim.gpu.presets import load_gpu
from memsim.hierarchy.counters import CountUnit, Event, Level
from memsim.hierarchy.system import System
from memsim.models.machine import idle_miss_cycles
from memsim.support.errors import InputError
from memsim.trace.schema import OpKind

PRESETS = ("geforce-8800gtx", "quadro-fx5600", "geforce-8800gt", "geforce-gtx280", "tesla-c1060")
TABLE_6 = {"geforce-gtx280": 450, "tesla-c1060": 450}  # Hong and Kim, ISCA 2009: Mem_LD; of the others 420


def counters(*instructions, **changes) -> np.ndarray:
    gpu = machines.gpu(l1__enabled=False, l2__enabled=False, **changes)
    return System(machines.one_warp(*instructions), gpu, 1, np.random.SeedSequence(0)).run().counters.sum(axis=0)


def test_line_requested_twice_is_fetched_twice():
    again = [instruction([(0, 15)]) for _ in range(5)]
    dram = counters(*again)[Level.dram]
    assert dram[Event.read_miss, CountUnit.sectors] + dram[Event.read_hit, CountUnit.sectors] == 20


def test_an_atomic_reads_and_writes_memory():
    for kind in (OpKind.atomic, OpKind.reduction):
        dram = counters(instruction([(0, 3)], kind))[Level.dram, :, CountUnit.sectors]
        assert dram[:4].sum() == 2 and dram[4:8].sum() == 2


@pytest.mark.parametrize("name", PRESETS)
def test_an_idle_access_takes_the_measured_latency(name):
    gpu = load_gpu(name)
    assert not gpu.l2.enabled
    assert abs(idle_miss_cycles(gpu) - TABLE_6.get(name, 420)) <= 2
    trial = System(machines.one_warp(instruction([(0, 1)])), gpu, 1, np.random.SeedSequence(0)).run()
    assert abs(int(trial.latency_sum[0]) - TABLE_6.get(name, 420)) <= 2


def test_no_hit_ratio_is_reported():
    result = memsim.simulate(memsim.trace("saxpy", n=4096), "geforce-gtx280", trials=1)
    assert all(np.isnan(ratio.mean) for ratio in (result.l1_read, result.l2_read, result.l2_write))
    for load in result.loads:
        assert np.isnan(load.l2_hit.mean) and load.x.mean > 400


@pytest.mark.parametrize("field, value", [("l2__inclusion", "inclusive"), ("l2__partitions", 2)])
def test_what_needs_an_l2_is_refused_without(field, value):
    with pytest.raises(InputError, match="without an L2"):
        machines.gpu(l2__enabled=False, l2__slices=2, l2__partition_cycles=0 if value != 2 else 20, **{field: value})
