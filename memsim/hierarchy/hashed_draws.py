"""Draws inside compiled loops: a hash of what is decided, so the same question gets the same answer.

A stream of random numbers would depend on who asks first, hence on the quantum; a hash of (trial key, time, SM, ...)
does not.
"""

from __future__ import annotations

from memsim.jit.compiled import inlined

WORD = 0xFFFFFFFF


@inlined
def hash32(x: int) -> int:
    """Mix a non-negative integer into 32 well-spread bits.

    Two rounds of xor-shift and multiply; the multiplier is below 2**27, so products fit int64 and the plain
    Python run gives the same bits as the compiled one.

    >>> hash32(0), hash32(1) != hash32(2)
    (0, True)
    """
    x = int(x) & WORD
    x = (((x >> 16) ^ x) * 0x45D9F3B) & WORD
    x = (((x >> 16) ^ x) * 0x45D9F3B) & WORD
    return (x >> 16) ^ x
