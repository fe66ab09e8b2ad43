"""Launches that run as PTX and as the machine code that ptxas makes of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from memsim.sources.ptx import Launch, Memory, execute
from memsim.sources.sass.choice import machine_code_kernel
from memsim.sources.sass.tools import places_of

needs_machine_code = pytest.mark.skipif(
    not (places_of("ptxas") and places_of("nvdisasm")), reason="ptxas or nvdisasm is not installed"
)


def as_machine_code(launch: Launch, architecture: int) -> Launch:
    """The same launch, of its kernel's machine code."""
    kernel = machine_code_kernel(launch.ptx, launch.function.name, architecture)
    assert not isinstance(kernel, str), kernel
    return replace(launch, sass=kernel)


def both_ways(
    make: Callable[[], tuple[Launch, Memory, Sequence[np.ndarray]]], architecture: int
) -> tuple[Sequence[np.ndarray], Sequence[np.ndarray]]:
    """The arrays that a launch leaves as PTX, and those that its machine code leaves."""
    launch, memory, expected = make()
    execute(launch, memory)
    launch, memory, found = make()
    execute(as_machine_code(launch, architecture), memory)
    return expected, found
