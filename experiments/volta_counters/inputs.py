"""Input files of the measured runs' sizes, for the programs of the kernels; what they hold decides no address.

But for the B+ tree: its keys are 0 to 999,999 in ascending order, as far as the counters tell.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np

_VOXELS, _SAMPLES = 1 << 18, 2048  # mri-q's large data set: 64 x 64 x 64


def make_inputs(names: str) -> None:
    """Write the files that a text names, such as a program's arguments, into the current folder."""
    for name, write in _FILES.items():
        if name in names:
            write(Path(name))


def _keys(path: Path) -> None:
    path.write_text("1000000\n" + "".join(f"{key}\n" for key in range(1_000_000)), encoding="utf-8")


def _commands(path: Path) -> None:
    path.write_text("j 6000 3000\nk 10000\n", encoding="utf-8")


def _scan(path: Path) -> None:
    """Three coordinates and a complex value of each sample, three coordinates of each voxel (mri-q's file.cc)."""
    values = np.random.default_rng(1).random(5 * _SAMPLES + 3 * _VOXELS, np.float32)
    path.write_bytes(struct.pack("<2i", _SAMPLES, _VOXELS) + values.tobytes())


def _matrix(rows: int, columns: int) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        values = np.random.default_rng(1).random(rows * columns)
        path.write_text(f"{rows} {columns}\n" + " ".join(f"{one:.3f}" for one in values) + "\n", encoding="utf-8")

    return write


def _image(path: Path) -> None:
    """A bitmap of 512 x 512 pixels of three bytes."""
    n, head = 512, 54
    header = struct.pack("<2sIHHI", b"BM", head + 3 * n * n, 0, 0, head)
    shape = struct.pack("<IiiHHIIiiII", 40, n, n, 1, 24, 0, 3 * n * n, 0, 0, 0, 0)
    path.write_bytes(header + shape + np.random.default_rng(1).bytes(3 * n * n))


_FILES: dict[str, Callable[[Path], None]] = {
    "mil.txt": _keys,
    "command.txt": _commands,
    "64_64_64_dataset.bin": _scan,
    "matrix1.txt": _matrix(1024, 992),
    "matrix2t.txt": _matrix(1056, 992),
    "teapot512.bmp": _image,
}
