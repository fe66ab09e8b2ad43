"""Programs of both ladders, unchanged, where the reader has downloaded them; else steps that the library describes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import memsim
from memsim.support.errors import InputError

NUMBERS = 32 * 1024 * 1024


@dataclass(frozen=True)
class Ladder:
    """One author's ladder.

    Attributes:
        gpu: preset of the GPU that it was measured on.
        settings: where that GPU's clocks are not the preset's, see README.md.
        table: file of the measured times.
        folder: of the programs, in that of all downloads.
        source: where the times are published.
        null: microseconds of the null model: the numbers once, at 90 % of the peak of memory.
    """

    gpu: str
    settings: dict[str, object]
    table: str
    folder: str
    source: str
    null: float


V100 = Ladder(
    gpu="tesla-v100",
    settings={"sm.clock_mhz": 1312},
    table="measured.csv",
    folder="How_to_optimize_in_GPU/reduce",
    source="Liu-xiandong/How_to_optimize_in_GPU, reduce, V100, by nsight",
    null=4 * NUMBERS / (0.9 * 898e3),
)
A100 = Ladder(
    gpu="a100",
    settings={"sm.clock_mhz": 765, "dram.clock_mhz": 1215},
    table="measured_a100.csv",
    folder="how-to-optim-algorithm-in-cuda/cuda-kernels/reduce",
    source="BBuf/how-to-optim-algorithm-in-cuda, 10a3a8d, Nsight Compute, A100 PCIe",
    null=4 * NUMBERS / (0.9 * 1555e3),
)
DESCRIBED = {1: "interleaved", 2: "sequential", 3: "first_add"}  # step -> variant of the library's `reduction`


def captured(ladder: Ladder, step: int, folder: Path) -> memsim.Trace:
    """Trace a snapshot of a step's launch; no other block runs, so the program finds its sums wrong.

    Args:
        folder: of the downloads.

    Raises:
        InputError: no file of the step's is there.
    """
    program = f"reduce_v{step}_*.cu"
    found = sorted((folder / ladder.folder).glob(program))
    if not found:
        owner_and_name = ladder.source.partition(",")[0]
        problem = f"is missing; clone https://github.com/{owner_and_name} into the folder that MEMSIM_PROGRAMS names"
        raise InputError(folder / ladder.folder, program, problem)
    return memsim.capture(found[:1], gpu=ladder.gpu, snapshot_only=True).trace


def described(ladder: Ladder, step: int, numbers: int) -> memsim.Trace:
    """Trace one of DESCRIBED."""
    return memsim.trace("reduction", gpu=ladder.gpu, n=numbers, variant=DESCRIBED[step], block=256)
