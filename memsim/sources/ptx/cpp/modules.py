"""The PTX of a CUDA C++ program's files, by nvcc, made while the program is built for the host."""

from __future__ import annotations

import shutil
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from memsim.gpu.config import GPU
from memsim.sources.capture.build import CUDA_SUFFIXES, Sources
from memsim.sources.capture.nvcc import Question, complaint, known_architectures
from memsim.sources.capture.ptxas import architecture
from memsim.sources.capture.resources import Commands
from memsim.sources.ptx.origin import Origin, beside
from memsim.support.errors import InputError
from memsim.support.scratch import Scratch


class Modules:
    """PTX by file of a program's; compiled in another thread.

    Args:
        sources: the program.
        gpu: that the kernels are compiled for; where nvcc knows no such architecture, the first later one.

    Attributes:
        origin: of the PTX.

    Raises:
        InputError: nvcc is not installed.
    """

    def __init__(self, sources: Sources, gpu: GPU) -> None:
        compiler = shutil.which("nvcc")
        if compiler is None:
            raise InputError("memsim capture", "nvcc", "is not installed here; leave out --by ptx, or install CUDA")
        self._compiler, self._sources, self._gpu = compiler, sources, gpu
        own = beside(*sources.files)
        self.origin = Origin((*own.folders, *sources.includes), compiled=time.time())  # what changes later is not read
        self._folder = Scratch()
        self._commands = Commands(Path(self._folder.name))
        self._thread = ThreadPoolExecutor(1)
        self._made: Future[dict[Path, str]] = self._thread.submit(self._make)

    def texts(self) -> dict[Path, str]:
        """PTX by file, once all are compiled.

        Raises:
            InputError: a file does not compile.
        """
        return self._made.result()

    def close(self) -> None:
        self._commands.stop()
        self._thread.shutdown()
        self._folder.cleanup()

    def _make(self) -> dict[Path, str]:
        number = compiled_for(architecture(self._gpu), known_architectures(self._compiler, self._commands.run))
        command = [self._compiler, "-w", "-ptx", "-lineinfo", f"-arch=compute_{number}"]
        asked = Question(self._sources, command, Path(self._folder.name), self._commands.run)
        texts = {}
        for k, file in enumerate(one for one in self._sources.files if one.suffix in CUDA_SUFFIXES):
            target = Path(self._folder.name, f"{k}.ptx")
            code, told = asked.of(str(file.absolute()), "-o", str(target))
            if code:
                raise InputError(file, "code", f"nvcc makes no PTX of it: {complaint(told, self._sources)}")
            texts[file] = target.read_text("latin-1")
        return texts


def compiled_for(wanted: int, known: list[int]) -> int:
    """The architecture whose PTX to take: the GPU's own, else the first after it, whose code differs least.

    >>> compiled_for(70, [75, 80]), compiled_for(80, [75, 80]), compiled_for(121, [75, 80])
    (75, 80, 80)
    """
    return min((one for one in known if one >= wanted), default=max(known, default=wanted))
