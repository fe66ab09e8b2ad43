"""Asynchronous copies to shared memory and their groups, and matrices of 8 rows of 16 bytes."""

from __future__ import annotations

import numpy as np

from memsim.jit.compiled import called, loop
from memsim.sources.ptx.machine.access import (
    DONE,
    LOGGED,
    OUTSIDE,
    TOO_MANY_OPS,
    VALUES,
    collect,
    host_of,
    locate,
    log_located,
    read,
    write,
)
from memsim.sources.ptx.machine.codes import BROUGHT, COMMITTED, COUNT, LANES, LIST, MASK, MOST_GROUPS, A, B, C, X, Y
from memsim.sources.ptx.machine.log import WAITED, find, wait_for
from memsim.sources.ptx.machine.tables import BASE_WARP, TRACING
from memsim.sources.waits import COPIES, LOADS

SIZED = 32  # a flag: C says how many bytes are read; the rest of what is written is 0
ALL = -1  # of a wait: for all copies, committed or not


@loop
def copy_async(m, w, pc, active):
    """cp.async: A and X are where from, B and LIST where to, MASK how many bytes.

    Lanes that read nothing are no part of the access; what they write is 0.
    """
    record, r, row, warp = m.records[w], m.registers[w], m.code[pc], m.status[BASE_WARP] + w
    width, flags = row[MASK], row[Y]
    reading = active
    if flags & SIZED:
        for lane in range(LANES):
            if r[row[C], lane] == 0:
                reading &= ~(np.int64(1) << lane)
    count = collect(m, r, row, reading, row[X]) if reading != 0 else np.int64(0)
    if count > 0:
        region = locate(m, pc, count, width)
        if region < -1:
            return -2 - region
        if m.grid[TRACING] and not log_located(m, record, warp, pc, count, width, region):
            return TOO_MANY_OPS
    if flags & VALUES:
        for lane in range(LANES):
            if (active >> lane) & 1:
                size = min(r[row[C], lane], width) if flags & SIZED else width
                source, target = r[row[A], lane] + row[X], r[row[B], lane] + row[LIST]
                if not move(m, w, lane, source, target, size, width):
                    return OUTSIDE
    return DONE


@called
def move(m, w, lane, source, target, size, width):
    """Copy bytes between places in memory, the rest of ``width`` as 0; false if either lies nowhere."""
    to = find(m, target)
    if target + width > m.mapped[to]:
        return False
    host = host_of(m, w, to, lane, target)
    if size > 0:
        of = find(m, source)
        if source + size > m.mapped[of]:
            return False
        from_host = host_of(m, w, of, lane, source)
        for k in range(0, size, 4):
            write(m, host + k, np.int64(4), read(m, from_host + k, np.int64(4)))
    for k in range((size + 3) // 4 * 4, width, 4):
        write(m, host + k, np.int64(4), np.int64(0))
    return True


@called
def commit(m, record, w, warp):
    """End a group: it holds the copies issued since the last one."""
    m.committed[w, record[COMMITTED] % MOST_GROUPS] = m.state[warp, LOADS + COPIES]
    record[COMMITTED] += 1


@called
def wait_group(m, record, w, warp, pending, active):
    """Wait until so many of the latest groups at most are under way."""
    if pending == ALL:
        wait_for(m, record, warp, np.int64(COPIES), m.state[warp, LOADS + COPIES], active)
    elif record[COMMITTED] > pending:
        number = m.committed[w, (record[COMMITTED] - pending - 1) % MOST_GROUPS]
        wait_for(m, record, warp, np.int64(COPIES), number, active)


@called
def matrix(m, record, w, warp, pc, r, row, active, stores):
    """ldmatrix and stmatrix: LIST and COUNT are the registers, one a matrix; MASK says whether matrices are transposed.

    Lane 8 * i + j has the address of row j of matrix i.
    """
    count, flags, record[BROUGHT] = row[COUNT], row[Y], 0
    copying = active & ((np.int64(1) << (8 * count)) - 1)
    n_lanes = collect(m, r, row, copying, row[X])
    if n_lanes == 0:
        return DONE
    region = locate(m, pc, n_lanes, np.int64(16))
    if region < -1:
        return -2 - region
    if m.grid[TRACING] and flags & LOGGED and not log_located(m, record, warp, pc, n_lanes, np.int64(16), region):
        return TOO_MANY_OPS
    if flags & VALUES:
        for i in range(count):
            _matrix_values(m, w, r, row, i, stores)
    if m.grid[TRACING] and flags & WAITED:
        for i in range(count):
            m.pending[w, m.lists[row[LIST] + i]] = record[BROUGHT]
    return DONE


@called
def _matrix_values(m, w, r, row, i, stores):
    """The elements of one matrix: lane 4 * a + b has elements 2 * b and 2 * b + 1 of row a, or of column a."""
    values = r[m.lists[row[LIST] + i]]
    for lane in range(LANES):
        word = values[lane]
        loaded = np.int64(0)
        for half in range(2):
            first, second = lane >> 2, 2 * (lane & 3) + half
            if row[MASK]:
                first, second = second, first
            address = r[row[A], 8 * i + first] + row[X] + 2 * second
            host = host_of(m, w, find(m, address), lane, address)
            if stores:
                write(m, host, np.int64(2), (word >> (16 * half)) & 0xFFFF)
            else:
                loaded |= read(m, host, np.int64(2)) << (16 * half)
        if not stores:
            values[lane] = loaded
