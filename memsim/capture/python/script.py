"""Runs a Python program, unpatched, as a child of the server: ``memsim capture script.py``."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from memsim.capture.libraries import library_folder
from memsim.capture.program import environment
from memsim.capture.python.environment import NO_REPORTS, python_variables
from memsim.capture.server import Captured, serve
from memsim.capture.timer import LaunchTimer, Timer
from memsim.gpu.config import GPU
from memsim.sources.ptx.origin import origin_of
from memsim.sources.ptx.trace import Progress
from memsim.sources.selection import CaptureSelection
from memsim.support.errors import InputError
from memsim.support.scratch import Scratch

LARGEST_BYTES = 8 << 20  # a Python file beyond this is none


def capture_script(
    script: Path,
    arguments: Sequence[str],
    out: Path,
    gpu: GPU,
    selection: CaptureSelection,
    progress: Progress | None = None,
    timer: Timer | LaunchTimer | None = None,
    needs_trace: bool = True,
) -> Captured:
    """Run a Python program with the Python that runs memsim, and trace what it launches.

    Args:
        script, arguments: as the user would run them.
        out, gpu, selection, progress, timer, needs_trace: as for :func:`memsim.capture.server.serve`.

    Raises:
        InputError: the file cannot be read, the program fails, a kernel cannot be run, or the wanted launch never
            comes.
    """
    _check(script)
    with Scratch() as folder:
        variables = dict(script_variables(script, gpu, Path(folder)))
        if selection.stand_ins:
            variables[NO_REPORTS] = "1"
        command = [_python(), str(script), *arguments]
        about = {"program": script.name, "arguments": list(arguments)}
        return serve(
            command, variables, gpu, selection, out, shown=str(script), origin=origin_of(script), about=about,
            progress=progress, timer=timer, needs_trace=needs_trace,
        )  # fmt: skip


def script_variables(script: Path, gpu: GPU, scratch: Path) -> Mapping[str, str]:
    """The environment of a Python program; the server adds its socket."""
    libraries = library_folder(stand_ins=True)
    return python_variables(environment(libraries, script, gpu), libraries, scratch, gpu)


def _python() -> str:
    """The Python that runs the program: MEMSIM_PYTHON, or the one that runs memsim."""
    given = os.environ.get("MEMSIM_PYTHON")
    if given and shutil.which(given) is None:
        raise InputError("MEMSIM_PYTHON", given, "is not an executable; name the Python that runs the program")
    return given or sys.executable


def _check(script: Path) -> None:
    """Refuse what is no Python file before anything starts.

    Raises:
        InputError: it is missing, a folder, too large or no Python.
    """
    if not script.is_file():
        raise InputError(script, "file", "does not exist" if not script.exists() else "is not a file")
    if script.stat().st_size > LARGEST_BYTES:
        raise InputError(script, "file", f"has more than {LARGEST_BYTES >> 20} MiB, so it is no Python program")
