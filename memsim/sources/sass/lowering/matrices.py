"""Matrices of 8 x 8 elements of 16 bits in registers: lane 4 i + j holds columns 2 j and 2 j + 1 of row i."""

from __future__ import annotations

from memsim.sources.ptx.machine import warp_collectives
from memsim.sources.ptx.machine.codes import Micro
from memsim.sources.sass.builder import WORD, SassBuilder

_LAST_LANE = 31


def transpose(b: SassBuilder) -> None:
    """MOVM: rows become columns. A lane's two elements come from two lanes, four apart."""
    if b.one.modifiers != ("16", "MT88") or len(b.operands) != 2:
        raise b.unknown()
    lane, source = b.row("%laneid"), b.word(b.operand(1))
    row = b.op(Micro.shift_right, lane, b.constant(2), x=64)
    column = b.op(Micro.bit_and, lane, b.constant(3))
    first = b.op(
        Micro.multiply_add, column, b.constant(8), c=b.op(Micro.shift_right, row, b.constant(1), x=64), mask=WORD
    )
    second = b.op(Micro.add, first, b.constant(4), mask=WORD)
    low, high = (_half(b, _value_of(b, source, at), row) for at in (first, second))
    b.emit(Micro.bit_or, dst=b.to(b.operand(0)), a=low, b=b.op(Micro.shift_left, high, b.constant(16), x=64))


def _value_of(b: SassBuilder, source: int, lane: int) -> int:
    return b.op(Micro.shuffle, source, lane, c=b.constant(_LAST_LANE), x=warp_collectives.INDEX, count=-1)


def _half(b: SassBuilder, word: int, row: int) -> int:
    """The lower element of a word in even rows, the upper one in odd rows."""
    shift = b.op(Micro.multiply, b.op(Micro.bit_and, row, b.constant(1)), b.constant(16))
    return b.op(Micro.bit_and, b.op(Micro.shift_right, word, shift, x=64), b.constant(0xFFFF))
