"""What warps wait for, as the values of a description show it: every value carries the newest loads that it is made of.

An address, a condition that an access stands under and what is stored are waited for by that access. Arithmetic is not
in its place in the source: a compiler puts it behind the loads that do not need it, so what it uses is waited for where
such a stretch of code ends, at a back-edge or a barrier. What nothing has used then stays under way: a tile's next
part, loaded into registers while the last one is computed.
"""

from __future__ import annotations

from memsim.jit.compiled import loop
from memsim.sources.rows import STATE
from memsim.sources.waits import ANSWERED, CLASSES, COPIES, LOADS, LONG, NEEDED, SHORT, issue_load, need

# Columns of what a value depends on, i4 [rows, DEPENDENCES]; -1 is none.
SEQUENCE_OF, LONG_OF, SHORT_OF = range(3)
DEPENDENCES = 3
# Columns of a warp's state behind those of rows.py, one a class of loads: the newest that arithmetic has used, and the
# newest that may answer nothing.
USED, UNSURE = STATE, STATE + CLASSES
WAITING_STATE = STATE + 2 * CLASSES


@loop
def need_values(state, bits, warps, since):
    """Have every active warp's next row wait for the loads of a value, i4 [rows, DEPENDENCES]."""
    for r in range(len(warps)):
        if bits[r] != 0:
            need(state, warps[r], LONG, since[r, LONG_OF])
            need(state, warps[r], SHORT, since[r, SHORT_OF])
            be_sure(state, warps[r])


@loop
def use_values(state, bits, warps, since):
    """Note that arithmetic of every active warp uses a value, i4 [rows, DEPENDENCES]."""
    for r in range(len(warps)):
        if bits[r] != 0:
            warp = warps[r]
            state[warp, USED + LONG] = max(state[warp, USED + LONG], since[r, LONG_OF])
            state[warp, USED + SHORT] = max(state[warp, USED + SHORT], since[r, SHORT_OF])


@loop
def use_all(state, bits, warps):
    """Note that arithmetic of every active warp uses all that was loaded."""
    for r in range(len(warps)):
        if bits[r] != 0:
            for load_class in range(CLASSES):
                state[warps[r], USED + load_class] = state[warps[r], LOADS + load_class]


@loop
def need_used(state, bits, warps):
    """Have every active warp's next row wait for what arithmetic has used."""
    for r in range(len(warps)):
        if bits[r] != 0:
            for load_class in range(CLASSES):
                need(state, warps[r], load_class, state[warps[r], USED + load_class])
            be_sure(state, warps[r])


@loop
def need_copies(state, bits, warps):
    """Have every active warp's next row wait for all its copies to shared memory."""
    for r in range(len(warps)):
        if bits[r] != 0:
            need(state, warps[r], COPIES, state[warps[r], LOADS + COPIES])


@loop
def be_sure(state, warp):
    """Have a warp wait for all loads of a class, if what it needs is older than one that may answer nothing.

    Such a one counts among its newest loads for us, but not for the machine, if it is none in the end.
    """
    for load_class in range(CLASSES):
        needed = state[warp, NEEDED + load_class]
        if state[warp, ANSWERED + load_class] < needed < state[warp, UNSURE + load_class]:
            state[warp, NEEDED + load_class] = state[warp, LOADS + load_class]


@loop
def bring(state, bits, warps, load_class, surely):
    """Count a load of every active warp; it answers nothing in the end, unless ``surely`` (an atomic may not)."""
    for r in range(len(warps)):
        if bits[r] != 0:
            number = issue_load(state, warps[r], load_class)
            if not surely:
                state[warps[r], UNSURE + load_class] = number


@loop
def brought(state, warps, load_class, since):
    """What the value of the newest load of a class depends on, into ``since``, i4 [rows, DEPENDENCES]."""
    column = LONG_OF if load_class == LONG else SHORT_OF
    for r in range(len(warps)):
        since[r, column] = state[warps[r], LOADS + load_class]
