"""What functions become in CUDA, by class: tables of machine instructions, by numpy's names for the functions.

Counted in the machine code that nvcc 13.0 makes of CUDA's functions for compute capability 8.0, on the way that
ordinary numbers take, without the constants that are loaded; of 64-bit quotients, numbers of 32 bits take it. A test
counts them again where nvcc and nvdisasm are installed.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from memsim.trace.schema import INSTRUCTION_CLASSES

INTEGER, FP32, HALF, FP64, SPECIAL, CONVERSION, CONTROL, SHUFFLE, MULTIPLY, UNIFORM = range(len(INSTRUCTION_CLASSES))
Becomes = Mapping[int, int]  # class -> instructions
Table = Mapping[np.ufunc, Becomes]

SINGLE: Table = {  # precision
    np.true_divide: {FP32: 5, SPECIAL: 2, CONTROL: 3},
    np.reciprocal: {INTEGER: 3, FP32: 3, SPECIAL: 1, CONTROL: 3},
    np.sqrt: {INTEGER: 2, FP32: 4, SPECIAL: 1, CONTROL: 3},
    np.cbrt: {INTEGER: 5, FP32: 9, SPECIAL: 2},
    np.exp: {INTEGER: 1, FP32: 6, SPECIAL: 1},
    np.exp2: {INTEGER: 1, FP32: 2, SPECIAL: 1},
    np.expm1: {INTEGER: 10, FP32: 16, SPECIAL: 1, CONVERSION: 1},
    np.log: {INTEGER: 8, FP32: 15, CONVERSION: 1},
    np.log2: {INTEGER: 8, FP32: 17, CONVERSION: 1},
    np.log10: {INTEGER: 8, FP32: 16, CONVERSION: 1},
    np.log1p: {INTEGER: 5, FP32: 15, CONVERSION: 1, CONTROL: 3},
    np.sin: {INTEGER: 6, FP32: 11, CONVERSION: 2, CONTROL: 3},
    np.cos: {INTEGER: 7, FP32: 11, CONVERSION: 2, CONTROL: 3},
    np.tan: {INTEGER: 4, MULTIPLY: 1, FP32: 12, SPECIAL: 1, CONVERSION: 2, CONTROL: 3},
    np.tanh: {INTEGER: 4, FP32: 9, SPECIAL: 2},
    np.sinh: {INTEGER: 6, FP32: 14, SPECIAL: 2, CONVERSION: 1},
    np.cosh: {INTEGER: 4, FP32: 8, SPECIAL: 2, CONVERSION: 1},
    np.arcsin: {INTEGER: 7, FP32: 14, SPECIAL: 1},
    np.arccos: {INTEGER: 7, FP32: 15, SPECIAL: 1},
    np.arctan: {INTEGER: 5, FP32: 11, SPECIAL: 1},
    np.arctan2: {INTEGER: 12, FP32: 18, SPECIAL: 2, CONTROL: 6},
    np.power: {INTEGER: 28, FP32: 43, SPECIAL: 1, CONVERSION: 4, CONTROL: 7},
    np.floor_divide: {FP32: 5, SPECIAL: 2, CONVERSION: 1, CONTROL: 3},
    np.floor: {CONVERSION: 1},
    np.ceil: {CONVERSION: 1},
    np.trunc: {CONVERSION: 1},
    np.rint: {CONVERSION: 1},
    np.sign: {INTEGER: 4, MULTIPLY: 1, CONVERSION: 1},
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
    np.true_divide: {INTEGER: 2, FP32: 1, FP64: 8, SPECIAL: 1, CONTROL: 3},
    np.reciprocal: {INTEGER: 2, FP64: 5, SPECIAL: 1, CONTROL: 3},
    np.sqrt: {INTEGER: 4, FP64: 8, SPECIAL: 1, CONTROL: 3},
    np.exp: {INTEGER: 1, MULTIPLY: 2, FP64: 15, CONTROL: 3},
    np.exp2: {INTEGER: 2, MULTIPLY: 1, FP64: 16, CONTROL: 3},
    np.log: {INTEGER: 13, MULTIPLY: 6, FP64: 30, SPECIAL: 1, CONTROL: 3},
    np.log2: {INTEGER: 13, MULTIPLY: 6, FP64: 32, SPECIAL: 1, CONTROL: 3},
    np.log10: {INTEGER: 13, MULTIPLY: 6, FP64: 32, SPECIAL: 1, CONTROL: 3},
    np.sin: {INTEGER: 5, MULTIPLY: 2, FP64: 16, CONVERSION: 2, CONTROL: 4},
    np.cos: {INTEGER: 6, MULTIPLY: 2, FP64: 16, CONVERSION: 2, CONTROL: 4},
    np.arctan: {INTEGER: 4, MULTIPLY: 1, FP64: 24, CONTROL: 3},
    np.power: {INTEGER: 34, MULTIPLY: 15, FP64: 90, SPECIAL: 1, CONTROL: 11},
    np.floor_divide: {INTEGER: 2, FP32: 1, FP64: 8, SPECIAL: 1, CONVERSION: 1, CONTROL: 3},
    np.floor: {CONVERSION: 1},
    np.ceil: {CONVERSION: 1},
    np.trunc: {CONVERSION: 1},
    np.rint: {CONVERSION: 1},
    np.maximum: {INTEGER: 6, MULTIPLY: 1, FP64: 1},
    np.minimum: {INTEGER: 6, MULTIPLY: 1, FP64: 1},
}
# Quotients and remainders of integers, by their bytes and whether they have a sign. Where several have an operand in
# common the assembler works on its sign once, so that PTX's are counted as if without.
INTEGER_QUOTIENTS: Mapping[tuple[int, bool], Becomes] = {
    (4, True): {INTEGER: 14, MULTIPLY: 6, SPECIAL: 1, CONVERSION: 2},
    (4, False): {INTEGER: 10, MULTIPLY: 4, SPECIAL: 1, CONVERSION: 2},
    (8, True): {INTEGER: 9, MULTIPLY: 8, SPECIAL: 1, CONVERSION: 2, CONTROL: 3},
    (8, False): {INTEGER: 10, MULTIPLY: 7, SPECIAL: 1, CONVERSION: 2, CONTROL: 3},
}
# One instruction of their operands' type, where the tables above do not say otherwise.
ALONE = frozenset([
    np.add, np.subtract, np.multiply, np.square, np.negative, np.positive, np.absolute, np.fabs, np.copysign,
    np.maximum, np.minimum, np.fmax, np.fmin, np.less, np.less_equal, np.greater, np.greater_equal, np.equal,
    np.not_equal, np.logical_and, np.logical_or, np.logical_xor, np.logical_not, np.bitwise_and, np.bitwise_or,
    np.bitwise_xor, np.invert, np.left_shift, np.right_shift, np.isnan, np.isinf, np.isfinite, np.signbit,
])  # fmt: skip
