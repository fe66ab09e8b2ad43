"""What lanes of a warp do together: shuffles, votes, matches, reductions."""

from __future__ import annotations

import numpy as np

from memsim.sources.ptx.machine.codes import COUNT, DST, LANES, MASK, SHIFT, A, B, C, X, Y
from memsim.support.compiled import called
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
def vote(row, predicates, target, active):
    """vote.sync: X is the mode, A a predicate, Y whether it is negated.

    The result is a predicate, or a ballot's mask.
    """
    bits = predicates[row[A]]
    if row[Y]:
        bits = ~bits
    bits &= active
    if row[X] == BALLOT:
        for lane in range(LANES):
            target[lane] = bits
        return
    true = bits == active if row[X] == ALL else bits != 0 if row[X] == ANY else bits == 0 or bits == active
    predicates[row[DST]] = (predicates[row[DST]] & ~active) | (active if true else 0)


@called
def match(registers, row, predicates, target, active):
    """match.sync: X says whether all must be equal; COUNT is a predicate or -1."""
    values = registers[row[A]]
    every = active
    for lane in range(LANES):
        bits = np.int64(0)
        for other in range(LANES):
            if (active >> other) & 1 and values[other] == values[lane]:
                bits |= np.int64(1) << other
        target[lane] = bits
        if (active >> lane) & 1 and bits != active:
            every = np.int64(0)
    if row[X]:
        for lane in range(LANES):
            target[lane] = every
        if row[COUNT] >= 0:
            predicates[row[COUNT]] = (predicates[row[COUNT]] & ~active) | every


R_ADD, R_MINIMUM, R_MAXIMUM, R_AND, R_OR, R_XOR = range(6)


@called
def reduce(registers, row, target, active):
    """redux.sync: X is the operation, Y whether it is signed."""
    values, started, result = registers[row[A]], False, np.int64(0)
    for lane in range(LANES):
        if not (active >> lane) & 1:
            continue
        value = (values[lane] << row[SHIFT]) >> row[SHIFT] if row[Y] else values[lane]
        result = value if not started else _joined(row[X], result, value)
        started = True
    for lane in range(LANES):
        target[lane] = result & row[MASK]


@called
def _joined(what, a, b):
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
def elect(row, predicates, target, active):
    """elect.sync: the lowest active lane is the leader; COUNT is the predicate."""
    leader = popcount((active & -active) - 1)
    for lane in range(LANES):
        target[lane] = leader
    predicates[row[COUNT]] = (predicates[row[COUNT]] & ~active) | (active & -active)
