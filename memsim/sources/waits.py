"""What a warp's instructions wait for, as rows have it: loads are counted by class, needs become counts of loads.

A source numbers the loads of each class of a warp, from 1, as they issue (:func:`issue_load`), keeps with each value
the number of the load that brings it, and says what a use needs (:func:`need`). The warp's next row takes all that was
needed since its last one (:func:`take_waits`). What a row before it has waited for already is not waited for again.

The state is part of a warp's state in :mod:`memsim.sources.rows`: i8 columns LOADS, ANSWERED and NEEDED, each one a
:class:`LoadClass`.
"""

from __future__ import annotations

from memsim.jit.compiled import loop
from memsim.trace.schema import NO_SCOREBOARD, NO_WAIT, LoadClass

CLASSES = len(LoadClass)
LONG, SHORT, COPIES = int(LoadClass.long), int(LoadClass.short), int(LoadClass.copies)
FIRST = 5  # behind the columns that rows.py names
# Loads issued; the newest that a row has waited for; the newest that something since the last row needs.
LOADS, ANSWERED, NEEDED = FIRST, FIRST + CLASSES, FIRST + 2 * CLASSES
WAIT_STATE = 3 * CLASSES


@loop
def issue_load(state, warp, load_class):
    """Count a load that a warp issues; returns its number among those of its class."""
    number = state[warp, LOADS + load_class] + 1
    state[warp, LOADS + load_class] = number
    return number


@loop
def need(state, warp, load_class, number):
    """Have the warp's next row wait for load `number` of a class and all before it; 0 is none."""
    state[warp, NEEDED + load_class] = max(state[warp, NEEDED + load_class], number)


@loop
def take_waits(row, state, warp):
    """Have a row wait for what was needed since the warp's last row; by class, so not by control code."""
    without_control_code(row)
    row["wait_long"] = _wait(state, warp, LONG)
    row["wait_short"] = _wait(state, warp, SHORT)
    row["wait_copies"] = _wait(state, warp, COPIES)


@loop
def _wait(state, warp, load_class):
    """How many of the newest loads of a class need not have answered; as many as a column holds, at most."""
    needed = state[warp, NEEDED + load_class]
    if needed <= state[warp, ANSWERED + load_class]:
        return NO_WAIT
    newer = min(state[warp, LOADS + load_class] - needed, NO_WAIT - 1)
    state[warp, ANSWERED + load_class] = state[warp, LOADS + load_class] - newer
    return newer


@loop
def wait_for_none(row):
    """Have a row wait for nothing, not even an mbarrier, and its compute run be of a mix that is not known."""
    without_control_code(row)
    row["wait_long"] = NO_WAIT
    row["wait_short"] = NO_WAIT
    row["wait_copies"] = NO_WAIT
    row["instruction_mix"] = 0
    row["phase"] = 0


@loop
def without_control_code(row):
    """Have a row set no scoreboard, wait for none, and be followed by the next instruction at once."""
    row["scoreboard_set"] = NO_SCOREBOARD
    row["scoreboard_wait"] = 0
    row["stall"] = 0
    row["result"] = 0
    row["wait_products"] = NO_WAIT
