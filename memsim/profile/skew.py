"""Whether what is under way at one time goes to all channels of memory (and slices of L2) alike.

Over a whole kernel nearly every access pattern is even. What counts is what resident warps ask for together: a window
is as many turns (see order.py) as make 64 requests per channel, and 32 runs of consecutive addresses. Partition camping
(Ruetsch and Micikevicius, Optimizing Matrix Transpose in CUDA, NVIDIA 2009) is a window whose busiest channel gets far
more than its share.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memsim.jit.compiled import loop
from memsim.profile.order import Order
from memsim.trace.bits import popcount
from memsim.trace.coalescing_rules import SECTOR_BYTES
from memsim.trace.transactions import Transactions

REQUESTS, RUNS = 64, 32  # per unit, at least, before an interval ends: with fewer, chance alone would be skewed


@dataclass(frozen=True)
class Skew:
    """Sectors by op.

    Attributes:
        sectors: i8 [n_ops], that reach the units, in complete intervals.
        busiest: i8 [n_ops], of them, those for the busiest unit of their interval.
    """

    sectors: np.ndarray
    busiest: np.ndarray


def skew(
    tx: Transactions,
    order: Order,
    unit_of: np.ndarray,
    units: tuple[int, int],
    held: tuple[np.ndarray, int],
    shared: int,
) -> Skew:
    """Sectors that the caches above let through, and where they go.

    The caches are simple ones: a table of lines by number. Lines are numbered in order of first use, so that a
    table holds what is used together.

    Args:
        tx, order: the coalesced trace, and the order of its instructions.
        unit_of: u2 [lines], channel or slice of each line.
        units: how many there are, and the bytes in a row that one of them holds.
        held: u1 [n_ops], 1 for ops that an L1 serves, and lines of an L1, 0 or more.
        shared: lines of the cache that all SMs share, 0 for none.
    """
    (served, lines), (count, run_bytes) = held, units
    least = count * max(REQUESTS, RUNS * run_bytes // SECTOR_BYTES)
    sms = int(order.sms.max(initial=0)) + 1
    private = np.full((sms, lines), -1, np.int32), np.zeros((sms, lines), np.uint8)
    common = np.full(shared, -1, np.int32), np.zeros(shared, np.uint8)
    table = np.zeros((2, tx.n_ops), np.int64)
    _count_intervals(
        tx.instructions, tx.lines, tx.masks, order.instructions, order.sms, order.begins, unit_of, served, *private,
        *common, least, np.zeros((tx.n_ops, count), np.int64), np.zeros(count, np.int64), table,
    )  # fmt: skip
    return Skew(table[0], table[1])


@loop
def _count_intervals(instructions, lines, masks, order, of_sm, begins, unit_of, served, l1_lines, l1_masks, l2_lines,
                     l2_masks, least, interval, unit_sectors, table):  # fmt: skip
    """`interval[op, unit]` and `unit_sectors` count the current interval's sectors; a short last one is left out."""
    requested, n_ops = 0, table.shape[1]
    for k in range(len(order)):
        if begins[k] and requested >= least:
            _close(interval, unit_sectors, table)
            requested = 0
        i = instructions[order[k]]
        op = np.int64(i["op"])
        if op >= n_ops:
            continue
        for t in range(i["first"], i["first"] + i["count"]):
            line, mask = np.int64(lines[t]), np.int64(masks[t])
            if served[op] and l1_lines.shape[1]:
                mask = _missing(l1_lines[of_sm[k]], l1_masks[of_sm[k]], line, mask)
            if len(l2_lines):
                mask = _missing(l2_lines, l2_masks, line, mask)
            sectors = popcount(mask)
            interval[op, unit_of[line]] += sectors
            unit_sectors[unit_of[line]] += sectors
            requested += sectors
    if requested >= least:
        _close(interval, unit_sectors, table)


@loop
def _missing(held, sectors, line, mask):
    """Sectors of `mask` that the table does not hold; it holds them from now on."""
    at = line % len(held)
    if held[at] != line:
        held[at] = line
        sectors[at] = 0
    missing = mask & ~np.int64(sectors[at])
    sectors[at] |= np.uint8(mask)
    return missing


@loop
def _close(interval, unit_sectors, table):
    """Add a window to the table and empty it."""
    busiest = 0
    for here in range(len(unit_sectors)):
        if unit_sectors[here] > unit_sectors[busiest]:
            busiest = here
    for op in range(len(interval)):
        table[1, op] += interval[op, busiest]
        for here in range(len(unit_sectors)):
            table[0, op] += interval[op, here]
            interval[op, here] = 0
    for here in range(len(unit_sectors)):
        unit_sectors[here] = 0
