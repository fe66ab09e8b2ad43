"""One instruction of a processed Accel-Sim trace, from its line to a row of the trace; compiled.

A line is ``[x y z warp] [source line] PC mask n [Rd]*n OPCODE m [Rs]*m [commit] mem_width [mode addresses]``; what
newer tracers add at its end (immediates, values) is left alone. The prefix comes from tracers before version 3, the
source line from those with line information, ``commit`` from version 6 on with matrix products of warp groups. What
follows the width of bulk copies stands in bulk.py.

What starts a sequence: a use of a register that a load of the current sequence writes, as an operand or to overwrite
it, by an access or by anything issued before it, because a warp issues in order; a barrier; ``DEPBAR``. A store or
atomic that merely takes such a register as its data stays in the sequence, with Flag.data.

What waits by scoreboard: every use of a register that a load writes, and every overwriting of it, waits for that load.
A compute run is divided where one of its instructions waits. The wait for what an access itself uses comes before the
last part of its compute run. DEPBAR waits for all copies to shared memory.
"""

from __future__ import annotations

import numpy as np

from memsim.jit.compiled import inlined
from memsim.sources.imported.accelsim.bulk import read_bulk, try_barrier
from memsim.sources.imported.accelsim.find_op import find_ops
from memsim.sources.imported.accelsim.issue import (
    ALL_REGISTERS,
    ZERO_REGISTER,
    count_instruction,
    end_run,
    is_new,
    loads_into,
    use_registers,
    wait_for_copies,
)
from memsim.sources.imported.accelsim.problems import (
    ADDRESS,
    LOCAL,
    MASK,
    MEM_WIDTH,
    MODE,
    NEW_OPCODE,
    NO_WARP,
    OPCODE,
    PC,
    PREFIX,
    REGISTERS,
    RUN,
    SURPLUS,
    TEXT_USED,
    UNKNOWN,
)
from memsim.sources.imported.accelsim.state import MOST_PC, MOST_REGISTERS, UNREAD
from memsim.sources.imported.lane_rows import WARP_SIZE, write_lanes, write_plain, write_strided
from memsim.sources.imported.opcodes import find_opcode, read_opcode
from memsim.sources.imported.sass import Does, Where
from memsim.sources.imported.tokens import (
    LARGEST,
    LINE_FEED,
    SPACE,
    read_decimal,
    read_hex,
    read_signed,
    skip_spaces,
    skip_token,
)
from memsim.sources.waits import COPIES, LONG, SHORT
from memsim.trace.local_memory import WINDOW, local_address
from memsim.trace.schema import Flag, OpKind, Space

LIST, STRIDE, DELTAS = range(3)  # address modes
_WAIT, _END, _BARRIER, _ACCESS = int(Does.wait), int(Does.end), int(Does.barrier), int(Does.access)
_BULK, _TRY = int(Does.bulk), int(Does.try_barrier)
_GENERIC, _BOTH = int(Where.generic), int(Where.both)
_GLOBAL, _SHARED, _LOCAL = int(Space.global_), int(Space.shared), int(Space.local)
_CONSTANT = int(Space.constant)
_LOAD, _ATOMIC = int(OpKind.load), int(OpKind.atomic)
_SEQUENCE_FLAG, _BARRIER_FLAG, _DATA_FLAG = int(Flag.sequence), int(Flag.barrier), int(Flag.data)
_LONGEST_STRIDE = 2**31 - 1
_R, _ZERO, _NINE = (ord(c) for c in "R09")


@inlined
def read_instruction(text, at, s, tables):
    """Read the instruction at `at`; TEXT_USED, or what is asked for or wrong. Changes nothing but then."""
    if s.insts < 0:
        return NO_WARP
    if s.left == 0:
        return SURPLUS
    for _ in range(s.prefix):
        number, at = read_decimal(text, at)
        if number < 0:
            return PREFIX
    if s.line_info:
        s.source_line, at = read_decimal(text, at)
        if s.source_line < 0:
            return PREFIX
    s.pc, at = read_hex(text, at)
    if s.pc < 0 or s.pc >= MOST_PC:
        return PC
    mask, at = read_hex(text, at)
    if mask < 0 or mask >> WARP_SIZE:
        return MASK
    written, at = _registers(text, at, tables.named, 0)
    at = read_opcode(text, skip_spaces(text, at), tables.spot)
    if written < 0 or at < 0:
        return REGISTERS if written < 0 else OPCODE
    read, at = _registers(text, at, tables.named, MOST_REGISTERS)
    slot = find_opcode(text, tables.spot, tables.opcodes, tables.pool)
    if read < 0:
        return REGISTERS
    if slot < 0:
        return NEW_OPCODE
    opcode = tables.opcodes[slot]
    s.opcode = opcode.number
    if s.commits and opcode.commits:
        _, at = read_decimal(text, at)
    mem_width, at = read_decimal(text, at)
    s.reached = at
    if mem_width < 0:
        return MEM_WIDTH
    if mem_width > 0 and mask > 0:
        if opcode.does == _ACCESS:
            return _access(text, at, s, tables, opcode, mask, written, read)
        if opcode.does == _BULK:
            return read_bulk(text, at, s, tables, opcode, mem_width)
        if opcode.does == _TRY:
            _, _, problem, s.reached = _addresses(text, at, mask, tables.lanes)
            if problem != TEXT_USED:
                return problem
            try_barrier(s, tables, tables.lanes[_lowest(mask)])
        elif not opcode.known:
            return UNKNOWN
    _plain(s, tables, opcode, mask, written, read)
    return TEXT_USED


@inlined
def _registers(text, at, named, to):
    """Read a count and so many names into `named`; (how many are R0 to R254, position), -1 when they are wrong."""
    count, at = read_decimal(text, at)
    if count < 0 or count > MOST_REGISTERS:
        return -1, at
    n = 0
    for _ in range(count):
        at = skip_spaces(text, at)
        if text[at] == LINE_FEED:
            return -1, at
        if text[at] == _R and _ZERO <= text[at + 1] <= _NINE:
            number, at = read_decimal(text, at + 1)
            if number < 0 or number >= ALL_REGISTERS:
                return -1, at
            named[to + n] = number
            n += 1
        else:  # uniform and predicate registers, which no load writes
            at = skip_token(text, at)
    return n, at


@inlined
def _loaded(s, tables, register):
    """Whether a load of the warp's current sequence writes a register."""
    return tables.registers[register] == s.sequence and register != ZERO_REGISTER


@inlined
def _plain(s, tables, opcode, mask, written, read):
    """Take an instruction that accesses no memory: a barrier ends a sequence, others count for the compute run."""
    s.left -= 1
    does = opcode.does
    if does == _BARRIER and mask > 0:
        write_plain(tables.rows, tables.cursor, _SEQUENCE_FLAG | _BARRIER_FLAG, s.compute_run, mask)
        end_run(tables.issue, tables.rows[tables.cursor[0] - 1])
        s.compute_run = 0
        s.start = 1
        s.sequence += 1
        return
    if does == _END:
        return
    if does == _WAIT:
        s.start = 1
        wait_for_copies(tables.issue)
        return
    _wait_within(s, tables, written, read)
    count_instruction(tables.issue, opcode, tables.named, MOST_REGISTERS, read, written)
    s.compute_run += 1
    for k in range(written):
        s.start |= _loaded(s, tables, tables.named[k])
    for k in range(MOST_REGISTERS, MOST_REGISTERS + read):
        s.start |= _loaded(s, tables, tables.named[k])


@inlined
def _wait_within(s, tables, written, read):
    """An instruction of a compute run uses what is on its way: what came before it gets a row that does not wait."""
    named = tables.named
    if s.compute_run > 0 and (
        is_new(tables.issue, named, 0, written) or is_new(tables.issue, named, MOST_REGISTERS, read)
    ):
        write_plain(tables.rows, tables.cursor, _SEQUENCE_FLAG if s.start else 0, s.compute_run, 0)
        end_run(tables.issue, tables.rows[tables.cursor[0] - 1])
        s.compute_run = 0
    use_registers(tables.issue, named, 0, written)
    use_registers(tables.issue, named, MOST_REGISTERS, read)


@inlined
def _access(text, at, s, tables, opcode, mask, written, read):
    """A memory instruction with active lanes."""
    base, stride, problem, s.reached = _addresses(text, at, mask, tables.lanes)
    if problem != TEXT_USED:
        return problem
    # The register that receives what is loaded: ATOM and ATOMG write theirs after a predicate, where the tracer, which
    # looks at the first operand only, counts it among those read.
    old = tables.named[0] if written > 0 else -1
    address_at = MOST_REGISTERS
    if opcode.kind == _ATOMIC and opcode.where != _SHARED and written == 0 and read >= 2:
        old = tables.named[MOST_REGISTERS]
        address_at += 1
    unread = opcode.kind == _ATOMIC and (old < 0 or old == ZERO_REGISTER)
    problem = _spaces(s, tables, opcode, mask)
    if problem == TEXT_USED:
        problem = find_ops(s, tables, UNREAD if unread else 0)
    if problem != TEXT_USED:
        return problem
    flags = _flags(s, tables, opcode.kind, written, read, address_at)
    use_registers(tables.issue, tables.named, 0, written)
    use_registers(tables.issue, tables.named, MOST_REGISTERS, read)
    first = tables.cursor[0]
    answers = opcode.kind == _LOAD or (opcode.kind == _ATOMIC and not unread)
    registers = max(np.int64(opcode.width) >> 2, 1)
    if stride <= _LONGEST_STRIDE and _named(opcode.where):
        write_strided(
            tables.rows, tables.cursor, tables.found[opcode.where, 1], flags, s.compute_run, mask, base, stride
        )
        end_run(tables.issue, tables.rows[first])
        if answers:
            loads_into(tables.issue, _class_of(opcode, opcode.where), old, registers, 1)
    else:
        compute_run = s.compute_run
        for space in range(4):
            lane_mask = tables.found[space, 0]
            if lane_mask:
                op = tables.found[space, 1]
                lanes, some = tables.lanes, tables.some
                before = tables.cursor[0]
                write_lanes(
                    tables.rows, tables.addresses, tables.cursor, op, flags, compute_run, lane_mask, lanes, some
                )
                flags, compute_run = 0, 0
                if before == first:
                    end_run(tables.issue, tables.rows[first])
                if answers and not (opcode.where == _BOTH and space == _SHARED):  # LDGSTS stores there
                    loads_into(tables.issue, _class_of(opcode, space), old, registers, tables.cursor[0] - before)
    s.compute_run = 0
    s.left -= 1
    if old >= 0 and (opcode.kind == _LOAD or opcode.kind == _ATOMIC):
        for register in range(old, min(old + max(opcode.width >> 2, 1), ZERO_REGISTER)):
            tables.registers[register] = s.sequence
    return TEXT_USED


@inlined
def _class_of(opcode, space):
    """The class of loads that an access of a space answers among."""
    if opcode.where == _BOTH:
        return COPIES
    return SHORT if space in (_SHARED, _CONSTANT) else LONG


@inlined
def _flags(s, tables, kind, written, read, address_at):
    """Whether the access waits for the sequence's loads, and to what end."""
    data = False
    for k in range(written):
        s.start |= _loaded(s, tables, tables.named[k])
    for k in range(MOST_REGISTERS, MOST_REGISTERS + read):
        if _loaded(s, tables, tables.named[k]):
            if kind == _LOAD or k <= address_at:
                s.start = 1
            else:
                data = True
    if s.start:
        s.start = 0
        s.sequence += 1
        return _SEQUENCE_FLAG
    return _DATA_FLAG if data else 0


@inlined
def _addresses(text, at, mask, lanes):
    """Read the active lanes' addresses; (base, stride of one row or a number too large, problem, position)."""
    no_stride = np.int64(_LONGEST_STRIDE + 1)
    mode, at = read_decimal(text, at)
    if mode < LIST or mode > DELTAS:
        return np.int64(0), no_stride, MODE, at
    if mode == STRIDE:
        return _strided(text, at, mask, lanes)
    address = np.int64(-1)
    for lane in range(WARP_SIZE):
        if (mask >> lane) & 1 == 0:
            continue
        if mode == LIST or address < 0:
            address, at = read_hex(text, at)
        elif text[at] == SPACE and _ZERO <= text[at + 1] <= _NINE and text[at + 2] <= SPACE:  # most are one digit
            address += np.int64(text[at + 1]) - _ZERO
            at += 2
        else:
            delta, negative, at = read_signed(text, at)
            if delta < 0 or delta >= LARGEST:
                return np.int64(0), no_stride, ADDRESS, at
            address = address - delta if negative else address + delta
        if address < 0 or address >= LARGEST:
            return np.int64(0), no_stride, ADDRESS, at
        lanes[lane] = address
    return np.int64(0), no_stride, TEXT_USED, at


@inlined
def _lowest(mask):
    """The first lane of a mask that has one."""
    first = 0
    while (mask >> first) & 1 == 0:
        first += 1
    return first


@inlined
def _strided(text, at, mask, lanes):
    base, at = read_hex(text, at)
    step, negative, at = read_signed(text, at)
    if base < 0 or step < 0 or step >= LARGEST:
        return base, step, ADDRESS, at
    if negative:
        step = -step
    first = _lowest(mask)
    run = mask >> first
    if run & (run + 1):
        return base, step, RUN, at
    address = base
    for lane in range(first, WARP_SIZE):
        if (mask >> lane) & 1 == 0:
            break
        if address < 0 or address >= LARGEST:
            return base, step, ADDRESS, at
        lanes[lane] = address
        address += step
    return base, (step if step >= -_LONGEST_STRIDE else np.int64(_LONGEST_STRIDE + 1)), TEXT_USED, at


@inlined
def _spaces(s, tables, opcode, mask):
    """Sort the active lanes by the space they access, and turn addresses into those of the space."""
    tables.found[:, 0] = 0
    if _named(opcode.where):
        tables.found[opcode.where, 0] = mask
        return TEXT_USED
    for lane in range(WARP_SIZE):
        if (mask >> lane) & 1 == 0:
            continue
        address = tables.lanes[lane]
        space = _LOCAL
        if opcode.where != _LOCAL:
            space = _space_of(s, opcode.where, address)
        if space == _SHARED and address >= s.shared_base:
            tables.lanes[lane] = address - s.shared_base
        elif space == _LOCAL:
            offset = address - s.local_base if s.local_base <= address < s.local_end else address
            if offset >= WINDOW:
                return LOCAL
            warp = s.block * s.warps_per_block + s.warp
            tables.lanes[lane] = local_address(warp, lane, offset, np.int64(opcode.width))
        tables.found[space, 0] |= np.int64(1) << lane
    return TEXT_USED


@inlined
def _named(where):
    """Whether the opcode itself names the space, and its addresses are those of the space."""
    return where < _GENERIC and where != _LOCAL


@inlined
def _space_of(s, where, address):
    """The space that a generic address, or one of LDGSTS's two, lies in."""
    if s.shared_base <= address < s.shared_end or address < WINDOW and (where == _BOTH or s.shared_end == 0):
        return _SHARED
    return _LOCAL if s.local_base <= address < s.local_end else _GLOBAL
