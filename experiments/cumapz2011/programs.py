"""The programs of the paper's section 6.1 and the versions that it describes, as references.

Sizes are smaller than the paper's where that changes nothing but the number of blocks that are alike, as the paper
itself has them (its section 7). What it does not say of a program is taken from the public one (CUDA SDK 3.2, Rodinia).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from memsim.models.cumapz import Buffer, BufferFetch, CumapzProgram, Reference, ScratchReference, Threads
from memsim.models.cumapz.program import Index

SIDE = 16


def laplace(n: int = 512) -> dict[str, CumapzProgram]:
    """Nine neighbours of an element; each in turn fills the buffer."""

    def at(down: int, right: int) -> Index:
        return lambda t: (t.by * SIDE + t.y + down) * n + t.bx * SIDE + t.x + right

    def inside(t: Threads) -> np.ndarray:
        row, column = t.by * SIDE + t.y, t.bx * SIDE + t.x
        return (row > 0) & (row < n - 1) & (column > 0) & (column < n - 1)

    around = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1)]
    return {
        f"[{down:+d}][{right:+d}]": CumapzProgram(
            grid=(n // SIDE, n // SIDE),
            block=(SIDE, SIDE),
            references=(
                *(Reference("in", at(*one), inside) for one in around),
                Reference("out", at(0, 0), inside, stored=True),
            ),
            buffers=(Buffer("in", (BufferFetch(at(down, right), lambda t: t.y * SIDE + t.x),)),),
            shared_bytes=4 * SIDE * SIDE,
        )  # fmt: skip
        for down, right in around
    }


def wavelet(n: int = 1 << 16) -> dict[str, CumapzProgram]:
    """Six neighbours of every second element make two outputs; one to six references fill a buffer each."""
    block = 128

    def at(tap: int) -> Index:
        return lambda t: 2 * (t.bx * block + t.x) + tap

    def out(t: Threads) -> np.ndarray:
        return t.bx * block + t.x

    return {
        f"{buffers}": CumapzProgram(
            grid=(n // 2 // block, 1),
            block=(block, 1),
            references=(
                *(Reference("in", at(tap)) for tap in range(6)),
                *(Reference(array, out, stored=True) for array in ("low", "high")),
            ),
            buffers=tuple(
                Buffer("in", (BufferFetch(at(tap), lambda t: t.x),), base=tap * block) for tap in range(buffers)
            ),
            shared_bytes=4 * block * buffers,
        )
        for buffers in range(1, 7)
    }


def _tiled(n: int, tiles: int, block: tuple[int, int], held: str) -> CumapzProgram:
    """A product of matrices by tiles of 16 x 16; a thread computes several elements where the block is smaller."""
    wide, high = block

    def a(row: int, column: int) -> Index:  # where the tile's element is that the thread fetches
        return lambda t: (t.by * SIDE + t.y + row) * n + t.phase * SIDE + t.x + column

    def b(row: int, column: int) -> Index:
        return lambda t: (t.phase * SIDE + t.y + row) * n + t.bx * SIDE + t.x + column

    def c(row: int, column: int) -> Index:
        return lambda t: (t.by * SIDE + t.y + row) * n + t.bx * SIDE + t.x + column

    parts = [(row, column) for row in range(0, SIDE, high) for column in range(0, SIDE, wide)]

    def buffer(array: str, at: Callable[[int, int], Index], base: int) -> Buffer:
        places = [lambda t, r=row, k=column: (t.y + r) * SIDE + t.x + k for row, column in parts]
        once = (lambda t: t.phase == tiles - 1) if array == "C" else None  # A and B are fetched tile by tile
        fetches = (BufferFetch(at(*part), place, once) for part, place in zip(parts, places, strict=True))
        return Buffer(array, tuple(fetches), base)

    def part(t: Threads) -> tuple[np.ndarray, np.ndarray]:  # which of its elements a thread is at
        row, column = np.array(parts).T
        return row[t.step // SIDE], column[t.step // SIDE]

    where = {"A": a, "B": b, "C": c}
    steps = SIDE * len(parts)
    return CumapzProgram(
        grid=(n // SIDE, n // SIDE),
        block=block,
        references=(
            Reference("A", lambda t: a(0, 0)(t) - t.x + part(t)[0] * n + t.step % SIDE, steps=steps),
            Reference("B", lambda t: b(0, 0)(t) + (t.step % SIDE - t.y) * n + part(t)[1], steps=steps),
            Reference(
                "C",
                lambda t: c(0, 0)(t) + part(t)[0] * n + part(t)[1],
                lambda t: t.step % SIDE == 0,
                steps,
                last=True,
                stored=True,
            ),
        ),
        buffers=tuple(buffer(name, where[name], k * SIDE * SIDE) for k, name in enumerate(held)),
        phases=tiles,
        shared_bytes=4 * SIDE * SIDE * len(held),
        alike=n // SIDE,
    )


def matmul(n: int = 1024, tiles: int = 4) -> dict[str, CumapzProgram]:
    """One matrix in a buffer, then two, then half as many threads of twice the work.

    The matrices are the paper's, with so many tiles from left to right or from top to bottom multiplied.
    """
    versions = {name: _tiled(n, tiles, (SIDE, SIDE), name) for name in ("A", "B", "C", "AB")}
    halves = {"AB_x": (SIDE // 2, SIDE), "AB_y": (SIDE, SIDE // 2)}
    return versions | {name: _tiled(n, tiles, block, "AB") for name, block in halves.items()}


def transpose(n: int = 2048) -> dict[str, CumapzProgram]:
    """Through a tile of 32 x 32: with bank conflicts, without, without channel skew, and again with conflicts."""
    tile, rows = 32, 8  # a block of 32 x 32 threads is more than the GPU takes: 32 x 8, as in the SDK

    def version(pitch: int, diagonal: bool) -> CumapzProgram:
        def block(t: Threads) -> tuple[np.ndarray, np.ndarray]:
            return ((t.bx + t.by) % (n // tile), t.bx) if diagonal else (t.bx, t.by)

        def source(k: int) -> Index:
            return lambda t: (block(t)[1] * tile + t.y + k) * n + block(t)[0] * tile + t.x

        def turned(k: int) -> Index:
            return lambda t: (block(t)[1] * tile + t.x) * n + block(t)[0] * tile + t.y + k

        def target(k: int) -> Index:
            return lambda t: (block(t)[0] * tile + t.y + k) * n + block(t)[1] * tile + t.x

        fetches = (BufferFetch(source(k), lambda t, k=k: (t.y + k) * pitch + t.x) for k in range(0, tile, rows))
        return CumapzProgram(
            grid=(n // tile, n // tile),
            block=(tile, rows),
            references=(
                Reference("in", lambda t: turned(0)(t) + t.step * rows, steps=tile // rows),
                Reference("out", lambda t: target(0)(t) + t.step * rows * n, steps=tile // rows, stored=True),
            ),
            buffers=(Buffer("in", tuple(fetches)),),
            shared_bytes=4 * tile * pitch,
            alike=n // tile,
        )  # fmt: skip

    return {
        "shared": version(tile, False),
        "padded": version(tile + 1, False),
        "diagonal": version(tile + 1, True),
        "diagonal, unpadded": version(tile, True),
    }


def lud(n: int = 512) -> dict[str, CumapzProgram]:
    """Rodinia's lud_internal: a tile less the product of two tiles in buffers; the block's width is halved twice."""

    def version(wide: int) -> CumapzProgram:
        columns = np.arange(0, SIDE, wide)

        def strip(down: bool) -> tuple[BufferFetch, ...]:
            def at(k: int) -> Index:
                inside = SIDE * (1 + np.arange(n // SIDE))  # beyond the first tiles, which are the strips
                if down:
                    return lambda t: (inside[t.by] + t.y) * n + t.x + k
                return lambda t: t.y * n + inside[t.bx] + t.x + k

            return tuple(BufferFetch(at(k), lambda t, k=k: t.y * SIDE + t.x + k) for k in columns)

        def tile(t: Threads) -> np.ndarray:
            return (SIDE + t.by * SIDE + t.y) * n + SIDE + t.bx * SIDE + t.x

        steps = SIDE * len(columns)
        return CumapzProgram(
            grid=(n // SIDE - 1, n // SIDE - 1),
            block=(wide, SIDE),
            references=(
                Reference("left", lambda t: tile(t) - SIDE - t.bx * SIDE - t.x + t.step % SIDE, steps=steps),
                Reference("upper", lambda t: t.step % SIDE * n + SIDE + t.bx * SIDE + t.x + columns[t.step // SIDE],
                          steps=steps),
                Reference("matrix", lambda t: tile(t) + columns[t.step], steps=len(columns), stored=True),
            ),
            buffers=(Buffer("left", strip(True)), Buffer("upper", strip(False), SIDE * SIDE)),
            shared_bytes=4 * 2 * SIDE * SIDE,
        )  # fmt: skip

    return {"16": version(16), "8_x": version(8), "4_x": version(4)}


def gaussian(n: int = 160) -> dict[str, CumapzProgram]:
    """Rodinia's Fan2 with the block's tile of the matrix in a buffer; its width, or its height, is halved twice.

    Which buffers the authors' version has they do not say.
    """

    def version(block: tuple[int, int]) -> CumapzProgram:
        parts = np.array([(row, column) for row in range(0, SIDE, block[1]) for column in range(0, SIDE, block[0])])

        def at(row: np.ndarray, column: np.ndarray) -> Index:
            return lambda t: (t.by * SIDE + t.y + row) * n + t.bx * SIDE + t.x + column

        def here(t: Threads) -> np.ndarray:
            return at(parts[t.step, 0], parts[t.step, 1])(t)

        fetches = tuple(BufferFetch(at(*one), lambda t, one=one: (t.y + one[0]) * SIDE + t.x + one[1]) for one in parts)
        return CumapzProgram(
            grid=(n // SIDE, n // SIDE),
            block=block,
            references=(
                Reference("matrix", here, steps=len(parts)),
                Reference("multipliers", lambda t: here(t) // n * n, steps=len(parts)),
                Reference("pivots", lambda t: here(t) % n, steps=len(parts)),
                Reference("result", here, steps=len(parts), stored=True),
            ),
            buffers=(Buffer("matrix", fetches),),
            shared_bytes=4 * SIDE * SIDE,
        )

    blocks = {"16": (16, 16), "2_x": (8, 16), "4_x": (4, 16), "2_y": (16, 8), "4_y": (16, 4)}
    return {name: version(block) for name, block in blocks.items()}


def _turned(index: Index) -> Index:
    """An index in which threadIdx.x and threadIdx.y have changed places."""
    return lambda t: index(t._replace(x=t.y, y=t.x))


def hotspot(n: int = 512) -> dict[str, CumapzProgram]:
    """Rodinia's hotspot, a pyramid of height 1: blocks of 16 x 16 overlap by their borders."""
    inner = SIDE - 2

    def version(diagonal: bool, turned: bool) -> CumapzProgram:
        grid = n // inner

        def at(down: int = 0, right: int = 0) -> Index:
            def index(t: Threads) -> np.ndarray:
                bx, by = ((t.bx + t.by) % grid, t.bx) if diagonal else (t.bx, t.by)
                return (by * inner + t.y + down) * n + bx * inner + t.x + right

            return _turned(index) if turned else index

        def place(t: Threads) -> np.ndarray:
            return t.y * SIDE + t.x

        def core(t: Threads) -> np.ndarray:
            return (t.x > 0) & (t.x < SIDE - 1) & (t.y > 0) & (t.y < SIDE - 1)

        stored = _turned(place) if turned else place
        near = ((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1))
        return CumapzProgram(
            grid=(grid, grid),
            block=(SIDE, SIDE),
            references=(
                *(Reference("temperature", at(*one), core) for one in near),
                Reference("power", at(), core), Reference("result", at(), core, stored=True),
            ),
            buffers=(
                Buffer("temperature", (BufferFetch(at(), stored),)),
                Buffer("power", (BufferFetch(at(), stored),), SIDE * SIDE),
            ),
            # The third array: written, then read.
            scratch=(ScratchReference(stored, core), ScratchReference(stored, core)),
            shared_bytes=3 * 4 * SIDE * SIDE,
        )  # fmt: skip

    return {
        "original": version(False, False), "diagonal": version(True, False),
        "turned": version(False, True), "diagonal, turned": version(True, True),
    }  # fmt: skip


def backprop(units: int = 16384) -> dict[str, CumapzProgram]:
    """Rodinia's bpnn_layerforward: weights of 16 hidden units, 16 inputs a block, summed by a tree."""

    def version(turned: bool) -> CumapzProgram:
        def weight(t: Threads) -> np.ndarray:
            return (SIDE + 1) * (t.by * SIDE + t.y + 1) + t.x + 1

        def place(t: Threads) -> np.ndarray:
            return t.y * SIDE + t.x

        def either(index: Index) -> Index:
            return _turned(index) if turned else index

        tree = [
            ScratchReference(either(lambda t, s=s: (t.y + s) * SIDE + t.x), either(lambda t, s=s: t.y % (2 * s) == 0))
            for s in (1, 2, 4, 8)
        ]
        return CumapzProgram(
            grid=(1, units // SIDE),
            block=(SIDE, SIDE),
            references=(Reference("weights", either(weight)), Reference("weights", either(weight), stored=True)),
            buffers=(Buffer("weights", (BufferFetch(either(weight), either(place)),)),),
            scratch=tuple(tree),
            shared_bytes=4 * SIDE * SIDE,
        )

    return {"original": version(False), "turned": version(True)}


PROGRAMS: dict[str, Callable[..., dict[str, CumapzProgram]]] = {
    "Laplace": laplace,
    "Wavelet": wavelet,
    "MatrixMul": matmul,
    "Transpose": transpose,
    "Gaussian": gaussian,
    "LUD": lud,
    "Hotspot": hotspot,
    "BackProp": backprop,
}
UNBUFFERED = "no buffer"  # version: the original of programs to which the authors added buffers (section 6.2)
ORIGINALS = {name: UNBUFFERED for name in ("Laplace", "Wavelet", "MatrixMul", "Transpose")} | {
    "Gaussian": "16", "LUD": "16", "Hotspot": "original", "BackProp": "original",
}  # fmt: skip


def version_of(program: str, version: str, *size: int) -> CumapzProgram:
    """One version of a program, of its usual size if none is given."""
    versions = PROGRAMS[program](*size)
    if version == UNBUFFERED:
        return replace(next(iter(versions.values())), buffers=(), shared_bytes=0)
    return versions[version]
