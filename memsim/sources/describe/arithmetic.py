"""What instructions an operation of a description becomes, by class: by its function and the types it works on.

Operands are converted first, as C does it, an instruction each. A function that is no one instruction becomes those of
CUDA's library (:mod:`memsim.sources.function_counts`). Estimates are: those of halves are singles' between two
conversions, which is how CUDA's are written; what is in no table is as much as a logarithm, which is in the middle of
those that are, or of integers a quotient; a product of complex numbers is four instructions, another operation two. A
product of floats that a sum of its type takes in is one instruction with it
(:meth:`memsim.sources.describe.lanes.Lanes`).
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import numpy as np

from memsim.sources.describe.types import operand_type
from memsim.sources.function_counts import (
    ALONE,
    CONTROL,
    CONVERSION,
    DOUBLE,
    FAST,
    FP32,
    FP64,
    HALF,
    INTEGER,
    INTEGER_QUOTIENTS,
    MULTIPLY,
    SHUFFLE,
    SINGLE,
    SPECIAL,
    Becomes,
    Table,
)  # fmt: skip
from memsim.trace.schema import INSTRUCTION_CLASSES

__all__ = [
    "CONTROL",
    "INTEGER",
    "ONE",
    "SHUFFLE",
    "SPECIAL",
    "LOOP_ITERATION",
    "Becomes",
    "becomes",
    "cast",
    "conversions",
]

ONE: dict[int, Becomes] = {each: {each: 1} for each in range(len(INSTRUCTION_CLASSES))}
# The counter, and a comparison that is one instruction with its branch.
LOOP_ITERATION: Becomes = {INTEGER: 1, CONTROL: 1}

_OF_FLOATS = {2: ONE[HALF], 4: ONE[FP32], 8: ONE[FP64]}  # by bytes
# Of singles the ALU executes these (memsim.gpu.pipes): comparisons, and what selects one operand.
_OF_ALU = frozenset([
    np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal, np.maximum, np.minimum, np.fmax,
    np.fmin, np.isnan, np.isinf, np.isfinite, np.signbit, np.copysign,
])  # fmt: skip
_QUOTIENTS = (np.floor_divide, np.remainder)
_PRODUCTS = (np.multiply, np.square)
_BY_POWER_OF_TWO = {INTEGER: 2}  # shifts, as of PTX
_BY_NUMBER = {INTEGER: 2, MULTIPLY: 1}  # IMAD.HI with the reciprocal, SHF and LEA.HI


def becomes(ufunc: np.ufunc, fast_math: bool, *values: Any) -> Becomes:
    """What an elementwise function of arrays and numbers becomes; a number takes the type of the other operand.

    >>> ones = np.ones((1, 32), np.float32)
    >>> becomes(np.exp2, False, ones) == {INTEGER: 1, FP32: 2, SPECIAL: 1}, becomes(np.exp2, True, ones) == {SPECIAL: 1}
    (True, True)
    >>> becomes(np.add, False, ones, 1) == {FP32: 1}, becomes(np.less, False, ones.astype(np.int32), 1) == {INTEGER: 1}
    (True, True)
    >>> becomes(np.multiply, False, ones.astype(np.int32), 0.5) == {FP32: 1, CONVERSION: 1}
    True
    >>> becomes(np.multiply, False, ones.astype(np.int32), 3) == {MULTIPLY: 1}, becomes(np.maximum, False, ones, ones)
    (True, {0: 1})
    """
    dtype = operand_type(values)
    dtype = np.dtype(np.float32) if _gives_fractions(ufunc, dtype) else dtype
    function, first = _function(ufunc, fast_math, dtype, values), _conversions(values, dtype)
    return _together(first, function) if first else function


def conversions(*values: Any) -> Becomes:
    """The conversions alone of an operation's operands, of one that takes no instruction of its own."""
    return _conversions(values, operand_type(values))


def _conversions(values: tuple[Any, ...], dtype: np.dtype) -> Becomes:
    """Those to floats; between integers they are one with the operation. Numbers are converted by the compiler."""
    from_others = [value for value in values if isinstance(value, np.ndarray) and value.dtype != dtype]
    return {CONVERSION: len(from_others)} if dtype.kind == "f" and from_others else {}


@cache
def _gives_fractions(ufunc: np.ufunc, dtype: np.dtype) -> bool:
    """Whether it is of integers, and works in floats."""
    return dtype.kind in "iub" and ufunc.resolve_dtypes((*[dtype] * ufunc.nin, None))[0].kind == "f"


def _function(ufunc: np.ufunc, fast_math: bool, dtype: np.dtype, values: tuple[Any, ...]) -> Becomes:
    """What a function becomes of operands that are converted."""
    if dtype.kind == "c":
        part = FP64 if dtype.itemsize > 8 else FP32
        return {part: 4 if ufunc is np.multiply else 2}
    if dtype.kind != "f":
        return _of_integers(ufunc, dtype, values)
    if ufunc is np.power and type(values[1]) is int and values[1] == 2:
        ufunc = np.square  # C has no operator for it, and kernels write x * x; nvcc calls its library for powf(x, 2)
    return _of_floats(ufunc, fast_math, min(dtype.itemsize, 8))  # CUDA's long double is a double


def _of_floats(ufunc: np.ufunc, fast_math: bool, nbytes: int) -> Becomes:
    precise = DOUBLE if nbytes == 8 else SINGLE
    table: Table = FAST if fast_math and nbytes < 8 and ufunc in FAST else precise
    if ufunc in ALONE and ufunc not in table:
        return ONE[INTEGER] if nbytes == 4 and ufunc in _OF_ALU else _OF_FLOATS[nbytes]
    found = table.get(ufunc, precise[np.log])
    return found if nbytes > 2 else _together({CONVERSION: 2}, found)


def _of_integers(ufunc: np.ufunc, dtype: np.dtype, values: tuple[Any, ...]) -> Becomes:
    """By a number that the compiler knows a quotient is quick, and a product with a power of two is a shift."""
    number = next((int(value) for value in values[1:] if not isinstance(value, np.ndarray)), None)
    power = number is not None and number & (number - 1) == 0
    if ufunc in _PRODUCTS and not power:
        return {MULTIPLY: 4 if dtype.itemsize == 8 else 1}
    if ufunc in ALONE:
        return ONE[INTEGER]
    if ufunc not in _QUOTIENTS or number is None:
        return INTEGER_QUOTIENTS[max(4, dtype.itemsize), dtype.kind != "u"]
    if power:
        return ONE[INTEGER] if dtype.kind == "u" else _BY_POWER_OF_TWO
    return _BY_NUMBER


def _together(first: Becomes, second: Becomes) -> Becomes:
    return Counter(first) + Counter(second)


def cast(of: np.dtype, to: np.dtype) -> Becomes:
    """What a conversion becomes: that between integers is a move, or cuts bits off.

    >>> cast(np.dtype("i4"), np.dtype("f4")) == {CONVERSION: 1}
    True
    """
    return ONE[INTEGER if of.kind in "iub" and to.kind in "iub" else CONVERSION]
