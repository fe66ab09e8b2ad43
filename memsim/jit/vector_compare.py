"""Comparing many numbers at once, as the host's vectors do.

LLVM makes vectors of a loop over a set's tags by itself, but not well: it does not know that there is one match at
most, sums places in 64 bits, and compares fewer than eight tags one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from memsim.jit.mode import EXTENDED, PLAIN_NUMBA

FEW, MANY = 16, 64  # numbers compared at once


def _equal(lanes: int) -> Callable[..., Any]:
    """A loop's function of (array, i, value): bit k says whether element ``i + k`` is `value`, for k below `lanes`.

    The array is one-dimensional, of i4. Memory behind it is read as well: `lanes` - 1 more elements must exist there.
    """

    def compare(typing_context: Any, array: Any, i: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array, i, value = arguments
            element, vector = ir.IntType(32), ir.VectorType(ir.IntType(32), lanes)
            data = context.make_array(signature.args[0])(context, builder, array).data
            address = builder.gep(data, [context.cast(builder, i, signature.args[1], types.intp)])
            held = builder.load(builder.bitcast(address, vector.as_pointer()), align=element.width // 8)
            number = context.cast(builder, value, signature.args[2], types.int32)
            undefined = ir.Constant(vector, ir.Undefined)
            one = builder.insert_element(undefined, number, ir.Constant(element, 0))
            all_of_it = builder.shuffle_vector(one, undefined, ir.Constant(ir.VectorType(element, lanes), [0] * lanes))
            bits = builder.bitcast(builder.icmp_signed("==", held, all_of_it), ir.IntType(lanes))
            return bits if lanes == 64 else builder.zext(bits, ir.IntType(64))

        return types.int64(array, i, value), generate

    return compare


def _plain_equal(lanes: int) -> Callable[..., Any]:
    def compare(array: Any, i: Any, value: Any) -> Any:
        bits = np.int64(0)
        for k in range(min(lanes, len(array) - i)):
            if array[i + k] == value:
                bits |= np.int64(1) << np.int64(k)
        return bits

    return compare


def _lowest_bit(typing_context: Any, mask: Any) -> Any:
    """The position of the lowest bit of a mask that is not zero."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), generate


def _plain_lowest_bit(mask: int) -> int:
    k = 0
    while mask >> k & 1 == 0:
        k += 1
    return k


def _compiled_as(extended: Any, plain: Any) -> Any:
    """What this process uses of a function in LLVM's language and the same in Python."""
    return intrinsic(extended) if EXTENDED else njit(plain) if PLAIN_NUMBA else plain


equal_few = _compiled_as(_equal(FEW), _plain_equal(FEW))
equal_many = _compiled_as(_equal(MANY), _plain_equal(MANY))
lowest_bit = _compiled_as(_lowest_bit, _plain_lowest_bit)
