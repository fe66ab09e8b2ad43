"""Launches that run as PTX and as the machine code that ptxas makes of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from memsim.gpu.presets import load_gpu
from memsim.sources.ptx import DeviceMemory, PtxLaunch, execute, trace_launch
from memsim.sources.sass.assemble import assemble
from memsim.sources.sass.choice import machine_code_kernel
from memsim.sources.sass.tools import paths_of
from memsim.trace.reader import Trace
from memsim.trace.schema import Chunk

has_volta = assemble(".version 7.0\n.target sm_70\n.address_size 64\n", 70).problem is None
VOLTA = pytest.param(
    70, marks=pytest.mark.skipif(not has_volta, reason="no ptxas here knows sm_70 (pip install 'memsim[volta]')")
)
needs_machine_code = pytest.mark.skipif(
    not (paths_of("ptxas") and paths_of("nvdisasm")), reason="ptxas or nvdisasm is not installed"
)


def as_machine_code(launch: PtxLaunch, architecture: int) -> PtxLaunch:
    """The same launch, of its kernel's machine code."""
    kernel = machine_code_kernel(launch.ptx, launch.function.name, architecture)
    assert not isinstance(kernel, str), kernel
    return replace(launch, sass=kernel)


def both_ways(
    make: Callable[[], tuple[PtxLaunch, DeviceMemory, Sequence[np.ndarray]]], architecture: int
) -> tuple[Sequence[np.ndarray], Sequence[np.ndarray]]:
    """The arrays that a launch leaves as PTX, and those that its machine code leaves."""
    launch, memory, expected = make()
    execute(launch, memory)
    launch, memory, found = make()
    execute(as_machine_code(launch, architecture), memory)
    return expected, found


def traced_code(launch: PtxLaunch, memory: DeviceMemory, folder: Path) -> tuple[Trace, Chunk]:
    """The trace of the first block of a launch's machine code, and its rows."""
    trace = trace_launch(as_machine_code(launch, 80), memory, folder / "t.h5", load_gpu("a100"), blocks="0:1")
    (chunk,) = trace.chunks()
    return trace, chunk
