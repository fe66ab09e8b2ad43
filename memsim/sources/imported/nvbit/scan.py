"""Lines of NVBit's mem_trace, from text to records; compiled.

An access is ``MEMTRACE: CTX 0x... - grid_launch_id N - CTA x,y,z - warp W - OPCODE - 0x...`` with 32 addresses. Fields
between opcode and addresses, which some variants of the tool add, are passed over. The tool prints to the program's
own output, so whatever does not say ``MEMTRACE: CTX`` is the program's.

An inactive lane is printed as 0x0. Shared and local memory begin at address 0, so there 0x0 is a lane of its own when
the other lanes' common stride leads to 0 in that lane, or when all lanes are 0x0: what no lane accesses is not printed.
"""

from __future__ import annotations

import numpy as np

from memsim.jit.compiled import loop
from memsim.sources.imported.lane_rows import WARP_SIZE, write_lanes
from memsim.sources.imported.opcodes import find_opcode, read_opcode
from memsim.sources.imported.sass import Does, Where
from memsim.sources.imported.tokens import (
    LARGEST,
    LINE_FEED,
    begins_with,
    read_digits,
    read_hex,
    skip_line,
    skip_spaces,
    skip_token,
)
from memsim.trace.bits import popcount
from memsim.trace.local_memory import WINDOW, local_address
from memsim.trace.schema import EXPLICIT, INSTRUCTION_COLUMNS, Flag, Space

TEXT_USED, ROWS_FULL, NEW_OPCODE, LAUNCH = range(4)  # why a call stopped ...
UNFINISHED, UNKNOWN_LAUNCH, BLOCK, WARP, OPCODE, UNKNOWN_OPCODE, ADDRESS, LOCAL = range(10, 18)  # ... or what is wrong
PROBLEMS: dict[int, tuple[str, str]] = {
    UNFINISHED: ("MEMTRACE", "must continue with ' - grid_launch_id N - CTA x,y,z - warp W - OPCODE - addresses'"),
    UNKNOWN_LAUNCH: ("grid_launch_id", "names no launch whose LAUNCH line came before"),
    BLOCK: ("CTA", "must be three numbers x,y,z inside the launch's grid"),
    WARP: ("warp", "must be a number below the warps of a block"),
    OPCODE: ("opcode", "must begin with a capital letter"),
    UNKNOWN_OPCODE: ("opcode", "accesses memory, but its effect is unknown; please report it"),
    ADDRESS: ("addresses", "must be 32 hexadecimal numbers, below 2**57; the line may have been cut"),
    LOCAL: ("addresses", "of local memory must be below 2**24"),
}

# One row of some launch's trace; `op` is OPS_PER_OPCODE times the opcode's number, plus the space.
RECORD = np.dtype(
    [
        ("key", "<i8"),  # launch and warp, see KEY_BITS
        ("address", "<i8"),  # where its explicit addresses begin
        *INSTRUCTION_COLUMNS.items(),
    ]
)
KEY_BITS = 40  # the warp's number in the grid; the launch's number lies above
OPS_PER_OPCODE = 4
LAUNCH_ROW = np.dtype([("id", "<i8"), ("grid", "<i8", 3), ("warps_per_block", "<i8"), ("threads", "<i8")])
STATE = np.dtype([("at", "<i8"), ("line", "<i8"), ("launch", "<i8")])

_START, _ACCESS, _LAUNCH, _CTA, _WARP, _DASH = (
    np.frombuffer(word, np.uint8)
    for word in (b"MEMTRACE: CTX 0x", b"- grid_launch_id ", b"- LAUNCH", b"- CTA ", b"- warp ", b"- ")
)
_M, _COMMA, _MINUS, _X = (ord(c) for c in "M,-x")
_ALL = (1 << WARP_SIZE) - 1
_SEQUENCE, _LISTED = int(Flag.sequence), int(EXPLICIT)
_DOES_ACCESS = int(Does.access)
_GLOBAL, _SHARED, _LOCAL = int(Space.global_), int(Space.shared), int(Space.local)
_GENERIC, _BOTH = int(Where.generic), int(Where.both)


@loop
def scan(text, state, launches, spot, slots, pool, lanes, some, rows, addresses, cursor):
    """Read text, u1 of whole lines, from ``state.at`` on.

    Args:
        state: STATE [1].
        launches: LAUNCH_ROW, in the order of their LAUNCH lines.
        spot, slots, pool: of :class:`memsim.sources.imported.opcodes.Opcodes`.
        lanes: i8 [32], some: i8 [2, 32]; scratch.
        rows: RECORD; addresses: u4; cursor: i8 [2], how many there are of either.

    Returns:
        TEXT_USED, ROWS_FULL, NEW_OPCODE (the line is read again), LAUNCH (the line is the caller's), or a problem.
    """
    s = state[0]
    end = len(text)
    while s.at < end:
        if cursor[0] + WARP_SIZE > len(rows) or cursor[1] + WARP_SIZE > len(addresses):
            return ROWS_FULL
        at = s.at
        while text[at] != LINE_FEED and not (text[at] == _M and begins_with(text, at, _START)):
            at += 1
        if text[at] != LINE_FEED:
            at = skip_spaces(text, skip_token(text, at + len(_START)))
            if begins_with(text, at, _LAUNCH):
                return LAUNCH
            ended = TEXT_USED
            if begins_with(text, at, _ACCESS):
                ended = _access(text, at, s, launches, spot, slots, pool, lanes, some, rows, addresses, cursor)
            elif text[at] in (_MINUS, LINE_FEED):  # else "Inspecting ...", which a verbose tool says
                ended = UNFINISHED
            if ended != TEXT_USED:
                return ended
        s.at = skip_line(text, at)
        s.line += 1
    return TEXT_USED


@loop
def _access(text, at, s, launches, spot, slots, pool, lanes, some, rows, addresses, cursor):
    """The rest of an access's line."""
    number, at = read_digits(text, at + len(_ACCESS))
    if number < 0:
        return UNFINISHED
    at = skip_spaces(text, at)
    if not begins_with(text, at, _CTA):
        return UNFINISHED
    if not _find_launch(s, launches, number):
        return UNKNOWN_LAUNCH
    launch = launches[s.launch]
    block, at = _block(text, at + len(_CTA), launch)
    if block < 0:
        return BLOCK
    if not begins_with(text, at, _WARP):
        return UNFINISHED
    warp, at = read_digits(text, at + len(_WARP))
    if warp < 0 or warp >= launch.warps_per_block:
        return WARP
    at = skip_spaces(text, at)
    if not begins_with(text, at, _DASH):
        return UNFINISHED
    at = read_opcode(text, skip_spaces(text, at + len(_DASH)), spot)
    if at < 0:
        return OPCODE
    mask = _lanes(text, at, lanes)
    if mask < 0:
        return ADDRESS
    slot = find_opcode(text, spot, slots, pool)
    if slot < 0:
        return NEW_OPCODE
    if slots[slot].does != _DOES_ACCESS:
        return TEXT_USED if slots[slot].known else UNKNOWN_OPCODE
    full = np.int64(_ALL) >> max(WARP_SIZE - (launch.threads - warp * WARP_SIZE), 0)
    mask &= full  # what is printed of lanes that do not exist means nothing
    in_grid = block * launch.warps_per_block + warp
    space = _space(slots[slot].where, mask, lanes)
    if space in (_SHARED, _LOCAL):
        mask = _with_zeros(mask, full, lanes)
    if space == _LOCAL and not _lay_out(mask, lanes, in_grid, np.int64(slots[slot].width)):
        return LOCAL
    first = cursor[0]
    address = cursor[1]
    op = slots[slot].number * OPS_PER_OPCODE + space
    write_lanes(rows, addresses, cursor, op, _SEQUENCE, 0, mask, lanes, some)
    for row in range(first, cursor[0]):
        rows[row].key = s.launch << KEY_BITS | in_grid
        rows[row].address = address
        if rows[row].stride == _LISTED:
            address += popcount(rows[row].mask)
    return TEXT_USED


@loop
def _find_launch(s, launches, number):
    """Make ``s.launch`` the launch of that id; accesses of one that ended may still come for a while."""
    if s.launch < len(launches) and launches[s.launch].id == number:
        return True
    for k in range(len(launches) - 1, -1, -1):
        if launches[k].id == number:
            s.launch = k
            return True
    return False


@loop
def _block(text, at, launch):
    """(linear number of the block x,y,z in the grid or -1, position after it)."""
    linear = np.int64(0)
    scale = np.int64(1)
    for axis in range(3):
        if axis > 0:
            if text[at] != _COMMA:
                return np.int64(-1), at
            at += 1
        value, at = read_digits(text, at)
        if value < 0 or value >= launch.grid[axis]:
            return np.int64(-1), at
        linear += value * scale
        scale *= launch.grid[axis]
    return linear, skip_spaces(text, at)


@loop
def _lanes(text, at, lanes):
    """Read 32 addresses; the mask of those that are not 0, or -1."""
    at = skip_spaces(text, at)
    while text[at] != LINE_FEED and not (text[at] == 48 and text[at + 1] == _X):
        at = skip_spaces(text, skip_token(text, at))
    mask = np.int64(0)
    for lane in range(WARP_SIZE):
        address, at = read_hex(text, at)
        if address < 0 or address >= LARGEST:
            return np.int64(-1)
        lanes[lane] = address
        if address > 0:
            mask |= np.int64(1) << lane
    return mask


@loop
def _space(where, mask, lanes):
    """The space of an access; a generic one is global, because the windows are not in the text."""
    if where == _BOTH:
        for lane in range(WARP_SIZE):
            if (mask >> lane) & 1 and lanes[lane] >= WINDOW:
                return _GLOBAL
        return _SHARED
    return _GLOBAL if where == _GENERIC else where


@loop
def _with_zeros(mask, full, lanes):
    """The mask with the lanes whose address is 0 for sure."""
    if mask == 0:
        return full
    first = 0
    while (mask >> first) & 1 == 0:
        first += 1
    second = first + 1
    while second < WARP_SIZE and (mask >> second) & 1 == 0:
        second += 1
    if second >= WARP_SIZE:
        return mask
    stride = (lanes[second] - lanes[first]) // (second - first)
    zeros = np.int64(0)
    for lane in range(WARP_SIZE):
        expected = lanes[first] + stride * (lane - first)
        if (mask >> lane) & 1:
            if lanes[lane] != expected:
                return mask
        elif expected == 0:
            zeros |= np.int64(1) << lane
    return mask | (zeros & full)


@loop
def _lay_out(mask, lanes, warp, width):
    """Turn offsets into local memory into addresses; False when one is no such offset."""
    for lane in range(WARP_SIZE):
        if (mask >> lane) & 1:
            if lanes[lane] >= WINDOW:
                return False
            lanes[lane] = local_address(warp, lane, lanes[lane], width)
    return True
