"""What the lanes of a warp access together becomes memory instructions of the trace: compiled.

Addresses are those the program saw, but shared memory counts from the start of its array, and local memory is laid out
as importers do (:mod:`memsim.sources.local_memory`), by the offset in the thread's stack.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from memsim.sources.capture.positions import DONE, TAG_SHIFT, TOO_MANY_OPS
from memsim.sources.local_memory import local_address
from memsim.sources.rows import REACH, SEQUENCE, begin_row, place_lanes
from memsim.support.compiled import inlined, loop
from memsim.trace.schema import NO_OP, Space

ADDRESS_MASK = (1 << TAG_SHIFT) - 1
SHARED, LOCAL = int(Space.shared), int(Space.local)


class Sites(NamedTuple):
    """What words mean. Variants of one site and width are one access."""

    site_of: np.ndarray  # i4 [variants], 0 for a variant that was not announced
    access_of: np.ndarray  # i4 [variants]
    width: np.ndarray  # i4 [accesses], bytes
    returns: np.ndarray  # bool [sites], whether anything may wait for the value: loads and atomics
    unroll: np.ndarray  # i4 [TAG_MASK + 1], latches by site: iterations before a back-edge, 0 where there is none
    gap: np.ndarray  # i4 [sites]
    first_wait: np.ndarray  # i4 [sites + 1], index into ``waits``
    waits: np.ndarray  # i4, the sites that a site waits for
    first_datum: np.ndarray  # i4 [sites + 1], index into ``data``
    data: np.ndarray  # i4, the sites whose values a site stores


class Memory(NamedTuple):
    """Where arrays lie, in order of address; the last row stands for all addresses outside of them."""

    start: np.ndarray  # i8 [arrays + 1]
    stop: np.ndarray  # i8
    number: np.ndarray  # i4
    space: np.ndarray  # i4
    recent: np.ndarray  # i4 [accesses], the row where the access last was
    stack_bytes: np.ndarray  # i8 [1], of one thread


class Ops(NamedTuple):
    """Static ops: an access (a site with its width) of one array."""

    number: np.ndarray  # i4 [accesses, arrays], -1 for none
    made: np.ndarray  # i4 [NO_OP, 2], access and array of each
    n_made: np.ndarray  # i8 [1]


class Out(NamedTuple):
    """Where instructions go (a batch log), and each warp's state (:mod:`memsim.sources.rows`)."""

    rows: np.ndarray
    addresses: np.ndarray
    cursor: np.ndarray
    state: np.ndarray
    issued: np.ndarray  # i4 [sites], the sequence in which the warp last issued a load, -1 for none
    latched: np.ndarray  # i4 [sites], how often the warp came to a latch that is no back-edge every time
    some: np.ndarray  # i8 [WARP_SIZE], lanes of one of several instructions
    place: np.ndarray  # i8 [WARP_SIZE], their addresses in the trace
    left: np.ndarray  # bool [WARP_SIZE], those still to come


@loop
def issue(warp, global_warp, access, site, lanes, address, count, sites, memory, ops, out):
    """Log one access of some lanes of a warp: one instruction, or several if they access several arrays.

    Args:
        warp, global_warp: its number in ``out`` and in the launch.
        access, site: what is accessed.
        lanes, address: i8 [WARP_SIZE], the first ``count`` of them, lanes ascending.
    """
    since = newest(out.issued, sites.waits, sites.first_wait[site], sites.first_wait[site + 1])
    data = newest(out.issued, sites.data, sites.first_datum[site], sites.first_datum[site + 1])
    low = high = address[0]
    for i in range(1, count):
        low, high = min(low, address[i]), max(high, address[i])
    row = np.int64(memory.recent[access])
    if not memory.start[row] <= low < memory.stop[row]:
        row = memory.recent[access] = find(memory, low)
    if high < memory.stop[row] and high - low < REACH and memory.space[row] != LOCAL:
        base = -memory.start[row] if memory.space[row] == SHARED else np.int64(0)
        result = log(warp, access, site, row, lanes, address, count, low, base, since, data, sites, memory, ops, out)
    else:
        result = split(warp, global_warp, access, site, lanes, address, count, since, data, sites, memory, ops, out)
    if sites.returns[site]:
        out.issued[site] = out.state[warp, SEQUENCE]
    return result


@inlined
def is_back_edge(latch, sites, out):
    """Whether the loop goes back from a latch that the warp came to, rather than on to a copy of its body."""
    unroll = np.int64(sites.unroll[latch])
    if unroll > 1:
        out.latched[latch] += 1
        return out.latched[latch] % unroll == 0
    return unroll == 1


@inlined
def newest(issued, sites, first, last):
    """The latest sequence in which any of some sites was issued."""
    sequence = np.int64(-1)
    for i in range(first, last):
        sequence = max(sequence, np.int64(issued[sites[i]]))
    return sequence


@loop
def find(memory, address):
    """The row of the array that an address lies in, or the last row."""
    nowhere = len(memory.start) - 1
    low, high = 0, nowhere  # the first `low` arrays start at the address or before, those from `high` on after it
    while low < high:
        middle = (low + high) // 2
        if memory.start[middle] <= address:
            low = middle + 1
        else:
            high = middle
    return low - 1 if low > 0 and address < memory.stop[low - 1] else nowhere


@loop
def split(warp, global_warp, access, site, lanes, address, count, since, data, sites, memory, ops, out):
    """Log lanes as one instruction for each array, and for each stretch that one instruction can reach."""
    out.left[:count] = True
    for first in range(count):
        if not out.left[first]:
            continue
        row, taken = find(memory, address[first]), np.int64(0)
        at = low = placed(memory, row, global_warp, lanes[first], address[first], sites.width[access])
        for i in range(first, count):
            if not out.left[i] or find(memory, address[i]) != row:
                continue
            place = placed(memory, row, global_warp, lanes[i], address[i], sites.width[access])
            if abs(place - at) < REACH // 2:
                out.some[taken], out.place[taken], out.left[i] = lanes[i], place, False
                low = min(low, place)
                taken += 1
        result = log(
            warp, access, site, row, out.some, out.place, taken, low, np.int64(0), since, data, sites, memory, ops, out
        )
        if result != DONE:
            return result
        since = data = np.int64(-1)  # the first of them has waited
    return DONE


@inlined
def placed(memory, row, global_warp, lane, address, width):
    """The address in the trace of what a lane accesses in the array at ``row``."""
    if memory.space[row] == SHARED:
        return address - memory.start[row]
    if memory.space[row] != LOCAL:
        return address
    offset = (address - memory.start[row]) % memory.stack_bytes[0]
    return local_address(global_warp, lane, offset, np.int64(width))


@loop
def log(warp, access, site, row, lanes, address, count, low, base, since, data, sites, memory, ops, out):
    """Log one instruction; ``low`` is the lowest address, ``base`` is added to all."""
    array = memory.number[row]
    op = np.int64(ops.number[access, array])
    if op < 0:
        op = ops.n_made[0]
        if op == NO_OP:
            return TOO_MANY_OPS
        ops.number[access, array] = op
        ops.made[op, 0], ops.made[op, 1] = access, array
        ops.n_made[0] += 1
    mask = np.int64(0)
    for i in range(count):
        mask |= np.int64(1) << lanes[i]
    instruction = out.rows[out.cursor[0]]
    place_lanes(instruction, out.addresses, out.cursor, lanes, address, count, low, base, 1)
    begin_row(instruction, out.state, warp, since, data, sites.gap[site], 1, mask)
    instruction["op"] = op
    out.cursor[0] += 1
    return DONE
