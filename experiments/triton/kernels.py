"""Kernels in Triton, in the shapes that its tutorials and its users' questions have."""

import triton
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@triton.jit
def sums(x, out, rows, columns, row_step, column_step, B: tl.constexpr):
    """One column a program, over rows; the steps say how the matrix lies in memory."""
    i, column = tl.arange(0, B), tl.program_id(0)
    values = tl.load(x + i * row_step + column * column_step, mask=i < rows, other=0.0)
    tl.store(out + column, tl.sum(values))


@triton.jit
def row_sums(x, out, columns, B: tl.constexpr):
    """One row per program, in steps of so many columns."""
    row, total = tl.program_id(0), tl.zeros([B], tl.float32)
    for first in range(0, columns, B):
        at = first + tl.arange(0, B)
        total += tl.load(x + row * columns + at, mask=at < columns, other=0.0)
    tl.store(out + row, tl.sum(total))


@triton.jit
def softmax(x, out, columns, row_step, B: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, B)
    inside = at < columns
    values = tl.load(x + row * row_step + at, mask=inside, other=float("-inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * columns + at, powers / tl.sum(powers, axis=0), mask=inside)


@triton.jit
def matmul(a, b, c, n, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    """Square product; tiles in groups of so many rows of tiles, 1: row by row."""
    program, across = tl.program_id(0), tl.cdiv(n, BN)
    first = program // (GROUP * across) * GROUP
    row = first + program % (GROUP * across) % GROUP
    column = program % (GROUP * across) // GROUP
    rows, columns, depth = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN), tl.arange(0, BK)
    left, right = a + rows[:, None] * n + depth[None, :], b + depth[:, None] * n + columns[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, n, BK):
        total = tl.dot(tl.load(left), tl.load(right), total)
        left += BK
        right += BK * n
    tl.store(c + rows[:, None] * n + columns[None, :], total.to(c.dtype.element_ty))


@gluon.jit
def scale(x, out, columns, DOWN: gl.constexpr):
    """Tiles of 32 rows and 128 columns, 16 bytes per lane; a warp's lanes lie along a row, or down a column."""
    across: gl.constexpr = gl.BlockedLayout([1, 4], [1, 32], [4, 1], [1, 0])
    down: gl.constexpr = gl.BlockedLayout([1, 4], [32, 1], [1, 4], [0, 1])
    layout: gl.constexpr = down if DOWN else across
    row = gl.program_id(0) * 32 + gl.arange(0, 32, layout=gl.SliceLayout(1, layout))
    column = gl.program_id(1) * 128 + gl.arange(0, 128, layout=gl.SliceLayout(0, layout))
    at = row[:, None] * columns + column[None, :]
    gl.store(out + at, 2.0 * gl.load(x + at))


@gluon.jit
def atomics(out, EACH: gl.constexpr):
    """Adds to 1024 words a program, so many neighbours a lane, one word an instruction."""
    layout: gl.constexpr = gl.BlockedLayout([EACH], [32], [4], [0])
    at = gl.program_id(0) * 1024 + gl.arange(0, 1024, layout=layout)
    gl.atomic_add(out + at, gl.full([1024], 1, gl.int32, layout=layout), sem="relaxed")
