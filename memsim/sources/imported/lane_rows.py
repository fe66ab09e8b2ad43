"""Rows of a trace from the addresses of a warp's lanes: the compiled end of every importer."""

from __future__ import annotations

import numpy as np

from memsim.jit.compiled import loop
from memsim.sources.rows import REACH, encode_addresses
from memsim.sources.waits import wait_for_none
from memsim.trace.schema import INSTRUCTION_COLUMNS, NO_OP

WARP_SIZE = 32
ROW = np.dtype([*INSTRUCTION_COLUMNS.items()])
MOST_ROWS = WARP_SIZE  # that one access can take, when no two lanes' addresses lie within REACH of each other
MOST_COMPUTE_RUN = 2**32 - 1


@loop
def write_plain(rows, cursor, flags, compute_run, mask):
    """A row without memory access: a barrier, or what a warp issues last."""
    write_strided(rows, cursor, NO_OP, flags, compute_run, mask, 0, 0)


@loop
def write_strided(rows, cursor, op, flags, compute_run, mask, base, stride):
    """One access whose lanes lie `stride` apart, which is below 2**31."""
    row = rows[cursor[0]]
    row["base"] = base
    row["stride"] = stride
    _fill(rows, cursor, op, flags, compute_run, mask)


@loop
def write_lanes(rows, addresses, cursor, op, flags, compute_run, mask, lanes, some):
    """One access of the lanes in `mask`; of lanes too far apart for one row, further rows that follow at once.

    Args:
        rows, addresses: ROW records and u4 offsets, with room for all of it.
        cursor: i8 [2], rows and addresses written; moved on.
        lanes: i8 [32], address by lane.
        some: i8 [2, 32], scratch.
    """
    rest = mask
    while rest:
        lane_mask, count = np.int64(0), np.int64(0)
        low = high = np.int64(-1)
        for lane in range(WARP_SIZE):
            if (rest >> lane) & 1:
                address = lanes[lane]
                if low < 0:
                    low = high = address
                if max(high, address) - min(low, address) < REACH:
                    low, high = min(low, address), max(high, address)
                    lane_mask |= np.int64(1) << lane
                    some[0, count], some[1, count] = lane, address
                    count += 1
        rest ^= lane_mask
        encode_addresses(rows[cursor[0]], addresses, cursor, some[0], some[1], count, low, 0, 1)
        _fill(rows, cursor, op, flags, compute_run, lane_mask)
        flags, compute_run = 0, 0


@loop
def _fill(rows, cursor, op, flags, compute_run, mask):
    """What a row has besides its addresses; it is done then."""
    row = rows[cursor[0]]
    row["op"] = op
    row["flags"] = flags
    row["compute_run"] = min(compute_run, MOST_COMPUTE_RUN)
    row["mask"] = mask
    row["off_path"] = 0
    wait_for_none(row)
    cursor[0] += 1
