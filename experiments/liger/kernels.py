"""A row normalization, for readers who have not downloaded Liger-Kernel."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def normalized(x_ptr, out_ptr, columns: tl.constexpr):
    """Divide each row by the root of its mean square; a block per row."""
    at = tl.program_id(0) * columns + tl.arange(0, columns)
    x = tl.load(x_ptr + at)
    tl.store(out_ptr + at, x / tl.sqrt(tl.sum(x * x, axis=0) / columns))
