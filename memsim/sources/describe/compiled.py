"""The compiled loops of describing: logging accesses, moving data, sorting the log by warp.

Lanes are matrices [rows, warp_size], one row a warp; ``bits`` u4 [rows] are the active lanes of each row and ``warps``
the rows' warp numbers in the batch. Rows without active lanes are skipped.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from memsim.trace.bits import popcount
from memsim.trace.schema import EXPLICIT, INSTRUCTION_COLUMNS, NO_OP, Flag

# The loops over lanes index slices that start at 0, and rows whole where every lane is active: numba then drops its
# checks for negative indices and LLVM vectorizes (measured: six times as fast).

# Columns of the state of each warp, i8 [n_warps, 3].
SEQUENCE, GAP, START = range(3)  # sequences started; non-memory instructions since the last row; a new one is due

# One line of the log: an instruction of one warp, in the order of execution.
ROW = np.dtype([("warp", "<i4"), *INSTRUCTION_COLUMNS.items()])

SEQUENCE_FLAG, BARRIER_FLAG, DATA_FLAG = int(Flag.sequence), int(Flag.barrier), int(Flag.data)
LONGEST_STRIDE = 2**31 - 1
LISTED = int(EXPLICIT)


@njit(cache=True)
def log_access(rows, addresses, cursor, state, index, bits, warps, since, data, issued, access):
    """Log one access of every active warp; returns the position (row, lane) of an index out of range, or (-1, -1).

    Args:
        rows, addresses, cursor: the log, with room for all of it; cursor i8 [2] counts rows and addresses.
        state: of the warps.
        index: integers [rows, warp_size], elements of the array.
        since: i4 [rows], the newest sequence whose loads the address or the execution depends on; -1 for none.
        data: i4 [rows], the same for the value that is stored.
        issued: non-memory instructions that every active warp issued just before.
        access: i8 [4], op, base address, number of elements that may be indexed, bytes of an element.
    """
    op, base, limit, element_bytes = access
    n_lanes = index.shape[1]
    all_lanes = np.arange(n_lanes)
    some_lanes, packed = np.empty(n_lanes + 1, np.int64), np.empty(n_lanes + 1, index.dtype)
    every_lane = (np.int64(1) << n_lanes) - 1
    for r in range(len(warps)):
        active = np.int64(bits[r])
        if active == 0:
            continue
        lanes, elements, count = all_lanes, index[r], n_lanes
        if active != every_lane:
            lanes, elements, count = some_lanes, packed, pack_lanes(index[r], active, some_lanes, packed)
        low = high = elements[0]
        for i in range(1, count):
            low, high = min(low, elements[i]), max(high, elements[i])
        if low < 0 or high >= limit:
            for i in range(count):
                if elements[i] < 0 or elements[i] >= limit:
                    return r, lanes[i]
        row = rows[cursor[0]]
        stride = lane_stride(lanes, elements, count) * element_bytes
        if -LONGEST_STRIDE <= stride <= LONGEST_STRIDE:
            row["base"] = base + np.int64(elements[0]) * element_bytes
            row["stride"] = stride
        else:
            row["base"] = base + np.int64(low) * element_bytes
            row["stride"] = LISTED
            listed = addresses[cursor[1] : cursor[1] + count]
            for i in range(count):
                listed[i] = (elements[i] - low) * element_bytes
            cursor[1] += count
        begin_row(row, state, warps[r], since[r], data[r], issued, active)
        row["op"] = op
        cursor[0] += 1
    return -1, -1


@njit(cache=True)
def pack_lanes(index, active, lanes, packed):
    """Put the active lanes and their elements side by side; returns how many they are."""
    count = np.int64(0)
    for lane in range(len(index)):  # an inactive lane's entry is overwritten by the next one's
        lanes[count] = lane
        packed[count] = index[lane]
        count += (active >> lane) & 1
    return count


@njit(cache=True)
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


@njit(cache=True)
def begin_row(row, state, warp, since, data, issued, active):
    """Fill what every row has, and start a sequence when one is due or the access waits for the current one."""
    flags = 0
    if state[warp, START] or since == state[warp, SEQUENCE]:
        state[warp, SEQUENCE] += 1
        state[warp, START] = 0
        flags = SEQUENCE_FLAG
    elif data == state[warp, SEQUENCE]:
        flags = DATA_FLAG
    row["warp"] = warp
    row["flags"] = flags
    row["gap"] = state[warp, GAP] + issued
    row["mask"] = active
    state[warp, GAP] = 0


@njit(cache=True)
def log_barrier(rows, cursor, state, bits, warps, issued):
    """Log a barrier of every active warp; it ends their sequences."""
    for r in range(len(warps)):
        if bits[r] == 0:
            continue
        state[warps[r], START] = 1
        row = rows[cursor[0]]
        begin_row(row, state, warps[r], -1, -1, issued, np.int64(bits[r]))
        row["flags"] |= BARRIER_FLAG
        row["op"] = NO_OP
        row["base"] = 0
        row["stride"] = 0
        state[warps[r], START] = 1
        cursor[0] += 1


@njit(cache=True)
def log_trailing(rows, cursor, state):
    """Log the non-memory instructions after each warp's last access."""
    for warp in range(len(state)):
        if state[warp, GAP] > 0:
            row = rows[cursor[0]]
            begin_row(row, state, warp, -1, -1, 0, 0)
            row["flags"] = 0
            row["op"] = NO_OP
            row["base"] = 0
            row["stride"] = 0
            cursor[0] += 1


@njit(cache=True)
def issue(state, bits, warps, count):
    """Charge every active warp with some non-memory instructions."""
    for r in range(len(warps)):
        if bits[r] != 0:
            state[warps[r], GAP] += count


@njit(cache=True)
def back_edge(state, bits, warps):
    """Make every active warp's next access start a sequence."""
    for r in range(len(warps)):
        if bits[r] != 0:
            state[warps[r], START] = 1


@njit(cache=True)
def active_bits(mask):
    """Pack a boolean matrix [rows, lanes] into u4 [rows], lane 0 lowest."""
    bits = np.zeros(mask.shape[0], np.uint32)
    for r in range(mask.shape[0]):
        packed = np.uint32(0)
        for lane in range(mask.shape[1]):
            packed |= np.uint32(mask[r, lane]) << np.uint32(lane)
        bits[r] = packed
    return bits


@njit(cache=True)
def any_outside(index, bits, extent):
    """Whether an active lane's index is not one of 0 to extent - 1."""
    for r in range(index.shape[0]):
        active = np.int64(bits[r])
        for lane in range(index.shape[1]):
            if (index[r, lane] < 0 or index[r, lane] >= extent) and (active >> lane) & 1:
                return True
    return False


@njit(cache=True)
def gather(data, index, bits, offset, out):
    """out[r, lane] = data[offset[r] + index[r, lane]] of active lanes, 0 elsewhere."""
    every_lane = (np.int64(1) << index.shape[1]) - 1
    for r in range(index.shape[0]):
        active = np.int64(bits[r])
        values, elements, to = data[offset[r] :], index[r], out[r]
        if active == every_lane:
            for lane in range(len(to)):
                to[lane] = values[np.uint64(elements[lane])]
        else:
            for lane in range(len(to)):
                to[lane] = values[np.uint64(elements[lane])] if (active >> lane) & 1 else 0


@njit(cache=True)
def scatter(data, index, bits, offset, values):
    """data[offset[r] + index[r, lane]] = values[r, lane] of active lanes; of colliding lanes the last one wins."""
    for r in range(index.shape[0]):
        active = np.int64(bits[r])
        for lane in range(index.shape[1]):
            if (active >> lane) & 1:
                data[offset[r] + index[r, lane]] = values[r, lane]


ADD, MIN, MAX, EXCHANGE, COMPARE_AND_SWAP = range(5)


@njit(cache=True)
def atomic(data, index, bits, offset, operation, values, compare, out):
    """One atomic of every active lane, one after the other; ``out`` receives the old values, 0 in inactive lanes."""
    for r in range(index.shape[0]):
        active = np.int64(bits[r])
        for lane in range(index.shape[1]):
            out[r, lane] = 0
            if (active >> lane) & 1 == 0:
                continue
            at = offset[r] + index[r, lane]
            old = data[at]
            out[r, lane] = old
            if operation == ADD:
                data[at] = old + values[r, lane]
            elif operation == MIN:
                data[at] = min(old, values[r, lane])
            elif operation == MAX:
                data[at] = max(old, values[r, lane])
            elif operation == EXCHANGE or old == compare[r, lane]:
                data[at] = values[r, lane]


@njit(cache=True)
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


@njit(cache=True)
def sort_addresses(rows, addresses, first_address, sorted_addresses):
    """Copy the addresses from the order of execution to warp after warp."""
    target = first_address.copy()
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


@njit(cache=True)
def sort_rows(rows, first_instruction, op, flags, gap, mask, base, stride):
    """Copy the log's rows to columns, warp after warp, each in the order of execution."""
    target = first_instruction.copy()
    for i in range(len(rows)):
        row = rows[i]
        to = target[row["warp"]]
        target[row["warp"]] = to + 1
        op[to] = row["op"]
        flags[to] = row["flags"]
        gap[to] = row["gap"]
        mask[to] = row["mask"]
        base[to] = row["base"]
        stride[to] = row["stride"]
