"""Mechanisms that only the reference model has: written there first, and not compiled yet."""

from __future__ import annotations

from memsim.gpu.components import COMPONENTS
from memsim.gpu.config import GPU
from memsim.support.errors import InputError


def check_compiled(gpu: GPU) -> None:
    """Refuse a GPU that the compiled engine cannot replay.

    Raises:
        InputError: naming the field, and the engine that can.
    """
    if gpu.l2.instances:
        problem = f"is {gpu.l2.instances}, which only the reference model has; give --engine reference, or leave it out"
        raise InputError(gpu.name, "l2.instances", problem)
    for one in COMPONENTS:
        kind = getattr(getattr(gpu, one.section), one.chooser)
        if not one.is_compiled and kind != one.off:
            problem = f"is {kind}, which only the reference model has; give --engine reference, or {one.off}"
            raise InputError(gpu.name, f"{one.section}.{one.chooser}", problem)
