"""An L2 that limits its dirty lines writes the oldest back early, and keeps them to read."""

import machines
import numpy as np
import pytest
from machines import instruction

from memsim.hierarchy.counters import CountUnit, Event, Level
from memsim.hierarchy.system import System
from memsim.trace.schema import OpKind

SETS, WAYS = 32, 4  # of the machine below


def replay(tx, **changes):
    """(trial, dirty sectors left in L2) on a small machine."""
    gpu = machines.gpu(**changes)
    assert gpu.l2.size_bytes == SETS * WAYS * gpu.l2.line_bytes
    system = System(tx, gpu, 1, np.random.SeedSequence(0))
    trial = system.run()
    return trial, int(np.unpackbits(system.machine.slices.cache.ways["dirty"]).sum())


def written(n_lines, mask=15):
    return [instruction([(line, mask)], OpKind.store) for line in range(n_lines)]


@pytest.mark.parametrize("mask", [1, 8, 15])
@pytest.mark.parametrize("limit", [None, 1, 2, 3])
def test_stream_of_stores_leaves_maximal_dirty_data(limit, mask):
    n_lines = 5 * SETS * WAYS
    trial, dirty = replay(machines.one_warp(*written(n_lines, mask)), l2__max_dirty_ways=limit)
    assert dirty == mask.bit_count() * SETS * (limit or WAYS)
    writes = trial.counters[:, Level.dram, [Event.write_hit, Event.write_miss], CountUnit.sectors].sum()
    assert writes == mask.bit_count() * n_lines - dirty


def test_cleaned_line_stays_and_is_not_written_again():
    reads = [instruction([(line, 15)], bypass=True) for line in range(SETS * WAYS)]
    tx = machines.one_warp(*written(SETS * WAYS), *reads, *written(SETS))
    trial, dirty = replay(tx, l2__max_dirty_ways=2)
    l2 = trial.counters[:, Level.l2, :, CountUnit.sectors].sum(axis=0)
    assert l2[Event.read_hit] == 4 * SETS * WAYS
    assert dirty == 4 * SETS * 2
    writes = trial.counters[:, Level.dram, [Event.write_hit, Event.write_miss], CountUnit.sectors].sum()
    assert writes == 4 * SETS * WAYS + 4 * SETS - dirty
