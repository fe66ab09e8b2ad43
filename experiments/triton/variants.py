"""What is launched: each kernel in two variants, of which one was measured, or is held, to be slower."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from experiments.harness.study import Aim, AtLeast, Within

Launch = Callable[[], None]
ALL = ("a100", "h100", "rtx3080")
RATIO = Within(0.15)  # of a ratio of times that was measured on this GPU or one of its kind


@dataclass(frozen=True)
class Pair:
    """Two variants of one kernel.

    Attributes:
        what: the kernel, and which of its variants is above the other.
        slow, fast: make a launch, quick or whole, on data of its own; by the variant's name.
        gpus: on which both are simulated.
        published: time of the slow over that of the fast; nan where none is known.
        source: where that stands, and of which GPU it is.
        aim: of our ratio.
    """

    what: str
    slow: tuple[str, Callable[[bool], Launch]]
    fast: tuple[str, Callable[[bool], Launch]]
    gpus: tuple[str, ...] = ALL
    published: float = math.nan
    source: str = ""
    aim: Aim | None = None


def _column_sums(row_major: bool) -> Callable[[bool], Launch]:
    def launch(quick: bool) -> Launch:
        from experiments.triton import kernels

        rows, columns = 256 if quick else 1024, 2048
        x, out = np.ones(rows * columns, np.float32), np.empty(columns, np.float32)
        steps = (columns, 1) if row_major else (1, rows)
        return lambda: kernels.sums[(columns,)](x, out, rows, columns, *steps, B=1024)

    return launch


def _row_sums(less: int) -> Callable[[bool], Launch]:
    def launch(quick: bool) -> Launch:
        from experiments.triton import kernels

        rows, columns = (256, (1 << 12) - less) if quick else (1024, (1 << 16) - less)
        x, out = np.zeros(rows * columns, np.float32), np.empty(rows, np.float32)
        return lambda: kernels.row_sums[(rows,)](x, out, columns, B=2048, num_warps=8)

    return launch


def _softmax(columns: int) -> Callable[[bool], Launch]:
    def launch(quick: bool) -> Launch:
        from experiments.triton import kernels

        rows = 256 if quick else 4096
        x, out = (np.zeros(rows * columns, np.float32) for _ in range(2))
        return lambda: kernels.softmax[(rows,)](x, out, columns, columns, B=1024)

    return launch


def _matmul(group: int, n: int, dtype: str, tile: tuple[int, int, int], **how: int) -> Callable[[bool], Launch]:
    def launch(quick: bool) -> Launch:
        from experiments.triton import kernels

        size = 256 if quick else n
        a, b, c = (np.zeros((size, size), dtype) for _ in range(3))
        grid = (size // tile[0]) * (size // tile[1])
        shape = dict(zip(("BM", "BN", "BK"), tile, strict=True))
        return lambda: kernels.matmul[(grid,)](a, b, c, size, **shape, GROUP=min(group, size // tile[0]), **how)

    return launch


def _tiles(lanes_down: bool) -> Callable[[bool], Launch]:
    def launch(quick: bool) -> Launch:
        from experiments.triton import kernels

        rows, columns = 256 if quick else 4096, 2048
        x, out = (np.zeros((rows, columns), np.float32) for _ in range(2))
        grid = (rows // 32, columns // 128)
        return lambda: kernels.scale[grid](x, out, columns, DOWN=lanes_down)

    return launch


def _atomics(each: int) -> Callable[[bool], Launch]:
    def launch(quick: bool) -> Launch:
        from experiments.triton import kernels

        out = np.zeros(1 << (16 if quick else 26), np.int32)
        return lambda: kernels.atomics[(len(out) // 1024,)](out, EACH=each)

    return launch


_F16 = ((128, 128, 32), {"num_warps": 4, "num_stages": 3})
_F32 = ((128, 64, 32), {"num_warps": 4, "num_stages": 3})


def _tile_orders(n: int, dtype: str, how: tuple[tuple[int, int, int], dict[str, int]]) -> dict[str, tuple]:
    named = {"row by row": 1, "groups of 8": 8}
    shape = f"matmul {n}, {'f16' if dtype == 'float16' else 'f32'}"
    slow, fast = ((f"{shape}, {name}", _matmul(group, n, dtype, how[0], **how[1])) for name, group in named.items())
    return {"slow": slow, "fast": fast}


PAIRS = (
    Pair(
        "sums of columns, row-major / column-major",
        ("sums of columns, row-major", _column_sums(True)),
        ("sums of columns, column-major", _column_sums(False)),
        aim=AtLeast(1.1),
    ),
    Pair(
        "sums of rows, of a column less / aligned",
        ("sums of rows, 2**16 - 1 columns", _row_sums(1)),
        ("sums of rows, 2**16 columns", _row_sums(0)),
        published=3.38 / 2.69,
        source="pytorch/pytorch#119929, a GPU that moves 1.6 TB/s",
        aim=RATIO,
    ),
    Pair(
        "softmax, 1023 / 1024 columns",
        ("softmax, 1023 columns", _softmax(1023)),
        ("softmax, 1024 columns", _softmax(1024)),
    ),
    Pair(
        "a tile's layout, lanes down the rows / along them",
        ("scaled tiles, lanes down the rows", _tiles(True)),
        ("scaled tiles, lanes along rows", _tiles(False)),
        published=1.35,
        source="pytorch/pytorch#120667: another kernel, its GPU is not named",
        aim=AtLeast(1.1),
    ),
    Pair(
        "matmul 4096, row by row / groups of 8",
        **_tile_orders(4096, "float16", _F16),
        gpus=("a100",),
        published=245 / 220,
        source="Triton's matmul tutorial: 220 to 245 TFLOPS on A100, size not named",
        aim=RATIO,
    ),
    Pair(
        "matmul 2048, row by row / groups of 8",
        **_tile_orders(2048, "float32", _F32),
        gpus=("rtx3080",),
        published=0.543 / 0.526,
        source="pytorch/pytorch#151705, RTX 3090",
        aim=RATIO,
    ),
    Pair(
        "matmul 1024, row by row / groups of 8",
        **_tile_orders(1024, "float32", _F32),
        gpus=("rtx3080",),
        published=0.078 / 0.078,
        source="pytorch/pytorch#151705, RTX 3090",
        aim=RATIO,
    ),
    Pair(
        "atomics, 4 words a lane / 1",
        ("atomics, 4 words a lane", _atomics(4)),
        ("atomics, 1 word a lane", _atomics(1)),
        gpus=("gh200",),
        published=72.86 / 17.98,
        source="triton-lang/triton#10059, GH200: Gupdates/s of int32",
        aim=RATIO,
    ),
    Pair(
        "atomics, 8 words a lane / 1",
        ("atomics, 8 words a lane", _atomics(8)),
        ("atomics, 1 word a lane", _atomics(1)),
        gpus=("gh200",),
        published=72.86 / 9.72,
        source="triton-lang/triton#10059, GH200: Gupdates/s of int32",
        aim=RATIO,
    ),
)
