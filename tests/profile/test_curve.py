"""Hit ratio of every capacity at once, against caches that are simulated one capacity at a time in plain Python."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
import pytest
from profile_traces import random_transactions

from memsim.profile.curve import COUNTS, LEAVES, USES, CacheUse, curves
from memsim.profile.order import interleaved
from memsim.trace.transactions import BYPASS_FLAG, Transactions


class _Lru:
    """A cache of so many lines, without sets: line -> mask of its sectors, the one used last at the end."""

    def __init__(self, lines: int) -> None:
        self._held: OrderedDict[object, int] = OrderedDict()
        self._lines = lines

    def use(self, line: object, mask: int, fetched: int = 1) -> int:
        """Sectors of `mask` that were not there; they come with those of their groups of `fetched`."""
        if not self._lines:
            return mask
        there = self._held.pop(line, 0)
        width = (1 << fetched) - 1
        groups = (width << first for first in range(0, 8, fetched))
        self._held[line] = there | sum(group for group in groups if group & mask)
        if len(self._held) > self._lines:
            self._held.popitem(last=False)
        return mask & ~there


def _simulated(tx: Transactions, order, l1: CacheUse, l2: CacheUse, sublines: int) -> tuple[float, float]:
    """(L1's ratio of transactions, L2's of sectors) of caches of the sizes that are asked for."""
    private = [_Lru(l1.lines) for _ in range(int(order.sms.max()) + 1)]
    common, sectors = _Lru(l2.lines), 4 // sublines
    hits, reads = [0, 0], [0, 0]
    for row, sm in zip(order.instructions, order.sms, strict=True):
        i = tx.instructions[row]
        if i["op"] >= tx.n_ops:
            continue
        role = l1.role[i["op"]], l2.role[i["op"]]
        for k in range(i["first"], i["first"] + i["count"]):
            line, mask = int(tx.lines[k]), int(tx.masks[k])
            if role[0] != LEAVES and not i["flags"] & BYPASS_FLAG:
                missing = private[sm].use(line, mask)
                if role[0] == COUNTS:
                    hits[0], reads[0], mask = hits[0] + (not missing), reads[0] + 1, missing
            for subline in range(sublines):
                requested = mask >> subline * sectors & (1 << sectors) - 1
                if requested and role[1] != LEAVES:
                    missing = common.use((line, subline), requested, l2.fetched if role[1] == COUNTS else 1)
                    if role[1] == COUNTS:
                        hits[1] += (requested & ~missing).bit_count()
                        reads[1] += requested.bit_count()
    return hits[0] / reads[0], hits[1] / reads[1]


@pytest.mark.parametrize(
    ("seed", "held", "sublines", "fetched"), [(0, 6, 1, 1), (1, 11, 2, 1), (2, 3, 1, 2), (3, 20, 4, 1)]
)
def test_every_point_of_curve_equals_simulated_cache(seed, held, sublines, fetched):
    tx = random_transactions(seed, blocks=12)
    tx.instructions["flags"][::17] |= BYPASS_FLAG
    order = interleaved(tx, 2, 2)
    l1_role, l2_role = np.array([COUNTS, USES, LEAVES], "u1"), np.array([COUNTS, USES, COUNTS], "u1")
    l1, l2 = CacheUse(l1_role, 128, held), CacheUse(l2_role, 128 // sublines, 0, fetched)
    first, second = curves(tx, order, 128, l1, l2)
    seen = set()
    for lines in (1, 2, 3, 5, 8, 13, 21, 34, 90, 500):
        at = [CacheUse(l1_role, 128, lines), l2], [l1, CacheUse(l2_role, 128 // sublines, lines, fetched)]
        assert float(first.hit_ratio(lines)) == _simulated(tx, order, *at[0], sublines)[0]
        assert float(second.hit_ratio(lines)) == (hit := _simulated(tx, order, *at[1], sublines)[1])
        seen.add(hit)
    assert len(seen) > 3
    assert float(first.hit_ratio(0)) == float(second.hit_ratio(0)) == 0


def test_needed_capacity_is_smallest_reaching_its_share():
    tx = random_transactions(4, blocks=12)
    role = np.full(3, COUNTS, "u1")
    for curve in curves(tx, interleaved(tx, 2, 2), 128, CacheUse(role, 128, 8), CacheUse(role, 128, 0)):
        for share in (0.5, 0.9, 1.0):
            lines = curve.needed(share)
            assert curve.hit_ratio(lines - 1) < share * curve.max_hit_ratio <= curve.hit_ratio(lines)


def test_a_sample_of_lines_tells_the_same_curves():
    tx = random_transactions(5, n_lines=4000, blocks=200)
    order, role = interleaved(tx, 4, 4), np.full(3, COUNTS, "u1")
    requested = CacheUse(role, 128, 300), CacheUse(role, 128, 0)
    lines = np.array([100, 300, 1000, 2000, 4000])
    full, sampled = (curves(tx, order, 128, *requested, most) for most in (1 << 22, 1 << 12))
    assert sampled[0].step > 1 == full[0].step
    for one, other in zip(full, sampled, strict=True):
        assert other.uses == pytest.approx(one.uses, rel=0.1)
        assert other.hit_ratio(lines) == pytest.approx(one.hit_ratio(lines), abs=0.04)
