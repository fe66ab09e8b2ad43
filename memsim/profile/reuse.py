"""Stack distances: how many other lines are used between two uses of a line (Mattson et al., IBM Systems J. 1970).

A cache of C lines with LRU replacement and no sets holds a line until C others are used: a reuse at a distance of C or
more misses whatever the timing. Reuses at a shorter distance that miss with sets are conflicts (Hill and Smith, IEEE
ToC 1989). Distances are counted by a Fenwick tree over the time of each line's last use (Almasi et al., MSP 2002); of
many lines, those that a hash picks stand for all (SHARDS: Waldspurger et al., FAST 2015).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memsim.jit.compiled import loop
from memsim.profile.op_profile import OCTAVES
from memsim.profile.order import Order
from memsim.profile.stack import HASH_BITS, add, before, picked
from memsim.trace.bits import popcount
from memsim.trace.transactions import Transactions

MOST_USES = 1 << 20  # that are followed; with more, fewer lines are
EVERY_SM = -1


@dataclass(frozen=True)
class ReuseLevel:
    """What is to be followed.

    Attributes:
        sm: whose accesses; EVERY_SM for those of all.
        skips: u1 [n_ops], ops that leave the level alone.
        skipped_flags: bits of ``instructions/flags`` that do so too.
        lines: of the level, in one line of the transactions: 1, or more where its lines are shorter.
        sectors: of 32 bytes, in a line of the level.
        capacity: lines that it holds.
    """

    sm: int
    skips: np.ndarray
    skipped_flags: int
    lines: int
    sectors: int
    capacity: int


@dataclass(frozen=True)
class Distances:
    """Of every op, uses of sectors that the level was asked for before; estimates where lines are sampled.

    Attributes:
        uses: i8 [n_ops], all, first ones too.
        histogram: i8 [n_ops, OCTAVES], reuses; bin 0 has distance 0, bin k those from 2**(k-1) to 2**k - 1 lines.
        far: i8 [n_ops], reuses at a distance of the capacity or more.
    """

    uses: np.ndarray
    histogram: np.ndarray
    far: np.ndarray


def distances(tx: Transactions, order: Order, level: ReuseLevel, most: int = MOST_USES) -> Distances:
    """Stack distances of a level's lines, in the given order.

    Args:
        tx: the coalesced trace.
        order: of its instructions.
        level: the cache.
        most: uses that are followed; lines are sampled so that there are not many more.
    """
    n_lines, uses = len(tx.line_address) * level.lines, len(tx.lines) * level.lines
    halvings = max(0, (uses - 1).bit_length() - most.bit_length() + 1) if level.sm == EVERY_SM else 0
    halvings = min(halvings, HASH_BITS)
    table = np.zeros((tx.n_ops, OCTAVES + 2), np.int64)
    _follow(
        tx.instructions, tx.lines, tx.masks, order.instructions, order.sms, level.sm, level.skips, level.skipped_flags,
        level.lines, level.sectors, level.capacity, halvings, np.full(n_lines, -1, np.int32),
        np.zeros(n_lines, np.uint8), np.zeros(min(uses, most) + 1, np.int32), table,
    )  # fmt: skip
    table <<= halvings
    return Distances(table[:, OCTAVES], table[:, :OCTAVES], table[:, OCTAVES + 1])


@loop
def _follow(instructions, lines, masks, order, of_sm, sm, skips, skipped_flags, per_line, sectors, capacity, halvings,
            last, seen, tree, table):  # fmt: skip
    """`last` is the time of a line's last use, or -1, `seen` its sectors used so far; `tree` counts lines by `last`.

    Ends when the tree is full.
    """
    now, marks, all_sectors = 0, 0, (1 << sectors) - 1
    for k in range(len(order)):
        i = instructions[order[k]]
        op = np.int64(i["op"])
        if (sm >= 0 and of_sm[k] != sm) or op >= len(table) or skips[op] or i["flags"] & skipped_flags:
            continue
        for t in range(i["first"], i["first"] + i["count"]):
            for part in range(per_line):
                mask = (np.int64(masks[t]) >> (part * sectors)) & all_sectors
                line = np.int64(lines[t]) * per_line + part
                if mask == 0 or not picked(line, halvings):
                    continue
                if now == len(tree) - 1:
                    return
                table[op, OCTAVES] += 1
                if last[line] >= 0:
                    distance = (marks - before(tree, last[line])) << halvings
                    if mask & seen[line]:
                        table[op, _octave(distance)] += 1
                        table[op, OCTAVES + 1] += distance >= capacity
                    add(tree, last[line], -1)
                    marks -= 1
                seen[line] |= np.uint8(mask)
                last[line] = now
                add(tree, now, 1)
                marks += 1
                now += 1


@loop
def _octave(distance):
    octave = 0
    while distance > 0:
        distance >>= 1
        octave += 1
    return min(octave, OCTAVES - 1)


@dataclass(frozen=True)
class Sets:
    """How a level's sets are used by each op.

    Attributes:
        late: i8 [n_ops], reuses after the line left its set (LRU).
        busiest: i8 [n_ops], sectors that ask the set that the op asks most.
        sectors: i8 [n_ops], sectors in all.
    """

    late: np.ndarray
    busiest: np.ndarray
    sectors: np.ndarray


def in_sets(tx: Transactions, order: Order, level: ReuseLevel, set_of: np.ndarray, ways: int) -> Sets:
    """The same uses, in sets of so many ways; for a level with the transactions' lines.

    Args:
        set_of: u4 [lines].
        ways: of each set.
    """
    assert level.lines == 1
    n_sets = int(set_of.max(initial=0)) + 1
    tags, ages = np.full((n_sets, ways), -1, np.int32), np.zeros((n_sets, ways), np.int32)
    set_sectors, late = np.zeros((tx.n_ops, n_sets), np.int64), np.zeros(tx.n_ops, np.int64)
    _in_sets(
        tx.instructions, tx.lines, tx.masks, order.instructions, order.sms, level.sm, level.skips, level.skipped_flags,
        set_of, tags, ages, np.zeros(len(tx.line_address), np.uint8), set_sectors, late, MOST_USES,
    )  # fmt: skip
    return Sets(late, set_sectors.max(axis=1), set_sectors.sum(axis=1))


@loop
def _in_sets(instructions, lines, masks, order, of_sm, sm, skips, skipped_flags, set_of, tags, ages, seen, set_sectors,
             late, most):  # fmt: skip
    now = 0
    for k in range(len(order)):
        i = instructions[order[k]]
        op = np.int64(i["op"])
        if of_sm[k] != sm or op >= len(late) or skips[op] or i["flags"] & skipped_flags:
            continue
        for t in range(i["first"], i["first"] + i["count"]):
            if now == most:
                return
            now += 1
            line, mask = np.int64(lines[t]), np.int64(masks[t])
            chosen = np.int64(set_of[line])
            set_sectors[op, chosen] += popcount(mask)
            way = _way(tags[chosen], ages[chosen], line)
            if tags[chosen, way] != line and mask & seen[line]:
                late[op] += 1
            tags[chosen, way] = line
            ages[chosen, way] = now
            seen[line] |= np.uint8(mask)


@loop
def _way(tags, ages, line):
    """Where the line is, else the way that was used longest ago."""
    oldest = 0
    for way in range(len(tags)):
        if tags[way] == line:
            return way
        if ages[way] < ages[oldest]:
            oldest = way
    return oldest
