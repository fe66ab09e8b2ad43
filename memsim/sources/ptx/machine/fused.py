"""Multiplications and sums that round once (IEEE 754-2019, fusedMultiplyAdd)."""

from __future__ import annotations

from typing import Any

from memsim.jit.compiled import called
from memsim.jit.fused_multiply_add import fused

fused_single: Any = fused


@called
def odd_sum(x, y, cell, double):
    """A sum in double precision, rounded to odd: rounded again to a narrower type, it is rounded once.

    Boldo and Melquiond, *Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd* (2008).
    ``cell`` and ``double`` are one place in memory.
    """
    total = x + y
    part = total - x
    error = (x - (total - part)) + (y - part)
    if error > 0 or error < 0:  # false for NaN, of sums that are infinite
        double[0] = total
        if cell[0] & 1 == 0:
            cell[0] += 1 if (error > 0) == (total > 0) else -1
        total = double[0]
    return total
