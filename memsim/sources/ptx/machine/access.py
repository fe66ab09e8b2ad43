"""Loads, stores and atomics: addresses of lanes, regions, values."""

from __future__ import annotations

import numpy as np

from memsim.jit.compiled import called, inlined
from memsim.sources.ptx.machine.codes import (
    ALL_LANES,
    BROUGHT,
    COUNT,
    LANES,
    LIST,
    MASK,
    NUMBER,
    OP,
    REPEATED,
    SHARED_WINDOW,
    SHIFT,
    SPINS,
    STATUS,
    A,
    C,
    Micro,
    Stop,
    WarpStatus,
    X,
    Y,
)
from memsim.sources.ptx.machine.log import (
    GLOBAL,
    LOCAL,
    MASKED_FLAG,
    UNNUMBERED,
    WAITED,
    array_at,
    find,
    log_access,
    log_lanes,
    log_no_access,
)
from memsim.sources.ptx.machine.tables import (
    ACCESSES,
    ANY_BEYOND,
    BASE_WARP,
    BEYOND_ADDRESS,
    BEYOND_COUNT,
    BEYOND_LANE,
    BEYOND_WARP,
    LOCAL_BYTES,
    SECTORS,
    STOP_ADDRESS,
    STOP_LANE,
    TRACING,
    WARP_NOW,
)
from memsim.sources.rows import REACH

OUTSIDE, TOO_MANY_OPS, MISALIGNED, DONE, SPINNING = (
    int(Stop.outside), int(Stop.too_many_ops), int(Stop.misaligned), int(Stop.done), int(Stop.spinning)
)  # fmt: skip
YIELDED, STORE = int(WarpStatus.yielded), int(Micro.store)
POLLS = 1024  # a load that looks for what other warps do: when it is repeated, they get their turn
CARRIED = SHARED_WINDOW + (1 << 32)
ORIGIN = 1 << 12  # the host's address where the arrays of all its memory begin
# Bits of Y.
VALUES, SIGNED, LOGGED = 1, 2, 16
TESTS = 2048  # a load of an mbarrier's phase: while it is tested in vain, further tests are not logged
LOAD_STORE = 128  # the load-store unit's: even of no lane it takes its turn of the address unit
MOST_REPEATS = 1 << 16  # of a lock or a flag that does not change: nobody will change it
PATIENCE = 64  # repeats before other warps get their turn


@inlined
def read(m, host, width):
    """The bits at an address of the host, in whichever pieces it is aligned to."""
    at = host - ORIGIN
    if width == 4 and at & 3 == 0:
        return np.int64(m.bytes4[at >> 2])
    if width == 8 and at & 7 == 0:
        return np.int64(m.bytes8[at >> 3])
    if width == 2 and at & 1 == 0:
        return np.int64(m.bytes2[at >> 1])
    value = np.int64(0)
    for k in range(width):
        value |= np.int64(m.bytes1[at + k]) << (8 * k)
    return value


@inlined
def write(m, host, width, value):
    at = host - ORIGIN
    if width == 4 and at & 3 == 0:
        m.bytes4[at >> 2] = np.uint32(value & 0xFFFFFFFF)
    elif width == 8 and at & 7 == 0:
        m.bytes8[at >> 3] = value
    elif width == 2 and at & 1 == 0:
        m.bytes2[at >> 1] = np.uint16(value & 0xFFFF)
    else:
        for k in range(width):
            m.bytes1[at + k] = np.uint8((value >> (8 * k)) & 255)


@called
def collect(m, r, row, active, base):
    """Put the active lanes and their addresses side by side; returns how many they are."""
    count = np.int64(0)
    addresses, lanes, address = r[row[A]], m.lanes, m.address
    if active == ALL_LANES:  # as vectors
        for lane in range(LANES):
            lanes[lane], address[lane] = lane, addresses[lane] + base
        return np.int64(LANES)
    for lane in range(LANES):
        lanes[count] = lane
        address[count] = addresses[lane] + base
        count += (active >> lane) & 1
    return count


@inlined
def host_of(m, w, region, lane, address):
    """The host's address of what a lane accesses; each lane has local memory of its own."""
    host = m.hosts[region] + address - m.starts[region]
    if m.spaces[region] == LOCAL:
        host += (w * LANES + lane) * m.grid[LOCAL_BYTES]
    return host


@inlined
def stopped_at(m, lane, address, reason):
    m.status[STOP_LANE], m.status[STOP_ADDRESS] = lane, address
    return reason


@called
def _wrap_shared(m, count):
    """Addresses in shared memory are sums of 32 bits: what is carried beyond them is lost."""
    for i in range(count):
        if CARRIED <= m.address[i] < CARRIED + (1 << 32):
            m.address[i] -= 1 << 32


@called
def _note_beyond(m, pc, lane, address):
    """Note an access out of bounds that a GPU carries out, as the memory there is mapped."""
    noted = m.beyond[pc]
    if noted[BEYOND_COUNT] == 0:
        noted[BEYOND_WARP] = m.records[m.status[WARP_NOW], NUMBER]
        noted[BEYOND_LANE], noted[BEYOND_ADDRESS] = lane, address
    noted[BEYOND_COUNT] += 1
    m.status[ANY_BEYOND] = 1


@called
def locate(m, pc, count, width):
    """Check that all lanes' accesses are aligned and in regions; the one region, or -1 for several, or -2 and why.

    Those that end in the mapped memory behind a region are noted.
    """
    address = m.address
    low = high = address[0]
    bits = np.int64(0)
    for i in range(count):
        low, high = min(low, address[i]), max(high, address[i])
        bits |= address[i]
    region = np.int64(m.recent[pc])
    if not m.starts[region] <= low < m.stops[region]:
        region = find(m, low)
        m.recent[pc] = region
    inside = high + width <= m.stops[region] and high >= low
    if inside and bits & (min(width, 16) - 1) == 0:
        if m.spaces[region] == GLOBAL:
            m.status[ACCESSES] += count
            m.status[SECTORS] += min(count, ((high + width - 1) >> 5) - (low >> 5) + 1)
        return region
    _wrap_shared(m, count)
    m.status[ACCESSES] += count
    m.status[SECTORS] += count
    for i in range(count):
        if m.address[i] & (min(width, 16) - 1):
            return -2 - stopped_at(m, m.lanes[i], m.address[i], MISALIGNED)
        at = find(m, m.address[i])
        if m.address[i] + width > m.mapped[at]:
            return -2 - stopped_at(m, m.lanes[i], m.address[i], OUTSIDE)
        if m.address[i] + width > m.stops[at]:
            _note_beyond(m, pc, m.lanes[i], m.address[i])
    return np.int64(-1)


@called
def log_located(m, record, warp, pc, count, width, region):
    """Log an access whose regions are known; false when there are too many static instructions."""
    if region >= 0 and m.spaces[region] != LOCAL:
        array = array_at(m, region, m.address[0] - m.starts[region])
        if array < 0:
            return array != UNNUMBERED
        offset = m.shifts[region]
        address, trace_addresses = m.address, m.trace_addresses
        for i in range(count):
            trace_addresses[i] = address[i] - offset
        if m.stops[region] - m.starts[region] < REACH:
            return log_access(m, record, warp, pc, m.lanes, m.trace_addresses, count, array, m.spaces[region])
    return log_lanes(m, record, warp, pc, count, width)


@called
def log_masked(m, record, warp, flags):
    """Log an access whose predicate leaves no lane; Y's flags say whether it is the load-store unit's."""
    if m.grid[TRACING] and flags & LOAD_STORE:
        log_no_access(m.rows, m.cursor, record, m.state, m.compute_runs, warp, np.int64(0), MASKED_FLAG)


@called
def access(m, w, pc, active):
    """A load or a store of the active lanes; DONE, or why it cannot be."""
    record, r, row, warp = m.records[w], m.registers[w], m.code[pc], m.status[BASE_WARP] + w
    stores = row[OP] == STORE
    record[BROUGHT] = 0
    count = collect(m, r, row, active, row[X])
    flags = row[Y]
    if count == 0:
        log_masked(m, record, warp, flags)
        return DONE
    element, n_elements = row[MASK], row[COUNT]
    region = locate(m, pc, count, element * n_elements)
    if region < -1:
        return -2 - region
    logged = m.grid[TRACING] and flags & LOGGED and not (flags & TESTS and record[SPINS])
    if logged and not log_located(m, record, warp, pc, count, element * n_elements, region):
        return TOO_MANY_OPS
    if flags & VALUES:
        for k in range(n_elements):
            values = r[m.lists[row[LIST] + k]]
            if stores:
                _store(m, w, region, count, values, element, k * element)
            else:
                _load(m, w, region, count, values, element, k * element, row[SHIFT], row[C], flags)
    if flags & POLLS:
        if record[REPEATED] == pc:
            record[STATUS] = YIELDED
        record[REPEATED] = pc
    if m.grid[TRACING] and not stores and flags & WAITED:
        for k in range(n_elements):
            m.pending[w, m.lists[row[LIST] + k]] = record[BROUGHT]
    return DONE


@called
def _load(m, w, region, count, values, width, offset, shift, mask, flags):
    """Read one element of every active lane; ``mask`` cuts what SIGNED extends."""
    host = np.int64(0)
    if region >= 0:
        host = m.hosts[region] - m.starts[region] + offset
    plain = region >= 0 and m.spaces[region] != LOCAL
    address, lanes = m.address, m.lanes
    if plain and width == 4 and host & 3 == 0 and not flags & SIGNED:
        _load_words(m, host - ORIGIN, count, values)
        return
    for i in range(count):
        if not plain:
            at = find(m, address[i])
            host = host_of(m, w, at, lanes[i], address[i]) - address[i] + offset
        value = read(m, host + address[i], width)
        if flags & SIGNED:
            value = ((value << shift) >> shift) & mask
        values[lanes[i]] = value


@inlined
def _load_words(m, base, count, values):
    """Read aligned words of four bytes, which most accesses are: no lane asks for its width or alignment."""
    address, lanes, words = m.address, m.lanes, m.bytes4
    if count == LANES:
        for i in range(LANES):
            values[i] = np.int64(words[(base + address[i]) >> 2])
    else:
        for i in range(count):
            values[lanes[i]] = np.int64(words[(base + address[i]) >> 2])


@inlined
def _store_words(m, base, count, values):
    """Write aligned words of four bytes."""
    address, lanes, words = m.address, m.lanes, m.bytes4
    if count == LANES:
        for i in range(LANES):
            words[(base + address[i]) >> 2] = np.uint32(values[i] & 0xFFFFFFFF)
    else:
        for i in range(count):
            words[(base + address[i]) >> 2] = np.uint32(values[lanes[i]] & 0xFFFFFFFF)


@called
def _store(m, w, region, count, values, width, offset):
    """Write one element of every active lane; of lanes that meet, the last one stays."""
    host = np.int64(0)
    if region >= 0:
        host = m.hosts[region] - m.starts[region] + offset
    plain = region >= 0 and m.spaces[region] != LOCAL
    address, lanes = m.address, m.lanes
    if plain and width == 4 and host & 3 == 0:
        _store_words(m, host - ORIGIN, count, values)
        return
    for i in range(count):
        if not plain:
            at = find(m, address[i])
            host = host_of(m, w, at, lanes[i], address[i]) - address[i] + offset
        write(m, host + address[i], width, values[lanes[i]])
