"""What gpu-benches measured, and the pattern of each row. Its A40 is a GA102 with as many SMs as `rtx-a6000`."""

from __future__ import annotations

import csv
from pathlib import Path

from experiments.bandwidth.kernels import BYTES, Pattern

FOLDER = Path(__file__).parent
SOURCE = "RRZE-HPC gpu-benches, 1038c5d"
_PAIRS = (0, 4), (8, 12), (20, 16), (24, 28)  # of gpu-strides
_PITCH = 4096 + 2  # elements from row to row of its blocks
_THREADS = 1024
_LAP_THREADS = 512
_LAP_PAIRS = 32  # that gpu-cache unrolls: laps of fewer stand several to a turn of its loop

Row = dict[str, str]


def rows(name: str) -> list[Row]:
    """Of ``patterns.csv`` (gpu-strides) or ``laps.csv`` (gpu-cache)."""
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def of_strides(row: Row) -> Pattern:
    """A row of gpu-strides: 64 neighbours so many elements apart, or rows of so many neighbours."""
    width = int(row["width"])
    if row["shape"] == "stride":
        return Pattern(row["type"], _PAIRS, (_THREADS, 1), column=width)
    return Pattern(row["type"], _PAIRS, (width, _THREADS // width), first=_PITCH, row=_PITCH)


def of_laps(row: Row) -> Pattern:
    """A row of gpu-cache: all threads read both halves of a buffer, side by side."""
    half = int(row["kb"]) * 1024 // (2 * BYTES["float"])
    pairs = [(i, half + i) for i in range(0, half, _LAP_THREADS)]
    return Pattern("float", pairs, (_LAP_THREADS, 1), wraps=False, unrolled=max(1, _LAP_PAIRS // len(pairs)))


def measured_lap(row: Row, sms: int) -> float:
    """Cycles a load instruction of a warp, from GB/s of all SMs."""
    bytes_a_cycle = float(row["gb_per_s"]) / (sms * float(row["clock_mhz"])) * 1e3
    return 32 * BYTES["float"] / bytes_a_cycle
