"""The kernels of tests/data/ptx with arguments, and what numpy says that they compute."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from places import ROOT
from tensor_map import tensor_map

from memsim.sources.ptx import DeviceMemory, PtxLaunch

PTX = ROOT / "tests" / "data" / "ptx"
TILED_SHARED = 100_000  # bytes: more than any of the kernels with tiles asks for


@dataclass(frozen=True)
class Case:
    """A launch: file, arrays (the last is the result), arguments by their addresses, what is expected."""

    file: str
    kernel: str
    arrays: Sequence[np.ndarray]
    arguments: Callable[[list[int]], list[Any]]
    grid: tuple[int, int, int]
    block: int | tuple[int, int, int]
    expected: Callable[[], np.ndarray]
    shared: int = 0
    within: float = 0.0

    def launch(self, capability: int, ptx: str | None = None) -> tuple[PtxLaunch, DeviceMemory]:
        """The launch on fresh memory, of the committed PTX or another; Triton's two last parameters, scratch memory and
        a profiler's, are 0."""
        memory = DeviceMemory()
        addresses = [memory.add(array, f"array{i}") for i, array in enumerate(self.arrays)]
        text = ptx or (PTX / f"{self.file}.sm_{capability}.ptx").read_text()
        block = self.block if isinstance(self.block, tuple) else (self.block, 1, 1)
        given = self.arguments(addresses)
        count = len(PtxLaunch(text, self.kernel, self.grid, block).function.parameters)
        given += [0] * (count - len(given))
        return PtxLaunch(text, self.kernel, self.grid, block, given, self.shared, source=f"{self.file}.ptx"), memory


def _numbers(seed: int, *shape: int, dtype: str = "f4") -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a.astype("f4") @ b.astype("f4")


def add() -> Case:
    x, y = _numbers(1, 2500), _numbers(2, 2500)
    out = np.zeros_like(x)
    return Case("add", "add", [x, y, out], lambda at: [*at, len(x)], (5, 1, 1), 128, lambda: x + y)


def softmax() -> Case:
    x = _numbers(1, 5, 781)

    def expected() -> np.ndarray:
        powers = np.exp(x - x.max(1, keepdims=True))
        return powers / powers.sum(1, keepdims=True)

    return Case(
        "softmax", "softmax", [x, np.zeros_like(x)], lambda at: [*at, 781, 781], (5, 1, 1), 128, expected, 64, 1e-6
    )


def layer_norm() -> Case:
    x, weight, bias = _numbers(1, 3, 1500, dtype="f2"), _numbers(2, 1500), _numbers(3, 1500)

    def expected() -> np.ndarray:
        v = x.astype("f4")
        return (v - v.mean(1, keepdims=True)) / np.sqrt(v.var(1, keepdims=True) + 1e-5) * weight + bias

    def arguments(at: list[int]) -> list[Any]:
        return [at[0], at[3], at[1], at[2], 1500, 1e-5]

    arrays = [x, weight, bias, np.zeros_like(x)]
    return Case("layer_norm", "layer_norm", arrays, arguments, (3, 1, 1), 128, expected, 4096, 1e-2)


def _philox(counter: np.ndarray, seed: int) -> np.ndarray:
    """The first word of Philox 4x32-10 (Salmon et al., SC 2011), as a number from 0 to 1 as Triton makes it."""
    c = [counter.astype(np.uint64), *np.zeros((3, len(counter)), np.uint64)]
    key, word = [seed, 0], np.uint64(0xFFFFFFFF)
    for _ in range(10):
        first, second = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        high, other = second >> np.uint64(32), first >> np.uint64(32)
        c = [high ^ c[1] ^ np.uint64(key[0]), second & word, other ^ c[3] ^ np.uint64(key[1]), first & word]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    signed = c[0].astype(np.uint32).view(np.int32).astype(np.int64)
    return np.where(signed < 0, -signed - 1, signed).astype("f4") * np.float32(4.6566127342e-10)


def dropout() -> Case:
    x = _numbers(1, 1200)

    def expected() -> np.ndarray:
        return np.where(_philox(np.arange(len(x)), 123) > 0.25, x / np.float32(0.75), 0)

    arrays = [x, np.zeros_like(x)]
    return Case("dropout", "dropout", arrays, lambda at: [*at, len(x), 0.25, 123], (3, 1, 1), 128, expected, 0, 1e-6)


def matmul() -> Case:
    a, b = _numbers(1, 112, 96, dtype="f2"), _numbers(2, 96, 80, dtype="f2")
    arrays = [a, b, np.zeros((112, 80), "f2")]
    return Case(
        "matmul",
        "matmul",
        arrays,
        lambda at: [*at, 112, 80, 96],
        (4, 1, 1),
        128,
        lambda: _product(a, b),
        TILED_SHARED,
        0.05,
    )


def persistent() -> Case:
    a, b = _numbers(1, 128, 64, dtype="f2"), _numbers(2, 64, 128, dtype="f2")
    arrays = [a, b, np.zeros((128, 128), "f2")]
    return Case(
        "persistent", "persistent", arrays, lambda at: [*at, 128, 128, 64], (3, 1, 1), 128, lambda: _product(a, b),
        TILED_SHARED, 0.05,
    )  # fmt: skip


def persistent_tma() -> Case:
    a, b = _numbers(1, 128, 64, dtype="f2"), _numbers(2, 64, 128, dtype="f2")
    shapes, boxes, patterns = [(128, 64), (64, 128), (128, 128)], [(64, 32), (32, 64), (64, 64)], [64, 128, 128]

    def arguments(at: list[int]) -> list[Any]:
        given: list[Any] = []
        for address, (rows, columns), box, pattern in zip(at, shapes, boxes, patterns, strict=True):
            given.append(tensor_map(address, 2, (columns, rows), (2 * columns,), box[::-1], pattern))
            given += [rows, columns, columns, 1]
        return [*given, 128, 128, 64]

    arrays = [a, b, np.zeros((128, 128), "f2")]
    return Case(
        "persistent_tma",
        "persistent_tma",
        arrays,
        arguments,
        (3, 1, 1),
        128,
        lambda: _product(a, b),
        TILED_SHARED,
        0.05,
    )


def grouped() -> Case:
    """Two products of different shapes; the second one's result is looked at."""
    a, b = [_numbers(1, 64, 32, dtype="f2"), _numbers(2, 64, 64, dtype="f2")], []
    b = [_numbers(3, 32, 64, dtype="f2"), _numbers(4, 64, 128, dtype="f2")]
    results = [np.zeros((64, 64), "f2"), np.zeros((64, 128), "f2")]
    pointers, sizes = np.zeros(6, np.int64), np.array([64, 64, 32, 64, 128, 64], np.int32)

    def arguments(at: list[int]) -> list[Any]:
        pointers[:] = at[2:]
        return [at[0], at[1], 2]

    arrays = [pointers, sizes, a[0], b[0], results[0], a[1], b[1], results[1]]
    return Case(
        "grouped", "grouped", arrays, arguments, (3, 1, 1), 128, lambda: _product(a[1], b[1]), TILED_SHARED, 0.05
    )


def attention() -> Case:
    q, k, v = (_numbers(i, 2, 64, 64, dtype="f2") for i in range(3))

    def expected() -> np.ndarray:
        scores = np.einsum("hid,hjd->hij", q.astype("f4"), k.astype("f4")) * 0.125
        powers = np.exp(scores - scores.max(2, keepdims=True))
        return np.einsum("hij,hjd->hid", powers / powers.sum(2, keepdims=True), v.astype("f4"))

    arrays = [q, k, v, np.zeros_like(q)]
    return Case(
        "attention", "attention", arrays, lambda at: [*at, 64, 0.125], (1, 2, 1), 128, expected, TILED_SHARED, 5e-3
    )


def stencil() -> Case:
    a = _numbers(1, 37, 70)

    def expected() -> np.ndarray:
        out = np.zeros_like(a)
        around = a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]
        out[1:-1, 1:-1] = a[1:-1, 1:-1] + 0.25 * around
        return out

    def array(address: int) -> list[int]:
        return [0, 0, a.size, 4, address, *a.shape, *a.strides]

    arrays = [a, np.zeros_like(a)]
    return Case(
        "stencil", "stencil", arrays, lambda at: array(at[0]) + array(at[1]), (3, 5, 1), (16, 16, 1), expected, 0, 1e-6
    )


def spmv() -> Case:
    matrix = scipy.sparse.random(50, 80, 0.2, "csr", dtype="f4", random_state=1)
    x = _numbers(1, 80)
    arrays = [matrix.indptr.astype("i4"), matrix.indices.astype("i4"), matrix.data, x, np.zeros(50, "f4")]
    return Case("cuda_kernels", "spmv", arrays, lambda at: [*at, 50], (13, 1, 1), 128, lambda: matrix @ x, 0, 1e-5)


def transpose() -> Case:
    a = _numbers(1, 50, 70)
    arrays = [a, np.zeros((70, 50), "f4")]
    return Case("cuda_kernels", "transpose", arrays, lambda at: [*at, 70, 50], (3, 2, 1), (32, 8, 1), lambda: a.T)


def histogram() -> Case:
    data = np.random.default_rng(1).integers(0, 256, 3000).astype(np.uint8)
    arrays = [data, np.zeros(256, np.uint32)]
    count = lambda: np.bincount(data, minlength=256)  # noqa: E731
    return Case("cuda_kernels", "histogram", arrays, lambda at: [at[0], 3000, at[1]], (3, 1, 1), 256, count)


CASES = {
    one.__name__: one
    for one in (
        add, softmax, layer_norm, dropout, matmul, persistent, grouped, attention, stencil, spmv, transpose, histogram
    )
}  # fmt: skip
