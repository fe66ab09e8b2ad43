"""What nvcc says a kernel needs, where there is nvcc: the registers that decide how many blocks an SM holds."""

from __future__ import annotations

import re
import shutil
import subprocess
from tempfile import TemporaryFile

from memsim.sources.capture.build import CUDA_SUFFIXES, Sources

LONGEST_SECONDS = 120
_ENTRY = re.compile(r"Compiling entry function '(\w+)'.*?Used (\d+) registers", re.DOTALL)
DEFAULT_REGISTERS = 32  # of a thread, where nobody knows


class Resources:
    """nvcc's resource report on the user's own files; it is made while the instrumented program is built and runs."""

    def __init__(self, sources: Sources, ask: bool = True) -> None:
        self._told = TemporaryFile()  # noqa: SIM115  lives as long as the process that writes to it
        self._process: subprocess.Popen | None = None
        self._registers: dict[str, int] | None = None
        files = [str(file) for file in sources.files if file.suffix in CUDA_SUFFIXES]
        compiler = shutil.which("nvcc")
        if ask and compiler and files:
            report = [compiler, "-w", "--resource-usage", "-cubin", "-o", "/dev/null", files[0]]
            command = [*report, *sources.options(sources.includes)]
            self._process = subprocess.Popen(command, stdout=self._told, stderr=self._told)

    def registers(self, kernel: str) -> int:
        """Registers a thread of a kernel needs: the most of its instances; a default where nvcc does not say."""
        if self._registers is None:
            self._registers = self._read()
        needed = [count for name, count in self._registers.items() if _is_of(name, kernel)]
        return max(needed, default=DEFAULT_REGISTERS)

    def close(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._told.close()

    def _read(self) -> dict[str, int]:
        if self._process is None:
            return {}
        try:
            self._process.wait(LONGEST_SECONDS)
        except subprocess.TimeoutExpired:
            return {}
        self._told.seek(0)
        return parse_report(self._told.read().decode(errors="replace"))


def parse_report(told: str) -> dict[str, int]:
    """Registers by mangled kernel name.

    >>> parse_report("Compiling entry function '_Z1kv' for 'sm_75'\\n ... Used 12 registers, 380 bytes cmem[0]")
    {'_Z1kv': 12}
    """
    return {name: int(count) for name, count in _ENTRY.findall(told)}


def _is_of(mangled: str, kernel: str) -> bool:
    """Whether a mangled name (Itanium C++ ABI: length and identifier) is of a kernel or an instance of its template.

    >>> _is_of("_Z5saxpyfPKfPfi", "saxpy"), _is_of("_Z6saxpy2v", "saxpy"), _is_of("saxpy", "saxpy")
    (True, False, True)
    """
    return mangled == kernel or f"{len(kernel)}{kernel}" in mangled
