"""A file of PTX or a cubin with the Python file that describes its launch: ``memsim capture --ptx`` or ``--sass``."""

from __future__ import annotations

import runpy
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from memsim.gpu.config import GPU
from memsim.sources.outputs import trace_paths
from memsim.sources.ptx.launch import PtxLaunch, parsed, with_code
from memsim.sources.ptx.memory import DeviceMemory
from memsim.sources.ptx.origin import origin_of
from memsim.sources.ptx.ptxas import registers_of
from memsim.sources.ptx.trace import Progress, trace_launch
from memsim.sources.sass.assemble import needs_of, target
from memsim.sources.sass.choice import kernel_for
from memsim.sources.sass.declarations import declarations
from memsim.support.errors import InputError
from memsim.trace.reader import Trace


def trace_ptx(
    ptx: Path,
    description: Path,
    out: Path,
    gpu: GPU,
    *,
    kernel: str | None = None,
    blocks: str | None = None,
    registers: int | None = None,
    progress: Progress | None = None,
) -> tuple[Trace, list[str]]:
    """Trace one launch of a kernel in a file of PTX or a cubin, and return the trace and notes for the user.

    Args:
        ptx: the file; a cubin runs as it is, also for a GPU of another architecture.
        description: a Python file that sets ``grid``, ``block`` and ``arguments`` (numbers and NumPy arrays, one per
            parameter, in a list, or in a dict by name), and may set ``kernel``, ``shared_bytes`` and ``cluster``.
        out: the trace file, or a folder for it.
        gpu: the GPU that ptxas assembles for, and whose occupancy and L2 size choose the blocks.
        kernel: the kernel of the PTX file; None: the one that the description names, or the only one.
        blocks: as for :func:`memsim.api.capture`.
        registers: per thread; None: what ptxas or the cubin reports.
        progress: called with the blocks done and all.

    Raises:
        InputError: a file is missing or fails, a name is not set or makes no sense, the PTX is not understood, or the
            kernel accesses memory outside all arrays.
    """
    text, given = _text(ptx), run_description(description)
    for name in ("grid", "block", "arguments"):
        if name not in given:
            raise InputError(description, name, f"is not set; give grid, block and arguments to launch {ptx}")
    entry = _entry(ptx, text, kernel or given.get("kernel"))
    memory, note = DeviceMemory(), ""
    if registers is None:
        registers, note = registers_of(needs_of(text, entry, gpu), entry)
    launch = PtxLaunch(
        ptx=text,
        kernel=entry,
        grid=extents(description, given, "grid"),
        block=extents(description, given, "block"),
        arguments=list(_arguments(description, given["arguments"], memory)),
        shared_bytes=int(given.get("shared_bytes", 0)),
        cluster=extents(description, {"cluster": 1} | given, "cluster"),
        source=str(ptx),
        registers=registers,
        parameters={"launch": 0, "order": 0, "compiled_for": target(text)},
        origin=origin_of(ptx, description, compiled=ptx.stat().st_mtime),
    )
    (path,) = trace_paths(out, [entry])
    launch = with_code(launch, kernel_for(text, entry, gpu))
    return trace_launch(launch, memory, path, gpu, blocks, progress=progress), [note] if note else []


def _text(ptx: Path) -> str:
    """The PTX, or the declarations of a cubin."""
    try:
        data = ptx.read_bytes()
    except OSError as error:
        raise InputError(ptx, "file", f"cannot be read ({error.strerror}); give a file of PTX or a cubin") from error
    return declarations(data, str(ptx)) if data.startswith(b"\x7fELF") else data.decode("latin-1")


def run_description(description: Path) -> dict[str, Any]:
    """The names that the Python file sets; the error of one that fails has its line."""
    if not description.is_file():
        raise InputError(description, "file", "does not exist; give a Python file that sets grid, block and arguments")
    try:
        return runpy.run_path(str(description))
    except (Exception, SystemExit) as error:
        frame, line = error.__traceback__, 0
        while frame is not None:
            if frame.tb_frame.f_code.co_filename == str(description):
                line = frame.tb_lineno
            frame = frame.tb_next
        line = getattr(error, "lineno", None) or line
        raise InputError(f"{description}:{line}", "code", f"fails: {type(error).__name__}: {error}") from error


def _entry(ptx: Path, text: str, kernel: str | None) -> str:
    found = [name for name, one in parsed(text, str(ptx)).functions.items() if one.entry]
    if not found:
        raise InputError(ptx, "kernel", "has no .entry; give a file with a kernel")
    if kernel is None and len(found) > 1:
        raise InputError(ptx, "kernel", f"is one of {', '.join(found)}; choose with --kernel")
    if kernel is not None and kernel not in found:
        raise InputError(ptx, "kernel", f"{kernel} is not in it; give one of {', '.join(found)}")
    return kernel or found[0]


def extents(description: Path, given: Mapping[str, Any], name: str) -> tuple[int, int, int]:
    """A grid, block or cluster of one to three extents, filled up with ones."""
    value = given[name]
    try:
        found = tuple(int(one) for one in ((value,) if isinstance(value, int) else value))
    except (TypeError, ValueError):
        found = ()
    if not 1 <= len(found) <= 3 or min(found) < 1:
        raise InputError(description, name, f"is {value!r}; give one to three whole numbers of 1 or more")
    x, y, z = (*found, 1, 1)[:3]
    return x, y, z


def _arguments(description: Path, given: Any, memory: DeviceMemory) -> Iterator[Any]:
    """The kernel's arguments: numbers as they are, and the device addresses of arrays."""
    named = given.items() if isinstance(given, Mapping) else ((f"argument{k}", one) for k, one in enumerate(given))
    for name, value in named:
        if not isinstance(value, np.ndarray | np.generic | int | float | bytes):
            problem = f"is a {type(value).__name__}; give a number or a NumPy array"
            raise InputError(description, name, problem)
        yield _address(value, str(name), memory) if isinstance(value, np.ndarray) else value


def _address(array: np.ndarray, name: str, memory: DeviceMemory) -> int:
    """The device address of an array; views of one array share its memory."""
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    start = memory.add(owner.ravel(order="K"), name)  # an owner is dense: no copy
    return start + array.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
