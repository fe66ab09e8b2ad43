"""Kernels in Triton whose PTX lies beside: written for these tests, in the shapes that people write."""

import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def softmax(x, out, columns, row_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    values = tl.load(x + row * row_stride + at, mask=inside, other=float("-inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * row_stride + at, powers / tl.sum(powers, axis=0), mask=inside)


@triton.jit
def layer_norm(x, out, weight, bias, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], tl.float32)
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        total += tl.load(x + row * columns + at, mask=at < columns, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / columns
    squares = tl.zeros([BLOCK], tl.float32)
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        value = tl.load(x + row * columns + at, mask=at < columns, other=0.0).to(tl.float32)
        value = tl.where(at < columns, value - mean, 0.0)
        squares += value * value
    scale = 1 / tl.sqrt(tl.sum(squares, axis=0) / columns + epsilon)
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        inside = at < columns
        value = tl.load(x + row * columns + at, mask=inside, other=0.0).to(tl.float32)
        normal = (value - mean) * scale
        result = normal * tl.load(weight + at, mask=inside) + tl.load(bias + at, mask=inside)
        tl.store(out + row * columns + at, result, mask=inside)


@triton.jit
def dropout(x, out, n, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    value = tl.load(x + at, mask=inside)
    keep = tl.rand(seed, at) > p
    tl.store(out + at, tl.where(keep, value / (1 - p), 0.0), mask=inside)


@triton.jit
def matmul(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    program = tl.program_id(0)
    across, down = tl.cdiv(n, BN), tl.cdiv(m, BM)
    group = program // (GROUP * across)
    first = group * GROUP
    height = min(down - first, GROUP)
    row = first + (program % (GROUP * across)) % height
    column = (program % (GROUP * across)) // height
    rows = (row * BM + tl.arange(0, BM)) % m
    columns = (column * BN + tl.arange(0, BN)) % n
    depth = tl.arange(0, BK)
    left = a + rows[:, None] * k + depth[None, :]
    right = b + depth[:, None] * n + columns[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for step in range(0, tl.cdiv(k, BK)):
        x = tl.load(left, mask=depth[None, :] < k - step * BK, other=0.0)
        y = tl.load(right, mask=depth[:, None] < k - step * BK, other=0.0)
        total = tl.dot(x, y, total)
        left += BK
        right += BK * n
    rows = row * BM + tl.arange(0, BM)
    columns = column * BN + tl.arange(0, BN)
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(c + rows[:, None] * n + columns[None, :], total.to(tl.float16), mask=inside)


@triton.jit
def persistent(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PROGRAMS: tl.constexpr):
    across = tl.cdiv(n, BN)
    for tile in tl.range(tl.program_id(0), across * tl.cdiv(m, BM), PROGRAMS):
        rows = (tile // across) * BM + tl.arange(0, BM)
        columns = (tile % across) * BN + tl.arange(0, BN)
        total = tl.zeros((BM, BN), tl.float32)
        for first in range(0, k, BK):
            depth = first + tl.arange(0, BK)
            x = tl.load(a + rows[:, None] * k + depth[None, :])
            y = tl.load(b + depth[:, None] * n + columns[None, :])
            total = tl.dot(x, y, total)
        tl.store(c + rows[:, None] * n + columns[None, :], total.to(tl.float16))


@triton.jit
def persistent_tma(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PROGRAMS: tl.constexpr):
    across = tl.cdiv(n, BN)
    for tile in tl.range(tl.program_id(0), across * tl.cdiv(m, BM), PROGRAMS):
        row, column = (tile // across) * BM, (tile % across) * BN
        total = tl.zeros((BM, BN), tl.float32)
        for first in range(0, k, BK):
            total = tl.dot(a.load([row, first]), b.load([first, column]), total)
        c.store([row, column], total.to(tl.float16))


@triton.jit
def grouped(pointers, sizes, groups, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PROGRAMS: tl.constexpr):
    tile, last = tl.program_id(0), 0
    for group in range(groups):
        m, n = tl.load(sizes + 3 * group), tl.load(sizes + 3 * group + 1)
        k = tl.load(sizes + 3 * group + 2)
        across = tl.cdiv(n, BN)
        tiles = tl.cdiv(m, BM) * across
        while tile >= last and tile < last + tiles:
            a = tl.load(pointers + 3 * group).to(tl.pointer_type(tl.float16))
            b = tl.load(pointers + 3 * group + 1).to(tl.pointer_type(tl.float16))
            c = tl.load(pointers + 3 * group + 2).to(tl.pointer_type(tl.float16))
            inside = tile - last
            rows = (inside // across) * BM + tl.arange(0, BM)
            columns = (inside % across) * BN + tl.arange(0, BN)
            total = tl.zeros((BM, BN), tl.float32)
            for first in range(0, k, BK):
                depth = first + tl.arange(0, BK)
                x = tl.load(a + rows[:, None] * k + depth[None, :])
                y = tl.load(b + depth[:, None] * n + columns[None, :])
                total = tl.dot(x, y, total)
            tl.store(c + rows[:, None] * n + columns[None, :], total.to(tl.float16))
            tile += PROGRAMS
        last += tiles


@triton.jit
def attention(q, k, v, out, length, scale, HEAD: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    head = tl.program_id(1) * length * HEAD
    rows, inner = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, HEAD)
    query = tl.load(q + head + rows[:, None] * HEAD + inner[None, :])
    highest = tl.full([BM], float("-inf"), tl.float32)
    weights = tl.zeros([BM], tl.float32)
    total = tl.zeros([BM, HEAD], tl.float32)
    for first in range(0, length, BN):
        columns = first + tl.arange(0, BN)
        keys = tl.load(k + head + columns[None, :] * HEAD + inner[:, None])
        values = tl.load(v + head + columns[:, None] * HEAD + inner[None, :])
        scores = tl.dot(query, keys) * (scale * 1.4426950408889634)
        now = tl.maximum(highest, tl.max(scores, 1))
        powers = tl.exp2(scores - now[:, None])
        shrink = tl.exp2(highest - now)
        weights = weights * shrink + tl.sum(powers, 1)
        total = tl.dot(powers.to(tl.float16), values, total * shrink[:, None])
        highest = now
    tl.store(out + head + rows[:, None] * HEAD + inner[None, :], (total / weights[:, None]).to(tl.float16))
