"""The compiled loops of describing: logging accesses and moving data.

Lanes are matrices [rows, warp_size], one row per warp; ``bits`` [rows] are the active lanes of each, u4 or, of more
than 32 lanes, u8, and ``warps`` the rows' warp numbers in the batch. Rows without active lanes are skipped.
"""

from __future__ import annotations

import numpy as np

from memsim.jit.compiled import loop
from memsim.sources.describe.waiting import SEQUENCE_OF
from memsim.sources.rows import START, begin_row, encode_addresses

# The loops over lanes index slices that start at 0, and rows whole where every lane is active: numba then drops its
# checks for negative indices and LLVM vectorizes (measured: six times as fast).


@loop
def log_access(rows, addresses, cursor, state, index, bits, warps, since, data, access, lanes_of, elements_of):
    """Log one access of every active warp; returns the position (row, lane) of an index out of range, or (-1, -1).

    Args:
        rows, addresses, cursor: the log, with room for all of it; cursor i8 [2] counts rows and addresses.
        state: of the warps.
        index: integers [rows, warp_size], elements of the array.
        since: i4 [rows, DEPENDENCES], what the address or the execution depends on.
        data: the same for the value that is stored.
        access: i8 [4], op, base address, number of elements that may be indexed, bytes of an element.
        lanes_of: i8 [2, warp_size + 1], scratch: row 0 holds the numbers of all lanes.
        elements_of: [warp_size + 1] of the type of `index`, scratch.
    """
    op, base, limit, element_bytes = access
    n_lanes = index.shape[1]
    all_lanes, some_lanes, packed = lanes_of[0], lanes_of[1], elements_of
    every_lane = (np.int64(2) << n_lanes - 1) - 1  # -1 of 64
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
        encode_addresses(row, addresses, cursor, lanes, elements, count, low, base, element_bytes)
        begin_row(row, state, warps[r], since[r, SEQUENCE_OF], data[r, SEQUENCE_OF], 0, 1, active)
        row["op"] = op
        cursor[0] += 1
    return -1, -1


@loop
def pack_lanes(index, active, lanes, packed):
    """Put the active lanes and their elements side by side; returns how many they are."""
    count = np.int64(0)
    for lane in range(len(index)):  # an inactive lane's entry is overwritten by the next one's
        lanes[count] = lane
        packed[count] = index[lane]
        count += (active >> lane) & 1
    return count


@loop
def back_edge(state, bits, warps):
    """Make every active warp's next access start a sequence."""
    for r in range(len(warps)):
        if bits[r] != 0:
            state[warps[r], START] = 1


@loop
def pack_bits(mask, bits):
    """Pack a boolean matrix [rows, lanes] into `bits` [rows], lane 0 lowest."""
    for r in range(mask.shape[0]):
        packed = np.uint64(0)
        for lane in range(mask.shape[1]):
            packed |= np.uint64(mask[r, lane]) << np.uint64(lane)
        bits[r] = packed


def active_bits(mask: np.ndarray) -> np.ndarray:
    """A boolean matrix [rows, lanes] as u4 [rows], of more than 32 lanes u8, lane 0 lowest."""
    bits = np.empty(mask.shape[0], np.uint32 if mask.shape[1] <= 32 else np.uint64)
    pack_bits(mask, bits)
    return bits


@loop
def any_outside(index, bits, extent):
    """Whether an active lane's index is not one of 0 to extent - 1."""
    for r in range(index.shape[0]):
        active = np.int64(bits[r])
        for lane in range(index.shape[1]):
            if (index[r, lane] < 0 or index[r, lane] >= extent) and (active >> lane) & 1:
                return True
    return False


@loop
def gather(data, index, bits, offset, out):
    """out[r, lane] = data[offset[r] + index[r, lane]] of active lanes, 0 elsewhere."""
    every_lane = (np.int64(2) << index.shape[1] - 1) - 1
    for r in range(index.shape[0]):
        active = np.int64(bits[r])
        values, elements, to = data[offset[r] :], index[r], out[r]
        if active == every_lane:
            for lane in range(len(to)):
                to[lane] = values[np.uint64(elements[lane])]
        else:
            for lane in range(len(to)):
                to[lane] = values[np.uint64(elements[lane])] if (active >> lane) & 1 else 0


@loop
def scatter(data, index, bits, offset, values):
    """data[offset[r] + index[r, lane]] = values[r, lane] of active lanes; of colliding lanes the last one wins."""
    for r in range(index.shape[0]):
        active = np.int64(bits[r])
        for lane in range(index.shape[1]):
            if (active >> lane) & 1:
                data[offset[r] + index[r, lane]] = values[r, lane]


ADD, MIN, MAX, EXCHANGE, COMPARE_AND_SWAP = range(5)


@loop
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
