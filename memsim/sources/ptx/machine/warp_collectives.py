"""What lanes of a warp do together: shuffles, votes, matches, reductions."""

from __future__ import annotations

import numpy as np

from memsim.jit.compiled import called
from memsim.sources.ptx.machine.codes import COUNT, DST, LANES, MASK, SHIFT, A, B, C, X, Y
from memsim.trace.bits import popcount

UP, DOWN, BUTTERFLY, INDEX = range(4)
ALL, ANY, UNIFORM, BALLOT = range(4)
LOWEST = -(1 << 63)


@called
def shuffle(registers, row, predicates, target, active):
    """PTX ISA, shfl.sync: X is the mode, A the value, B the lane, C clamp and segment; COUNT a predicate or -1.

    A lane whose source is not active gets its own value.
    """
    mode = row[X]
    inside = np.int64(0)
    for lane in range(LANES):
        b, clamp, segment = (
            registers[row[B], lane] & 31,
            registers[row[C], lane] & 31,
            (registers[row[C], lane] >> 8) & 31,
        )
        most = (lane & segment) | (clamp & ~segment)
        if mode == UP:
            source = lane - b
            valid = source >= most
        elif mode == DOWN:
            source = lane + b
            valid = source <= most
        elif mode == BUTTERFLY:
            source = lane ^ b
            valid = source <= most
        else:
            source = (lane & segment) | (b & ~segment)
            valid = source <= most
        if not valid or not (active >> source) & 1:
            source = lane
        inside |= np.int64(valid) << lane
        target[lane] = registers[row[A], source]
    if row[COUNT] >= 0:
        predicates[row[COUNT]] = (predicates[row[COUNT]] & ~active) | (inside & active)


@called
def next_group(registers, row, left, active):
    """Of active lanes that are left, those that act together with the lowest one: B is the mask that each lane gave.

    PTX ISA, vote.sync: lanes that execute an instruction at once may name different masks, as tiles of a warp do.
    """
    lowest = left & -left
    return active & registers[row[B], popcount(lowest - 1)] | lowest


@called
def vote(registers, row, predicates, target, active):
    """vote.sync: X is the mode, A a predicate, Y whether it is negated, B the masks.

    The result is a predicate, or a ballot's mask.
    """
    bits = ~predicates[row[A]] if row[Y] else predicates[row[A]]
    left, result = active, np.int64(0)
    while left != 0:
        group = next_group(registers, row, left, active)
        left &= ~group
        found = bits & group
        if row[X] == BALLOT:
            for lane in range(LANES):
                if (group >> lane) & 1:
                    target[lane] = found
        elif found == group if row[X] == ALL else found != 0 if row[X] == ANY else found == 0 or found == group:
            result |= group
    if row[X] != BALLOT:
        predicates[row[DST]] = (predicates[row[DST]] & ~active) | result


@called
def match(registers, row, predicates, target, active):
    """match.sync: A is the value, B the masks; X says whether all must be equal; COUNT is a predicate or -1."""
    values = registers[row[A]]
    left, all_equal = active, np.int64(0)
    while left != 0:
        group = next_group(registers, row, left, active)
        left &= ~group
        every = group
        for lane in range(LANES):
            if not (group >> lane) & 1:
                continue
            bits = np.int64(0)
            for other in range(LANES):
                if (group >> other) & 1 and values[other] == values[lane]:
                    bits |= np.int64(1) << other
            target[lane] = bits
            if bits != group:
                every = np.int64(0)
        all_equal |= every
        if row[X]:
            for lane in range(LANES):
                if (group >> lane) & 1:
                    target[lane] = every
    if row[X] and row[COUNT] >= 0:
        predicates[row[COUNT]] = (predicates[row[COUNT]] & ~active) | all_equal


R_ADD, R_MINIMUM, R_MAXIMUM, R_AND, R_OR, R_XOR = range(6)


@called
def reduce(registers, row, target, active):
    """redux.sync: A is the value, B the masks, X the operation, Y whether it is signed."""
    left = active
    while left != 0:
        group = next_group(registers, row, left, active)
        left &= ~group
        result = _reduced(registers[row[A]], row, group)
        for lane in range(LANES):
            if (group >> lane) & 1:
                target[lane] = result & row[MASK]


@called
def _reduced(values, row, group):
    started, result = False, np.int64(0)
    for lane in range(LANES):
        if not (group >> lane) & 1:
            continue
        value = (values[lane] << row[SHIFT]) >> row[SHIFT] if row[Y] else values[lane]
        result = value if not started else _combine(row[X], result, value)
        started = True
    return result


@called
def _combine(what, a, b):
    if what == R_ADD:
        return a + b
    if what == R_MINIMUM:
        return min(a, b)
    if what == R_MAXIMUM:
        return max(a, b)
    if what == R_AND:
        return a & b
    if what == R_OR:
        return a | b
    return a ^ b


@called
def elect(registers, row, predicates, target, active):
    """elect.sync: the lowest lane is the leader; B has the masks, COUNT is the predicate."""
    left, leaders = active, np.int64(0)
    while left != 0:
        group = next_group(registers, row, left, active)
        left &= ~group
        leaders |= group & -group
        for lane in range(LANES):
            if (group >> lane) & 1:
                target[lane] = popcount((group & -group) - 1)
    predicates[row[COUNT]] = (predicates[row[COUNT]] & ~active) | leaders
