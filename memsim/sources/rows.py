"""Instructions of warps as rows of a log: starting sequences, encoding addresses, sorting by warp; for every source.

The state of each warp is i8 [n_warps, STATE]: columns SEQUENCE to SPARE, then those of :mod:`memsim.sources.waits`.
"""

from __future__ import annotations

import numpy as np

from memsim.jit.compiled import loop
from memsim.sources.waits import FIRST, WAIT_STATE, take_waits, wait_for_none
from memsim.trace.bits import popcount
from memsim.trace.schema import EXPLICIT, INSTRUCTION_COLUMNS, NO_OP, WIDEST_WARP, Flag, instruction_columns

# Sequences started; non-memory instructions since the last row; whether a new sequence is due; how many of those
# instructions are off the critical path (the longest chain of dependent ones); those that do not lengthen it yet.
SEQUENCE, COMPUTE_RUN, START, OFF_CRITICAL_PATH, UNCOUNTED = range(FIRST)
STATE = FIRST + WAIT_STATE

# One line of the log: an instruction of one warp, in the order of execution.
ROW = np.dtype([("warp", "<i4"), *INSTRUCTION_COLUMNS.items()])
WIDE_ROW = np.dtype([("warp", "<i4"), *instruction_columns(WIDEST_WARP).items()])  # of warps with more than 32 lanes

SEQUENCE_FLAG, BARRIER_FLAG, DATA_FLAG = int(Flag.sequence), int(Flag.barrier), int(Flag.data)
LONGEST_STRIDE = 2**31 - 1
REACH = 2**32  # an instruction's lanes lie less than so many bytes apart: their offsets take 4 bytes
LISTED = int(EXPLICIT)


@loop
def encode_addresses(row, addresses, cursor, lanes, elements, count, low, base, element_bytes):
    """Encode the addresses base + element_bytes * elements[i] of ``count`` lanes: a stride, or else a list.

    Args:
        addresses, cursor: the log's explicit addresses, with room, and its counts of rows and addresses.
        lanes: numbers of the active lanes, ascending; ``elements`` are theirs, ``low`` the lowest of them.
    """
    stride = lane_stride(lanes, elements, count) * element_bytes
    if -LONGEST_STRIDE <= stride <= LONGEST_STRIDE:
        row["base"] = base + np.int64(elements[0]) * element_bytes
        row["stride"] = stride
        return
    row["base"] = base + np.int64(low) * element_bytes
    row["stride"] = LISTED
    listed = addresses[cursor[1] : cursor[1] + count]
    for i in range(count):
        listed[i] = (elements[i] - low) * element_bytes
    cursor[1] += count


@loop
def lane_stride(lanes, elements, count):
    """Elements from each lane to the next if the same for all, else a number too large for any stride."""
    if count == 1:
        return 0
    first_lane, first = lanes[0], np.int64(elements[0])
    distance, rise = lanes[1] - first_lane, elements[1] - first
    step = rise // distance
    if step * distance != rise:
        return LONGEST_STRIDE + 1
    for i in range(2, count):
        if elements[i] - first != step * (lanes[i] - first_lane):
            return LONGEST_STRIDE + 1
    return step


@loop
def charge(state, warp, count, chains):
    """Charge a warp with non-memory instructions that are `chains` chains of dependent ones, side by side."""
    state[warp, COMPUTE_RUN] += count
    if chains > 1:
        uncounted = min(state[warp, UNCOUNTED], chains - 1) + count
        state[warp, OFF_CRITICAL_PATH] += count - uncounted // chains
        state[warp, UNCOUNTED] = uncounted % chains


@loop
def begin_row(row, state, warp, since, data, issued, chains, active):
    """Fill what every row has, and start a sequence when one is due or the access waits for the current one.

    It waits for the loads that were needed since the warp's last row; its mix is not known, it has no mbarrier.
    """
    flags = 0
    if state[warp, START] or since == state[warp, SEQUENCE]:
        state[warp, SEQUENCE] += 1
        state[warp, START] = 0
        flags = SEQUENCE_FLAG
    elif data == state[warp, SEQUENCE]:
        flags = DATA_FLAG
    row["warp"] = warp
    row["flags"] = flags
    charge(state, warp, issued, chains)
    row["compute_run"] = state[warp, COMPUTE_RUN]
    row["off_path"] = state[warp, OFF_CRITICAL_PATH]
    row["mask"] = active
    row["instruction_mix"] = 0
    row["phase"] = 0
    take_waits(row, state, warp)
    state[warp, COMPUTE_RUN] = 0
    state[warp, OFF_CRITICAL_PATH] = 0


@loop
def log_barrier(rows, cursor, state, bits, warps, issued, chains):
    """Log a barrier of every active warp; it ends their sequences."""
    for r in range(len(warps)):
        if bits[r] == 0:
            continue
        state[warps[r], START] = 1
        row = rows[cursor[0]]
        begin_row(row, state, warps[r], -1, -1, issued, chains, np.int64(bits[r]))
        row["flags"] |= BARRIER_FLAG
        row["op"] = NO_OP
        row["base"] = 0
        row["stride"] = 0
        state[warps[r], START] = 1
        cursor[0] += 1


@loop
def log_compute(rows, cursor, bits, warps, count, critical_path):
    """Log `count` non-memory instructions of every active warp that wait for no load: they join its sequence."""
    for r in range(len(warps)):
        if bits[r] == 0:
            continue
        row = rows[cursor[0]]
        row["warp"] = warps[r]
        row["flags"] = 0
        row["compute_run"] = count
        row["off_path"] = count - critical_path
        row["mask"] = np.int64(bits[r])
        row["op"] = NO_OP
        row["base"] = 0
        row["stride"] = 0
        wait_for_none(row)
        cursor[0] += 1


@loop
def log_trailing(rows, cursor, state):
    """Log the non-memory instructions after each warp's last access."""
    for warp in range(len(state)):
        if state[warp, COMPUTE_RUN] > 0:
            row = rows[cursor[0]]
            begin_row(row, state, warp, -1, -1, 0, 1, 0)
            row["flags"] = 0
            row["op"] = NO_OP
            row["base"] = 0
            row["stride"] = 0
            cursor[0] += 1


@loop
def count_rows(rows, first_instruction, first_address):
    """Make the per-warp indexes [n_warps + 1] from the log: rows, and addresses of explicit rows."""
    for i in range(len(rows)):
        row = rows[i]
        first_instruction[row["warp"] + 1] += 1
        if row["stride"] == LISTED:
            first_address[row["warp"] + 1] += popcount(row["mask"])
    for w in range(1, len(first_instruction)):
        first_instruction[w] += first_instruction[w - 1]
        first_address[w] += first_address[w - 1]


@loop
def sort_rows(rows, target, columns):
    """Copy the log's rows to columns, those of INSTRUCTION_COLUMNS, warp after warp, each in the order of execution.

    Args:
        target: where each warp's first row goes; counted up.
    """
    op, flags, compute_run, mask, base, stride, off_path, wait_long, wait_short, wait_copies, mix, phase = columns[:12]
    scoreboard_set, scoreboard_wait, stall, result, wait_products = columns[12:]
    for i in range(len(rows)):
        row = rows[i]
        to = target[row["warp"]]
        target[row["warp"]] = to + 1
        op[to] = row["op"]
        flags[to] = row["flags"]
        compute_run[to] = row["compute_run"]
        mask[to] = row["mask"]
        base[to] = row["base"]
        stride[to] = row["stride"]
        off_path[to] = row["off_path"]
        wait_long[to] = row["wait_long"]
        wait_short[to] = row["wait_short"]
        wait_copies[to] = row["wait_copies"]
        mix[to] = row["instruction_mix"]
        phase[to] = row["phase"]
        scoreboard_set[to] = row["scoreboard_set"]
        scoreboard_wait[to] = row["scoreboard_wait"]
        stall[to] = row["stall"]
        result[to] = row["result"]
        wait_products[to] = row["wait_products"]


@loop
def sort_addresses(rows, addresses, target, sorted_addresses):
    """Copy the addresses from the order of execution to warp after warp.

    Args:
        target: where each warp's first address goes; counted up.
    """
    source = 0
    for i in range(len(rows)):
        row = rows[i]
        if row["stride"] == LISTED:
            count = popcount(row["mask"])
            at = target[row["warp"]]
            listed, to = addresses[source : source + count], sorted_addresses[at : at + count]
            for k in range(count):
                to[k] = listed[k]
            target[row["warp"]] = at + count
            source += count
