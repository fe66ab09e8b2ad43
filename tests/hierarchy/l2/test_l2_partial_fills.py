"""An L2 above memory that cannot write parts of sectors reads their rest; random machines of the oracle do too."""

from __future__ import annotations

import machines
import numpy as np
import pytest
from machines import instruction

import memsim
from memsim.gpu.presets import load_gpu, override
from memsim.hierarchy.counters import CountUnit, Event, Level
from memsim.hierarchy.system import System
from memsim.support.errors import InputError
from memsim.trace.coalesce import coalesce
from memsim.trace.schema import OpKind

SETS, WAYS = 32, 4  # of the machine below
READS, WRITES = [Event.read_hit, Event.read_miss], [Event.write_hit, Event.write_miss]
STORE, LEFT, RIGHT = OpKind.store, 0x0F, 0xF0  # words of the halves of a sector


def traffic(*instructions, words=None, **changes) -> tuple[int, int]:
    """(sectors read, sectors written) of DRAM by one warp on a small machine."""
    tx = machines.one_warp(*instructions)
    if words is not None:
        tx.words[:] = words
    gpu = machines.gpu(**{"l2__max_partial_ways": 2, "l1__enabled": False} | changes)
    assert gpu.l2.size_bytes == SETS * WAYS * gpu.l2.line_bytes
    trial = System(tx, gpu, 1, np.random.SeedSequence(0)).run()
    dram = trial.counters[:, Level.dram, :, CountUnit.sectors].sum(axis=0)
    return int(dram[READS].sum()), int(dram[WRITES].sum())


def stores(lines, mask=1, partial=1):
    return [instruction([(line, mask, partial)], STORE) for line in lines]


@pytest.mark.parametrize("limit", [1, 2, 3])
@pytest.mark.parametrize("partial", [1, 6, 15])
def test_sectors_beyond_limit_are_read_then_written(limit, partial):
    n = 5 * SETS
    each = partial.bit_count() * (n - SETS * limit)
    assert traffic(*stores(range(n), partial, partial), l2__max_partial_ways=limit) == (each, each)


def test_evicted_partial_sectors_are_read():
    """Loads of other lines replace all that the stores left."""
    loads = [instruction([(line, 1)], bypass=True) for line in range(SETS, SETS + 4 * SETS * WAYS)]
    assert traffic(*stores(range(SETS)), *loads) == (4 * SETS * WAYS + SETS, SETS)


def test_sector_of_written_words_is_not_read():
    twice = stores(range(5 * SETS)) + stores(range(5 * SETS))
    halves = np.repeat([LEFT, RIGHT], 5 * SETS)
    by_turns = [each for line in range(5 * SETS) for each in stores([line, line])]
    assert traffic(*by_turns, words=np.tile([LEFT, RIGHT], 5 * SETS))[0] == 0
    assert traffic(*by_turns, words=LEFT)[0] == 3 * SETS
    assert traffic(*twice, words=halves)[0] > 0, "too many are partial before they are complete"


@pytest.mark.parametrize("before", [[(0, 1)], []])
def test_partial_sector_is_read_once_for_loads(before):
    after = [instruction([(0, 1)], bypass=True)] * 2
    assert traffic(*[instruction([one], bypass=True) for one in before], *stores([0]), *after)[0] == 1


def test_whole_sectors_and_other_machines_read_nothing():
    assert traffic(*stores(range(5 * SETS), 15, 0))[0] == 0
    assert traffic(*stores(range(5 * SETS), 15, 15), l2__max_partial_ways=None)[0] == 0


def test_coalescer_gives_words_of_partial_sectors():
    """A transpose stores one word of each sector that a warp's column lies in."""
    trace = memsim.trace("transpose", gpu="tesla-v100", blocks="all", n=64)
    tx = coalesce(trace, override(load_gpu("tesla-v100"), {"l2.max_partial_ways": 2}))
    own = np.asarray(tx.partial) != 0
    words, first = np.asarray(tx.words), np.array([int(mask).bit_length() - 1 for mask in tx.partial])
    assert own.any() and not words[~own].any()
    assert {int(word).bit_count() for word in words[own]} == {1}
    assert (words[own] >> 8 * first[own] < 256).all()
    assert not len(coalesce(trace, load_gpu("tesla-v100")).words)


@pytest.mark.parametrize("changes", [dict(l2__write_miss="fetch"), dict(l1__line_bytes=256, l2__line_bytes=256)])
def test_machines_that_cannot_know_parts_refuse_limit(changes):
    with pytest.raises(InputError, match=r"l2\.max_partial_ways"):
        machines.gpu(l2__max_partial_ways=2, **changes)
