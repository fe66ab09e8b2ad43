"""Traces of a kernel description, a program, or a PTX file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memsim.api.arguments import named_gpu, trace_file
from memsim.gpu.defaults import DEFAULT_GPU
from memsim.support.errors import InputError

if TYPE_CHECKING:
    from memsim.capture.server import Captured
    from memsim.capture.timer import LaunchTimer
    from memsim.gpu.config import GPU
    from memsim.sources.describe.workload import Workload
    from memsim.sources.selection import CaptureSelection
    from memsim.trace.reader import Trace


def trace(
    workload: Workload | str | Path,
    *,
    out: str | Path | None = None,
    gpu: GPU | str | Path = DEFAULT_GPU,
    blocks: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    **parameters: Any,
) -> Trace:
    """Run a kernel description and record its memory trace.

    Args:
        workload: one made by ``@memsim.workload``, a name of the library (``"spmv"``), or a path to a kernel file.
        out: the trace file; None: a temporary file, removed when Python ends.
        gpu: whose occupancy and L2 size choose the blocks to trace; the trace fits any GPU.
        blocks: ``"FIRST:LAST"``, ``"4x"`` (times the resident threads) or ``"all"``; None: the workload's default.
        progress: called with the blocks done, and all, after every batch.
        parameters: of the workload.

    Raises:
        InputError: an unknown workload or parameter, a kernel that fails, a file that cannot be written.

    >>> trace("spmv", rows=512, nnz_per_row=8).kernel
    'csr'
    """
    from memsim.sources.record import record

    return record(workload, parameters, named_gpu(gpu), blocks, trace_file(out), progress)


def capture(
    files: str | Path | Sequence[str | Path],
    *,
    arguments: Sequence[str] = (),
    out: str | Path | None = None,
    kernel: str | Sequence[str] | None = None,
    launch: int | str | Sequence[int] | None = None,
    blocks: str | None = None,
    gpu: GPU | str | Path = DEFAULT_GPU,
    registers: int | None = None,
    includes: Sequence[str | Path] = (),
    definitions: Sequence[str] = (),
    libraries: Sequence[str] = (),
    standard: str = "c++17",
    fast_math: bool = False,
    snapshot_only: bool = False,
    to_end: bool = False,
    stand_ins: bool = False,
    keep: str | Path | None = None,
    cached: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Captured:
    """Run a program without a GPU, and record the memory trace of a kernel; see docs/how_to/capture.md.

    The program finds a GPU of the type `gpu`: memsim is its CUDA runtime and driver, and runs its kernels' PTX on this
    CPU.

    Args:
        files: an executable with the shared CUDA runtime and PTX; or the CUDA C++ files of a program, which nvcc
            compiles; or one Python file.
        arguments: of the program.
        out: the trace file, or a folder for a trace of every kernel; None: a temporary file, removed when Python ends.
        kernel: which, one or several (``"a,b"``); None: any.
        launch: one launch of a kernel, from 0, several (``"0,3,7"``, for a folder) or ``"all"``. None: the first, or
            with `to_end` the one with the most accesses; with a folder, that of each kernel.
        blocks: ``"FIRST:LAST"``, ``"4x"`` (times the resident threads) or ``"all"``; None: by occupancy and L2 size.
        gpu: that the program finds and is compiled for, and whose occupancy and L2 size choose the blocks to trace; the
            trace fits any GPU.
        registers: per thread; None: what ptxas reports for the GPU.
        includes, definitions, libraries, standard, fast_math: nvcc's ``-I``, ``-D``, ``-l``, ``-std`` and
            ``--use_fast_math``, for CUDA C++ files.
        snapshot_only: run only the traced blocks of the launch; what is launched later sees wrong data.
        to_end: run the program to its end. Else it is ended as soon as the trace is complete; with a folder, when each
            kernel that `kernel` names has its trace.
        stand_ins: with launch ``"all"``: launches that are alike stand for each other (docs/how_to/profile.md), and
            ``program`` of the result names the trace of each.
        keep: a folder for the executable that nvcc makes, and its log.
        cached: for CUDA C++ files: take an earlier capture from the cache without running the program; else keep it
        progress: called with the blocks done, and all.

    Raises:
        InputError: a file that does not compile, an executable without PTX, a program that fails, a kernel that is not
            launched; compiler options without CUDA C++ files.

    ::

        captured = memsim.capture("app.cu", arguments=["1024"], out="app.h5")
        memsim.simulate(captured.trace, gpu="tesla-v100")
    """
    from memsim.capture.build import CUDA_SUFFIXES, HOST_SUFFIXES, Sources
    from memsim.capture.session import capture_sources

    names = [files] if isinstance(files, str | Path) else list(files)
    first, output, machine = Path(names[0]), Path(trace_file(out)), named_gpu(gpu)
    selection = _selection(output, kernel, launch, blocks, snapshot_only, registers, to_end, stand_ins)
    if first.suffix in (*CUDA_SUFFIXES, *HOST_SUFFIXES):
        paths, folders = tuple(map(Path, names)), tuple(map(Path, includes))
        sources = Sources(paths, folders, tuple(definitions), standard, tuple(libraries), fast_math)
        return capture_sources(
            sources, arguments, output, machine, selection, keep=None if keep is None else Path(keep),
            progress=progress, cached=cached,
        )  # fmt: skip
    for_compiler = {"-I": includes, "-D": definitions, "-l": libraries, "--use-fast-math": fast_math, "--keep": keep}
    return _capture_program(
        str(names[0]), [*map(str, names[1:]), *arguments], output, machine, selection, progress, for_compiler
    )  # fmt: skip


def _selection(
    out: Path, kernel: str | Sequence[str] | None, launch: int | str | Sequence[int] | None, blocks: str | None,
    snapshot_only: bool, registers: int | None, to_end: bool, stand_ins: bool,
) -> CaptureSelection:  # fmt: skip
    """What :func:`capture` records of a program."""
    from memsim.sources.outputs import is_folder
    from memsim.sources.selection import ALL, CaptureSelection, chosen_kernels, chosen_launches

    kernels, launches = chosen_kernels(kernel), chosen_launches(launch)
    if stand_ins and launches is not ALL:
        raise InputError("capture", "stand_ins", "needs all launches; give launch='all'")
    to_end = to_end or is_folder(out) and not kernels  # any kernel may still be launched
    return CaptureSelection(kernels, launches, blocks, snapshot_only, registers, to_end, stand_ins)


def _capture_program(
    program: str, arguments: Sequence[str], out: Path, gpu: GPU, selection: CaptureSelection,
    progress: Callable[[int, int], None] | None, for_compiler: Mapping[str, object],
) -> Captured:  # fmt: skip
    """Run a program as it is, which has no use for options of the compiler."""
    for option in (name for name, value in for_compiler.items() if value):
        raise InputError(program, option, "is for CUDA C++ files, which memsim compiles; this program is run as it is")

    def timer() -> LaunchTimer:
        from memsim.exploration.benchmark_timer import BenchmarkTimer

        return BenchmarkTimer(gpu)

    if not program.endswith(".py"):
        from memsim.capture.session import capture_executable

        return capture_executable(program, arguments, out, gpu, selection, progress, timer)
    from memsim.capture.python.script import capture_script

    return capture_script(Path(program), arguments, out, gpu, selection, progress, timer())


def capture_ptx(
    ptx: str | Path,
    launch: str | Path,
    *,
    out: str | Path | None = None,
    kernel: str | None = None,
    blocks: str | None = None,
    gpu: GPU | str | Path = DEFAULT_GPU,
    registers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Captured:
    """Run a kernel of a file of PTX or a cubin and record its memory trace; see docs/how_to/python_kernels.md.

    Args:
        ptx: the file.
        launch: a Python file that sets ``grid``, ``block`` and ``arguments``, and may set ``kernel``,
            ``shared_bytes`` and ``cluster``.
        out: the trace file; None: a temporary file, removed when Python ends.
        kernel: which one of the file's.
        blocks, gpu, registers, progress: as for :func:`capture`.

    Raises:
        InputError: PTX or machine code that is not understood, a Python file that fails, an access outside all arrays.
    """
    from memsim.capture.server import Captured
    from memsim.sources.ptx.launch_file import trace_ptx

    recorded, notes = trace_ptx(
        Path(ptx), Path(launch), Path(trace_file(out)), named_gpu(gpu),
        kernel=kernel, blocks=blocks, registers=registers, progress=progress,
    )  # fmt: skip
    return Captured([recorded], {recorded.kernel: 1}, notes)
