"""An L2 that a benchmark has flushed: full of another kernel's lines."""

from __future__ import annotations

import numpy as np
import pytest

from memsim.exploration.l2_flush import fill_l2, own_dirty_sectors, with_buffer
from memsim.gpu.presets import load_gpu, override
from memsim.hierarchy.system import System
from memsim.montecarlo.load_loops import _system


@pytest.mark.parametrize("limit", [None, 4])
def test_a_flushed_l2_is_full_and_dirty(limit):
    gpu = override(load_gpu("tesla-c2050"), {"l2.max_dirty_ways": limit})
    own = _system(gpu).transactions
    transactions, where = with_buffer(own, gpu)
    system = System(transactions, gpu, 1, np.random.SeedSequence(0), where)
    fill_l2(system.machine, len(own.line_address))
    cache = system.machine.slices.cache
    assert (cache.tags >= len(own.line_address)).mean() > 0.9
    assert own_dirty_sectors(system.machine, len(own.line_address)) == 0
    dirty = np.count_nonzero(cache.ways["dirty"]) / len(cache.tags)
    assert dirty > 0.9 if limit is None else dirty <= limit / gpu.l2.ways
