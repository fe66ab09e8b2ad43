"""The programs themselves, unchanged, where the reader has downloaded them (see README.md)."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Sequence
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

import memsim
from memsim.support.errors import InputError
from memsim.support.scratch import Scratch

WANTED = "polybenchGpu and gpu-rodinia"
VARIABLE = "MEMSIM_PROGRAMS"  # names the folder that holds the downloads
POLYBENCH = "polybenchGpu/polybenchCodesCudaOpenClHMPPOpenAcc/CUDA"
RODINIA = "gpu-rodinia/cuda"
LUD = tuple(f"{RODINIA}/lud/{name}" for name in ("cuda/lud.cu", "cuda/lud_kernel.cu", "common/common.c"))
LUD_INCLUDES = (f"{RODINIA}/lud/common",)
# CUDA 13 has removed these names. gaussian prints the two properties and does nothing else with them.
_RENAMED = ("cudaThreadSynchronize=cudaDeviceSynchronize",)
_PRINTED = tuple(f"{name}=multiProcessorCount" for name in ("clockRate", "deviceOverlap"))
GAUSSIAN = ("RD_WG_SIZE_0=128", "RD_WG_SIZE_1=16", *_PRINTED)


@dataclass(frozen=True)
class Program:
    """Where a kernel is launched: files and folders below the downloads' folder, the run's arguments, the build's.

    `make_inputs` writes the files that the run reads into the current folder.
    """

    files: Sequence[str]
    arguments: str = ""
    launch: int = 0
    includes: Sequence[str] = ()
    definitions: Sequence[str] = ()
    fast_math: bool = False
    make_inputs: Callable[[], None] | None = None


PROGRAMS = {
    "gramschmidt_kernel1": Program([f"{POLYBENCH}/GRAMSCHM/gramschmidt.cu"]),
    "Convolution2D_kernel": Program([f"{POLYBENCH}/2DCONV/2DConvolution.cu"]),
    "atax_kernel1": Program([f"{POLYBENCH}/ATAX/atax.cu"]),
    "atax_kernel2": Program([f"{POLYBENCH}/ATAX/atax.cu"]),
    "calculate_temp": Program([f"{RODINIA}/hotspot/hotspot.cu"], "512 2 2 temp512 power512 o.out"),
    "dynproc_kernel": Program([f"{RODINIA}/pathfinder/pathfinder.cu"], "100000 100 20"),
    "Fan1": Program([f"{RODINIA}/gaussian/gaussian.cu"], "-s 1024 -q", definitions=GAUSSIAN),
    "Fan2": Program([f"{RODINIA}/gaussian/gaussian.cu"], "-s 1024 -q", 1, definitions=GAUSSIAN),
    "lud_diagonal": Program(LUD, "-s 2048", includes=LUD_INCLUDES, fast_math=True),
    "lud_perimeter": Program(LUD, "-s 2048", includes=LUD_INCLUDES, fast_math=True),
    "lud_internal": Program(LUD, "-s 2048", includes=LUD_INCLUDES, fast_math=True),
    "Kernel": Program([f"{RODINIA}/bfs/bfs.cu"], "graph1MW_6.txt"),
}


def downloads(wanted: str) -> Path | None:
    """The folder that the environment names; None where it names none.

    Args:
        wanted: the repositories that it is to hold, for the error.

    Raises:
        InputError: it is not a folder.
    """
    named = os.environ.get(VARIABLE)
    if named and not Path(named).is_dir():
        raise InputError(VARIABLE, named, f"is no folder; give the one that holds {wanted}")
    return Path(named) if named else None


def captured(kernel: str, downloaded: Path) -> memsim.Trace:
    """Trace a key of PROGRAMS; see :func:`whole_launch`."""
    return whole_launch(PROGRAMS[kernel], kernel, downloaded)


def whole_launch(program: Program, kernel: str, downloaded: Path) -> memsim.Trace:
    """Trace the whole launch of the program itself, which reads and writes files in a folder of its own.

    Args:
        program: launches the kernel.
        kernel: its name.
        downloaded: the folder of the downloads.
    """
    here = downloaded.absolute()
    with Scratch() as folder, chdir(folder):
        _make_inputs(program.arguments)
        if program.make_inputs:
            program.make_inputs()
        return memsim.capture(
            [here / file for file in program.files],
            arguments=program.arguments.split(),
            kernel=kernel,
            launch=program.launch,
            blocks="all",
            includes=[here / folder for folder in program.includes],
            definitions=[*_RENAMED, *program.definitions],
            fast_math=program.fast_math,
            gpu="quadro-gv100",
        ).trace


def _make_inputs(arguments: str) -> None:
    """The input files that the arguments name, in the current folder; no address depends on what they hold.

    (Of bfs's graph only its size and that node 0 is the source: in the first launch one thread has work.)
    """
    draw = random.Random(1)
    for name, low, n in (
        ("temp512", 320, 512),
        ("power512", 0, 512),
        ("temp_1024", 320, 1024),
        ("power_1024", 0, 1024),
    ):
        if name in arguments:
            Path(name).write_text("".join(f"{low + draw.random():.6f}\n" for _ in range(n * n)), encoding="utf-8")
    name, nodes, degree = "graph1MW_6.txt", 1_000_000, 6
    if name in arguments:
        starts = "".join(f"{degree * i} {degree}\n" for i in range(nodes))
        edges = "".join(f"{draw.randrange(nodes)} 1\n" for _ in range(nodes * degree))
        Path(name).write_text(f"{nodes}\n{starts}\n0\n\n{nodes * degree}\n{edges}", encoding="utf-8")
