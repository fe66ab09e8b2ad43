"""Hit ratio against capacity, of every capacity in one walk over the accesses.

A cache of C lines without sets, LRU, holds what it was asked for until C other lines are used (Mattson et al., IBM
Systems J. 1970). A line may be there without a sector of it, so what counts is kept by sector: a sector is there if
*every* use of its line since the sector was asked for came at a distance below C. The largest of those distances is the
sector's, and what C holds any more lines hold too. What an L1 of its present size lets through is what L2 is asked.

The accesses come in the order of profile.order, in which no latency decides: nothing merges with a fetch under way, so
these are the ratios of the ``traffic`` convention, and stores change L1 only where they allocate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from memsim.gpu.choices import WriteMiss
from memsim.gpu.config import GPU
from memsim.jit.compiled import loop
from memsim.profile.ops import bypasses_l1
from memsim.profile.order import Order
from memsim.profile.stack import HASH_BITS, add, before, picked, squeeze
from memsim.trace.coalescing_rules import SECTOR_BYTES
from memsim.trace.reader import Trace
from memsim.trace.schema import OpKind
from memsim.trace.transactions import BYPASS_FLAG, Transactions

MOST_USES = 1 << 22  # that are followed; of more, those of the lines that a hash picks
LEAVES, COUNTS, USES = 0, 1, 2  # what an op does to a cache: nothing, a use that the ratio is of, another use
_NOW, _MARKS = 0, 1  # of the walk's state


@dataclass(frozen=True)
class Curve:
    """Hits of a cache without sets, LRU, at every capacity.

    Attributes:
        line_bytes: of the cache.
        uses: reads that the ratio is of: transactions at L1, sectors at L2; an estimate where lines are sampled.
        distances: i8 [n], reuses at a distance of k * `step` to (k + 1) * `step` - 1 lines.
        step: lines that one line of the sample stands for, 1 where all are followed.
    """

    line_bytes: int
    uses: int
    distances: np.ndarray
    step: int

    def hit_ratio(self, lines: np.ndarray | int) -> np.ndarray:
        """Hit ratio of caches of so many lines; nan without reads.

        >>> Curve(128, 10, np.array([2, 1, 0, 4]), 1).hit_ratio(np.array([0, 1, 2, 9])).tolist()
        [0.0, 0.2, 0.3, 0.7]
        """
        hits = np.concatenate([[0], np.cumsum(self.distances)])
        held = np.minimum(-(-np.asarray(lines, np.int64) // self.step), len(self.distances))
        return hits[held] / self.uses if self.uses else np.full(np.shape(lines), np.nan)

    @property
    def max_hit_ratio(self) -> float:
        """Hit ratio of a cache that holds everything: only first uses miss."""
        return float(self.hit_ratio(len(self.distances) * self.step))

    def needed(self, share: float) -> int:
        """Fewest lines whose hit ratio is `share` of the best; 0 where nothing ever hits.

        >>> Curve(128, 10, np.array([2, 1, 0, 4]), 1).needed(0.5)
        4
        """
        hits = np.cumsum(self.distances)
        if not hits.size or not hits[-1]:
            return 0
        return int(np.searchsorted(hits, share * hits[-1]) + 1) * self.step


@dataclass(frozen=True)
class CacheUse:
    """How a cache is used.

    Attributes:
        role: u1 [n_ops], LEAVES, COUNTS or USES.
        line_bytes: of its lines.
        lines: that it holds at present.
        fetched: sectors of 32 bytes that a load's miss fetches together.
    """

    role: np.ndarray
    line_bytes: int
    lines: int
    fetched: int = 1


class _Followed(NamedTuple):
    """What the walk keeps of every line, and of the times of their last uses."""

    owner: np.ndarray  # i4 [lines], who used it last: SMs share nothing
    last: np.ndarray  # i4 [lines], when; -1: not yet
    far: np.ndarray  # i4 [lines, sectors], largest distance of the line's uses since the sector's last; -1: no use
    tree: np.ndarray  # i4, marks
    line_at: np.ndarray  # i4, the line used at each time
    state: np.ndarray  # i8 [2], the time now, and marks in all


def curves(
    tx: Transactions, order: Order, line_bytes: int, l1: CacheUse, l2: CacheUse, most: int = MOST_USES
) -> tuple[Curve, Curve]:
    """The curve of all SMs' L1s together, and that of L2 behind L1s of their present size.

    Args:
        tx, order: the coalesced trace, and the order of its instructions.
        line_bytes: of the trace's lines, L1's.
        l1, l2: the caches.
        most: uses that are followed; lines are sampled so that there are not many more.
    """
    halvings = min(max(0, (len(tx.lines) - 1).bit_length() - most.bit_length() + 1), HASH_BITS)
    n_sampled, n_lines = int(_count(len(tx.line_address), halvings)), len(tx.line_address)
    by_sm = np.argsort(order.sms, kind="stable")
    bounds = np.searchsorted(order.sms[by_sm], np.arange(int(order.sms.max(initial=0)) + 2))
    passed, found = np.zeros(len(tx.lines), np.uint8), np.zeros(n_sampled + 2, np.int64)
    _walk_l1(tx.instructions, tx.lines, tx.masks, order.instructions[by_sm], bounds, l1.role, halvings, l1.lines,
             _followed(n_lines, line_bytes // SECTOR_BYTES, n_sampled), found, passed)  # fmt: skip
    sublines, sectors = line_bytes // l2.line_bytes, l2.line_bytes // SECTOR_BYTES
    found_l2 = np.zeros(n_sampled * sublines + 2, np.int64)
    _walk_l2(tx.instructions, tx.lines, passed, order.instructions, l2.role, sublines, l2.fetched,
             _followed(n_lines * sublines, sectors, n_sampled * sublines), found_l2)  # fmt: skip
    return _curve(found, l1.line_bytes, halvings), _curve(found_l2, l2.line_bytes, halvings)


def _followed(n_lines: int, sectors: int, n_sampled: int) -> _Followed:
    times = 2 * n_sampled + 2  # when they are used up, at least half are of lines used again
    owner, last = np.full((2, n_lines), -1, np.int32)
    far = np.full((n_lines, sectors), -1, np.int32)
    return _Followed(owner, last, far, np.zeros(times + 1, np.int32), np.zeros(times, np.int32), np.zeros(2, np.int64))


def _curve(found: np.ndarray, line_bytes: int, halvings: int) -> Curve:
    distances = np.trim_zeros(found[:-1], "b") << halvings
    return Curve(line_bytes, int(found.sum()) << halvings, distances, 1 << halvings)


@loop
def _count(n_lines, halvings):
    """Lines of the sample."""
    count = 0
    for line in range(n_lines):
        if picked(line, halvings):
            count += 1
    return count


@loop
def _walk_l1(instructions, lines, masks, order, bounds, role, halvings, held, f, found, passed):
    """SM after SM. `found[d]` counts transactions whose farthest sector is at distance d, the last entry first uses."""
    for sm in range(len(bounds) - 1):
        f.tree[:] = 0
        f.state[:] = 0
        for k in range(bounds[sm], bounds[sm + 1]):
            i = instructions[order[k]]
            op = np.int64(i["op"])
            if op >= len(role):
                continue
            leaves = role[op] == LEAVES or i["flags"] & BYPASS_FLAG != 0
            for t in range(i["first"], i["first"] + i["count"]):
                line, mask = np.int64(lines[t]), np.int64(masks[t])
                if not picked(line, halvings):
                    continue
                passed[t] = mask
                if leaves:
                    continue
                _use(f, sm, line)
                farthest, missing = _farthest(f.far[line], mask, held, halvings)
                if role[op] == COUNTS:
                    found[farthest] += 1
                    passed[t] = missing
                _fetch(f.far[line], mask, 1)


@loop
def _walk_l2(instructions, lines, passed, order, role, sublines, fetched, f, found):
    """All SMs in the order of the trace. `found[d]` counts sectors at distance d, the last entry first uses."""
    sectors = f.far.shape[1]
    all_sectors = (1 << sectors) - 1
    for k in range(len(order)):
        i = instructions[order[k]]
        op = np.int64(i["op"])
        if op >= len(role) or role[op] == LEAVES:
            continue
        for t in range(i["first"], i["first"] + i["count"]):
            for subline in range(sublines):
                mask = (np.int64(passed[t]) >> (subline * sectors)) & all_sectors
                line = np.int64(lines[t]) * sublines + subline
                if mask == 0:
                    continue
                _use(f, 0, line)
                for sector in range(sectors):
                    if role[op] == COUNTS and (mask >> sector) & 1:
                        found[f.far[line, sector]] += 1  # -1, a first use, is the last entry
                _fetch(f.far[line], mask, fetched if role[op] == COUNTS else 1)  # a store fetches nothing


@loop
def _use(f, who, line):
    """Give the line's sectors the distance of this use, if it is the largest since theirs, and the line a new mark."""
    if f.owner[line] != who:
        f.owner[line] = who
        f.last[line] = -1
        f.far[line, :] = -1
    if f.last[line] >= 0:
        distance = f.state[_MARKS] - before(f.tree, f.last[line])
        for sector in range(f.far.shape[1]):
            if f.far[line, sector] >= 0:
                f.far[line, sector] = max(f.far[line, sector], distance)
        add(f.tree, f.last[line], -1)
        f.state[_MARKS] -= 1
        f.last[line] = -1
    if f.state[_NOW] == len(f.line_at):
        f.state[_NOW] = squeeze(f.tree, f.line_at, f.last, len(f.line_at))
    now = f.state[_NOW]
    f.last[line] = now
    f.line_at[now] = line
    add(f.tree, now, 1)
    f.state[_NOW] += 1
    f.state[_MARKS] += 1


@loop
def _farthest(far, mask, held, halvings):
    """Of the sectors of `mask`, the largest distance (-1: one was never used), and those that `held` lines miss."""
    farthest, first, missing = np.int64(0), False, 0
    for sector in range(len(far)):
        if (mask >> sector) & 1:
            farthest = max(farthest, np.int64(far[sector]))
            first |= far[sector] < 0
            if far[sector] < 0 or (np.int64(far[sector]) << halvings) >= held:
                missing |= 1 << sector
    return (np.int64(-1) if first else farthest), missing


@loop
def _fetch(far, mask, fetched):
    """The sectors of `mask` are there, with those that are fetched with them."""
    for sector in range(len(far)):
        group = ((1 << fetched) - 1) << (sector // fetched * fetched)
        if mask & group:
            far[sector] = 0


def l1_use(trace: Trace, gpu: GPU) -> CacheUse:
    """How L1 is used: the loads that it serves count, stores are uses where they allocate."""
    roles = [LEAVES if bypasses_l1(op, gpu) else COUNTS if op.kind is OpKind.load else USES for op in trace.ops]
    l1 = gpu.l1
    return CacheUse(np.array(roles, np.uint8), l1.line_bytes, held_bytes(gpu, "l1") // l1.line_bytes)


def l2_use(trace: Trace, gpu: GPU) -> CacheUse:
    """How L2 is used: loads count, atomics are uses, and stores where they allocate."""
    l2 = gpu.l2
    store = LEAVES if l2.write_miss is WriteMiss.no_allocate else USES
    roles = [COUNTS if op.kind is OpKind.load else store if op.kind is OpKind.store else USES for op in trace.ops]
    if not l2.enabled:
        roles = [LEAVES] * len(roles)
    lines = held_bytes(gpu, "l2") // l2.line_bytes
    return CacheUse(np.array(roles, np.uint8), l2.line_bytes, lines, l2.fetch_bytes // SECTOR_BYTES)


def held_bytes(gpu: GPU, name: str) -> int:
    """Bytes of lines that a cache holds; 0 when it is off."""
    if name == "l2":
        return gpu.l2.size_bytes if gpu.l2.enabled else 0
    return gpu.l1.size_bytes - gpu.l1.reserved_bytes if gpu.l1.enabled else 0
