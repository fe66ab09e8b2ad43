"""Where a warp diverges and both paths can run at once: found in the order in which a trace has their rows."""

from __future__ import annotations

import numpy as np

from memsim.jit.compiled import loop
from memsim.trace.schema import NO_OP, NO_SCOREBOARD, NO_WAIT, Flag, LoadClass

PATH_SWITCH = int(Flag.path_switch)
TOGETHER = int(Flag.barrier | Flag.arrives | Flag.awaits)  # what a whole warp does, and mbarriers
LONG, SHORT, COPIES = int(LoadClass.long), int(LoadClass.short), int(LoadClass.copies)
UNDER_WAY, INSIDE = 1, 2  # notes of a row: of loads before it; it is in a divergence, not its first row


@loop
def find_divergences(first_instruction, flags, masks, rows, notes, found):
    """Find the divergences whose two paths run at once; the outermost, where they are nested.

    The paths have no lane in common, so each lane's order is kept. A path counts its own loads only, so all others must
    have answered. The paths run in turn if a row does not wait for all loads before it: the first row of the first
    path, or of what comes after both, that is more than instructions.

    Args:
        first_instruction: i8 [n_warps + 1], of a chunk.
        flags, masks: its columns.
        rows: INSTRUCTION [n_instructions], with waits and what they answer among.
        notes: u1 [n_instructions], scratch.
        found: DIVERGENCE [n_instructions], all 0; filled.
    """
    for warp in range(len(first_instruction) - 1):
        begin, end = first_instruction[warp], first_instruction[warp + 1]
        note_loads(rows, notes, begin, end)
        together = begin  # rows before this are in divergences that were found
        for second in range(begin, end):
            if flags[second] & PATH_SWITCH == 0 or second < together:
                continue
            first, lanes = find_first_path(masks, notes, begin, second)
            if lanes == 0:
                continue
            reconvergence = end_second_path(masks, second, end)
            if not can_run_both_paths(flags, notes, first, reconvergence, end):
                continue
            for row in range(first, second):  # divergences within its first path
                found[row]["second"] = found[row]["reconvergence"] = 0
            for row in range(first + 1, reconvergence):
                notes[row] |= INSIDE
            found[first]["second"], found[first]["reconvergence"] = second - first, reconvergence - first
            together = reconvergence


@loop
def find_first_path(masks, notes, begin, second):
    """Where the path before the second begins, and its lanes: behind the last row of the second's lanes, and behind the
    divergence that row is in."""
    first, lanes = second, np.int64(0)
    while first > begin and masks[first - 1] & masks[second] == 0:
        first -= 1
    while first < second and notes[first] & INSIDE:
        first += 1
    for row in range(first, second):
        lanes |= np.int64(masks[row])
    return first, lanes


@loop
def end_second_path(masks, second, end):
    """The first row with other lanes than those that the warp switched to."""
    reconvergence = second
    while reconvergence < end and masks[reconvergence] & ~masks[second] == 0:
        reconvergence += 1
    return reconvergence


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
def can_run_both_paths(flags, notes, first, reconvergence, end):
    """Whether paths need no earlier load, nothing after them needs one of theirs, and they do nothing as a warp."""
    for row in range(first, reconvergence):
        if flags[row] & TOGETHER:
            return False
    return notes[first] & UNDER_WAY == 0 and (reconvergence == end or notes[reconvergence] & UNDER_WAY == 0)
