"""From source files to an instrumented program, in a folder of its own."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from memsim.sources.capture.cccl import cccl_folders
from memsim.sources.capture.frontend import Instrumented, instrument
from memsim.sources.capture.kernel_names import Kernels
from memsim.sources.capture.runtime import FOLDER
from memsim.sources.capture.sites import Site
from memsim.support.errors import InputError

DEFINITIONS = "definitions.h"
CUDA_SUFFIXES = (".cu", ".cuh")
ARCHITECTURE = "-D__CUDA_ARCH__=800"  # device code's newest branches
# Device code that overflows or reinterprets must do what it does on a GPU; addresses must be the same in every run.
# A loop one past an array's end must not become one without end, as g++ would have it from the array's bound.
_LITERAL = ("-fno-strict-aliasing", "-fwrapv", "-fno-aggressive-loop-optimizations")
# A function that ends without its return must go back to its caller, as where nothing is optimized: g++ has it end
# nowhere, unless it is to check for such places by itself.
_RETURNING = ("-fsanitize=unreachable", "-fno-sanitize=return", "-fsanitize-undefined-trap-on-error")
_HOST = ("-O2", "-w", "-fpermissive", *_LITERAL, *_RETURNING, "-fno-pie", "-no-pie", ARCHITECTURE)
LENIENT = ("--extended-lambda", "--expt-relaxed-constexpr")  # what the front end takes, too
_MACRO = re.compile(r"[A-Za-z_]\w*(\([^()]*\))?(=|$)")
_ERROR = re.compile(r"^(.*?):(\d+)(?::\d+)?: (?:fatal )?error: (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Sources:
    """A program as its user would give it to nvcc.

    Attributes:
        files: CUDA C++ files, and C++ and C files of the host.
        includes: folders of ``#include`` files.
        definitions: of macros, ``NAME`` or ``NAME=VALUE``.
        standard: of C++.
        libraries: to link.
        gpu: built by nvcc for a GPU, not by g++ for the host.
        fast_math: nvcc is to use intrinsics, and divisions and roots that are not rounded.
    """

    files: tuple[Path, ...]
    includes: tuple[Path, ...] = ()
    definitions: tuple[str, ...] = ()
    standard: str = "c++17"
    libraries: tuple[str, ...] = ()
    gpu: bool = False
    fast_math: bool = False

    def options(self, includes: Sequence[Path]) -> list[str]:
        """nvcc's options: standard, macros, and the given include folders."""
        given = [*(f"-D{one}" for one in self.definitions), *(["-use_fast_math"] if self.fast_math else [])]
        return [f"-std={self.standard}", *LENIENT, *given, *_folders(includes)]

    def write_definitions(self, path: Path) -> None:
        """Write the macros to a file, to be read after the runtime's headers, which they must not change: -D N=512."""
        pairs = (one.partition("=") for one in self.definitions)
        path.write_text("".join(f"#define {name} {value if equals else 1}\n" for name, equals, value in pairs))


def _folders(includes: Sequence[Path]) -> list[str]:
    return [part for folder in includes for part in ("-I", str(folder))]


def _stand_ins() -> list[str]:
    """Options for the headers that stand in for CUDA's, and for those of CUDA's that are taken as they are."""
    return [part for folder in (FOLDER, *cccl_folders()) for part in ("-isystem", str(folder))]


@dataclass(frozen=True)
class Program:
    """A program that was built with probes, and what its probes and kernels are.

    Attributes:
        path: to run.
        sites: what its probes' numbers stand for.
        kernels: that it defines and launches.
        collectives: CUB's functions of blocks and warps that it names, whose accesses have no probes.
    """

    path: Path
    sites: list[Site]
    kernels: Kernels
    collectives: tuple[str, ...] = ()


def build(sources: Sources, folder: Path, *, assembly: bool = False) -> Program:
    """Instrument a program's files and build them.

    Args:
        sources: the program.
        folder: for copies and what is built; the sources' own folders are left alone.
        assembly: inline PTX ends the program where it would be run, instead of being refused.

    Raises:
        InputError: a file is missing, is not understood, has what cannot be captured, or does not compile.
    """
    _check(sources)
    sources.write_definitions(folder / DEFINITIONS)
    includes = [one.absolute() for one in sources.includes if not (one / "cuda_runtime.h").exists()]
    sites: list[Site] = []
    done: list[Instrumented] = []
    objects = [folder / f"{number}.o" for number in range(len(sources.files))]
    with ThreadPoolExecutor(os.cpu_count()) as compilers:
        jobs = []
        for number, file in enumerate(sources.files):
            copied = file.absolute()  # C++ of the host stays as it is
            if file.suffix in CUDA_SUFFIXES:
                done.append(_instrument(sources, includes, file, folder / str(number), len(sites) + 1, assembly))
                sites += done[-1].sites
                copied = _inside(folder / str(number), done[-1].path)
            folders = [part for one in includes for part in (_inside(folder / str(number), one), one)]
            command = [*_compiler(sources, file, folder, folders), "-c", str(copied), "-o", str(objects[number])]
            jobs.append(compilers.submit(_run, command, folder, file))
        for job in jobs:
            job.result()
    program = folder / "program"
    linker = ["nvcc"] if sources.gpu else ["g++", "-no-pie", "-pthread", "-rdynamic"]
    libraries = [f"-l{one}" for one in sources.libraries]
    _run([*linker, *map(str, objects), "-o", str(program), *libraries], folder, sources.files[0])
    collectives = dict.fromkeys(name for one in done for name in one.collectives)
    return Program(program, sites, _kernels(sources, done), tuple(collectives))


def _check(sources: Sources) -> None:
    """Refuse what a compiler would complain of in its own words."""
    for file in sources.files:
        if not file.is_file():
            problem = "is a folder" if file.is_dir() else "does not exist"
            raise InputError(file, "file", f"{problem}; give CUDA C++ source")
    for definition in sources.definitions:
        if not _MACRO.match(definition):
            raise InputError("-D", definition, "is no macro; give NAME or NAME=VALUE")


def _instrument(
    sources: Sources, includes: Sequence[Path], file: Path, folder: Path, first: int, assembly: bool
) -> Instrumented:
    """Write a CUDA file's instrumented copy into a folder, and those of what it includes.

    Args:
        first: number of the file's first site.
    """
    definitions = folder.parent / DEFINITIONS
    runtime = [*_stand_ins(), "-include", "cuda_runtime.h", "-include", str(definitions)]
    options = [f"-std={sources.standard}", ARCHITECTURE, *_folders(includes), *runtime]
    done = instrument(file, options, first=first, gpu=sources.gpu, assembly=assembly)
    for path, text in done.texts.items():
        _write(_inside(folder, path), f'#line 1 "{path}"\n{text}')
    return done


def _kernels(sources: Sources, done: Sequence[Instrumented]) -> Kernels:
    """The kernels of all files; a launch by a call (``cudaLaunchKernel``) tells its kernel only when it runs."""
    host = [file.read_text("latin-1") for file in sources.files if file.suffix not in CUDA_SUFFIXES]
    texts = [*host, *(text for one in done for text in one.texts.values())]
    defined = dict.fromkeys(name for one in done for name in one.kernels)
    launched = dict.fromkeys(name for one in done for name in one.launched)
    return Kernels(tuple(defined), tuple(launched), not any("cudaLaunch" in text for text in texts))


def _compiler(sources: Sources, file: Path, folder: Path, includes: Sequence[Path]) -> list[str]:
    """The command that compiles a file, up to the file; host code in C goes to the C compiler, as with nvcc."""
    definitions = ["-include", str(folder / DEFINITIONS)]
    standard = f"-std={sources.standard}"
    if sources.gpu and file.suffix in CUDA_SUFFIXES:  # with CUDA's own headers, not the runtime's
        probes = ["-include", str(FOLDER / "memsim_probe.h"), *definitions]
        command = ["nvcc", "-w", "-arch=native", "-DMEMSIM_GPU", *LENIENT, standard]
        return [*command, *_folders(includes), *probes, "-x", "cu"]
    common = [*_folders(includes), *([] if sources.gpu else _stand_ins())]
    if file.suffix == ".c":
        return ["gcc", "-O1", "-w", "-fno-pie", *common, *definitions]
    if file.suffix not in CUDA_SUFFIXES:
        return ["g++", *_HOST, standard, *common, *definitions]
    return ["g++", *_HOST, standard, *common, "-include", "memsim_probe.h", *definitions, "-x", "c++"]


def _inside(folder: Path, path: Path) -> Path:
    """Where a file's copy lies: by its whole path, so that what it includes by relative path is found likewise."""
    return folder / str(path).lstrip("/")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("latin-1"))


def _run(command: list[str], folder: Path, file: Path) -> None:
    """Run a compiler; what it was told and what it said is kept in ``build.log``."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    except FileNotFoundError as error:
        problem = "does not run here; install it: it builds the program"
        raise InputError("memsim capture", command[0], problem) from error
    with (folder / "build.log").open("a") as log:
        log.write(f"{shlex.join(command)}\n{done.stdout}{done.stderr}\n")
    if done.returncode != 0:
        raise _failure(done.stderr, command[0], file)


def _failure(told: str, compiler: str, file: Path) -> InputError:
    """What a compiler complained of first, as one line."""
    if found := _ERROR.search(told):
        where = f"{found[1]}:{found[2]}"
        return InputError(where, "code", f"does not compile: {found[3]} ({compiler}; --keep FOLDER keeps its log)")
    missing = re.search(r"undefined reference to [`'](.*?)'", told)
    if missing:
        needed = f"needs {missing[1]}, which no file defines; give all source files, or -l LIBRARY"
        return InputError(file, "program", needed)
    if absent := re.search(r"cannot find -l(\S+?):?(\s|$)", told):
        return InputError("-l", absent[1], "is not installed here; give a library that the linker finds")
    last = told.strip().splitlines()[-1:] or ["no reason given"]
    return InputError(file, "program", f"does not build: {last[0]} ({compiler}; --keep FOLDER keeps its log)")
