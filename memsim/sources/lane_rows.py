"""Rows of a trace from the addresses of a warp's lanes: the compiled end of every importer."""

from __future__ import annotations

import numpy as np

from memsim.compiled import loop
from memsim.trace.schema import EXPLICIT, INSTRUCTION_COLUMNS, NO_OP

WARP_SIZE = 32
ROW = np.dtype([*INSTRUCTION_COLUMNS.items()])
MOST_ROWS = WARP_SIZE  # that one access can take, when no two lanes' addresses lie within 2**32 of each other
MOST_GAP = 2**32 - 1
_REACH = 1 << 32  # explicit addresses are 4-byte offsets from the lowest
_LONGEST_STRIDE = 2**31 - 1
_LISTED = int(EXPLICIT)


@loop
def write_plain(rows, cursor, flags, gap, mask):
    """A row without memory access: a barrier, or what a warp issues last."""
    row = rows[cursor[0]]
    row["op"] = NO_OP
    row["flags"] = flags
    row["gap"] = min(gap, MOST_GAP)
    row["mask"] = mask
    row["base"] = 0
    row["stride"] = 0
    cursor[0] += 1


@loop
def write_strided(rows, cursor, op, flags, gap, mask, base, stride):
    """One access whose lanes lie `stride` apart, which is below 2**31."""
    row = rows[cursor[0]]
    row["op"] = op
    row["flags"] = flags
    row["gap"] = min(gap, MOST_GAP)
    row["mask"] = mask
    row["base"] = base
    row["stride"] = stride
    cursor[0] += 1


@loop
def write_lanes(rows, addresses, cursor, op, flags, gap, mask, lanes):
    """One access of the lanes in `mask`; of lanes too far apart for one row, further rows that follow at once.

    Args:
        rows, addresses: ROW records and u4 offsets, with room for all of it.
        cursor: i8 [2], rows and addresses written; moved on.
        lanes: i8 [32], address by lane.
    """
    rest = mask
    while rest:
        part = np.int64(0)
        low = high = np.int64(-1)
        for lane in range(WARP_SIZE):
            if (rest >> lane) & 1:
                address = lanes[lane]
                if low < 0:
                    low = high = address
                if max(high, address) - min(low, address) < _REACH:
                    low, high = min(low, address), max(high, address)
                    part |= np.int64(1) << lane
        rest ^= part
        _write_part(rows, addresses, cursor, op, flags, gap, part, lanes, low)
        flags, gap = 0, 0


@loop
def _write_part(rows, addresses, cursor, op, flags, gap, mask, lanes, low):
    first = 0
    while (mask >> first) & 1 == 0:
        first += 1
    step = _common_step(mask, lanes, first)
    if -_LONGEST_STRIDE <= step <= _LONGEST_STRIDE:
        write_strided(rows, cursor, op, flags, gap, mask, lanes[first], step)
        return
    write_strided(rows, cursor, op, flags, gap, mask, low, _LISTED)
    at = cursor[1]
    for lane in range(first, WARP_SIZE):
        if (mask >> lane) & 1:
            addresses[at] = lanes[lane] - low
            at += 1
    cursor[1] = at


@loop
def _common_step(mask, lanes, first):
    """Bytes from each lane to the next if the same for all, else a number too large for any stride."""
    second = first + 1
    while second < WARP_SIZE and (mask >> second) & 1 == 0:
        second += 1
    if second == WARP_SIZE:
        return np.int64(0)
    rise = lanes[second] - lanes[first]
    step = rise // (second - first)
    if step * (second - first) != rise:
        return np.int64(_LONGEST_STRIDE + 1)
    for lane in range(second + 1, WARP_SIZE):
        if (mask >> lane) & 1 and lanes[lane] - lanes[first] != step * (lane - first):
            return np.int64(_LONGEST_STRIDE + 1)
    return step
