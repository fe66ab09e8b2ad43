"""The eight programs, unchanged, where the reader has downloaded them; else those steps that the library describes."""

from __future__ import annotations

from pathlib import Path

import memsim
from memsim.support.errors import InputError

NUMBERS = 32 * 1024 * 1024
GPU = "tesla-v100"
URL = "https://github.com/Liu-xiandong/How_to_optimize_in_GPU"
FOLDER = "How_to_optimize_in_GPU/reduce"
DESCRIBED = {1: "interleaved", 2: "sequential", 3: "first_add"}  # step -> variant of the library's `reduction`


def captured(step: int, folder: Path) -> memsim.Trace:
    """Trace a snapshot of a step's launch; no other block runs, so the program finds its sums wrong.

    Args:
        folder: of the downloads.

    Raises:
        InputError: no file of the step's is there.
    """
    program = f"reduce_v{step}_*.cu"
    found = sorted((folder / FOLDER).glob(program))
    if not found:
        problem = f"is missing; clone {URL} into the folder that MEMSIM_PROGRAMS names"
        raise InputError(folder / FOLDER, program, problem)
    return memsim.capture(found[:1], gpu=GPU, snapshot_only=True).trace


def described(step: int, numbers: int) -> memsim.Trace:
    """Trace one of DESCRIBED."""
    return memsim.trace("reduction", gpu=GPU, n=numbers, variant=DESCRIBED[step], block=256)
