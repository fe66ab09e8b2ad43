"""Atomics of a warp, lane after lane, with their values."""

from __future__ import annotations

import numpy as np

from memsim.jit.compiled import called, loop
from memsim.sources.ptx.machine.access import (
    DONE,
    LOGGED,
    MOST_REPEATS,
    PATIENCE,
    SPINNING,
    TOO_MANY_OPS,
    VALUES,
    YIELDED,
    collect,
    host_of,
    locate,
    log_located,
    read,
    write,
)
from memsim.sources.ptx.machine.codes import (
    BROUGHT,
    COUNT,
    DST,
    LIST,
    MASK,
    MIX,
    POLLED,
    REPEATED,
    REPEATS,
    SHIFT,
    SPINS,
    STATUS,
    B,
    C,
    Type,
    X,
    Y,
)
from memsim.sources.ptx.machine.floats import BF16X2, F16X2
from memsim.sources.ptx.machine.log import WAITED, find
from memsim.sources.ptx.machine.numbers import NEAREST, to_bits, to_number
from memsim.sources.ptx.machine.tables import BASE_WARP, TRACING

ADD, MINIMUM, MAXIMUM, AND, OR, XOR, EXCHANGE, SWAP, INCREMENT, DECREMENT = range(10)
UNSIGNED, SIGNED, F16, BF16 = (int(one) for one in (Type.unsigned, Type.signed, Type.f16, Type.bf16))
LOWEST = -(1 << 63)


@loop
def atomic(m, w, pc, active):
    """Carry out one atomic of every active lane, of which there are some; DONE, or why it cannot be.

    If a warp repeats it without a change, as for a lock or flag, other warps get their turn. Further repeats are not
    logged: their number says nothing about a GPU. After many repeats the run stops, so that later blocks can join.
    """
    record, r, row, warp = m.records[w], m.registers[w], m.code[pc], m.status[BASE_WARP] + w
    record[BROUGHT] = 0
    count = collect(m, r, row, active, row[X])
    width, flags = row[MASK], row[Y]
    region = locate(m, pc, count, width)
    if region < -1:
        return -2 - region
    if record[POLLED] != m.address[0]:
        record[POLLED], record[REPEATS] = m.address[0], 0
    if m.grid[TRACING] and record[REPEATED] == pc and record[REPEATS] >= PATIENCE:
        record[MIX], record[SPINS] = 0, 1
    elif m.grid[TRACING] and flags & LOGGED and not log_located(m, record, warp, pc, count, width, region):
        return TOO_MANY_OPS
    if flags & VALUES:
        changed = False
        for i in range(count):
            at = region if region >= 0 else find(m, m.address[i])
            lane = m.lanes[i]
            host = host_of(m, w, at, lane, m.address[i])
            old = read(m, host, width)
            new = _updated(m, row, old, r[row[B], lane], r[row[C], lane])
            changed |= new != old
            write(m, host, width, new)
            r[row[DST], lane] = old
        if wait_in_vain(m, record, pc, changed):
            return SPINNING
    if m.grid[TRACING] and flags & WAITED:
        m.pending[w, row[DST]] = record[BROUGHT]
    return DONE


@called
def wait_in_vain(m, record, pc, changed):
    """Count how often the same micro-op finds nothing changed; whether that is too often."""
    if changed or record[REPEATED] != pc:
        record[REPEATED], record[REPEATS] = pc, 0
        return False
    record[REPEATS] += 1
    if record[REPEATS] % PATIENCE == 0:
        record[STATUS] = YIELDED
    return record[REPEATS] > MOST_REPEATS


@called
def _updated(m, row, old, value, other):
    what, kind, shift = row[LIST], row[COUNT], row[SHIFT]
    mask = np.int64(-1) if shift == 0 else (np.int64(1) << (64 - shift)) - 1
    if what == EXCHANGE:
        return value & mask
    if what == SWAP:
        return other & mask if old == value & mask else old
    if what == AND:
        return old & value
    if what == OR:
        return old | value
    if what == XOR:
        return old ^ value
    if what == INCREMENT:
        return np.int64(0) if _below(value, old) or old == value else old + 1
    if what == DECREMENT:
        return value if old == 0 or _below(value, old) else old - 1
    if kind != UNSIGNED and kind != SIGNED:
        return _number(m, what, kind, old, value)
    if what == ADD:
        return (old + value) & mask
    smaller = _below(old, value) if kind == UNSIGNED else (old << shift) < (value << shift)
    return old if smaller == (what == MINIMUM) else value & mask


@called
def _below(a, b):
    return (a ^ LOWEST) < (b ^ LOWEST)


@called
def _number(m, what, kind, old, value):
    """Floating-point atomics, packed halves one after the other."""
    if kind != F16X2 and kind != BF16X2:
        return _one(m, what, kind, old, value)
    element = F16 if kind == F16X2 else BF16
    low = _one(m, what, element, old & 0xFFFF, value & 0xFFFF)
    return low | _one(m, what, element, (old >> 16) & 0xFFFF, (value >> 16) & 0xFFFF) << 16


@called
def _one(m, what, kind, old, value):
    x = to_number(m.cell, m.single, m.double, old, kind)
    y = to_number(m.cell, m.single, m.double, value, kind)
    if what == ADD:
        x = x + y
    elif what == MINIMUM:
        x = y if y < x or x != x else x
    else:
        x = y if y > x or x != x else x
    return to_bits(m.cell, m.single, m.double, x, kind, np.int64(NEAREST), np.int64(0))
