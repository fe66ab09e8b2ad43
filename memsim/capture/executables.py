"""Check, before a program runs, that its kernels can be captured: the shared CUDA runtime, and code for the GPU."""

from __future__ import annotations

import os
import re
import shutil
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from memsim.capture.fatbin import ImageError, OnlyMachineCode, cubins_of, ptx_of, section
from memsim.gpu.config import GPU
from memsim.support.errors import InputError

FLAGS = (
    "build it with: nvcc -cudart shared -gencode arch=compute_89,code=compute_89 (CMake: "
    "-DCMAKE_CUDA_RUNTIME_LIBRARY=Shared -DCMAKE_CUDA_ARCHITECTURES=89-virtual), or from its beginning with memsim's "
    'toolkit: PATH="$(memsim nvcc --memsim-toolkit)/bin:$PATH"'
)
SUPPORTED_RUNTIMES = (12, 13)
_FAT_BINARIES = (".nv_fatbin", ".nv_relfatbin", "__nv_relfatbin")
_RUNTIME = re.compile(r"libcudart\.so\.(\d+)")
_NEEDED, _RPATH = 1, 15  # tags of the dynamic section (ELF-64 object file format 1.5, figure 5-10)
_CLOCKS = (
    b"clock_gettime", b"gettimeofday", b"_ZNSt6chrono3_V212steady_clock3nowEv", b"_ZNSt6chrono3_V212system_clock3nowEv",
)  # fmt: skip
_EVENT_TIMES = (b"cudaEventElapsedTime", b"cudaEventElapsedTime_v2", b"cuEventElapsedTime", b"cuEventElapsedTime_v2")
_DYNAMIC = struct.Struct("<qQ")


@dataclass(frozen=True)
class Executable:
    """What matters of an ELF file.

    Attributes:
        needed: file names of the shared libraries that it is linked with.
        has_old_rpath: whether it has a library path (DT_RPATH) that comes before LD_LIBRARY_PATH.
        fat_binaries: the sections with device code.
        measures_alone: whether it reads the host's clock, and never asks for the time between events.
    """

    needed: tuple[str, ...]
    has_old_rpath: bool
    fat_binaries: tuple[bytes, ...]
    measures_alone: bool = False


def find_program(name: str) -> Path:
    """The program that a user names, as a shell finds it.

    Raises:
        InputError: there is none, or it cannot be run.
    """
    path = Path(name)
    if path.is_dir():
        raise InputError(name, "program", "is a folder; give an executable, CUDA C++ files or a Python file")
    if not path.exists() and os.sep not in name and (found := shutil.which(name)):
        return Path(found)
    if not path.exists():
        raise InputError(name, "program", "does not exist; give an executable, CUDA C++ files or a Python file")
    if not os.access(path, os.X_OK):
        raise InputError(name, "program", "is not executable; give an executable, CUDA C++ files or a Python file")
    return path.absolute()


def shown_name(name: str, arguments: Sequence[str]) -> str:
    """How messages call a program: of a Python that is started, its script or module, as in ``python -m package``."""
    if re.fullmatch(r"python[\d.]*", Path(name).name) is None:
        return name
    rest = iter(arguments)
    for word in rest:
        if word == "-c":
            return name
        if word in ("-W", "-X"):
            next(rest, None)
        elif word == "-m" or not word.startswith("-"):
            return next(rest, name) if word == "-m" else word
    return name


def check_program(program: Path, shown: str, gpu: GPU) -> Executable | None:
    """Refuse an executable whose kernels memsim cannot run; None: it is not an ELF file (a script, for example).

    Args:
        program: the file.
        shown: how messages name it.
        gpu: that it is to run on.

    Raises:
        InputError: it links the static CUDA runtime, one of another version, or has neither PTX nor machine code for
            the GPU. The message has the flags to build it with.
    """
    found = read_executable(program)
    if found is None or not found.fat_binaries:
        return found
    versions = [int(match[1]) for one in found.needed if (match := _RUNTIME.fullmatch(one))]
    if not versions:
        raise InputError(shown, "program", f"links the static CUDA runtime, which memsim cannot replace; {FLAGS}")
    if versions[0] not in SUPPORTED_RUNTIMES:
        problem = (
            f"links the CUDA runtime {versions[0]}; memsim replaces 12 and 13, so build it with one of these toolkits"
        )
        raise InputError(shown, "program", problem)
    number = gpu.architecture_number
    if not any(_has_code(one, number) for one in found.fat_binaries):
        raise InputError(shown, "program", f"has no PTX, and no machine code for sm_{number} ({gpu.name}); {FLAGS}")
    return found


def read_executable(program: Path) -> Executable | None:
    """What matters of an executable; None: it is not a 64-bit ELF file of x86-64."""
    with program.open("rb") as file:
        if file.read(5) != b"\x7fELF\x02":
            return None
    content = program.read_bytes()
    try:
        fat = [section(content, name) for name in _FAT_BINARIES]
        dynamic, strings = section(content, ".dynamic"), section(content, ".dynstr")
    except ImageError as error:
        raise InputError(program, "program", f"is not a complete ELF file ({error})") from None
    entries = list(_entries(dynamic or b""))
    needed = tuple(_string(strings or b"", value) for tag, value in entries if tag == _NEEDED)
    named = set((strings or b"").split(b"\0"))
    measures_alone = not named.isdisjoint(_CLOCKS) and named.isdisjoint(_EVENT_TIMES)
    return Executable(
        needed, any(tag == _RPATH for tag, _ in entries), tuple(one for one in fat if one), measures_alone
    )


def _entries(dynamic: bytes) -> Iterator[tuple[int, int]]:
    yield from _DYNAMIC.iter_unpack(dynamic[: len(dynamic) // 16 * 16])


def _string(strings: bytes, at: int) -> str:
    return strings[at : strings.find(b"\0", at)].decode("utf-8", "replace")


def _has_code(fat_binaries: bytes, gpu: int) -> bool:
    """Whether a GPU can run a part of it; damaged fat binaries get their message when they are loaded."""
    try:
        try:
            return bool(ptx_of(fat_binaries, gpu))
        except OnlyMachineCode:
            return bool(cubins_of(fat_binaries, gpu))
    except ImageError:
        return True
