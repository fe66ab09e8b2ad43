"""Micro-ops that only some kernels have: each is a loop of its own, which the machine's loop calls by its address.

A loop has all that it may call within it, and what it may call is compiled with it. Most kernels have few kinds of
micro-ops besides integers, branches, loads and stores, so the others are compiled when a kernel first has one.
"""

from __future__ import annotations

import ctypes
from typing import Any

from llvmlite import ir
from numba import njit, objmode, typeof, types
from numba.extending import intrinsic

from memsim.jit.mode import EXTENDED, PLAIN_NUMBA

ARGUMENTS = 3 * (types.int64,)  # behind the pointer to the machine: the warp, the micro-op, the active lanes


def address_of(loop: Any, m: Any) -> int:
    """The address of a loop (pointer to the machine, warp, micro-op, active lanes) -> Stop, compiled or read from disk.

    Plain Python and plain Numba have the address of the function itself, which the latter calls through Python.
    """
    if not EXTENDED:
        return id(loop)
    from memsim.jit.struct_pointer_type import StructPointer

    signature = StructPointer(typeof(m)), *ARGUMENTS
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


@njit
def _call_through_python(address, m, w, pc, active):  # type: ignore[no-untyped-def]
    with objmode(stop="int64"):
        stop = _call_plain(address, m, w, pc, active)
    return stop


call_at: Any = intrinsic(_call) if EXTENDED else _call_through_python if PLAIN_NUMBA else _call_plain
