"""Counting what a trace holds, against counting by hand."""

import numpy as np
from budget import drawn
from hypothesis import given
from trace_programs import OPS, PROGRAMS, chunk

from memsim.trace import bits, info
from memsim.trace.schema import NO_OP, Flag, Space


@drawn(30)
@given(PROGRAMS)
def test_counts_are_those_of_the_rows(programs):
    rows = [row for program in programs for row in program]
    accesses = [row for row in rows if row[0] != NO_OP]
    found = info.count([chunk(programs[:2]), chunk(programs[2:], 2)], len(OPS))
    for op in range(len(OPS)):
        mine = [row for row in accesses if row[0] == op]
        assert found.memory_instructions[op] == len(mine)
        assert found.lane_accesses[op] == sum(row[3].bit_count() for row in mine)
    assert found.barriers == len(rows) - len(accesses)
    assert found.sequences == sum(row[1] & Flag.sequence for row in accesses)
    assert found.compute_instructions == sum(row[2] for row in rows)
    widths = [0 if op.space is Space.shared else op.width for op in OPS]
    assert info.lane_bytes(chunk(programs), OPS) == sum(row[3].bit_count() * widths[row[0]] for row in accesses)


def test_popcounts_are_their_python():
    masks = np.array([0, 1, 2**31, 2**32 - 1, 0x0F0F0F0F], np.uint32)
    expected = [int(mask).bit_count() for mask in masks]
    plain = np.zeros(len(masks), np.int64)
    bits.count_bits.py_func(masks, plain)
    assert bits.popcounts(masks).tolist() == plain.tolist() == expected
    assert [bits.popcount.py_func(mask) for mask in masks] == expected
