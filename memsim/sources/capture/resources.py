"""What kernels need of an SM, which decides how many blocks it holds: asked of a compiler, else assumed and said."""

from __future__ import annotations

import os
import signal
import subprocess
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooLong
from contextlib import suppress
from pathlib import Path
from threading import Lock

from memsim.gpu.config import GPU
from memsim.sources.capture.build import Sources
from memsim.sources.capture.nvcc import Report, ask_nvcc
from memsim.sources.capture.ptxas import Needs, architecture, kernel_name
from memsim.support.scratch import Scratch, leaving_in

LONGEST_SECONDS = 120
DEFAULT_REGISTERS = 32  # of a thread, where nobody knows
DEFAULT = "default"


class Resources:
    """A compiler's report on the user's own files; it is made while the instrumented program is built and runs.

    Args:
        sources: the program.
        gpu: that the kernels are compiled for.
        ask: whether anybody wants to know.
    """

    def __init__(self, sources: Sources, gpu: GPU, ask: bool = True) -> None:
        self._folder = Scratch()
        self._commands = Commands(Path(self._folder.name))
        self._wanted = architecture(gpu)
        self._thread = ThreadPoolExecutor(1)
        self._asked: Future[Report] | None = None
        self._report: Report | None = None
        if ask:
            place = Path(self._folder.name)
            self._asked = self._thread.submit(ask_nvcc, sources, gpu, place, self._commands.run)

    def needs(self, kernel: str) -> Needs:
        """The most that any instance of a kernel needs; a default where the compiler does not say."""
        needs = self._waited().needs.items()
        found = [one for name, one in needs if kernel_name(name) == kernel]
        if not found:
            return Needs(DEFAULT_REGISTERS, 0, DEFAULT)
        return Needs(max(one.registers for one in found), max(one.shared_bytes for one in found), found[0].source)

    def note(self, kernel: str) -> str | None:
        """What the user should know of a kernel's registers: that they were assumed and why, or are another GPU's."""
        report = self._waited()
        if self.needs(kernel).source == DEFAULT:
            why = report.problem or f"nvcc tells of no kernel {kernel}"
            return f"{kernel}: {DEFAULT_REGISTERS} registers a thread are assumed, as {why}; give --registers N"
        if report.architecture != self._wanted:
            known = f"sm_{report.architecture}, as this nvcc does not know sm_{self._wanted}"
            return f"{kernel}: its registers are those of {known}"
        return None

    def close(self) -> None:
        self._commands.stop()
        self._thread.shutdown()
        self._folder.cleanup()

    def _waited(self) -> Report:
        if self._report is None:
            self._report = self._wait()
        return self._report

    def _wait(self) -> Report:
        if self._asked is None:
            return Report({}, self._wanted, "nobody was asked")
        try:
            return self._asked.result(LONGEST_SECONDS)
        except TooLong:
            return Report({}, self._wanted, f"nvcc was not done after {LONGEST_SECONDS} seconds")


class Commands:
    """Runs commands, one at a time, in a folder; another thread may stop them for good."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._lock, self._stopped = folder, Lock(), False
        self._process: subprocess.Popen[str] | None = None

    def run(self, command: list[str]) -> tuple[int, str]:
        """Exit code, and all that the command said; nothing at all once commands are stopped, or where it is none."""
        with self._lock:
            if self._stopped:
                return 1, ""
            try:
                self._process = process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    errors="replace",
                    cwd=self._folder,  # nvcc itself names what it makes of several files
                    env=leaving_in(self._folder),
                    process_group=0,  # with the compilers that it starts
                )
            except OSError as error:
                return 1, f"error: {command[0]} does not run ({error.strerror})"
        told, _ = process.communicate()
        with self._lock:
            self._process = None
        return process.returncode, told

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            if self._process is not None:
                with suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)
