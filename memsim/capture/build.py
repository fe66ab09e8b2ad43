"""Compile CUDA C++ files to a program that memsim can capture, and keep it until a file that it was made of changes."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from memsim.capture.compilers import Compiler, find_compiler, wheel_includes, wheel_of
from memsim.capture.file_states import file_state, is_unchanged
from memsim.capture.libraries import needs_stand_ins
from memsim.capture.linking import link_folder
from memsim.capture.older_cuda import older_command
from memsim.gpu.config import GPU
from memsim.support.cache import cache_folder
from memsim.support.errors import InputError
from memsim.support.scratch import Scratch, leaving_in

CUDA_SUFFIXES = (".cu", ".cuh")
HOST_SUFFIXES = (".cpp", ".cc", ".cxx", ".c")
# Headers of closed libraries, of the driver and of OpenMP: the library to link if a program includes them.
_HEADERS = {
    "cublas_v2.h": "cublas", "cublas.h": "cublas", "cublasLt.h": "cublasLt", "cudnn.h": "cudnn", "cufft.h": "cufft",
    "curand.h": "curand", "cusolverDn.h": "cusolver", "cusparse.h": "cusparse", "nccl.h": "nccl",
    "nvml.h": "nvidia-ml", "cuda.h": "cuda", "omp.h": "gomp",
}  # fmt: skip
LENIENT = ("--extended-lambda", "--expt-relaxed-constexpr")
LOG, MADE_OF = "build.log", "made_of.json"
KEEPS_LOG = "memsim capture --keep FOLDER keeps nvcc's log"
LONGEST_UNUSED = 30 * 86400  # seconds that a built program is kept without being used

_MACRO = re.compile(r"[A-Za-z_]\w*(\([^()]*\))?(=|$)")
_ERROR = re.compile(r"^(\S[^\n]*?)(?:\((\d+)\)|:(\d+)(?::\d+)?): (?:fatal |catastrophic )?error:? (.*)$", re.MULTILINE)
_NEEDS_LINKING = "separate compilation mode"  # of device code: a kernel launches a kernel
_EXTERNAL = re.compile(rb"^\s*\.extern \.(?:func|global|const)\b[^;\n]*?(\w+)(?:\[\d*\])?\s*(?:$|;|\()", re.MULTILINE)
_OF_THE_DEVICE = re.compile(rb"vprintf|malloc|free|__assertfail|cuda[A-Z]\w*|__cuda\w*|func_retval0|_param\w*")


@dataclass(frozen=True)
class Sources:
    """A program as its user would give it to nvcc.

    Attributes:
        files: CUDA C++ files, and C++ and C files of the host.
        includes: folders of ``#include`` files.
        definitions: of macros, ``NAME`` or ``NAME=VALUE``.
        standard: of C++.
        libraries: to link.
        fast_math: use intrinsics, and divisions and roots that are not rounded.
    """

    files: tuple[Path, ...]
    includes: tuple[Path, ...] = ()
    definitions: tuple[str, ...] = ()
    standard: str = "c++17"
    libraries: tuple[str, ...] = ()
    fast_math: bool = False


def build(sources: Sources, gpu: GPU, keep: Path | None = None) -> Path:
    """Compile a program with nvcc; returns the executable.

    The executable lies in memsim's cache, and is compiled again only if the command, the compiler or a file that the
    compiler read has changed.

    Args:
        sources: the program.
        gpu: whose architecture the PTX is compiled for, or the nearest older one that nvcc knows.
        keep: a folder that gets a copy of the executable and the log of the build.

    Raises:
        InputError: a file is missing or does not compile; the message has nvcc's first error, with file and line.
    """
    check_sources(sources)
    compiler = find_compiler()
    command = _Command(compiler, sources, gpu)
    folder = cache_folder("programs") / command.key
    program = folder / sources.files[0].stem
    if not _is_current(folder):
        _make(command, folder, program.name, keep)
    with suppress(OSError):
        os.utime(folder)
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        for one in (program, folder / LOG):
            shutil.copy2(one, keep)
    return program


@dataclass
class _Command:
    """The nvcc commands of a program, and what names them in the cache."""

    compiler: Compiler
    sources: Sources
    gpu: GPU
    options: list[str] = field(init=False)
    key: str = field(init=False)

    def __post_init__(self) -> None:
        architecture = self.compiler.nearest(self.gpu.architecture_number)
        ours = ["-cudart", "shared", "-lineinfo", "--no-compress"]
        ours += ["-gencode", f"arch=compute_{architecture},code=compute_{architecture}"]
        sources = self.sources
        given = [f"-std={sources.standard}", *LENIENT, *(["-use_fast_math"] if sources.fast_math else [])]
        given += [f"-D{one}" for one in sources.definitions]
        given += [f"-I{one.absolute()}" for one in sources.includes]
        given += wheel_includes()
        self.options = [*ours, *given]
        files = [str(one.absolute()) for one in sources.files]
        state = [str(self.compiler.path), self.compiler.version, *self.options, *files, *sources.libraries]
        self.key = hashlib.sha256(json.dumps(state).encode()).hexdigest()[:32]

    def compile(self, file: Path, made: Path, depends: Path, linkable: bool) -> list[str]:
        """The command that compiles one file."""
        rdc = [f"-rdc={'true' if linkable else 'false'}"]
        return [
            str(self.compiler.path), *self.options, *rdc, "-MD", "-MF", str(depends), "-c", str(file.absolute()), "-o",
            str(made),
        ]  # fmt: skip

    def link(self, objects: Sequence[Path], made: Path, linkable: bool, included: Iterable[str] = ()) -> list[str]:
        """The command that links the program.

        Args:
            included: files that the compiler read; libraries whose headers are among them are linked as well.
        """
        headers = {Path(one).name for one in included}
        implied = [one for header, one in _HEADERS.items() if header in headers]
        libraries = [f"-l{one}" for one in dict.fromkeys([*self.sources.libraries, *implied])]
        rdc = [f"-rdc={'true' if linkable else 'false'}"]
        folder = ["-L", str(link_folder(self.compiler, needs_stand_ins(libraries))), "-Xcompiler", "-pthread"]
        named = map(str, objects)
        return [str(self.compiler.path), *self.options, *rdc, *folder, *named, "-o", str(made), *libraries]


def check_sources(sources: Sources) -> None:
    """Refuse what a compiler would complain of in its own words.

    Raises:
        InputError: naming the file or folder.
    """
    for file in sources.files:
        if not file.is_file():
            problem = "is a folder" if file.is_dir() else "does not exist"
            raise InputError(file, "file", f"{problem}; give CUDA C++ source")
    for definition in sources.definitions:
        if not _MACRO.match(definition):
            raise InputError("-D", definition, "is not a macro; give NAME or NAME=VALUE")


def _make(command: _Command, folder: Path, name: str, keep: Path | None) -> None:
    """Compile and link in a folder of its own, then put it into the cache."""
    _forget_unused(folder.parent)
    with Scratch(folder.parent) as scratch:
        work_folder = Path(scratch)
        log = _Log(work_folder, keep)
        objects, depends, linkable = _compile_all(command, work_folder, log)
        read = sorted({path for one in depends for path in _dependencies(one)})
        log.run(command.link(objects, work_folder / name, linkable, read), command.sources.files[0])
        (work_folder / MADE_OF).write_text(json.dumps({path: file_state(path) for path in read}))
        for one in (*objects, *depends):
            one.unlink(missing_ok=True)
        made = folder.with_name(f"{folder.name}.{os.getpid()}")
        shutil.copytree(work_folder, made)
    shutil.rmtree(folder, ignore_errors=True)
    try:
        os.replace(made, folder)
    except OSError:  # another process was first
        shutil.rmtree(made, ignore_errors=True)


def _compile_all(command: _Command, folder: Path, log: _Log) -> tuple[list[Path], list[Path], bool]:
    """Compile every file; a second time, with linkable device code, if they need one another's device code.

    Returns:
        the objects, the lists of dependencies, and whether the device code is linkable.
    """
    with suppress(_NeedsLinking):
        made = _compile_each(command, folder, log, linkable=False)
        if len(command.sources.files) == 1 or not any(_uses_other_files(one) for one in made[0]):
            return *made, False
    return *_compile_each(command, folder, log, linkable=True), True


def _compile_each(command: _Command, folder: Path, log: _Log, *, linkable: bool) -> tuple[list[Path], list[Path]]:
    """Compile every file; its object and its list of dependencies."""
    numbers = range(len(command.sources.files))
    objects = [folder / f"{number}.o" for number in numbers]
    depends = [folder / f"{number}.d" for number in numbers]

    def compile_one(number: int) -> None:
        file = command.sources.files[number]
        compile_it = command.compile(file, objects[number], depends[number], linkable)
        while True:
            try:
                return log.run(compile_it, file)
            except InputError as error:
                older = older_command(compile_it, str(error), command.compiler)
                if older is None:
                    raise
                compile_it = older

    with ThreadPoolExecutor(os.cpu_count()) as compilers:
        for job in [compilers.submit(compile_one, number) for number in numbers]:
            job.result()
    return objects, depends


def _uses_other_files(made: Path) -> bool:
    """Whether an object's device code names functions or variables of other files."""
    names = _EXTERNAL.findall(made.read_bytes())
    return any(not _OF_THE_DEVICE.fullmatch(one) for one in names)


class _NeedsLinking(Exception):
    """Device code that has to be compiled so that it can be linked."""


@dataclass
class _Log:
    """Runs nvcc, and writes down each command and what it said."""

    folder: Path
    keep: Path | None

    def run(self, command: Sequence[str], file: Path) -> None:
        """Run one command.

        Raises:
            InputError: it failed; names the file and the line of nvcc's first error.
        """
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL,
            env=leaving_in(self.folder), cwd=self.folder,
        )  # fmt: skip
        output = f"{done.stdout}{done.stderr}"
        with (self.folder / LOG).open("a") as log:
            log.write(f"{shlex.join(command)}\n{output}\n")
        if done.returncode == 0:
            return
        if self.keep is not None:
            self.keep.mkdir(parents=True, exist_ok=True)
            shutil.copy2(self.folder / LOG, self.keep)
        if _NEEDS_LINKING in output and "-rdc=false" in command:
            raise _NeedsLinking
        raise first_error(output, file)


def first_error(output: str, file: Path) -> InputError:
    """What nvcc complained of first, as one line."""
    if found := _ERROR.search(output):
        where = f"{found[1]}:{found[2] or found[3]}"
        return InputError(where, "code", f"does not compile: {found[4].strip()} ({_advice(found[4])})")
    missing = re.search(r"undefined reference to [`'](.*?)'", output)
    if missing:
        needed = f"needs {missing[1]}, which no file defines; give all source files, or -l LIBRARY"
        return InputError(file, "program", needed)
    if absent := re.search(r"cannot find -l(\S+?):?(\s|$)", output):
        return InputError("-l", absent[1], "is not installed here; give a library that the linker finds")
    lines = [line for line in output.splitlines() if "fatal" in line or "error" in line] or output.split("\n")[-2:]
    return InputError(file, "program", f"does not build: {lines[0].strip() or 'nvcc gives no reason'}")


def _advice(error: str) -> str:
    """What to do about an error of nvcc's: a missing header of a closed library comes with a wheel."""
    if "No such file" in error:
        if wheel := wheel_of(error.partition(":")[0].strip()):
            return f"the CUDA toolkit has this header, or pip install {wheel}"
        return "-I FOLDER adds a folder of header files"
    return KEEPS_LOG


def _dependencies(file: Path) -> Iterator[str]:
    """The files that a compiler read, from the Makefile rule that it wrote."""
    with suppress(OSError):
        _, _, names = file.read_text(errors="surrogateescape").partition(":")
        for name in re.findall(r"(?:\\.|[^\s\\])+", names.replace("\\\n", " ")):
            yield os.path.normpath(re.sub(r"\\(.)", r"\1", name))


def _is_current(folder: Path) -> bool:
    """Whether a cached program is there, and all that it was made of is as it was."""
    try:
        made_of: dict[str, list[int | str]] = json.loads((folder / MADE_OF).read_text())
    except (OSError, ValueError):
        return False
    return all(is_unchanged(path, state) for path, state in made_of.items())


def _forget_unused(programs: Path) -> None:
    """Remove programs that nobody used for a month."""
    oldest = time.time() - LONGEST_UNUSED
    with suppress(OSError):
        for folder in programs.iterdir():
            if folder.stat().st_mtime < oldest:
                shutil.rmtree(folder, ignore_errors=True)
