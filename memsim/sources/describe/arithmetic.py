"""What instructions an operation of a description becomes, by class: by its function and the types it works on.

A function that is no one instruction becomes those of CUDA's library on its common path: counted in the machine code
that nvcc 13.0 makes of it for compute capability 8.0, without constants that it loads and without paths for rare
numbers; with --use_fast_math those of its intrinsics. A product of floats that a sum takes in is one instruction with
it (:meth:`memsim.sources.describe.lanes.Lanes`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from memsim.trace.schema import INSTRUCTION_CLASSES

INTEGER, FP32, HALF, FP64, SPECIAL, CONVERSION, CONTROL, SHUFFLE = range(len(INSTRUCTION_CLASSES))
Becomes = Mapping[int, int]  # class -> instructions

NOTHING: Becomes = {}
ONE: dict[int, Becomes] = {each: {each: 1} for each in range(len(INSTRUCTION_CLASSES))}
TURN: Becomes = {INTEGER: 1, CONTROL: 1}  # of a loop: the counter, and a comparison that is one with its branch

_OF_FLOATS = {2: ONE[HALF], 4: ONE[FP32], 8: ONE[FP64]}  # by bytes
_CIRCULAR = {FP32: 15, INTEGER: 6, CONVERSION: 2, CONTROL: 3}
_LOGARITHM = {FP32: 20, INTEGER: 5, CONVERSION: 1}
_SINGLE: dict[np.ufunc, Becomes] = {
    np.true_divide: {FP32: 5, SPECIAL: 1, CONTROL: 4},
    np.reciprocal: {FP32: 3, SPECIAL: 1, INTEGER: 3, CONTROL: 3},
    np.sqrt: {FP32: 4, SPECIAL: 1, INTEGER: 2, CONTROL: 3},
    np.cbrt: {FP32: 13, SPECIAL: 2},
    np.exp: {FP32: 6, SPECIAL: 1, INTEGER: 1},
    np.exp2: {FP32: 3, SPECIAL: 1},
    np.expm1: {FP32: 26, SPECIAL: 1, CONVERSION: 1},
    np.log: _LOGARITHM,
    np.log2: _LOGARITHM,
    np.log10: _LOGARITHM,
    np.log1p: {FP32: 17, INTEGER: 7, CONVERSION: 1, CONTROL: 2},
    np.sin: _CIRCULAR,
    np.cos: _CIRCULAR,
    np.tan: {FP32: 13, SPECIAL: 1, INTEGER: 6, CONVERSION: 2, CONTROL: 3},
    np.tanh: {FP32: 12, SPECIAL: 2, INTEGER: 1},
}
_FAST: dict[np.ufunc, Becomes] = {
    np.true_divide: {FP32: 1, SPECIAL: 1},
    np.reciprocal: {SPECIAL: 1},
    np.sqrt: {SPECIAL: 1},
    np.exp: {FP32: 1, SPECIAL: 1},
    np.exp2: {SPECIAL: 1},
    np.log: {FP32: 1, SPECIAL: 1},
    np.log2: {SPECIAL: 1},
    np.log10: {FP32: 1, SPECIAL: 1},
    np.sin: {FP32: 1, SPECIAL: 1},
    np.cos: {FP32: 1, SPECIAL: 1},
    np.tan: {FP32: 2, SPECIAL: 3},
    np.tanh: {SPECIAL: 1},
}
_DOUBLE: dict[np.ufunc, Becomes] = {
    np.true_divide: {FP64: 8, SPECIAL: 1, FP32: 3, INTEGER: 1, CONTROL: 3},
    np.sqrt: {FP64: 8, SPECIAL: 1, INTEGER: 5, CONTROL: 3},
    np.exp: {FP64: 16, FP32: 1, INTEGER: 8, CONTROL: 3},
    np.log: {FP64: 30, SPECIAL: 1, INTEGER: 12, CONTROL: 3},
}
_QUOTIENTS = (np.floor_divide, np.remainder)
_BY_LANES = {INTEGER: 22, CONVERSION: 2, SPECIAL: 1}
_BY_NUMBER = {INTEGER: 3}  # a product with the reciprocal, or shifts


def becomes(ufunc: np.ufunc, fast_math: bool, *values: Any) -> Becomes:
    """What an elementwise function of arrays and numbers becomes; a number takes the type of what stands beside it.

    Functions that are not listed, and those of halves, are one instruction of their type's.

    >>> ones = np.ones((1, 32), np.float32)
    >>> becomes(np.exp2, False, ones) == {FP32: 3, SPECIAL: 1}, becomes(np.exp2, True, ones) == {SPECIAL: 1}
    (True, True)
    >>> becomes(np.add, False, ones, 1) == {FP32: 1}, becomes(np.less, False, ones.astype(np.int32), 1) == {INTEGER: 1}
    (True, True)
    """
    types = [value.dtype for value in values if isinstance(value, np.ndarray)]
    floats = max((dtype.itemsize for dtype in types if dtype.kind == "f"), default=0)
    if floats:
        tables = {4: (_FAST if fast_math else {}, _SINGLE), 8: (_DOUBLE,)}.get(floats, ())
        return next((table[ufunc] for table in tables if ufunc in table), _OF_FLOATS[floats])
    if ufunc in _QUOTIENTS:
        return _quotient(values[1], types[0])
    return ONE[INTEGER]


def _quotient(divisor: Any, dtype: np.dtype) -> Becomes:
    """An integer quotient or remainder: by a number that the compiler knows it is quick."""
    if isinstance(divisor, np.ndarray):
        return _BY_LANES
    power = int(divisor) & (int(divisor) - 1) == 0
    return ONE[INTEGER] if power and dtype.kind == "u" else _BY_NUMBER


def cast(of: np.dtype, to: np.dtype) -> Becomes:
    """What a conversion becomes: that between integers is a move, or cuts bits off.

    >>> cast(np.dtype("i4"), np.dtype("f4")) == {CONVERSION: 1}
    True
    """
    return ONE[INTEGER if of.kind in "iub" and to.kind in "iub" else CONVERSION]
