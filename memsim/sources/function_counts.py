"""What functions become in CUDA, by class: tables of machine instructions, by numpy's names for the functions.

Counted in the machine code that nvcc 13.0 makes of CUDA's functions for compute capability 8.0, on the way that
ordinary numbers take, without the constants that are loaded; of 64-bit quotients, numbers of 32 bits take it. A test
counts them again where nvcc and nvdisasm are installed.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from memsim.trace.schema import INSTRUCTION_CLASSES

INTEGER, FP32, HALF, FP64, SPECIAL, CONVERSION, CONTROL, SHUFFLE = range(len(INSTRUCTION_CLASSES))
Becomes = Mapping[int, int]  # class -> instructions
Table = Mapping[np.ufunc, Becomes]

SINGLE: Table = {  # precision
    np.true_divide: {FP32: 6, SPECIAL: 1, CONTROL: 3},
    np.reciprocal: {INTEGER: 3, FP32: 3, SPECIAL: 1, CONTROL: 3},
    np.sqrt: {INTEGER: 2, FP32: 4, SPECIAL: 1, CONTROL: 3},
    np.cbrt: {FP32: 14, SPECIAL: 2},
    np.exp: {INTEGER: 1, FP32: 6, SPECIAL: 1},
    np.exp2: {FP32: 3, SPECIAL: 1},
    np.expm1: {FP32: 26, SPECIAL: 1, CONVERSION: 1},
    np.log: {INTEGER: 4, FP32: 19, CONVERSION: 1},
    np.log2: {INTEGER: 4, FP32: 21, CONVERSION: 1},
    np.log10: {INTEGER: 4, FP32: 20, CONVERSION: 1},
    np.log1p: {INTEGER: 5, FP32: 15, CONVERSION: 1, CONTROL: 3},
    np.sin: {INTEGER: 2, FP32: 15, CONVERSION: 2, CONTROL: 3},
    np.cos: {INTEGER: 3, FP32: 15, CONVERSION: 2, CONTROL: 3},
    np.tan: {INTEGER: 3, FP32: 14, SPECIAL: 1, CONVERSION: 2, CONTROL: 3},
    np.tanh: {INTEGER: 1, FP32: 12, SPECIAL: 2},
    np.sinh: {INTEGER: 3, FP32: 17, SPECIAL: 2, CONVERSION: 1},
    np.cosh: {INTEGER: 2, FP32: 10, SPECIAL: 2, CONVERSION: 1},
    np.arcsin: {INTEGER: 1, FP32: 20, SPECIAL: 1},
    np.arccos: {INTEGER: 1, FP32: 21, SPECIAL: 1},
    np.arctan: {INTEGER: 1, FP32: 15, SPECIAL: 1},
    np.arctan2: {INTEGER: 3, FP32: 28, SPECIAL: 1, CONTROL: 6},
    np.power: {INTEGER: 10, FP32: 61, SPECIAL: 1, CONVERSION: 4, CONTROL: 7},
    np.floor_divide: {FP32: 6, SPECIAL: 1, CONVERSION: 1, CONTROL: 3},
    np.floor: {CONVERSION: 1},
    np.ceil: {CONVERSION: 1},
    np.trunc: {CONVERSION: 1},
    np.rint: {CONVERSION: 1},
    np.sign: {INTEGER: 3, FP32: 2, CONVERSION: 1},
}
FAST: Table = {  # of singles, with --use_fast_math; what is not here is as without
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
    np.power: {FP32: 1, SPECIAL: 2},
    np.floor_divide: {FP32: 1, SPECIAL: 1, CONVERSION: 1},
}
DOUBLE: Table = {  # precision
    np.true_divide: {FP32: 3, FP64: 8, SPECIAL: 1, CONTROL: 3},
    np.reciprocal: {INTEGER: 1, FP32: 1, FP64: 5, SPECIAL: 1, CONTROL: 3},
    np.sqrt: {INTEGER: 4, FP64: 8, SPECIAL: 1, CONTROL: 3},
    np.exp: {INTEGER: 2, FP32: 1, FP64: 15, CONTROL: 3},
    np.exp2: {INTEGER: 2, FP32: 1, FP64: 16, CONTROL: 3},
    np.log: {INTEGER: 16, FP32: 3, FP64: 30, SPECIAL: 1, CONTROL: 3},
    np.log2: {INTEGER: 16, FP32: 3, FP64: 32, SPECIAL: 1, CONTROL: 3},
    np.log10: {INTEGER: 16, FP32: 3, FP64: 32, SPECIAL: 1, CONTROL: 3},
    np.sin: {INTEGER: 4, FP32: 2, FP64: 16, CONVERSION: 2, CONTROL: 5},
    np.cos: {INTEGER: 5, FP32: 2, FP64: 16, CONVERSION: 2, CONTROL: 5},
    np.arctan: {INTEGER: 3, FP32: 2, FP64: 24, CONTROL: 3},
    np.power: {INTEGER: 43, FP32: 6, FP64: 90, SPECIAL: 1, CONTROL: 11},
    np.floor_divide: {FP32: 3, FP64: 8, SPECIAL: 1, CONVERSION: 1, CONTROL: 3},
    np.floor: {CONVERSION: 1},
    np.ceil: {CONVERSION: 1},
    np.trunc: {CONVERSION: 1},
    np.rint: {CONVERSION: 1},
    np.maximum: {INTEGER: 6, FP32: 1, FP64: 1},
    np.minimum: {INTEGER: 6, FP32: 1, FP64: 1},
}
# Quotients and remainders of integers, by their bytes and whether they have a sign. Where several have an operand in
# common the assembler works on its sign once, so that PTX's are counted as if without.
INTEGER_QUOTIENTS: Mapping[tuple[int, bool], Becomes] = {
    (4, True): {INTEGER: 20, CONVERSION: 2, SPECIAL: 1},
    (4, False): {INTEGER: 14, CONVERSION: 2, SPECIAL: 1},
    (8, True): {INTEGER: 17, CONVERSION: 2, SPECIAL: 1, CONTROL: 3},
    (8, False): {INTEGER: 17, CONVERSION: 2, SPECIAL: 1, CONTROL: 3},
}
# One instruction of their operands' type, where the tables above do not say otherwise.
ALONE = frozenset([
    np.add, np.subtract, np.multiply, np.square, np.negative, np.positive, np.absolute, np.fabs, np.copysign,
    np.maximum, np.minimum, np.fmax, np.fmin, np.less, np.less_equal, np.greater, np.greater_equal, np.equal,
    np.not_equal, np.logical_and, np.logical_or, np.logical_xor, np.logical_not, np.bitwise_and, np.bitwise_or,
    np.bitwise_xor, np.invert, np.left_shift, np.right_shift, np.isnan, np.isinf, np.isfinite, np.signbit,
])  # fmt: skip
