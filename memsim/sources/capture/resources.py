"""What nvcc says a kernel needs, where there is nvcc: what decides how many blocks an SM holds."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from dataclasses import dataclass
from tempfile import TemporaryFile

from memsim.sources.capture.build import CUDA_SUFFIXES, Sources
from memsim.support.scratch import Scratch

LONGEST_SECONDS = 120
_ENTRY = re.compile(r"Compiling entry function '(\w+)'.*?Used (\d+) registers([^\n]*)", re.DOTALL)
_SHARED = re.compile(r"(\d+) bytes smem")
_FIRST, _LENGTH = re.compile(r"_Z[NL]*(\d+)"), re.compile(r"L?(\d+)")
DEFAULT_REGISTERS = 32  # of a thread, where nobody knows


@dataclass(frozen=True)
class Needs:
    """What a kernel needs: registers of a thread, static shared memory of a block, and who says so."""

    registers: int
    shared_bytes: int
    source: str = "nvcc"


class Resources:
    """nvcc's resource report on the user's own files; it is made while the instrumented program is built and runs."""

    def __init__(self, sources: Sources, ask: bool = True) -> None:
        self._told = TemporaryFile()  # noqa: SIM115  lives as long as the process that writes to it
        # nvcc itself names what it makes of several files.
        self._folder = Scratch()
        self._process: subprocess.Popen | None = None
        self._needs: dict[str, Needs] | None = None
        files = [str(file.absolute()) for file in sources.files if file.suffix in CUDA_SUFFIXES]
        compiler = shutil.which("nvcc")
        if ask and compiler and files:
            options = sources.options([one.absolute() for one in sources.includes])
            command = [compiler, "-w", "--resource-usage", "-cubin", *files, *options]
            place = self._folder.name
            self._process = subprocess.Popen(
                command,
                stdout=self._told,
                stderr=self._told,
                cwd=place,
                env={**os.environ, "TMPDIR": place},  # nvcc leaves its own there when it is killed
                process_group=0,  # with the compilers that it starts
            )

    def needs(self, kernel: str) -> Needs:
        """The most that any instance of a kernel needs; a default where nvcc does not say."""
        if self._needs is None:
            self._needs = self._read()
        found = [needs for name, needs in self._needs.items() if kernel_name(name) == kernel]
        if not found:
            return Needs(DEFAULT_REGISTERS, 0, "default")
        return Needs(max(needs.registers for needs in found), max(needs.shared_bytes for needs in found))

    def close(self) -> None:
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._told.close()
        self._folder.cleanup()

    def _read(self) -> dict[str, Needs]:
        if self._process is None:
            return {}
        try:
            self._process.wait(LONGEST_SECONDS)
        except subprocess.TimeoutExpired:
            return {}
        self._told.seek(0)
        return parse_report(self._told.read().decode(errors="replace"))


def parse_report(told: str) -> dict[str, Needs]:
    """What kernels need, by mangled name.

    >>> parse_report("Compiling entry function '_Z1kv' for 'sm_75'\\n ... Used 12 registers, 2048 bytes smem, 380 ...")
    {'_Z1kv': Needs(registers=12, shared_bytes=2048, source='nvcc')}
    """
    found = {}
    for name, registers, more in _ENTRY.findall(told):
        shared = _SHARED.search(more)
        found[name] = Needs(int(registers), int(shared[1]) if shared else 0)
    return found


def kernel_name(mangled: str) -> str:
    """A kernel's name without namespaces and template arguments (Itanium C++ ABI, 5.1.2: lengths and identifiers).

    >>> kernel_name("_Z5saxpyfPKfPfi"), kernel_name("_ZN2ns1kIfEEvPT_"), kernel_name("_ZL1kv"), kernel_name("saxpy")
    ('saxpy', 'k', 'k', 'saxpy')
    >>> kernel_name("_Z4fill6Matrixf")  # what follows a name that is not nested are the parameters' types
    'fill'
    """
    name, at = mangled, 0
    while found := (_FIRST if at == 0 else _LENGTH).match(mangled, at):
        at = found.end() + int(found[1])
        name = mangled[found.end() : at]
        if not mangled.startswith("_ZN"):
            break
    return name
