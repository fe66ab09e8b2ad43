"""Bulk copies and tensor copies (TMA): boxes become rows of the trace, 32 pieces of 16 bytes each.

A tensor map is opaque in PTX; ours is 16 words of 8 bytes, made by the driver library (``cuTensorMapEncodeTiled``).
"""

from __future__ import annotations

import numpy as np

from memsim.jit.compiled import called, loop
from memsim.sources.ptx.machine.access import (
    DONE,
    OUTSIDE,
    TOO_MANY_OPS,
    VALUES,
    host_of,
    locate,
    log_located,
    read,
    stopped_at,
    write,
)
from memsim.sources.ptx.machine.codes import COUNT, LANES, LIST, MASK, RANK_SHIFT, SHARED_WINDOW, A, B, C, Stop, X, Y
from memsim.sources.ptx.machine.log import STORES, find
from memsim.sources.ptx.machine.mbarriers import complete_bytes, mbarrier_of
from memsim.sources.ptx.machine.phases import let_copies_arrive
from memsim.sources.ptx.machine.tables import BASE_WARP, STOP_LANE, TRACING
from memsim.sources.ptx.machine.tensors import swizzled

UNKNOWN_TENSOR = int(Stop.unknown_tensor)
PIECE = 16
ARRIVES, MULTICAST = 256, 512  # flags in addition to those of access
MAGIC = 0x6D656D73696D7470
(MAGIC_WORD, ADDRESS, SHAPE, DIMENSIONS, STRIDES, BOX) = (0, 1, 2, 3, 8, 12)  # words of a tensor map


@loop
def copy_bulk(m, w, pc, active):
    """cp.async.bulk: A is where from, B where to, C the bytes, LIST the barrier's row: of every active lane."""
    record, r, row, warp = m.records[w], m.registers[w], m.code[pc], m.status[BASE_WARP] + w
    for lane in range(LANES):
        if not (active >> lane) & 1:
            continue
        source, target, size = r[row[A], lane] + row[X], r[row[B], lane] + row[MASK], r[row[C], lane]
        stores = row[Y] & STORES
        barrier, first = r[row[LIST], lane] + SHARED_WINDOW, m.cursor[0]
        stop = _pieces(m, record, w, warp, pc, target if stores else source, size)
        if stop == DONE and row[Y] & VALUES:
            stop = _moved(m, w, source, target, size)
        if stop != DONE:
            m.status[STOP_LANE] = lane
            return stop
        if row[Y] & ARRIVES:
            let_copies_arrive(m, mbarrier_of(m, record, w, barrier), first)
            complete_bytes(m, w, barrier, size)
    return DONE


@called
def _moved(m, w, source, target, size):
    """Move a stretch of memory; DONE, or why it cannot be."""
    of, to = find(m, source), find(m, target)
    if source + size > m.stops[of]:
        return stopped_at(m, np.int64(0), source, np.int64(OUTSIDE))
    if target + size > m.stops[to]:
        return stopped_at(m, np.int64(0), target, np.int64(OUTSIDE))
    from_host = host_of(m, w, of, np.int64(0), source)
    to_host = host_of(m, w, to, np.int64(0), target)
    for k in range(0, size, 4):
        write(m, to_host + k, np.int64(4), read(m, from_host + k, np.int64(4)))
    return np.int64(DONE)


@called
def _pieces(m, record, w, warp, pc, first, size):
    """Log a stretch of memory as rows of up to 32 pieces."""
    at = np.int64(0)
    while at < size:
        count = min((size - at + PIECE - 1) // PIECE, LANES)
        for i in range(count):
            m.lanes[i], m.address[i] = i, first + at + PIECE * i
        stop = _logged(m, record, w, warp, pc, count)
        if stop != DONE:
            return stop
        at += PIECE * count
    return np.int64(DONE)


@called
def _logged(m, record, w, warp, pc, count):
    """Log the pieces that were collected."""
    if count == 0:
        return np.int64(DONE)
    region = locate(m, pc, count, np.int64(1))
    if region < -1:
        return -2 - region
    if m.grid[TRACING] and not log_located(m, record, warp, pc, count, np.int64(PIECE), region):
        return np.int64(TOO_MANY_OPS)
    return np.int64(DONE)


@loop
def copy_tensor(m, w, pc, active):
    """cp.async.bulk.tensor: A is the map, B the place in shared memory, LIST the coordinates and then the barrier."""
    record, r, row, warp = m.records[w], m.registers[w], m.code[pc], m.status[BASE_WARP] + w
    for lane in range(LANES):
        if not (active >> lane) & 1:
            continue
        at = find(m, r[row[A], lane])
        if r[row[A], lane] + 128 > m.stops[at]:
            return stopped_at(m, lane, r[row[A], lane], OUTSIDE)
        words = host_of(m, w, at, lane, r[row[A], lane])
        if (
            _word(m, words, np.int64(MAGIC_WORD)) != MAGIC
            or (_word(m, words, np.int64(SHAPE)) >> 8) & 255 != row[COUNT]
        ):
            return UNKNOWN_TENSOR
        stop = _box(m, record, w, warp, pc, r, row, lane, words)
        if stop != DONE:
            m.status[STOP_LANE] = lane
            return stop
    return DONE


@called
def _word(m, words, number):
    return read(m, words + 8 * number, np.int64(8))


@called
def _box(m, record, w, warp, pc, r, row, lane, words):
    """One box: row after row of its innermost dimension; what lies outside of the tensor is 0 and is not read."""
    shape, rank = _word(m, words, np.int64(SHAPE)), row[COUNT]
    width, mode = shape & 255, (shape >> 16) & 255
    boxes = _word(m, words, np.int64(BOX))
    first = boxes & 511
    n_rows = np.int64(1)
    for d in range(1, rank):
        n_rows *= (boxes >> (9 * d)) & 511
    start = r[m.lists[row[LIST]], lane]
    start = (start << 32) >> 32
    low, high = max(start, np.int64(0)), min(start + first, _word(m, words, np.int64(DIMENSIONS)))
    count, target, logged = np.int64(0), r[row[B], lane] + SHARED_WINDOW, m.cursor[0]
    for number in range(n_rows):
        address = _row_address(m, r, row, lane, words, boxes, number)
        inside = address >= 0 and high > low
        if inside:
            for at in range(low * width, high * width, PIECE):
                m.lanes[count], m.address[count] = count, address + at
                count += 1
                if count == LANES:
                    stop = _logged(m, record, w, warp, pc, count)
                    if stop != DONE:
                        return stop
                    count = np.int64(0)
        if row[Y] & VALUES:
            line = target + number * first * width
            stop = _row_values(
                m, w, row, address if inside else np.int64(-1), line, start, low, high, first, width, mode
            )
            if stop != DONE:
                return stop
    stop = _logged(m, record, w, warp, pc, count)
    if stop == DONE and row[Y] & ARRIVES:
        _arrive(m, record, w, r, row, lane, n_rows * first * width, logged)
    return stop


@called
def _arrive(m, record, w, r, row, lane, size, logged):
    """Count the bytes that arrived at the barrier of the box, or at those of all blocks it went to.

    Rows from `logged` on are the box's: they arrive at the barrier of their own block.
    """
    barrier = r[m.lists[row[LIST] + row[COUNT]], lane] + SHARED_WINDOW
    if not row[Y] & MULTICAST:
        let_copies_arrive(m, mbarrier_of(m, record, w, barrier), logged)
        complete_bytes(m, w, barrier, size)
        return
    blocks = r[row[C], lane]
    offset = (barrier - SHARED_WINDOW) & ((1 << RANK_SHIFT) - 1)
    for rank in range(16):
        if (blocks >> rank) & 1:
            barrier = SHARED_WINDOW + ((rank + 1) << RANK_SHIFT) + offset
            let_copies_arrive(m, mbarrier_of(m, record, w, barrier), logged)
            complete_bytes(m, w, barrier, size)


@called
def _row_address(m, r, row, lane, words, boxes, number):
    """Where a row of the box begins if its innermost coordinate is 0; -1 if it lies outside of the tensor."""
    address = _word(m, words, np.int64(ADDRESS))
    rest = number
    for d in range(1, row[COUNT]):
        extent = (boxes >> (9 * d)) & 511
        coordinate = r[m.lists[row[LIST] + d], lane]
        coordinate = ((coordinate << 32) >> 32) + rest % extent
        rest //= extent
        if coordinate < 0 or coordinate >= _word(m, words, np.int64(DIMENSIONS + d)):
            return np.int64(-1)
        address += coordinate * _word(m, words, np.int64(STRIDES + d - 1))
    return address


@called
def _row_values(m, w, row, address, line, start, low, high, first, width, mode):
    """Move a row of the box, element by element, to or from where the swizzle puts it; DONE, or why it cannot be."""
    for i in range(first):
        inside = address >= 0 and low <= start + i < high
        shared_address = line + i * width
        if mode > 0:
            shared_address = SHARED_WINDOW + swizzled(shared_address - SHARED_WINDOW, mode)
        to = find(m, shared_address)
        if shared_address + width > m.stops[to]:
            return stopped_at(m, np.int64(0), shared_address, np.int64(OUTSIDE))
        host = host_of(m, w, to, np.int64(0), shared_address)
        if row[Y] & STORES:
            if inside:
                there = address + (start + i) * width
                region = find(m, there)
                if there + width > m.stops[region]:
                    return stopped_at(m, np.int64(0), there, np.int64(OUTSIDE))
                write(m, host_of(m, w, region, np.int64(0), there), width, read(m, host, width))
        else:
            value = np.int64(0)
            if inside:
                there = address + (start + i) * width
                region = find(m, there)
                if there + width > m.stops[region]:
                    return stopped_at(m, np.int64(0), there, np.int64(OUTSIDE))
                value = read(m, host_of(m, w, region, np.int64(0), there), width)
            write(m, host, width, value)
    return np.int64(DONE)
