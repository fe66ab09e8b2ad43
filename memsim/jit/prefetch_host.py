"""A hint to the host: data that are needed soon can be fetched from memory during other work.

A trial's tables outgrow the host's fast caches, and the address of nearly every load is known well before the load.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from memsim.jit.mode import EXTENDED, PLAIN_NUMBA

READING, EVERY_LEVEL, DATA = 0, 3, 1  # arguments of LLVM's prefetch


def _prefetch(typing_context: Any, array: Any, i: Any) -> Any:
    """Ask for element `i` of a one-dimensional array. Any integer will do: the host ignores what does not exist."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        from numba.core import cgutils

        array, i = arguments
        data = context.make_array(signature.args[0])(context, builder, array).data
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        address = builder.gep(data, [context.cast(builder, i, signature.args[1], types.intp)])
        hint = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [byte, word, word, word]), "llvm.prefetch.p0i8"
        )
        settings = [ir.Constant(word, value) for value in (READING, EVERY_LEVEL, DATA)]
        builder.call(hint, [builder.bitcast(address, byte), *settings])
        return context.get_dummy_value()

    return types.void(array, i), generate


def _no_prefetch(array: Any, i: Any) -> None:
    """Plain Python and plain Numba need no hints."""


prefetch: Any = intrinsic(_prefetch) if EXTENDED else njit(_no_prefetch) if PLAIN_NUMBA else _no_prefetch
