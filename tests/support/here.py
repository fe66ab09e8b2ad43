"""Run a command of memsim's in this process, with all that it and the programs that it starts print.

A process of its own takes seconds of processor time to import memsim and to load its loops.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TextIO

from memsim.cli import app


def run_here(folder: Path, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """What a process in that folder would have returned and printed.

    Args:
        folder: the working folder meanwhile.
        arguments: of ``memsim``.
    """
    with tempfile.TemporaryDirectory() as place:
        out, err = Path(place, "out"), Path(place, "err")
        with (
            chdir(folder), _written_to(1, out) as stdout, _written_to(2, err) as stderr,
            redirect_stdout(stdout), redirect_stderr(stderr),
        ):  # fmt: skip
            code = _exit_code(arguments)
        return subprocess.CompletedProcess(list(arguments), code, out.read_text(), err.read_text())


def _exit_code(arguments: Sequence[str]) -> int:
    try:
        app(list(arguments))
    except SystemExit as end:
        return int(end.code or 0)
    return 0


@contextmanager
def _written_to(descriptor: int, path: Path) -> Iterator[TextIO]:
    """A descriptor that this process and its children write to goes to a file; yields the file for Python's writers."""
    before = os.dup(descriptor)
    with path.open("w", buffering=1) as file:
        os.dup2(file.fileno(), descriptor)
        try:
            yield file
        finally:
            file.flush()
            os.dup2(before, descriptor)
            os.close(before)


def printed(folder: Path, *arguments: object) -> str:
    """What a command that must succeed prints on stdout."""
    done = run_here(folder, [str(one) for one in arguments])
    assert done.returncode == 0, done.stderr
    return done.stdout
