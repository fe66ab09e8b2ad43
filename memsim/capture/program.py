"""Start the user's program with memsim's CUDA libraries, and end it with all processes that it started."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from memsim.capture.executables import read_executable
from memsim.capture.library_build import HOST_INPUTS, HOST_MEMORY
from memsim.gpu.config import GPU
from memsim.support.errors import InputError

_PARENT_DIED = 1  # PR_SET_PDEATHSIG of prctl(2)
_libc = ctypes.CDLL(None, use_errno=True)


def environment(libraries: Path, program: Path, gpu: GPU, reports: bool = False) -> dict[str, str]:
    """The variables with which a program finds memsim's CUDA libraries, and ``memsim nvcc`` the GPU.

    Args:
        libraries: the folder with libcudart.so.12, libcudart.so.13, libcuda.so.1 and the stand-in libraries.
        program: the executable.
        gpu: that the program finds.
        reports: the program reports what it reads (``native/host_inputs.cpp``).
    """
    variables = dict(os.environ)
    variables["LD_LIBRARY_PATH"] = prepended(str(libraries), variables.get("LD_LIBRARY_PATH"))
    preloaded = [str(libraries / HOST_MEMORY)] if (libraries / HOST_MEMORY).exists() else []
    preloaded += [str(libraries / HOST_INPUTS)] if reports else []
    executable = read_executable(program)
    if executable is not None and executable.has_old_rpath:  # it would find another CUDA runtime first
        preloaded += [str(libraries / one) for one in executable.needed if (libraries / one).exists()]
    if preloaded:
        variables["LD_PRELOAD"] = prepended(":".join(preloaded), variables.get("LD_PRELOAD"))
    return variables


def prepended(first: str, rest: str | None) -> str:
    """A list of folders, as variables have it, with another one in front."""
    return f"{first}:{rest}" if rest else first


class RunningProgram:
    """A program while it runs. Its standard input, output and error are those of this process.

    The program gets a process group of its own, so that it can be ended with everything that it started. On a terminal
    that group is the foreground one: the program can read from the terminal, and Ctrl-C reaches it directly.

    Args:
        command: the program and its arguments.
        variables: its environment.
        shown: how messages name it.
        stdin: its standard input, as for :class:`subprocess.Popen`.

    Attributes:
        ended: a descriptor that becomes readable when the program ends, for ``select``; None where the system has none.
    """

    def __init__(self, command: Sequence[str], variables: Mapping[str, str], shown: str, stdin: Any = None) -> None:
        self._command, self._variables, self._shown = list(command), dict(variables), shown
        self._stdin = stdin
        self._terminal: int | None = None
        self.ended: int | None = None

    def __enter__(self) -> RunningProgram:
        sys.stdout.flush()
        try:
            self._process = subprocess.Popen(
                self._command, env=self._variables, stdin=self._stdin, process_group=0, preexec_fn=_end_with_parent
            )
        except OSError as error:
            problem = f"does not run ({error.strerror}); give an executable, CUDA C++ files or a Python file"
            raise InputError(self._shown, "program", problem) from None
        self._give_terminal()
        with suppress(OSError, AttributeError):
            self.ended = os.pidfd_open(self._process.pid)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()
        if self.ended is not None:
            os.close(self.ended)
        self._take_terminal()

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def mapped_files(self) -> frozenset[str]:
        """The files that the running program has in its memory, by their paths; empty on systems without /proc."""
        with suppress(OSError):
            lines = Path(f"/proc/{self._process.pid}/maps").read_text(errors="surrogateescape").splitlines()
            paths = {words[5] for line in lines if len(words := line.split(None, 5)) == 6}
            return frozenset(path for path in paths if os.path.isfile(path))
        return frozenset()

    def wait(self, seconds: float) -> None:
        """Wait until the program ends, at most some seconds."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)

    def end(self) -> None:
        """End the program, all processes of its group, and all that they started, now."""
        started = descendants(self._process.pid)  # build tools start theirs in groups of their own
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        for process in started:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        self._process.wait()

    def exit_code(self) -> int:
        """Wait until the program ends; its exit code, negative for a signal.

        Raises:
            KeyboardInterrupt: Ctrl-C ended it.
        """
        code = self._process.wait()
        if code == -signal.SIGINT:
            raise KeyboardInterrupt
        return code

    def _give_terminal(self) -> None:
        """Make the program's group the terminal's foreground group, as a shell does."""
        if os.isatty(0):
            with suppress(OSError):
                self._terminal = os.tcgetpgrp(0)
                if self._terminal != os.getpgrp():
                    self._terminal = None  # in the background: the terminal is not ours to give
                    return
                os.tcsetpgrp(0, self._process.pid)

    def _take_terminal(self) -> None:
        if self._terminal is None:
            return
        before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # a background group may not change this
        try:
            with suppress(OSError):
                os.tcsetpgrp(0, self._terminal)
        finally:
            signal.signal(signal.SIGTTOU, before)


def descendants(process: int) -> list[int]:
    """The running processes that a process and its children have started; empty on systems without /proc."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            parent = int(path.read_text().rpartition(")")[2].split()[1])  # the name before may have spaces and brackets
            children.setdefault(parent, []).append(int(path.parent.name))
    found = [process]
    for one in found:
        found += children.get(one, [])
    return found[1:]


def _end_with_parent() -> None:
    """In the child: have the system end it when this process is killed."""
    _libc.prctl(_PARENT_DIED, signal.SIGKILL, 0, 0, 0)
