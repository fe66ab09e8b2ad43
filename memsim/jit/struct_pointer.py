"""A tuple of arrays passed by a pointer, not array by array.

Numba passes a tuple to a function as the numbers that it consists of: the SMs are some three hundred. A loop of a
hundred functions then is, before LLVM has made one of them, mostly code that takes tuples apart and puts them together
again. Here the loop takes a pointer to its tuple once and passes that to its functions. When all are one function, LLVM
knows what the pointer refers to, and the machine code is as good as without.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from memsim.jit.mode import EXTENDED, PLAIN_NUMBA


def _itself(level: Any) -> Any:
    """Plain Python and plain Numba pass the tuple itself."""
    return level


def _choose() -> Any:
    """How this process passes a tuple: by a pointer, or itself."""
    if not EXTENDED:
        return njit(_itself) if PLAIN_NUMBA else _itself
    from memsim.jit.struct_pointer_type import struct_pointer

    return struct_pointer


pointer_to: Any = _choose()
