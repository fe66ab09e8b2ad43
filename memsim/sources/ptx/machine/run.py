"""The loop that runs warps: one micro-op of one warp at a time, the lanes of a group together."""

from __future__ import annotations

import numpy as np

from memsim.jit.compiled import called, inlined, loop
from memsim.jit.separate_kernel import call_at
from memsim.jit.struct_pointer import pointer_to
from memsim.sources.ptx.machine import integers as lanes
from memsim.sources.ptx.machine.access import DONE, access, log_masked
from memsim.sources.ptx.machine.barriers import (
    ARRIVE,
    AT_BARRIER,
    CAME,
    SPECIFIC,
    arrive,
    expected,
    release,
    release_after_exit,
)
from memsim.sources.ptx.machine.codes import (
    ALL_LANES,
    BARRIER_DST,
    BARRIER_ID,
    BARRIER_KIND,
    BLOCK,
    COUNT,
    DST,
    GUARD,
    LANES,
    LIST,
    MASK,
    MIX,
    N_GROUPS,
    N_USES,
    NEGATED,
    OP,
    PARKED,
    SEGMENT,
    SHIFT,
    STATUS,
    STEPS,
    TURNS,
    A,
    B,
    C,
    Micro,
    Stop,
    WarpStatus,
    X,
    Y,
)
from memsim.sources.ptx.machine.control import insert, let_converge, lowest_running, next_stop, park, take, wait_alike
from memsim.sources.ptx.machine.log import BARRIER_FLAG, charge, check_uses, log_no_access, note_lanes
from memsim.sources.ptx.machine.start import start_team
from memsim.sources.ptx.machine.tables import (
    BASE_WARP,
    CUT_BRANCH,
    CUT_TURNS,
    EXECUTED,
    IDLE,
    LAST_TEAM,
    MOST_STEPS,
    RUNNING,
    SHARED_BYTES,
    SHARED_HOST,
    SHARED_ROW,
    STOP_PC,
    TEAM,
    TEAM_NUMBER,
    TRACING,
    WARP_NOW,
    WARPS,
)
from memsim.sources.rows import START

READY, WARP_DONE, YIELDED = int(WarpStatus.ready), int(WarpStatus.done), int(WarpStatus.yielded)
LOG_FULL, NEW_MIX, ENDLESS, DEADLOCK, DIVERGENT_BARRIER, TRAPPED, PAUSED = (
    int(Stop.log_full), int(Stop.new_mix), int(Stop.endless), int(Stop.deadlock),
    int(Stop.divergent_barrier), int(Stop.trapped), int(Stop.paused),
)  # fmt: skip
ROOM = (1 << 10) + 4  # rows that one micro-op may log, and lanes that part before the next
TIME_SLICE = 1 << 16  # micro-ops of a warp's turn: after them others get theirs
PAUSE = 1 << 20  # micro-ops of all warps, less than a second: after them the loop returns, so that signals are heard
MOST_IDLE = 1 << 12  # turns of all warps in which none did anything but wait
# fmt: off
(NOP, COPY, ADD, SUBTRACT, MULTIPLY, MULTIPLY_ADD, AND, OR, XOR, NOT, LEFT, RIGHT, RIGHT_SIGNED, EXTEND,
 MULTIPLY_SIGNED, MULTIPLY_ADD_SIGNED, SELECT, MINIMUM, MAXIMUM, MINIMUM_SIGNED, MAXIMUM_SIGNED,
 SHIFT_ADD, PAIR, LOOKUP) = range(24)
# fmt: on
EQUAL, UNEQUAL, LESS, LESS_EQUAL, LESS_SIGNED, LESS_EQUAL_SIGNED = range(24, 30)
PREDICATE, BRANCH, TABLE, EXIT = int(Micro.predicate), int(Micro.branch), int(Micro.branch_table), int(Micro.exit)
BARRIER, TRAP, LOAD, STORE = int(Micro.barrier), int(Micro.trap), int(Micro.load), int(Micro.store)
CONVERGE = int(Micro.converge)
ALIAS, ATOMIC, COPY_ASYNC, MATRIX_LOAD, MATRIX_STORE, TEXTURE, SURFACE = (
    int(one)
    for one in (
        Micro.alias, Micro.atomic, Micro.copy_async, Micro.matrix_load, Micro.matrix_store, Micro.texture,
        Micro.surface,
    )
)  # fmt: skip


@loop
def run(m):
    """Run teams of blocks until all are done, or something must be seen to; returns a Stop, and can be called again."""
    m = pointer_to(m)
    status = m.status
    pause = status[EXECUTED] + PAUSE
    while status[TEAM_NUMBER] < status[LAST_TEAM]:
        if status[RUNNING] == 0:
            start_team(m)
            status[RUNNING] = 1
        stop = _run_team(m, pause)
        if stop != DONE:
            return stop
        status[RUNNING] = 0
        status[TEAM_NUMBER] += 1
        status[BASE_WARP] += m.grid[TEAM] * m.grid[WARPS]
    return np.int64(DONE)


@inlined
def _run_team(m, pause):
    """Run all warps of a team to their end, each as far as it gets alone, or until `pause` micro-ops were executed."""
    status = m.status
    n_warps = m.grid[TEAM] * m.grid[WARPS]
    while True:
        if status[WARP_NOW] == n_warps:
            status[WARP_NOW] = 0
            n_done = n_yielded = np.int64(0)
            for w in range(n_warps):
                n_done += np.int64(m.records[w, STATUS] == WARP_DONE)
                if m.records[w, STATUS] == YIELDED:
                    m.records[w, STATUS] = READY
                    n_yielded += 1
            if n_done == n_warps:
                return np.int64(DONE)
            if status[IDLE] > 0 and n_yielded == 0 or status[IDLE] > MOST_IDLE:
                return np.int64(DEADLOCK)
            status[IDLE] += 1
        w = status[WARP_NOW]
        if m.records[w, STATUS] == READY:
            stop = _run_warp(m, w)
            if stop != DONE:
                return stop
        status[WARP_NOW] += 1
        if status[EXECUTED] > pause:
            return np.int64(PAUSED)


@inlined
def _run_warp(m, w):
    """Run a warp until it waits, ends, or has used its time slice."""
    code, status, record, r, predicates = m.code, m.status, m.records[w], m.registers[w], m.predicates[w]
    warp = status[BASE_WARP] + w
    m.hosts[m.grid[SHARED_ROW]] = m.grid[SHARED_HOST] + record[BLOCK] * m.grid[SHARED_BYTES]
    tracing = m.grid[TRACING] != 0
    pc = limit = steps = np.int64(0)
    mask = np.int64(0)  # of no group yet
    stop = np.int64(DONE)
    last_row, last_listed = len(m.rows) - ROOM, len(m.listed) - ROOM * LANES
    cut = m.grid[CUT_BRANCH]
    n = np.int64(len(m.row)) & -LANES  # a multiple, so that no loop of vectors needs another for the rest
    while True:
        if pc >= limit or mask == 0:
            pc, mask, limit, stop = _choose_lanes(m, record, w, warp, pc, mask, tracing)
            if mask == 0:
                break
        row = code[pc]
        active = _guarded(row, mask, predicates)
        if tracing:
            stop = _charge_micro_op(m, record, w, warp, row, mask, last_row, last_listed)
            if stop != DONE:
                break
        steps += 1
        op = row[OP]
        if op < EQUAL:
            if active != 0 and op != NOP:
                all_lanes = active == ALL_LANES and row[COUNT] == 0  # COUNT: the result is an operand, too
                target = r[row[DST]] if all_lanes else m.row
                _integer(op, target, row, r, predicates, n)
                if not all_lanes:
                    lanes.blend(r[row[DST]], m.row, active, n)
            pc += 1
        elif op < PREDICATE:
            if active != 0:
                _compare(op, row, r, predicates, active, n)
            pc += 1
        elif op == PREDICATE:
            bits = lanes.truth(row[X], predicates[row[A]], predicates[row[B]])
            predicates[row[DST]] = (predicates[row[DST]] & ~active) | (bits & active)
            pc += 1
        elif op == BRANCH:
            if pc == cut:
                active = _cut(m, record, active)
            pc, mask, limit = _branch(m, record, w, warp, row[X], pc, mask, active, limit, tracing)
        elif op == EXIT:
            mask &= ~active
            pc += np.int64(mask != 0)
            if mask == 0 and record[N_GROUPS] == 0:
                _end_warp(m, record, warp, active, tracing)
                break
        elif op == BARRIER:
            if active != 0 and record[N_GROUPS] > 0:
                _park_lanes(m, record, w, pc, mask, active)
                mask = np.int64(0)
                continue
            waits = active != 0 and _arrive(m, record, warp, row, r, predicates, active, tracing)
            pc += 1
            if waits:
                break
        elif op == CONVERGE:
            if active == 0 or record[N_GROUPS] == 0 and wait_alike(r[row[A]], active):
                record[PARKED] &= ~mask  # of lanes that waited here for these
                pc += 1
                continue
            _park_lanes(m, record, w, pc, mask, active)
            mask = np.int64(0)
            let_converge(m.pcs[w], m.masks[w], record, pc, r[row[A]])
        elif op == TABLE:
            _by_table(m, w, pc, mask, active)
            mask = np.int64(0)
        else:
            stop = _run_other(m, record, w, warp, pc, row, active)
            if stop != DONE:
                break
            pc += 1
        if record[STATUS] != READY:
            break
        if steps > TIME_SLICE:
            record[STATUS] = YIELDED
            break
    return _leave_warp(m, record, w, pc, mask, steps, stop)


@inlined
def _guarded(row, mask, predicates):
    """The lanes of `mask` for which the micro-op's guard holds."""
    active = mask
    if row[GUARD] >= 0:
        bits = predicates[row[GUARD]]
        active = mask & ~bits if row[NEGATED] else mask & bits
    return active


@inlined
def _choose_lanes(m, record, w, warp, pc, mask, tracing):
    """The lanes that run next: their micro-op, mask (0: none can), where others join them, and a Stop."""
    pcs, masks = m.pcs[w], m.masks[w]
    if mask != 0:
        insert(pcs, masks, record, pc, mask)
    at = lowest_running(masks, record)
    if at == record[N_GROUPS]:
        stop = _meet(m, record, w, warp, tracing)
        if stop != DONE or record[STATUS] != READY:
            return pc, np.int64(0), np.int64(0), stop
        at = lowest_running(masks, record)
    pc, mask = pcs[at], masks[at]
    take(pcs, masks, record, at)
    if tracing:
        note_lanes(m, record, warp, mask)
    return pc, mask, next_stop(pcs, masks, record, pc), np.int64(DONE)


@inlined
def _charge_micro_op(m, record, w, warp, row, mask, last_row, last_listed):
    """Charge a micro-op's segment and wait for the loads that it uses; DONE, or why the trace cannot have it."""
    if m.cursor[0] > last_row or m.cursor[1] > last_listed:
        return np.int64(LOG_FULL)
    if row[SEGMENT] >= 0 and not charge(m, record, warp, mask, row[SEGMENT]):
        return np.int64(NEW_MIX)
    if row[N_USES] != 0:
        check_uses(m, record, w, warp, row, mask)
    return np.int64(DONE)


@inlined
def _cut(m, record, active):
    """The lanes that repeat a loop of which a warp executes so many iterations each time that it comes to it."""
    record[TURNS] += 1
    if active == 0 or record[TURNS] >= m.grid[CUT_TURNS]:
        record[TURNS] = active = np.int64(0)
    return active


@inlined
def _branch(m, record, w, warp, target, pc, mask, active, limit, tracing):
    """The micro-op, mask and limit after a branch, which the active lanes take."""
    if active == mask:
        return target, mask, limit
    if active == 0:
        return pc + 1, mask, limit
    pcs, masks = m.pcs[w], m.masks[w]
    insert(pcs, masks, record, target, active)
    mask &= ~active
    limit = next_stop(pcs, masks, record, pc + 1)
    if tracing and pc + 1 < limit:
        note_lanes(m, record, warp, mask)
    return pc + 1, mask, limit


@inlined
def _end_warp(m, record, warp, active, tracing):
    """All lanes have ended."""
    if tracing and record[MIX] != 0:
        log_no_access(m.rows, m.cursor, record, m.state, m.compute_runs, warp, active, 0)
    record[STATUS] = WARP_DONE
    release_after_exit(m, record[BLOCK])


@inlined
def _park_lanes(m, record, w, pc, mask, active):
    """Let the active lanes wait at a micro-op; the others continue behind it."""
    if active != mask:
        insert(m.pcs[w], m.masks[w], record, pc + 1, mask & ~active)
    park(m.pcs[w], m.masks[w], record, pc, active)


@inlined
def _arrive(m, record, warp, row, r, predicates, active, tracing):
    """All lanes of a warp come to a barrier; whether it must wait there."""
    record[PARKED] = 0
    return _barrier(m, record, warp, row, r, predicates, active, tracing)


@inlined
def _run_other(m, record, w, warp, pc, row, active):
    """Carry out an access, a trap, or a micro-op that is a loop of its own; DONE, or why it cannot be."""
    op = row[OP]
    if op == LOAD or op == STORE:
        return access(m, w, pc, active)
    if op == TRAP:
        return np.int64(TRAPPED) if active != 0 else np.int64(DONE)
    return _run_separate(m, record, w, warp, pc, row, active)


@inlined
def _leave_warp(m, record, w, pc, mask, steps, stop):
    """Count a warp's steps, and keep where its lanes are; returns the Stop."""
    status = m.status
    record[STEPS] += steps
    status[EXECUTED] += steps
    if steps > 1 and record[STATUS] != YIELDED or steps > TIME_SLICE:
        status[IDLE] = 0
    if record[STEPS] > m.grid[MOST_STEPS] and stop == DONE:
        stop = np.int64(ENDLESS)
    if mask != 0:
        insert(m.pcs[w], m.masks[w], record, pc, mask)
    status[STOP_PC] = pc
    return stop


@inlined
def _run_separate(m, record, w, warp, pc, row, active):
    """Carry out a micro-op that is a loop of its own; DONE, or why it cannot be."""
    op = row[OP]
    if op == ALIAS:
        _share(m, w, row)
    elif active != 0:
        return call_at(m.loops[op], m, w, pc, active)
    elif op == ATOMIC or op == COPY_ASYNC or op == MATRIX_LOAD or op == MATRIX_STORE or op == TEXTURE or op == SURFACE:
        log_masked(m, record, warp, row[Y])
    return np.int64(DONE)


@inlined
def _share(m, w, row):
    """Registers that got the value of others wait for the same loads: pairs (to, from) in the lists."""
    for k in range(row[LIST], row[LIST] + 2 * row[COUNT], 2):
        to, of = m.lists[k], m.lists[k + 1]
        m.pending[w, to] = m.pending[w, of]


@called
def _by_table(m, w, pc, mask, active):
    """brx.idx: every active lane goes where its index says."""
    record, r, row, pcs, masks = m.records[w], m.registers[w], m.code[pc], m.pcs[w], m.masks[w]
    if active != mask:
        insert(pcs, masks, record, pc + 1, mask & ~active)
    for lane in range(LANES):
        if (active >> lane) & 1:
            index = min(max(r[row[A], lane], 0), row[COUNT] - 1)
            insert(pcs, masks, record, m.lists[row[LIST] + index], np.int64(1) << lane)


@inlined
def _integer(op, target, row, r, predicates, n):
    """The results of an integer operation in all lanes."""
    a, b = r[row[A]], r[row[B]]
    if op == ADD:
        lanes.add(target, a, b, row[MASK], n)
    elif op == COPY:
        lanes.copy(target, a, n)
    elif op == AND:
        lanes.bit_and(target, a, b, n)
    elif op == OR:
        lanes.bit_or(target, a, b, n)
    elif op == XOR:
        lanes.bit_xor(target, a, b, n)
    elif op == LEFT:
        lanes.shift_left(target, a, b, row[X], row[MASK], n)
    elif op == RIGHT:
        lanes.shift_right(target, a, b, row[X], n)
    elif op == MULTIPLY:
        lanes.multiply(target, a, b, row[MASK], n)
    elif op == MULTIPLY_ADD:
        lanes.multiply_add(target, a, b, r[row[C]], row[MASK], n)
    elif op == MULTIPLY_SIGNED:
        lanes.multiply_signed(target, a, b, row[SHIFT], row[MASK], n)
    elif op == MULTIPLY_ADD_SIGNED:
        lanes.multiply_add_signed(target, a, b, r[row[C]], row[SHIFT], row[MASK], n)
    elif op == SUBTRACT:
        lanes.subtract(target, a, b, row[MASK], n)
    elif op == NOT:
        lanes.bit_not(target, a, row[MASK], n)
    elif op == RIGHT_SIGNED:
        lanes.shift_right_signed(target, a, b, row[X], row[SHIFT], row[MASK], n)
    elif op == EXTEND:
        lanes.extend(target, a, row[SHIFT], row[MASK], n)
    elif op == SELECT:
        lanes.select(target, a, b, predicates[row[X]], n)
    elif op == MINIMUM_SIGNED:
        lanes.minimum(target, a, b, row[SHIFT], n)
    elif op == MAXIMUM_SIGNED:
        lanes.maximum(target, a, b, row[SHIFT], n)
    elif op == MINIMUM:
        lanes.minimum_unsigned(target, a, b, n)
    elif op == MAXIMUM:
        lanes.maximum_unsigned(target, a, b, n)
    elif op == PAIR:
        lanes.pair(target, a, b, n)
    elif op == LOOKUP:
        lanes.lookup(target, a, b, r[row[C]], row[X], n)
    else:
        lanes.multiply_high(target, a, b, row[SHIFT], row[X], row[MASK], n)


@inlined
def _compare(op, row, r, predicates, active, n):
    """Compare lanes: a predicate, joined with another if there is one, and its complement if that is wanted.

    X is the truth table that joins the comparison with predicate C, Y the table of the complement; the second result's
    predicate is COUNT, -1 for none.
    """
    a, b = r[row[A]], r[row[B]]
    if op == EQUAL:
        bits = lanes.equal(a, b, n)
    elif op == UNEQUAL:
        bits = ~lanes.equal(a, b, n)
    elif op == LESS_SIGNED:
        bits = lanes.less_signed(a, b, row[SHIFT], n)
    elif op == LESS_EQUAL_SIGNED:
        bits = lanes.less_equal_signed(a, b, row[SHIFT], n)
    elif op == LESS:
        bits = lanes.less(a, b, n)
    else:
        bits = lanes.less_equal(a, b, n)
    other = predicates[row[C]]
    predicates[row[DST]] = (predicates[row[DST]] & ~active) | (lanes.truth(row[X], bits, other) & active)
    if row[COUNT] >= 0:
        complement = lanes.truth(row[Y], bits, other)
        predicates[row[COUNT]] = (predicates[row[COUNT]] & ~active) | (complement & active)


@called
def _meet(m, record, w, warp, tracing):
    """All lanes that have not ended are parked: the warp comes to the barrier; DONE, or why it cannot."""
    r, predicates, pcs, masks = m.registers[w], m.predicates[w], m.pcs[w], m.masks[w]
    for k in range(record[N_GROUPS]):  # lanes that others were to join, which have ended or left since
        row = m.code[pcs[k]]
        if row[OP] == CONVERGE and let_converge(pcs, masks, record, pcs[k], r[row[A]]):
            return np.int64(DONE)
    for k in range(record[N_GROUPS]):  # lanes that meet only if they can
        if m.code[pcs[k]][OP] == CONVERGE and m.code[pcs[k]][X]:
            pc, lanes_there = pcs[k], masks[k]
            take(pcs, masks, record, k)
            record[PARKED] &= ~lanes_there
            insert(pcs, masks, record, pc + 1, lanes_there)
            return np.int64(DONE)
    first, active = m.code[pcs[0]], np.int64(0)
    for k in range(record[N_GROUPS]):
        row = m.code[pcs[k]]
        active |= masks[k]
        same = row[X] == first[X] and row[Y] == first[Y] and r[row[A], 0] & 15 == r[first[A], 0] & 15
        if row[OP] != BARRIER or k > 0 and (not same or row[X] > ARRIVE):
            return np.int64(DIVERGENT_BARRIER)
    _barrier(m, record, warp, first, r, predicates, active, tracing)
    for k in range(record[N_GROUPS]):
        pcs[k] += 1
    record[PARKED] = 0
    return np.int64(DONE)


@called
def _barrier(m, record, warp, row, r, predicates, active, tracing):
    """A warp comes to a barrier; whether it must wait there."""
    block = record[BLOCK]
    number = r[row[A], 0] & 15
    threads = r[row[B], 0] if row[Y] else np.int64(-1)
    kind = row[X]
    all_lanes = threads < 0 or threads >= expected(m, block, np.int64(-1))
    if tracing and kind != ARRIVE:
        log_no_access(m.rows, m.cursor, record, m.state, m.compute_runs, warp, active, BARRIER_FLAG if all_lanes else 0)
        m.state[warp, START] = 1
    predicate = np.int64(0)
    if kind > ARRIVE:
        bits = predicates[row[C]]
        predicate = ~bits & active if row[MASK] else bits & active
    arrive(m, record, number, kind, predicate, active)
    record[BARRIER_ID], record[BARRIER_DST] = number, row[DST]
    record[BARRIER_KIND] = kind + (0 if threads < 0 else SPECIFIC)
    if kind != ARRIVE:
        record[STATUS] = AT_BARRIER
    if m.barriers[block, number, CAME] >= expected(m, block, threads):
        release(m, block, number)
    return kind != ARRIVE and record[STATUS] != READY
