"""A tuple of arrays handed on by its place, not array by array.

Numba passes a tuple to a function as the numbers that it consists of: the SMs are some three hundred. A loop of a
hundred functions then is, before LLVM has made one of them, mostly code that takes tuples apart and puts them together
again. Here the loop notes once where its tuple lies, and its functions get that place; when all are one function, LLVM
knows what lies there, and the machine code is as good as without.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from memsim.jit.mode import EXTENDED, PLAIN_NUMBA


def _itself(level: Any) -> Any:
    """Plain Python and plain Numba hand the tuple on."""
    return level


def _choose() -> Any:
    """What this process hands a tuple on by."""
    if not EXTENDED:
        return njit(_itself) if PLAIN_NUMBA else _itself
    from memsim.jit.struct_pointer_type import place

    return place


place_of: Any = _choose()
