"""How nvcc is asked what kernels need: for device code alone, whatever this toolkit thinks of the host's code."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from memsim.gpu.config import GPU
from memsim.sources.capture.build import CUDA_SUFFIXES, Sources
from memsim.sources.capture.cccl import cccl_folders
from memsim.sources.capture.ptxas import Needs, architecture, nearest, parse_report
from memsim.sources.capture.runtime import FOLDER

Run = Callable[[list[str]], tuple[int, str]]  # a command -> its exit code, and all that it said
MOST_TRIES = 12  # of a file: a header that is missing, or names that were removed from CUDA, may hide further ones
_COMPLAINT = re.compile(r"^.*?(?:\berror\b|\bfatal\b\s*:).*$", re.MULTILINE)
# Of the host's interface alone: a kernel that calls a host function is refused as ever.
_REMOVED_FUNCTION = re.compile(r'error: identifier "(cuda[A-Z]\w*)" is undefined')
_REMOVED_MEMBER = re.compile(r'error: class "cudaDeviceProp" has no member "(\w+)"')
_UNKNOWN_COMPILER = "unsupported GNU version"
_MISSING_HEADER = re.compile(r"^(.*?):\d+:\d+: fatal error: ([\w./]+): No such file or directory", re.MULTILINE)
_OTHER_FILE = "Unresolved extern"  # a device function or variable of another file

_CHANGED = {  # calls whose parameters changed with CUDA 13, as they were
    "cudaMemPrefetchAsync": "template <class T> cudaError_t cudaMemPrefetchAsync(T*, size_t, int, cudaStream_t = 0);\n",
    "cudaMemAdvise": "template <class T> cudaError_t cudaMemAdvise(T*, size_t, cudaMemoryAdvise, int);\n",
}


@dataclass(frozen=True)
class Report:
    """What a compiler told of a program's kernels.

    Attributes:
        needs: by mangled name.
        architecture: that it compiled for: 86 is sm_86.
        problem: the first thing that it complained of, in one line; None: nothing.
    """

    needs: dict[str, Needs]
    architecture: int
    problem: str | None = None


def ask_nvcc(sources: Sources, gpu: GPU, folder: Path, run: Run) -> Report:
    """Ask nvcc for the registers and shared memory of a program's kernels.

    A toolkit often lacks what an older program's host code calls (CUDA 13: ``cudaThreadSynchronize``). As the host's
    code is compiled for nobody here, what nvcc says to be missing is declared, and nvcc asked again.

    Args:
        sources: the program.
        gpu: that the kernels are to run on; where nvcc does not know its architecture, one that is near.
        folder: empty, for what nvcc writes; it is the current one of the commands.
        run: runs a command.
    """
    compiler = shutil.which("nvcc")
    if compiler is None:
        return Report({}, architecture(gpu), "nvcc is not installed here")
    number = nearest(gpu, known_architectures(compiler, run))
    asked = Question(sources, [compiler, "-w", "--resource-usage", "-cubin", f"-arch=sm_{number}"], folder, run)
    files = [file.absolute() for file in sources.files if file.suffix in CUDA_SUFFIXES]
    answers = [asked.of(str(file)) for file in files]
    if any(_OTHER_FILE in told for _, told in answers):
        linked = asked.of(*map(str, files), "-rdc=true", "-dlink", "-o", "linked.cubin")
        answers = [linked] if linked[0] == 0 else [*answers, linked]
    needs: dict[str, Needs] = {}
    for _, told in answers:
        needs |= parse_report(told, f"nvcc for sm_{number}")
    failed = next((told for code, told in answers if code), None)
    return Report(needs, number, None if failed is None else f"nvcc failed ({complaint(failed, sources)})")


class Question:
    """A command that learns from nvcc's complaints: declarations and options once added stay for the files to come."""

    def __init__(self, sources: Sources, command: list[str], folder: Path, run: Run) -> None:
        for header in FOLDER.glob("helper_*.h"):  # NVIDIA's samples bring them, programs taken from there do not
            shutil.copy(header, folder)
        own = [one.absolute() for one in sources.includes if not (one / "cuda_runtime.h").exists()]
        self._command, self._run = [*command, *sources.options([*own, folder, *cccl_folders()])], run
        self._folder, self._header = folder, folder / "removed_from_cuda.h"
        self._declarations: list[str] = []

    def of(self, *files: str) -> tuple[int, str]:
        """Exit code, and what nvcc said at last."""
        code, told = self._run([*self._command, *files])
        for _ in range(MOST_TRIES - 1):
            if code == 0 or not self._learns(told):
                break
            code, told = self._run([*self._command, *files])
        return code, told

    def _learns(self, told: str) -> bool:
        """Whether the next try differs from the last."""
        if _UNKNOWN_COMPILER in told and "-allow-unsupported-compiler" not in self._command:
            self._command.append("-allow-unsupported-compiler")
            return True
        if any(self._brings(Path(place), name) for place, name in _MISSING_HEADER.findall(told)):
            return True
        new = [line for line in _declarations(told) if line not in self._declarations]
        if not self._declarations and new:
            self._command += ["-include", str(self._header)]
        self._declarations += new
        self._header.write_text("".join(["#pragma once\n", *self._declarations]))
        return bool(new)

    def _brings(self, place: Path, name: str) -> bool:
        """Take a header of a library that comes without the compiler (cuBLAS) from memsim's own.

        Args:
            place: the file that includes it, perhaps one of those.
            name: of the header, as it is included.
        """
        beside = place.parent.relative_to(self._folder) if place.is_relative_to(self._folder) else Path()
        for header in (Path(name), beside / name):
            if (FOLDER / header).is_file() and not (self._folder / header).exists():
                (self._folder / header).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(FOLDER / header, self._folder / header)
                return True
        return False


def _declarations(told: str) -> list[str]:
    """Of what nvcc misses of the host's interface; the integers of ``cudaDeviceProp`` are all alike."""
    functions = _REMOVED_FUNCTION.findall(told)
    lines = [f"template <class... T> cudaError_t {name}(const T&...);\n" for name in functions]
    lines += [f"#define {name} multiProcessorCount\n" for name in _REMOVED_MEMBER.findall(told)]
    return list(dict.fromkeys(lines)) + [line for name, line in _CHANGED.items() if f"{name}(" in told]


def known_architectures(compiler: str, run: Run) -> list[int]:
    """What ``nvcc --list-gpu-arch`` lists; nothing, where it is too old to know the question."""
    return [
        int(number) for number in re.findall(r"^compute_(\d+)$", run([compiler, "--list-gpu-arch"])[1], re.MULTILINE)
    ]


def complaint(told: str, sources: Sources) -> str:
    """The first line that says what is wrong, with files as the user named them."""
    found = _COMPLAINT.search(told)
    line = " ".join((found[0] if found else (told.strip().splitlines() or ["no reason given"])[-1]).split())
    for file in sources.files:
        line = line.replace(str(file.absolute()), str(file))
    return line
