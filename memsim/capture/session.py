"""One capture from start to end: find or build the program, run it on memsim's CUDA libraries, keep its traces."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from memsim.capture import preparation
from memsim.capture.build import Sources, build, check_sources
from memsim.capture.executables import check_program, find_program, read_executable, shown_name
from memsim.capture.libraries import library_folder, needs_stand_ins
from memsim.capture.program import environment
from memsim.capture.python.environment import NO_REPORTS, python_variables
from memsim.capture.server import Captured, serve
from memsim.capture.stored_captures import StoredCapture
from memsim.capture.timer import LaunchTimer
from memsim.gpu.config import GPU
from memsim.sources.outputs import check_output, check_several
from memsim.sources.ptx.origin import Origin, origin_of
from memsim.sources.ptx.trace import Progress
from memsim.sources.selection import CaptureSelection
from memsim.support.errors import InputError
from memsim.support.progress import phase
from memsim.support.scratch import Scratch

HOST_CLOCK = (
    "the program reads the host's clock: times that it prints so are memsim's own, not the GPU's, which "
    "cudaEventElapsedTime returns"
)


def capture_sources(
    sources: Sources,
    arguments: Sequence[str],
    out: Path,
    gpu: GPU,
    selection: CaptureSelection,
    *,
    keep: Path | None = None,
    progress: Progress | None = None,
    cached: bool = True,
) -> Captured:
    """Compile CUDA C++ files with nvcc, run the program, and write the memory traces of its wanted launches.

    Args:
        sources: the program's files and nvcc's options.
        arguments: of the program.
        out: the trace file, which ends with ``.h5``; or a folder, for one trace of each kernel.
        gpu: that the program finds; its architecture is compiled for, and its occupancy and L2 size choose the blocks.
        selection: which launches and blocks.
        keep: a folder for the executable and nvcc's log.
        progress: called with the blocks done and all.
        cached: take the same capture if it was made before, and keep a new one.

    Raises:
        InputError: the program does not compile, fails, or never makes the wanted launch. No trace is left then.
    """
    check_output(out)
    check_several(out, selection)
    check_sources(sources)  # before anything is compiled
    preparing = [preparation.loops(), preparation.libraries()]
    try:
        with phase("compiling"):
            program = build(sources, gpu, keep)
    except InputError:
        for one in preparing:  # a thread that compiles must not be running when Python ends
            one.join()
        raise
    shown = str(sources.files[0])
    stored = StoredCapture(program, arguments, shown, gpu, selection, cached)
    if (found := stored.find(out)) is not None:
        return found
    origin = origin_of(*sources.files)
    with stored.reported() as variables:
        captured = _run(
            [str(program), *arguments], arguments, shown, out, gpu, selection, origin, progress, inputs=variables
        )
        stored.add(captured)
    return captured


def capture_executable(
    name: str,
    arguments: Sequence[str],
    out: Path,
    gpu: GPU,
    selection: CaptureSelection,
    progress: Progress | None = None,
    timer: Callable[[], LaunchTimer] | None = None,
) -> Captured:
    """Run an executable and write the memory traces of its wanted launches.

    Args:
        name: the executable, as a shell finds it; it must link the shared CUDA runtime and contain PTX, or
            machine code for the GPU. A script that starts such programs is taken as well, and so is a Python, as in
            ``python -m package.module``, or a program in Python, as ``pytest``.
        arguments, out, gpu, selection, progress: as for :func:`capture_sources`.
        timer: makes what times launches, for programs in Python that tune themselves.

    Raises:
        InputError: as there; or the executable has the static CUDA runtime, or no code for the GPU.
    """
    check_output(out)
    check_several(out, selection)
    program = find_program(name)
    found = check_program(program, name, gpu)
    folder = program.resolve().parent
    origin = Origin((Path.cwd(), folder, folder.parent))
    command = [str(program), *arguments]
    if found is not None and found.fat_binaries:
        return _run(command, arguments, name, out, gpu, selection, origin, progress)
    with Scratch() as scratch:  # a Python, or what may start one
        times = timer and timer()
        shown = shown_name(name, arguments)
        return _run(command, arguments, shown, out, gpu, selection, origin, progress, Path(scratch), timer=times)


def _run(
    command: Sequence[str], arguments: Sequence[str], shown: str, out: Path, gpu: GPU, selection: CaptureSelection,
    origin: Origin, progress: Progress | None, scratch: Path | None = None,
    inputs: Mapping[str, str] = MappingProxyType({}), timer: LaunchTimer | None = None,
) -> Captured:  # fmt: skip
    about = {"arguments": shlex.join(arguments)} if arguments else {}
    needed = read_executable(Path(command[0]))
    libraries = library_folder(stand_ins=scratch is not None or needed is None or needs_stand_ins(needed.needed))
    variables = environment(libraries, Path(command[0]), gpu, reports=bool(inputs)) | dict(inputs)
    if scratch is not None:
        variables = python_variables(variables, libraries, scratch, gpu)
        if selection.stand_ins:
            variables[NO_REPORTS] = "1"
    captured = serve(
        command, variables, gpu, selection, out, shown=shown, origin=origin, about=about, progress=progress, timer=timer
    )  # fmt: skip
    if needed is not None and needed.fat_binaries and needed.measures_alone and captured.exit_code is not None:
        captured.notes.append(HOST_CLOCK)
    return captured
