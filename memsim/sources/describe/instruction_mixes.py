"""The compute runs of a description: charged to warps by class, and entered as instruction mixes."""

from __future__ import annotations

import numpy as np

from memsim.jit.compiled import loop
from memsim.sources.describe.waiting import WAITING_STATE
from memsim.sources.mixes import mix_number
from memsim.sources.rows import COMPUTE_RUN, OFF_CRITICAL_PATH, charge
from memsim.trace.schema import INSTRUCTION_CLASSES

N_CLASSES = len(INSTRUCTION_CLASSES)
UNKNOWN = N_CLASSES  # what ``t.compute`` charges: of no class
COUNTS = WAITING_STATE  # columns of a warp's state: instructions since its last row, by class, then the unknown ones
STATE_COLUMNS = COUNTS + N_CLASSES + 1


@loop
def issue(state, bits, warps, counts, chains):
    """Charge every active warp with instructions, i8 [N_CLASSES + 1]: so many chains of dependent ones."""
    for r in range(len(warps)):
        if bits[r] != 0:
            charge(state, warps[r], counts.sum(), chains)
            for k in range(N_CLASSES + 1):
                state[warps[r], COUNTS + k] += counts[k]


@loop
def issue_critical_path(state, bits, warps, count, critical_path):
    """Charge every active warp with instructions of no class whose longest chain of dependent ones is known."""
    for r in range(len(warps)):
        if bits[r] != 0:
            state[warps[r], COMPUTE_RUN] += count
            state[warps[r], OFF_CRITICAL_PATH] += count - critical_path
            state[warps[r], COUNTS + UNKNOWN] += count


@loop
def enter_mixes(rows, first, last, state, mixes, fields, before):
    """Give rows ``first`` to ``last`` of the log, each the newest of its warp, the mix of their compute runs.

    Neighbouring warps have mostly issued the same, which is looked up once. Scratch: `fields` i8 [MIX_FIELDS], zeros,
    and `before` i8 [N_CLASSES + 1].
    """
    number = np.int64(0)
    before[:] = -1
    critical_path_before = np.int64(-1)
    for i in range(first, last):
        row = rows[i]
        counts = state[row["warp"], COUNTS : COUNTS + N_CLASSES + 1]
        compute_run, critical_path = (
            np.int64(row["compute_run"]),
            np.int64(row["compute_run"]) - np.int64(row["off_path"]),
        )
        same = critical_path == critical_path_before
        for k in range(N_CLASSES + 1):
            same &= counts[k] == before[k]
            before[k] = counts[k]
            counts[k] = 0
        if not same:
            number = mix_of(mixes, before, compute_run, critical_path, fields)
            critical_path_before = critical_path
        row["instruction_mix"] = number


@loop
def mix_of(mixes, counts, compute_run, critical_path, fields):
    """Number of the mix of a compute run: its longest chain has the classes as the whole has; 0 if one is unknown."""
    if counts[UNKNOWN] != 0 or compute_run == 0:
        return np.int64(0)
    so_far = np.int64(0)
    for k in range(N_CLASSES):
        fields[2 * k] = counts[k]
        fields[2 * k + 1] = (so_far + counts[k]) * critical_path // compute_run - so_far * critical_path // compute_run
        so_far += counts[k]
    return mix_number(mixes, fields)
