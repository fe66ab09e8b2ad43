"""A finished replay leaves no cycle of references, so that its arrays are freed before the next launch needs theirs."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import memsim
from memsim.gpu.presets import load_gpu, override
from memsim.hierarchy.execution import Execution
from memsim.hierarchy.system import System
from memsim.montecarlo.shared_stages import prepared


@pytest.fixture
def without_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def test_a_finished_system_is_freed_at_once(tmp_path, without_collector):
    trace = memsim.trace("saxpy", n=1 << 10, gpu="tesla-v100", blocks="all")
    gpu = override(load_gpu("tesla-v100"), {"sm.count": 2})
    execution, _ = prepared(Execution.of(trace, gpu, tmp_path), trace)
    seeds = np.random.SeedSequence(0)
    System(execution.transactions, execution.gpu, execution.resident, seeds).run()  # which loads the loops
    gc.collect()
    system = System(execution.transactions, execution.gpu, execution.resident, seeds)
    system.run()
    freed = weakref.ref(system)
    del system
    assert freed() is None
