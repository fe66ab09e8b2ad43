"""Bulk and tensor copies of an Accel-Sim trace (TMA, from tracer version 6 on): a line names transfers, not lanes.

After the bytes of one transfer stand: the mbarrier's address, whether the copy is multicast and then the mask of
blocks, the bytes in all and those outside of the tensor, the mode, and the transfers' addresses: a list, or a base and
deltas (``trace_parser.cc`` of the Accel-Sim framework). Transfers become rows of 32 pieces of 16 bytes, as they do in
:mod:`memsim.sources.ptx`; a copy into shared memory answers among the warp's copies.

Warps that test the mbarrier of a copy wait for the copy. The trace shows this only for the warp that issued it; the
waits of other warps are not followed.
"""

from __future__ import annotations

import numpy as np

from memsim.jit.compiled import inlined
from memsim.sources.imported.accelsim.find_op import find_ops
from memsim.sources.imported.accelsim.issue import end_run, loads_into
from memsim.sources.imported.accelsim.problems import BULK, ROWS_FULL, TEXT_USED
from memsim.sources.imported.accelsim.state import BARRIERS
from memsim.sources.imported.lane_rows import WARP_SIZE, write_lanes, write_plain
from memsim.sources.imported.tokens import LARGEST, read_decimal, read_hex, read_signed
from memsim.sources.waits import ANSWERED, COPIES, LOADS, NEEDED, need
from memsim.trace.schema import Flag, OpKind, Space

PIECE = 16  # bytes
MOST_BYTES = 1 << 20  # of one copy: a block's shared memory is a quarter of it
_LIST, _DELTAS = 3, 4  # address modes
_LOAD, _GLOBAL, _SEQUENCE_FLAG = int(OpKind.load), int(Space.global_), int(Flag.sequence)


@inlined
def read_bulk(text, at, s, tables, opcode, width):
    """Take a copy whose transfers have `width` bytes; TEXT_USED, or what is asked for or wrong."""
    barrier, mode, count, first, at = _fields(text, at)
    pieces = -(-width // PIECE)
    if barrier < 0 or count < 0 or first < 0 or count * pieces > MOST_BYTES // PIECE:
        return BULK
    address, s.reached = _last(text, at, mode, count, first)
    if address < 0:
        return BULK
    most = count * pieces  # rows and addresses: no row holds less than a piece
    if tables.cursor[0] + most + 2 > len(tables.rows) or tables.cursor[1] + most > len(tables.addresses):
        return ROWS_FULL
    tables.found[:, 0] = 0
    tables.found[_GLOBAL, 0] = 1 if count > 0 else 0
    tables.lanes[0] = address
    problem = find_ops(s, tables, 0)
    if problem != TEXT_USED:
        return problem
    rows = _rows(text, at, s, tables, mode, count, first, pieces) if count > 0 else 0
    if opcode.kind == _LOAD and rows > 0:
        loads_into(tables.issue, COPIES, np.int64(-1), np.int64(0), rows)
        slot = (barrier >> 3) % BARRIERS
        tables.barriers[slot, 0] = barrier
        tables.barriers[slot, 1] = tables.issue.waits[0, LOADS + COPIES]
    s.left -= 1
    return TEXT_USED


@inlined
def try_barrier(s, tables, barrier):
    """The warp waits for an mbarrier: for those of its own copies that arrive at it."""
    slot = (barrier >> 3) % BARRIERS
    waits = tables.issue.waits
    number = tables.barriers[slot, 1] if tables.barriers[slot, 0] == barrier else np.int64(0)
    if number <= max(waits[0, NEEDED + COPIES], waits[0, ANSWERED + COPIES]):
        return
    if s.compute_run > 0:  # what came before it does not wait
        write_plain(tables.rows, tables.cursor, _SEQUENCE_FLAG if s.start else 0, s.compute_run, 0)
        end_run(tables.issue, tables.rows[tables.cursor[0] - 1])
        s.compute_run = 0
    s.start = 1
    need(waits, 0, COPIES, number)


@inlined
def _fields(text, at):
    """(mbarrier's address, mode, transfers, address of the first or BAD, position); a number that is missing is BAD."""
    barrier, at = read_hex(text, at)
    multicast, at = read_decimal(text, at)
    if multicast > 0:
        _, at = read_hex(text, at)
    _, at = read_decimal(text, at)
    _, at = read_decimal(text, at)
    mode, at = read_decimal(text, at)
    count, first = np.int64(-1), np.int64(0)
    if mode == _LIST:
        count, at = read_decimal(text, at)
    elif mode == _DELTAS:
        first, at = read_hex(text, at)
        count, at = read_decimal(text, at)
    return barrier, mode, count, first, at


@inlined
def _next(text, at, mode, number, address):
    """(address of a transfer or BAD, position)."""
    if mode == _LIST:
        return read_hex(text, at)
    if number == 0:
        return address, at
    delta, negative, at = read_signed(text, at)
    if delta < 0 or delta >= LARGEST:
        return np.int64(-1), at
    return (address - delta if negative else address + delta), at


@inlined
def _last(text, at, mode, count, first):
    """(address of the last transfer, or BAD when one of them is, position)."""
    address = first
    for number in range(count):
        address, at = _next(text, at, mode, number, address)
        if address < 0 or address >= LARGEST:
            return np.int64(-1), at
    return address, at


@inlined
def _rows(text, at, s, tables, mode, count, first, pieces):
    """Write the transfers as rows of 32 pieces; the first has the compute run before the copy. Returns how many."""
    flags, compute_run = 0, s.compute_run
    if s.start:
        flags = _SEQUENCE_FLAG
        s.start = 0
        s.sequence += 1
    s.compute_run = 0
    before = tables.cursor[0]
    op, lanes, held, address = tables.found[_GLOBAL, 1], tables.lanes, 0, first
    for k in range(count * pieces):
        if k % pieces == 0:
            address, at = _next(text, at, mode, k // pieces, address)
        lanes[held] = address + PIECE * (k % pieces)
        held += 1
        if held == WARP_SIZE or k == count * pieces - 1:
            mask = (np.int64(1) << held) - 1
            write_lanes(tables.rows, tables.addresses, tables.cursor, op, flags, compute_run, mask, lanes, tables.some)
            flags, compute_run, held = 0, 0, 0
    end_run(tables.issue, tables.rows[before])
    return tables.cursor[0] - before
