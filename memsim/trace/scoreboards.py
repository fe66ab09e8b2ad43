"""Waits for scoreboards as counts of loads: how many of a warp's newest loads may be unanswered."""

from __future__ import annotations

import numpy as np

from memsim.jit.compiled import loop
from memsim.trace.schema import NO_SCOREBOARD, NO_WAIT, SCOREBOARDS, Chunk


def waits_for_long(chunk: Chunk, is_long: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What each row of machine code waits for because of long loads.

    Args:
        chunk: warps of a trace of machine code.
        is_long: bool [n_instructions], rows of loads from far.

    Returns:
        waits: u1, as ``wait_long`` has it: how many of the warp's newest long loads may be unanswered.
        bits: u1, the scoreboards that the row waits for and that long loads alone have set.
    """
    waits, bits = np.full(len(chunk.op), NO_WAIT, np.uint8), np.zeros(len(chunk.op), np.uint8)
    codes = chunk.scoreboard_set, chunk.scoreboard_wait
    _find_waits(chunk.first_instruction, *codes, is_long, np.zeros((SCOREBOARDS, 2), np.int64), waits, bits)
    return waits, bits


@loop
def _find_waits(first_instruction, sets, waits_for, is_long, setters, waits, bits):
    """Fill `waits` and `bits`; `setters` holds of each scoreboard its newest long load, and whether others set it."""
    for warp in range(len(first_instruction) - 1):
        loads = 0
        setters[:] = 0
        for row in range(first_instruction[warp], first_instruction[warp + 1]):
            newest = 0
            for number in range(SCOREBOARDS):
                if waits_for[row] >> number & 1:
                    if setters[number, 0] > 0 and setters[number, 1] == 0:
                        newest = max(newest, setters[number, 0])
                        bits[row] |= np.uint8(1 << number)
                    setters[number, 0] = setters[number, 1] = 0
            if newest > 0:
                waits[row] = min(loads - newest, NO_WAIT - 1)
            loads += is_long[row]
            if sets[row] != NO_SCOREBOARD:
                if is_long[row]:
                    setters[sets[row], 0] = loads
                else:
                    setters[sets[row], 1] = 1
