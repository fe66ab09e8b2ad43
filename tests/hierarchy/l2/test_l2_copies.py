"""Loads of lines in the other partition of L2 wait for copies on their way; random machines of the oracle do too."""

from __future__ import annotations

import machines
import pytest
from engines import assert_equal, both
from machines import instruction

from memsim.hierarchy.counters import CountUnit, Event, Level
from memsim.hierarchy.trial import Trial

BEFORE = 400  # instructions before the far loads
PASSING = 1  # cycles of a reply's sector
CROSSING = 20  # cycles to the other partition and back


def replay(*masks: int, merges: bool) -> Trial:
    """SM 0 brings line 0 to its home, slice 0; later SMs 1, 3, 5 and so on load these sectors of it in one cycle."""
    far = [[[instruction([(0, mask)], op=k + 1, compute_run=BEFORE)]] for k, mask in enumerate(masks)]
    idle = [[instruction(compute_run=1)]]
    blocks = [[[instruction([(0, 15)])]]]
    for block in far:
        blocks += [block, idle]
    gpu = machines.gpu(
        sm__count=len(blocks),
        l2__slices=2,
        l2__partitions=2,
        l2__partition_cycles=CROSSING,
        l2__merges_copies=merges,
        sm__reply_bytes_per_cycle=32 // PASSING,
    )
    system, trial, model = both(machines.trace(blocks, n_ops=len(masks) + 1), gpu, 1, 0)
    assert_equal(system, trial, model)
    return trial


def l2_reads(trial: Trial) -> tuple[int, int, int]:
    """Sectors that the far loads hit, merge and miss in L2."""
    counted = trial.counters[1:, Level.l2, :, CountUnit.sectors].sum(axis=0)
    return tuple(int(counted[event]) for event in (Event.read_hit, Event.read_merge, Event.read_miss))


@pytest.mark.parametrize(
    ("masks", "hits", "merges"),
    [
        ((3, 1), 2, 1),  # the second waits for the first
        ((3, 1, 2, 3), 2, 4),
        ((3, 4), 3, 0),  # other sectors
        ((3, 5), 4, 0),  # one of its sectors is not on its way
        ((1, 2, 3), 4, 0),  # two loads would have to bring them
        ((1, 2, 3, 3), 4, 2),  # the third brings both
    ],
)
def test_load_waits_for_sectors_under_way(masks, hits, merges):
    assert l2_reads(replay(*masks, merges=True)) == (hits, merges, 0)
    assert l2_reads(replay(*masks, merges=False)) == (hits + merges, 0, 0), "each crosses"


def test_waiting_load_is_answered_with_the_first():
    """Its reply has a sector less. If it crosses as well, it is served two cycles later at home, behind two sectors."""
    for merges, later in ((True, 0), (False, 2)):
        _, first, second, *_ = replay(3, 1, merges=merges).latency_sum
        assert second - first == later - PASSING
