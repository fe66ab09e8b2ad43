"""Micro-ops that only some kernels have: each is a loop of its own, which the machine's loop calls by its address.

A loop has all that it may call within it, and what it may call is compiled with it. Most kernels have few kinds of
micro-ops beside integers, branches, loads and stores, so the others are compiled when a kernel first has one.
"""

from __future__ import annotations

import ctypes
from typing import Any

from llvmlite import ir
from numba import config, typeof, types
from numba.extending import intrinsic

from memsim.jit.struct_pointer import Place

ARGUMENTS = 3 * (types.int64,)  # behind the machine's place: the warp, the micro-op, the active lanes


def address_of(loop: Any, m: Any) -> int:
    """Where a loop (place of the machine, warp, micro-op, active lanes) -> Stop lies; it is compiled or read from disk.

    Plain Python has the address of the function itself.
    """
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return id(loop)
    signature = Place(typeof(m)), *ARGUMENTS
    loop.compile(signature)
    made = loop.overloads[signature]
    return int(made.library.get_pointer_to_function(made.fndesc.llvm_cfunc_wrapper_name))


def _call(typing_context: Any, address: Any, m: Any, w: Any, pc: Any, active: Any) -> Any:
    """What the loop at an address returns."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address, *rest = arguments
        kind = ir.FunctionType(ir.IntType(64), [one.type for one in rest])
        return builder.call(builder.inttoptr(address, kind.as_pointer()), rest)

    return types.int64(types.int64, m, *ARGUMENTS), generate


def _call_plain(address: int, m: Any, w: int, pc: int, active: int) -> Any:
    return ctypes.cast(int(address), ctypes.py_object).value(m, w, pc, active)


call_at: Any = _call_plain if config.DISABLE_JIT else intrinsic(_call)  # type: ignore[attr-defined]
