"""Multiplications and sums that round once (IEEE 754-2019, fusedMultiplyAdd), by LLVM and in exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from memsim.jit.mode import PLAIN_PYTHON


def _fma(typing_context: Any, x: Any, y: Any, z: Any) -> Any:
    """LLVM's llvm.fma of three numbers of one type."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.fma(*arguments)

    return x(x, x, x) if x == y == z and isinstance(x, types.Float) else None, generate


def _fma_plain(x: Any, y: Any, z: Any) -> Any:
    """The same in exact arithmetic, for Python without compiled loops."""
    kind = type(x)
    rough = kind(float(x) * float(y) + float(z))
    if not all(map(math.isfinite, (x, y, z))):
        return rough
    exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
    if exact == 0:
        return rough
    near = float(exact)
    if kind is np.float32 and Fraction(near) != exact and np.float64(near).view(np.int64) & 1 == 0:
        near = math.nextafter(near, math.inf if exact > near else -math.inf)  # to odd, so that it rounds once
    return kind(near)


fused: Any = _fma_plain if PLAIN_PYTHON else intrinsic(_fma)
