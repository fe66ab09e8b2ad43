"""Where the lanes of a warp part and both sides can run at once: found in the order in which a trace has their rows."""

from __future__ import annotations

import numpy as np

from memsim.jit.compiled import loop
from memsim.trace.schema import NO_OP, NO_SCOREBOARD, NO_WAIT, Flag, LoadClass

TURN = int(Flag.turn)
TOGETHER = int(Flag.barrier | Flag.arrives | Flag.awaits)  # what a whole warp does, and mbarriers
LONG, SHORT, COPIES = int(LoadClass.long), int(LoadClass.short), int(LoadClass.copies)
UNDER_WAY, INSIDE = 1, 2  # notes of a row: of loads before it; it is in a parting, not its first row


@loop
def find_partings(first_instruction, flags, masks, rows, notes, found):
    """Find the partings of lanes whose two sides run at once; the outermost, where they are nested.

    The sides have no lane in common, so each lane's order is kept. A side counts its own loads alone, so all others
    must have answered: a parting stays in turn if the first row of its first side, or of what comes after both, that is
    more than instructions does not wait for all loads before it.

    Args:
        first_instruction: i8 [n_warps + 1], of a chunk.
        flags, masks: its columns.
        rows: INSTRUCTION [n_instructions], with waits and what they answer among.
        notes: u1 [n_instructions], scratch.
        found: PARTING [n_instructions], all 0; filled.
    """
    for warp in range(len(first_instruction) - 1):
        begin, end = first_instruction[warp], first_instruction[warp + 1]
        note_loads(rows, notes, begin, end)
        together = begin  # rows before this are in partings that were found
        for second in range(begin, end):
            if flags[second] & TURN == 0 or second < together:
                continue
            first, lanes = first_side(masks, notes, begin, second)
            if lanes == 0:
                continue
            join = end_of_second(masks, second, end)
            if not can_part(flags, notes, first, join, end):
                continue
            for row in range(first, second):  # partings within its first side
                found[row]["second"] = found[row]["join"] = 0
            for row in range(first + 1, join):
                notes[row] |= INSIDE
            found[first]["second"], found[first]["join"] = second - first, join - first
            together = join


@loop
def first_side(masks, notes, begin, second):
    """Where the side before the second begins, and its lanes: behind the last row of the second's lanes, and behind the
    parting that row is in."""
    first, lanes = second, 0
    while first > begin and masks[first - 1] & masks[second] == 0:
        first -= 1
    while first < second and notes[first] & INSIDE:
        first += 1
    for row in range(first, second):
        lanes |= masks[row]
    return first, lanes


@loop
def end_of_second(masks, second, end):
    """The first row with other lanes than those that the warp turned to."""
    join = second
    while join < end and masks[join] & ~masks[second] == 0:
        join += 1
    return join


@loop
def note_loads(rows, notes, begin, end):
    """Note for each row of a warp whether loads may be under way when the first row from it on issues that is more than
    instructions, its own not among them."""
    long = short = copies = 0
    for row in range(begin, end):
        long = left(long, rows[row]["wait_long"])
        short = left(short, rows[row]["wait_short"])
        copies = left(copies, rows[row]["wait_copies"])
        notes[row] = UNDER_WAY if long + short + copies > 0 else 0
        long += rows[row]["answers"] == LONG
        short += rows[row]["answers"] == SHORT
        copies += rows[row]["answers"] == COPIES
    later = 0
    for row in range(end - 1, begin - 1, -1):
        if rows[row]["op"] == NO_OP and waits_for_none(rows[row]):
            notes[row] = later
        later = notes[row]


@loop
def note_clear_scoreboards(first_instruction, controls, rows):
    """Have rows of machine code that leave no scoreboard set wait for all long and short loads, which is the same.

    Args:
        first_instruction: i8 [n_warps + 1], of a chunk.
        controls: CONTROL [n_instructions].
        rows: INSTRUCTION [n_instructions], that wait by class for copies alone; their waits are changed.
    """
    for warp in range(len(first_instruction) - 1):
        outstanding = np.int64(0)
        for row in range(first_instruction[warp], first_instruction[warp + 1]):
            wait = np.int64(controls[row]["wait"])
            if wait > 0 and outstanding & ~wait == 0:
                rows[row]["wait_long"] = 0
                rows[row]["wait_short"] = 0
            outstanding &= ~wait
            if controls[row]["set"] != NO_SCOREBOARD:
                outstanding |= 1 << np.int64(controls[row]["set"])


@loop
def left(loads, wait):
    """How many loads of a class may be unanswered after a wait."""
    return loads if wait == NO_WAIT else min(loads, np.int64(wait))


@loop
def waits_for_none(row):
    """Whether a row waits for no load."""
    return row["wait_long"] & row["wait_short"] & row["wait_copies"] == NO_WAIT


@loop
def can_part(flags, notes, first, join, end):
    """Whether sides need no earlier load, nothing after them needs one of theirs, and they do nothing as a warp."""
    for row in range(first, join):
        if flags[row] & TOGETHER:
            return False
    return notes[first] & UNDER_WAY == 0 and (join == end or notes[join] & UNDER_WAY == 0)
