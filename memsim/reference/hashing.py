"""Random numbers as hashes of a key and a counter.

A draw depends on the trial's key and on what it is for (a cycle and an SM, a cache set and its number of draws). It
does not depend on how many numbers other units have drawn (counter-based random numbers: Salmon et al., SC 2011).
"""

from __future__ import annotations


def hash32(x: int) -> int:
    """Two rounds of xor-shift and multiply on 32 bits."""
    for _ in range(2):
        x = ((x >> 16 ^ x) * 0x45D9F3B) % 2**32
    return x >> 16 ^ x
