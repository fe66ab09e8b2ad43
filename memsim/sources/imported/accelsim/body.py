"""The body of a processed Accel-Sim trace, read by compiled code: blocks and warps; lines.py reads the instructions.

One call of :func:`read_body` takes a block of text as far as it can. It returns when the text is used up, when the
rows are full, when it meets an opcode or a static instruction for the first time (the caller enters it in the tables
and calls again, and the line is read anew), or with what is wrong with the current line.
"""

from __future__ import annotations

import numpy as np

from memsim.jit.compiled import loop
from memsim.sources.imported.accelsim.issue import begin_issue, end_run
from memsim.sources.imported.accelsim.lines import read_instruction
from memsim.sources.imported.accelsim.problems import (
    BLOCK_ID,
    COUNT,
    MISSING,
    NESTED,
    NO_BLOCK,
    NOT_OPEN,
    ROWS_FULL,
    TEXT_USED,
    TWO_BLOCKS,
    TWO_WARPS,
    WARP_ID,
    WORD,
)
from memsim.sources.imported.lane_rows import MOST_ROWS, WARP_SIZE, write_plain
from memsim.sources.imported.tokens import (
    BAD,
    LINE_FEED,
    SPACE,
    begins_with,
    read_decimal,
    read_digits,
    skip_line,
    skip_spaces,
)

_BEGIN, _END, _THREAD_BLOCK, _WARP, _INSTS, _CLUSTER = (
    np.frombuffer(word, np.uint8) for word in (b"#BEGIN_TB", b"#END_TB", b"thread block", b"warp", b"insts", b"cluster")
)
_HASH, _COMMA, _EQUALS = ord("#"), ord(","), ord("=")
_T, _W, _I = ord("t"), ord("w"), ord("i")  # no hexadecimal digits, with which instructions begin
_C, _L = ord("c"), ord("l")  # of "cluster", whose second letter is none


@loop
def read_body(text, state, tables):
    """Read text, u1 of whole lines, from ``state.at`` on; why it stopped, or a problem's number (problems.py)."""
    s = state[0]
    end = len(text)
    while s.at < end:
        if tables.cursor[0] + MOST_ROWS + 2 > len(tables.rows) or tables.cursor[1] + WARP_SIZE > len(tables.addresses):
            return ROWS_FULL
        at = skip_spaces(text, s.at)
        first = text[at]
        s.reached = at
        ended = TEXT_USED
        if first == LINE_FEED:
            pass
        elif first == _HASH:
            ended = _mark(text, at, s, tables)
        elif s.in_block == 0:
            ended = NOT_OPEN
        elif first in (_T, _W, _I):
            ended = _heading(text, at, s, tables)
        elif first == _C and text[at + 1] == _L:
            ended = TEXT_USED if begins_with(text, at, _CLUSTER) else WORD  # clusters' blocks share nothing here
        else:
            ended = read_instruction(text, at, s, tables)
        if ended != TEXT_USED:
            return ended
        s.at = skip_line(text, s.reached)
        s.line += 1
    return TEXT_USED


@loop
def _mark(text, at, s, tables):
    """A line that begins with '#': where a block begins or ends. Outside of blocks any other is a comment."""
    if begins_with(text, at, _BEGIN):
        if s.in_block:
            return NESTED
        if s.blocks + 1 == len(tables.blocks):
            return ROWS_FULL
        s.in_block = 1
        s.block = -1
        s.warp = -1
        s.block_row = tables.cursor[0]
        s.block_address = tables.cursor[1]
        for w in range(s.blocks * s.warps_per_block, (s.blocks + 1) * s.warps_per_block):
            tables.spans[w].row = -1
            tables.spans[w].row_end = -1
            tables.spans[w].address = 0
            tables.spans[w].address_end = 0
        return TEXT_USED
    if begins_with(text, at, _END):
        if s.in_block == 0:
            return NOT_OPEN
        if s.block < 0:
            return NO_BLOCK
        ended = _end_warp(s, tables)
        if ended == TEXT_USED:
            s.in_block = 0
            s.blocks += 1
            s.block_row = tables.cursor[0]
            s.block_address = tables.cursor[1]
        return ended
    return WORD if s.in_block else TEXT_USED


@loop
def _heading(text, at, s, tables):
    """'thread block = x,y,z', 'warp = n' or 'insts = m'."""
    if begins_with(text, at, _THREAD_BLOCK):
        return _name_block(text, at + len(_THREAD_BLOCK), s, tables)
    if begins_with(text, at, _WARP):
        return _begin_warp(text, at + len(_WARP), s, tables)
    if not begins_with(text, at, _INSTS):
        return WORD
    if s.warp < 0 or s.insts >= 0:
        return COUNT
    value = _number(text, at + len(_INSTS))
    if value < 0:
        return COUNT
    s.insts = value
    s.left = value
    return TEXT_USED


@loop
def _number(text, at):
    """The decimal number after an equals sign, or BAD."""
    at = skip_spaces(text, at)
    if text[at] != _EQUALS:
        return np.int64(BAD)
    return read_decimal(text, at + 1)[0]


@loop
def _name_block(text, at, s, tables):
    if s.block >= 0:
        return TWO_BLOCKS
    at = skip_spaces(text, at)
    if text[at] != _EQUALS:
        return BLOCK_ID
    at = skip_spaces(text, at + 1)
    linear = np.int64(0)
    scale = np.int64(1)
    for axis in range(3):
        if axis > 0:
            if text[at] != _COMMA:
                return BLOCK_ID
            at += 1
        value, at = read_digits(text, at)
        if value < 0 or value >= s.grid[axis]:
            return BLOCK_ID
        linear += value * scale
        scale *= s.grid[axis]
    if text[at] > SPACE:
        return BLOCK_ID
    s.block = linear
    tables.blocks[s.blocks].id = linear
    tables.blocks[s.blocks].line = s.line
    return TEXT_USED


@loop
def _begin_warp(text, at, s, tables):
    """End the warp before it and begin another."""
    if s.block < 0:
        return NO_BLOCK
    value = _number(text, at)
    if value < 0 or value >= s.warps_per_block:
        return WARP_ID
    span = tables.spans[s.blocks * s.warps_per_block + value]
    if span.row >= 0:
        return TWO_WARPS
    ended = _end_warp(s, tables)
    if ended != TEXT_USED:
        return ended
    span.row = s.rows_before + tables.cursor[0]
    span.row_end = span.row
    span.address = s.addresses_before + tables.cursor[1]
    span.address_end = span.address
    s.warp = value
    s.insts = -1
    s.left = 0
    s.compute_run = 0
    s.start = 1
    s.sequence += 1
    begin_issue(tables.issue)
    tables.barriers[:] = 0
    return TEXT_USED


@loop
def _end_warp(s, tables):
    """Close the warp under way, if there is one."""
    if s.warp < 0:
        return TEXT_USED
    if s.insts < 0:
        return COUNT
    if s.left > 0:
        return MISSING
    if s.compute_run > 0:
        write_plain(tables.rows, tables.cursor, 0, s.compute_run, 0)
        end_run(tables.issue, tables.rows[tables.cursor[0] - 1])
    span = tables.spans[s.blocks * s.warps_per_block + s.warp]
    span.row_end = s.rows_before + tables.cursor[0]
    span.address_end = s.addresses_before + tables.cursor[1]
    s.warp = -1
    s.compute_run = 0
    return TEXT_USED
