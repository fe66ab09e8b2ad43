"""The captured program: ``launches.py VARIANT quick|whole`` launches one variant of a kernel on data of its own."""

from __future__ import annotations

import sys
from collections.abc import Callable

Launch = Callable[[bool], None]  # quick or whole


def _column_sums(row_major: bool) -> Launch:
    def launch(quick: bool) -> None:
        import kernels
        import torch

        rows, columns = 256 if quick else 1024, 2048
        x, out = torch.ones(rows * columns, device="cuda"), torch.empty(columns, device="cuda")
        steps = (columns, 1) if row_major else (1, rows)
        kernels.sums[(columns,)](x, out, rows, columns, *steps, B=1024)

    return launch


def _row_sums(less: int) -> Launch:
    def launch(quick: bool) -> None:
        import kernels
        import torch

        rows, columns = (256, (1 << 12) - less) if quick else (1024, (1 << 16) - less)
        x, out = torch.zeros(rows * columns, device="cuda"), torch.empty(rows, device="cuda")
        kernels.row_sums[(rows,)](x, out, columns, B=2048, num_warps=8)

    return launch


def _softmax(columns: int) -> Launch:
    def launch(quick: bool) -> None:
        import kernels
        import torch

        rows = 256 if quick else 4096
        x, out = (torch.zeros(rows * columns, device="cuda") for _ in range(2))
        kernels.softmax[(rows,)](x, out, columns, columns, B=1024)

    return launch


def _matmul(group: int, n: int, dtype: str, tile: tuple[int, int, int]) -> Launch:
    def launch(quick: bool) -> None:
        import kernels
        import torch

        size = 256 if quick else n
        a, b, c = (torch.zeros((size, size), dtype=getattr(torch, dtype), device="cuda") for _ in range(3))
        grid = (size // tile[0]) * (size // tile[1])
        shape = dict(zip(("BM", "BN", "BK"), tile, strict=True))
        kernels.matmul[(grid,)](
            a, b, c, size, **shape, GROUP=min(group, size // tile[0]), num_warps=4, num_stages=3
        )  # fmt: skip

    return launch


def _tiles(lanes_down: bool) -> Launch:
    def launch(quick: bool) -> None:
        import kernels
        import torch

        rows, columns = 256 if quick else 4096, 2048
        x, out = (torch.zeros((rows, columns), device="cuda") for _ in range(2))
        kernels.scale[(rows // 32, columns // 128)](x, out, columns, DOWN=lanes_down)

    return launch


def _atomics(each: int) -> Launch:
    def launch(quick: bool) -> None:
        import kernels
        import torch

        out = torch.zeros(1 << (16 if quick else 26), dtype=torch.int32, device="cuda")
        kernels.atomics[(len(out) // 1024,)](out, EACH=each)

    return launch


_F16, _F32 = (128, 128, 32), (128, 64, 32)
LAUNCHES = {
    "sums of columns, row-major": _column_sums(True),
    "sums of columns, column-major": _column_sums(False),
    "sums of rows, 2**16 - 1 columns": _row_sums(1),
    "sums of rows, 2**16 columns": _row_sums(0),
    "softmax, 1023 columns": _softmax(1023),
    "softmax, 1024 columns": _softmax(1024),
    "scaled tiles, lanes down the rows": _tiles(True),
    "scaled tiles, lanes along rows": _tiles(False),
    "matmul 4096, f16, row by row": _matmul(1, 4096, "float16", _F16),
    "matmul 4096, f16, groups of 8": _matmul(8, 4096, "float16", _F16),
    "matmul 2048, f32, row by row": _matmul(1, 2048, "float32", _F32),
    "matmul 2048, f32, groups of 8": _matmul(8, 2048, "float32", _F32),
    "matmul 1024, f32, row by row": _matmul(1, 1024, "float32", _F32),
    "matmul 1024, f32, groups of 8": _matmul(8, 1024, "float32", _F32),
    "atomics, 1 word a lane": _atomics(1),
    "atomics, 4 words a lane": _atomics(4),
    "atomics, 8 words a lane": _atomics(8),
}

if __name__ == "__main__":
    LAUNCHES[sys.argv[1]](sys.argv[2] == "quick")
