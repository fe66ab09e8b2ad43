"""What warps do becomes rows of the log: compute runs with their mixes, waits by class, accesses with their lanes."""

from __future__ import annotations

import numpy as np

from memsim.jit.compiled import called, inlined
from memsim.sources.ptx.machine.codes import (
    BROUGHT,
    BY_CODE,
    FIRST_COPY,
    MIX,
    N_USES,
    NUMBER,
    OP,
    OUTSTANDING,
    PRODUCTS,
    RAN,
    SPINS,
    SWITCHED,
    USES,
    WAITING,
    Micro,
    Y,
)
from memsim.sources.rows import COMPUTE_RUN, OFF_CRITICAL_PATH, REACH, START, begin_row, encode_addresses
from memsim.sources.waits import ANSWERED, COPIES, LONG, NEEDED, SHORT, issue_load, need
from memsim.trace.local_memory import local_address
from memsim.trace.schema import NO_OP, NO_SCOREBOARD, NO_WAIT, Flag, Space

LONGEST_COMPUTE_RUN = 1 << 12  # instructions of one row's compute run: a longer one is several rows
UNNUMBERED = -2  # an array that gets its number when it is first accessed
ARRAY_ALIGNMENT = 512  # bytes to which such arrays are aligned in the trace
FULL = -2  # in the table of mixes: it is full
GLOBAL, SHARED, LOCAL, CONSTANT = int(Space.global_), int(Space.shared), int(Space.local), int(Space.constant)
COPY_ASYNC, BULK, TENSOR, LOAD, MATRIX_LOAD, ATOMIC, TEXTURE, SURFACE = (
    int(one)
    for one in (
        Micro.copy_async, Micro.bulk, Micro.tensor, Micro.load, Micro.matrix_load, Micro.atomic, Micro.texture,
        Micro.surface,
    )
)  # fmt: skip
WAITED, STORES = 4, 64  # bits of Y: something may wait for what is brought; a bulk copy goes to global memory
BARRIER_FLAG, MASKED_FLAG, PATH_SWITCH_FLAG = int(Flag.barrier), int(Flag.masked), int(Flag.path_switch)


@inlined
def charge(m, record, warp, active, segment):
    """Add a segment's instructions to the warp's compute run; false if their sum is no known mix yet.

    Where the table of mixes is full, what the warp has issued so far becomes a row of its own.
    """
    mix = m.next_mix[record[MIX], segment]
    if mix == FULL or m.compute_runs[record[MIX], 0] > LONGEST_COMPUTE_RUN:
        log_no_access(m.rows, m.cursor, record, m.state, m.compute_runs, warp, np.int64(active), 0)
        mix = m.next_mix[0, segment]
    if mix < 0:
        return False
    record[MIX] = mix
    return True


@called
def fill(row, record, state, compute_runs, warp, active):
    """What every row has: compute run, mix, waits, sequence; the warp's compute run and needs begin anew."""
    mix = record[MIX]
    state[warp, COMPUTE_RUN] = compute_runs[mix, 0]
    state[warp, OFF_CRITICAL_PATH] = compute_runs[mix, 0] - compute_runs[mix, 1]
    begin_row(row, state, warp, -1, -1, 0, 1, active)
    row["instruction_mix"] = mix
    row["scoreboard_wait"] = record[WAITING]
    if record[PRODUCTS] > 0:
        row["wait_products"] = record[PRODUCTS] - 1
    record[MIX] = record[WAITING] = record[PRODUCTS] = 0


@called
def log_no_access(rows, cursor, record, state, compute_runs, warp, active, flags):
    """Log a row without access: a compute run before a wait, a barrier, a masked access, or the warp's last one."""
    row = rows[cursor[0]]
    due = state[warp, START]
    fill(row, record, state, compute_runs, warp, active)
    row["flags"] = flags
    row["op"] = NO_OP
    row["base"] = 0
    row["stride"] = 0
    state[warp, START] = due
    cursor[0] += 1


@called
def note_lanes(m, record, warp, mask):
    """Note which lanes of a warp run from here on.

    What others have issued becomes a row of their own. Lanes that ran elsewhere have parted from those before them, and
    waited: that is the warp's turn to them. Where such lanes meet, a row says so that does nothing: what follows may be
    of fewer of them, or of none, by its predicate.
    """
    ran = record[RAN]
    if mask == ran:
        return
    if record[MIX] != 0:
        log_no_access(m.rows, m.cursor, record, m.state, m.compute_runs, warp, np.int64(ran), 0)
    if ran & mask == 0 and ran != 0:
        log_no_access(m.rows, m.cursor, record, m.state, m.compute_runs, warp, np.int64(mask), PATH_SWITCH_FLAG)
        record[SWITCHED] |= ran | mask
    elif mask & ~ran != 0 and mask & record[SWITCHED] != 0:
        log_no_access(m.rows, m.cursor, record, m.state, m.compute_runs, warp, np.int64(mask), 0)
        if record[SWITCHED] & ~mask == 0:
            record[SWITCHED] = 0
    record[RAN] = mask


@inlined
def wait_for(m, record, warp, kind, number, active):
    """Have the warp's next row wait for its load ``number`` of a class, and for those before it."""
    if number <= m.state[warp, ANSWERED + kind] or number <= m.state[warp, NEEDED + kind]:
        return
    if record[MIX] != 0:  # those instructions need no wait
        log_no_access(m.rows, m.cursor, record, m.state, m.compute_runs, warp, np.int64(active), 0)
    need(m.state, warp, kind, number)
    m.state[warp, START] = 1


@inlined
def unpacked(code):
    """Waits, scoreboard that is set, stall count, result and groups left of what `codes.control_code` packs."""
    return code & 63, code >> 6 & 7, code >> 9 & 15, code >> 13 & 15, code >> 17


@called
def follow_control_code(m, record, warp, code, active):
    """Have the warp's next row wait for scoreboards that may be set; or log the row of an instruction with a result."""
    waits, sets, stall, result, products = unpacked(code[USES])
    waits &= record[OUTSTANDING]
    if waits != 0:
        if record[MIX] != 0:  # those instructions need no wait
            log_no_access(m.rows, m.cursor, record, m.state, m.compute_runs, warp, np.int64(active), 0)
        record[WAITING] |= waits
        record[OUTSTANDING] &= ~waits
        m.state[warp, START] = 1
    if products != NO_WAIT:
        if record[MIX] != 0:
            log_no_access(m.rows, m.cursor, record, m.state, m.compute_runs, warp, np.int64(active), 0)
        record[PRODUCTS] = products + 1
    if code[N_USES] != BY_CODE and record[SPINS] == 0:  # while polls are left out, so is what stands between them
        log_no_access(m.rows, m.cursor, record, m.state, m.compute_runs, warp, np.int64(active), 0)
        row = m.rows[m.cursor[0] - 1]
        row["result"] = result
        set_scoreboard(record, row, sets, stall)


@inlined
def set_scoreboard(record, row, sets, stall):
    """Say of a row which scoreboard it sets, and its stall count."""
    row["scoreboard_set"] = sets
    row["stall"] = stall
    if sets != NO_SCOREBOARD:
        record[OUTSTANDING] |= 1 << sets


@inlined
def check_uses(m, record, w, warp, code, active):
    """Wait for the loads whose registers a micro-op uses, if they may be under way, or as its control code says."""
    if code[N_USES] < 0:
        follow_control_code(m, record, warp, code, active)
    for u in range(code[USES], code[USES] + code[N_USES]):
        pending = m.pending[w, m.uses[u]]
        wait_for(m, record, warp, pending & 3, pending >> 2, active)


@inlined
def static_instruction(m, pc, array):
    """The static instruction of a micro-op and an array, made when first met; -1 when there are too many."""
    op = np.int64(m.numbers_of_ops[pc, array])
    if op < 0:
        op = m.n_made[0]
        if op == NO_OP:
            return np.int64(-1)
        m.numbers_of_ops[pc, array] = op
        m.made[op, 0], m.made[op, 1] = pc, array
        m.n_made[0] += 1
    return op


@inlined
def _is_answered(micro):
    """Whether an access brings something only if the flag WAITED says so."""
    return micro == ATOMIC or micro == TEXTURE or micro == SURFACE


@called
def log_access(m, record, warp, pc, lanes, trace_addresses, count, array, space):
    """Log one access of ``count`` lanes at places in the trace's address space; false when there are too many ops.

    What registers hold that it brings is in the warp's record then: number and class of the load.
    """
    op = static_instruction(m, pc, array)
    if op < 0:
        return False
    low, mask = trace_addresses[0], np.int64(0)
    for i in range(count):
        low = min(low, trace_addresses[i])
        mask |= np.int64(1) << lanes[i]
    row = m.rows[m.cursor[0]]
    encode_addresses(row, m.listed, m.cursor, lanes, trace_addresses, count, low, np.int64(0), 1)
    fill(row, record, m.state, m.compute_runs, warp, mask)
    row["op"] = op
    record[SPINS] = 0
    m.cursor[0] += 1
    if m.code[pc, N_USES] == BY_CODE:
        _, sets, stall, _, _ = unpacked(m.code[pc, USES])
        set_scoreboard(record, row, sets, stall)
    micro = m.code[pc, OP]
    if micro == COPY_ASYNC or (micro == BULK or micro == TENSOR) and m.code[pc, Y] & STORES == 0:
        issue_load(m.state, warp, COPIES)
        if micro == COPY_ASYNC and record[FIRST_COPY] == 0:
            record[FIRST_COPY] = m.cursor[0]
    elif micro == LOAD or micro == MATRIX_LOAD or _is_answered(micro) and m.code[pc, Y] & WAITED:
        kind = SHORT if space == SHARED or space == CONSTANT else LONG
        record[BROUGHT] = issue_load(m.state, warp, kind) << 2 | kind
    return True


@called
def _number_array(m, region):
    """Give a region the next number and the next free address of the trace, if there is one."""
    number = m.next_array[0]
    if number < len(m.numbered):
        m.numbered[number], m.arrays[region] = region, number
        m.shifts[region] = m.starts[region] - m.next_array[1]
        m.next_array[0] += 1
        m.next_array[1] += (
            (m.stops[region] - m.starts[region] + ARRAY_ALIGNMENT - 1) // ARRAY_ALIGNMENT * ARRAY_ALIGNMENT
        )


@inlined
def array_at(m, region, offset):
    """The trace's number of the array in a region; shared memory holds several. -1: not logged, -2: too many."""
    if m.spaces[region] != SHARED:
        if m.arrays[region] == UNNUMBERED:
            _number_array(m, region)
        return np.int64(m.arrays[region])
    found = np.int64(-1)
    for k in range(len(m.shared_arrays)):
        if m.shared_arrays[k, 0] <= offset:
            found = m.shared_arrays[k, 1]
    return found


@called
def trace_address(m, record, region, lane, address, width):
    """Where in the trace's address space a lane's access lies: shared memory from 0 on, local as it interleaves."""
    if m.spaces[region] == GLOBAL or m.spaces[region] == CONSTANT:
        return address - m.shifts[region]
    offset = address - m.starts[region]
    if m.spaces[region] == LOCAL:
        return local_address(record[NUMBER], lane, offset, np.int64(width))
    return offset


@called
def log_lanes(m, record, warp, pc, count, width):
    """Log an access of lanes that may lie in several regions: a row for each of them."""
    m.left[:count] = True
    for first in range(count):
        if not m.left[first]:
            continue
        region, taken = find(m, m.address[first]), np.int64(0)
        array = array_at(m, region, m.address[first] - m.starts[region])
        start = trace_address(m, record, region, m.lanes[first], m.address[first], width)
        for i in range(first, count):
            if m.left[i] and m.starts[region] <= m.address[i] < m.mapped[region]:
                at = trace_address(m, record, region, m.lanes[i], m.address[i], width)
                if abs(at - start) < REACH // 2:
                    m.some[taken], m.trace_addresses[taken], m.left[i] = m.lanes[i], at, False
                    taken += 1
        if array == UNNUMBERED:
            return False
        if array >= 0 and not log_access(
            m, record, warp, pc, m.some, m.trace_addresses, taken, array, m.spaces[region]
        ):
            return False
    return True


@called
def _search(starts, address):
    low, high = 0, len(starts) - 1  # the first `low` regions start at the address or before
    while low < high:
        middle = (low + high) // 2
        if starts[middle] <= address:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def find(m, address):
    """The region that an address lies in, or in mapped memory behind it; or the last row: nowhere."""
    at = _search(m.starts, address)
    return at - 1 if at > 0 and address < m.mapped[at - 1] else len(m.starts) - 1
