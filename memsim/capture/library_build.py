"""How memsim's CUDA libraries are built from ``native/`` with g++: at installation, else when they are needed.

``libcuda.so.1`` holds the core and the driver API, ``libcudart.so.12`` and ``.13`` are thin layers on it, the stand-ins
for closed libraries compute on the host, and ``libmemsim_host_memory.so`` is preloaded into Python. The files of a
folder are compiled as one translation unit, so that the standard headers are parsed once.

``setup.py`` runs this file where nothing of memsim is installed yet: it imports the standard library alone.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

NATIVE = Path(__file__).parent / "native"
BUILT = Path(__file__).parent / "built"  # what an installation has built, in a folder named after the digest
HOST_MEMORY = "libmemsim_host_memory.so"
HOST_INPUTS = "libmemsim_host_inputs.so"
# Programs in native/tools, and the names that they are found by: a package asks a program's name what it is.
_TOOLS = {"ptxas": ("memsim-ptxas", "memsim-ptxas-blackwell")}
_COMPILE = ("-std=c++17", "-O1", "-fPIC", "-fvisibility=hidden", "-fno-exceptions", "-Wall")
# Programs bring their own libstdc++, often an older one than this machine's g++: the libraries carry theirs inside.
_LINK = ("-shared", "-static-libstdc++", "-static-libgcc", "-Wl,--exclude-libs,ALL", "-Wl,-z,defs", "-pthread")
_CUDART = (12, 13)
_STORED_OBJECTS = 4  # of each unit: checkouts side by side share the cache
# Stand-ins are compiled without optimization, which takes a third of the time; what costs time in them is in `common`.
# They compute the same bits on every host: nothing is fused, and complex products are four real ones.
_ARITHMETIC = ("-ffp-contract=off", "-fcx-limited-range")
# Programs look up functions of the second library in the first, which NVIDIA links with it.
_NEEDED = {"blas": "blaslt"}
# What stand-ins without functions have: Python packages look for nvJitLink first, and link with the driver without it.
_EMPTY_SOURCE = "namespace { [[maybe_unused]] const int nothing = 0; }\n"


class CompilerError(Exception):
    """g++ is missing or fails; the file, and what is wrong."""


@dataclass(frozen=True)
class StandIn:
    """A library that takes the place of a closed one.

    Attributes:
        title: as users know it.
        sonames: of CUDA 12 and 13, that programs were linked with.
        names: the list in native/names of the functions that it exports; "": none.
        not_supported: the status that it returns for a function it lacks.
    """

    title: str
    sonames: tuple[str, ...]
    names: str
    not_supported: int = 0

    @property
    def text(self) -> str:
        """C++ text of the functions without an implementation; weak symbols give way to those that have one."""
        if not self.names:
            return _EMPTY_SOURCE
        facts = f'const LibraryFacts library = {{"{self.title}", {self.not_supported}}};'
        lines = [f'#include "{NATIVE}/libraries/common/report.h"', f"namespace standin {{ {facts} }}"]
        names = listed_names(self.names)
        lines += (answered := _answers(names)).values()
        for name in (name for name in names if name not in answered):
            body = f'return standin::not_supported("{name}");' if self.not_supported else "return 0;"
            lines.append(f'extern "C" __attribute__((weak, visibility("default"))) long {name}() {{ {body} }}')
        return "\n".join(lines) + "\n"


STAND_INS = {  # by folder in native/libraries
    "blas": StandIn("cuBLAS", ("libcublas.so.12", "libcublas.so.13"), "cublas", 15),
    "blaslt": StandIn("cuBLASLt", ("libcublasLt.so.12", "libcublasLt.so.13"), "cublasLt", 15),
    "cupti": StandIn("CUPTI", ("libcupti.so.12", "libcupti.so.13"), "cupti", 27),
    "dnn": StandIn("cuDNN", ("libcudnn.so.9",), "cudnn", 3000),  # the status of version 9
    "fft": StandIn("cuFFT", ("libcufft.so.11", "libcufft.so.12"), "cufft", 16),
    "jitlink": StandIn("nvJitLink", ("libnvJitLink.so.12", "libnvJitLink.so.13"), ""),
    "nccl": StandIn("NCCL", ("libnccl.so.2",), "nccl", 5),  # invalid usage: NCCL has no "not supported"
    "nvml": StandIn("NVML", ("libnvidia-ml.so.1",), "nvml", 3),
    "nvtx": StandIn("NVTX", ("libnvToolsExt.so.1",), "nvtx"),  # marks for a profiler that is not there
    "rand": StandIn("cuRAND", ("libcurand.so.10",), "curand", 103),  # type error: cuRAND has no "not supported"
    "solver": StandIn("cuSOLVER", ("libcusolver.so.11", "libcusolver.so.12"), "cusolver", 9),
    "sparse": StandIn("cuSPARSE", ("libcusparse.so.12",), "cusparse", 10),
}


@dataclass(frozen=True)
class LibrarySource:
    """One translation unit: its object's name, the files it includes, macros, options, and text of its own."""

    name: str
    files: tuple[Path, ...]
    macros: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True)
class Library:
    """A shared library: its SONAME, the units it consists of, and linker options.

    Programs ask for the symbols of NVIDIA's libraries with the SONAME as their version; ``exported`` lists, in the
    linker's words, those that get it. Empty: symbols without a version.
    """

    soname: str
    units: tuple[str, ...]
    options: tuple[str, ...] = ()
    exported: str = ""


def native_digest() -> str:
    """A digest of the sources and of how they are built."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for path in sorted(path for path in NATIVE.rglob("*") if path.is_file()):
        digest.update(str(path.relative_to(NATIVE)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:20]


def _sources(folder: Path, *without: str) -> tuple[Path, ...]:
    return tuple(path for path in sorted(folder.glob("*.cpp")) if path.name not in without)


def _folder_units(name: str, folder: Path, *options: str) -> list[LibrarySource]:
    """A folder's files as one unit; those that define functions from the lists of names declare them differently."""
    separate = [folder / f"{one}.cpp" for one in ("unsupported", "entry_point_tables", "same")]
    units = [LibrarySource(f"{name}_{path.stem}", (path,)) for path in separate if path.exists()]
    return [
        LibrarySource(name, _sources(folder, "version.cpp", *(path.name for path in separate)), options=options),
        *units,
    ]


def _core_units() -> list[LibrarySource]:
    version = NATIVE / "runtime" / "version.cpp"
    answers = _answers([word.partition(":")[0] for word in listed_names("driver")])
    driver_text = "\n".join([f'#include "{NATIVE}/core/jump.h"', *answers.values(), ""])
    return [
        *_folder_units("core", NATIVE / "core", "-Og"),  # a sixth less to compile than -O1
        *_folder_units("driver", NATIVE / "driver", "-O0"),
        LibrarySource("driver_answers", (), text=driver_text),
        *_folder_units("runtime", NATIVE / "runtime", "-O0"),
        *(LibrarySource(f"version{major}", (version,), (f"MEMSIM_CUDART={major}",)) for major in _CUDART),
        LibrarySource("host_memory", (NATIVE / "host_memory.cpp",), options=("-O2", "-fno-builtin")),
        LibrarySource("host_inputs", (NATIVE / "host_inputs.cpp",), options=("-fno-builtin",)),
    ]


def _stand_in_units() -> list[LibrarySource]:
    folder = NATIVE / "libraries"
    return [
        *_folder_units("common", folder / "common", "-O2", *_ARITHMETIC),
        *(
            unit
            for name in STAND_INS
            if (folder / name).is_dir()
            for unit in _folder_units(name, folder / name, "-O0", *_ARITHMETIC)
        ),
        *(LibrarySource(f"{name}_names", (), options=("-O0",), text=one.text) for name, one in STAND_INS.items()),
    ]


def _answers(names: Sequence[str]) -> dict[str, str]:
    """C++ text of those functions that the list of answers has."""
    answers = dict(word.split("=") for word in listed_names("answers"))
    return {name: _answering(name, answers[name]) for name in names if name in answers}


def _answering(name: str, answer: str) -> str:
    """C++ text of a function of the list of answers.

    >>> _answering("curandGenerateSeeds", "0")
    'MEMSIM_EXPORT int curandGenerateSeeds() { return 0; }'
    >>> _answering("cufftGetSize", "0:2")
    'MEMSIM_EXPORT int cufftGetSize(long, uint64_t* to2) { *to2 = 0; return 0; }'
    """
    if not answer[0].isdigit():
        return f"MEMSIM_OTHER_NAME({name}, {name if answer[0] == '_' else ''}{answer})"
    value, _, places = answer.partition(":")
    types = {int(place.strip("i")): "int" if "i" in place else "uint64_t" for place in places.split("+") if place}
    parameters = (f"{types[k]}* to{k}" if k in types else "long" for k in range(1, max(types, default=0) + 1))
    body = "".join(f"*to{k} = {value}; " for k in types)
    return f"MEMSIM_EXPORT int {name}({', '.join(parameters)}) {{ {body}return 0; }}"


def listed_names(name: str) -> list[str]:
    """The names of a list in native/names; its first lines say what they are.

    Families of names are written as in a shell: ``cublas{C,Z}her{,_v2}`` are four names.
    """
    text = re.sub("(?m)^#.*$", "", (NATIVE / "names" / f"{name}.txt").read_text())
    return [one for word in re.findall(r"(?:\{[^}]*\}|[^\s{}])+", text) for one in _family(word)]


def _family(word: str) -> list[str]:
    """The names that a word with lists in braces stands for.

    >>> _family("cublas{C,Z}her{,_v2}")
    ['cublasCher', 'cublasCher_v2', 'cublasZher', 'cublasZher_v2']
    """
    parts = [re.split(r",\s*", part.strip("{}")) for part in re.findall(r"\{[^}]*\}|[^{}]+", word)]
    return ["".join(one) for one in itertools.product(*parts)]


def _write_tables(folder: Path) -> None:
    """Make the lists of the driver's and the runtime's functions into macro calls, for the C++ files that need them."""
    lines = []
    for word in listed_names("driver"):
        symbol, version, *per_thread = word.split(":")
        name = re.sub(r"_v\d+$", "", symbol)
        lines.append(f"FUNCTION({name}, {version}, {symbol})")
        for kind in per_thread:
            suffix = {"s": "_ptsz", "d": "_ptds"}[kind]
            lines.append(f"PER_THREAD({symbol}{suffix}, {symbol}, {name}, {max(int(version), 7000)})")
    (folder / "functions.def").write_text("\n".join(lines) + "\n")
    functions = [f"FUNCTION({name})\n" for name in listed_names("runtime")]
    (folder / "unsupported.def").write_text("".join(functions))
    (folder / "same.def").write_text("".join(_same(word) for word in listed_names("same")))
    (folder / "per_thread.def").write_text("".join(_per_thread(word) for word in listed_names("per_thread")))


def _same(word: str) -> str:
    """Macro calls for a word of the list of functions that the runtime API has in common with the driver API."""
    names, _, streams = word.partition(":")
    name, _, function = names.partition("=")
    function = function or name.replace("cuda", "cu", 1)
    if streams.startswith("k"):
        return f"MEMSIM_SAME_OF_KERNEL({name}, {function}, {'abcdef'[int(streams[1]) - 1]})\n"
    call = f"MEMSIM_SAME({name}, {function}, a, b, c, d, e, f)\n"
    return call + (f"MEMSIM_SAME({name}_ptsz, {function}, {_own(streams)})\n" if streams else "")


def _per_thread(word: str) -> str:
    """A macro call for a word of the list of functions that exist a second time for the thread's own stream."""
    name, _, stream = word.partition(":")
    if stream:
        return f"MEMSIM_SAME({name}_ptsz, {name}, {_own(stream)})\n"
    return f"MEMSIM_OTHER_NAME({name}_ptds, {name})\n"


def _own(streams: str) -> str:
    """Six arguments, of which these digits' are streams."""
    return ", ".join(f"own({each})" if str(k) in streams else each for k, each in enumerate("abcdef", 1))


def _named(units: Sequence[LibrarySource], *names: str) -> tuple[str, ...]:
    """The units of some parts: a part's name, or that and what follows it."""
    return tuple(unit.name for unit in units if f"{unit.name}_".startswith(tuple(f"{prefix}_" for prefix in names)))


@dataclass(frozen=True)
class LibraryBuilder:
    """Compiles and links libraries into a folder.

    Args:
        folder: an existing one.
        objects: a folder that keeps compiled units for the next version of the sources; None: nothing is kept.
    """

    folder: Path
    objects: Path | None = None

    def core(self) -> None:
        """The CUDA driver and runtime, and the library for host memory.

        Raises:
            CompilerError: g++ is missing or fails. So it is for :meth:`stand_ins`.
        """
        units = _core_units()
        link = ("-L.", "-l:libcuda.so.1", "-Wl,-rpath,$ORIGIN")
        libraries = [Library("libcuda.so.1", _named(units, "core", "driver"))]
        for major in _CUDART:
            names = _named(units, "runtime", f"version{major}")
            libraries.append(Library(f"libcudart.so.{major}", names, link, "cuda*; __cuda*"))
        libraries.append(Library(HOST_MEMORY, _named(units, "host_memory")))
        libraries.append(Library(HOST_INPUTS, _named(units, "host_inputs")))
        _write_tables(self.folder)
        self._build(units, libraries)

    def stand_ins(self) -> None:
        """The libraries that take the place of closed ones, and the tools that Python packages start."""
        units = _stand_in_units()
        libraries = []
        for name, one in STAND_INS.items():
            sonames = one.sonames
            exported = "" if "-" in sonames[0] else "*"  # the linker takes no hyphen in a version; NVML has none
            names = _named(units, name, "common") if one.names else _named(units, name)
            for k, soname in enumerate(sonames):
                libraries.append(Library(soname, names, _linked_with(name, k), exported))
            (self.folder / f"{sonames[-1].partition('.so')[0]}.so").symlink_to(sonames[-1])  # that `-lcublas` finds
        self._build(units, libraries)
        self._build_tools()

    def _build(self, units: Sequence[LibrarySource], libraries: Sequence[Library]) -> None:
        """Compile units, the largest first, and link libraries."""
        if shutil.which("g++") is None:
            raise CompilerError("compiler", "is missing; it builds memsim's CUDA libraries once: install g++")
        size = {unit.name: len(unit.text) + sum(file.stat().st_size for file in unit.files) for unit in units}
        with ThreadPoolExecutor(os.cpu_count()) as compilers:
            list(compilers.map(self._compile, sorted(units, key=lambda unit: -size[unit.name])))
            list(compilers.map(self._link, [one for one in libraries if not one.options]))
        for library in libraries:  # those that need another one of them
            if library.options:
                self._link(library)
        for pattern in ("*.o", "versions*", "*.cpp", "*.def"):
            for leftover in self.folder.glob(pattern):
                leftover.unlink()

    def _compile(self, unit: LibrarySource) -> None:
        """Compile a unit, or take the object that was compiled from the same text before."""
        options = [*_COMPILE, "-I.", *unit.options, *(f"-D{macro}" for macro in unit.macros)]
        made = self.folder / f"{unit.name}.o"
        stored = self.objects / f"{unit.name}-{_unit_digest(unit, options)}.o" if self.objects else None
        if stored is not None and stored.exists():
            shutil.copyfile(stored, made)
            return
        source = self.folder / f"{unit.name}.cpp"
        source.write_text("".join(f'#include "{file}"\n' for file in unit.files) + unit.text)
        self._run([*options, "-c", source.name, "-o", made.name])
        if stored is not None:
            copied = stored.with_name(f"{stored.name}.{os.getpid()}")
            shutil.copyfile(made, copied)
            os.replace(copied, stored)
            _remove_older(stored, unit.name)

    def _link(self, library: Library) -> None:
        options = [
            *_LINK,
            f"-Wl,-soname,{library.soname}",
            *(f"{name}.o" for name in library.units),
            *library.options,
            "-ldl",
        ]
        if library.exported:
            versions = self.folder / f"versions.{library.soname}"
            local = "" if library.exported == "*" else " local: *;"
            versions.write_text(f"{library.soname} {{ global: {library.exported};{local} }};\n")
            options.append(f"-Wl,--version-script={versions.name}")
        self._run([*options, "-o", library.soname])

    def _build_tools(self) -> None:
        for name, (program, *others) in _TOOLS.items():
            source = NATIVE / "tools" / f"{name}.cpp"
            options = ["-std=c++17", "-O1", "-Wall", "-static-libstdc++", "-static-libgcc"]
            self._run([*options, str(source), "-o", program])
            for other in others:
                (self.folder / other).symlink_to(program)

    def _run(self, options: Sequence[str]) -> None:
        """Run g++; its temporary files go to the folder, which goes with them if this process is killed."""
        variables = {**os.environ, "TMPDIR": str(self.folder)}
        command = ["g++", *options]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False, env=variables)
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if " error: " in line or "undefined " in line]
            lines = lines or done.stderr.splitlines() or ["no reason given"]
            raise CompilerError(command[-1], f"cannot build memsim's CUDA libraries: {lines[0]}")


def _linked_with(name: str, release: int) -> tuple[str, ...]:
    """Linker options by which a stand-in needs another one, of the same release of CUDA."""
    if name not in _NEEDED:
        return ()
    return ("-L.", "-Wl,--no-as-needed", f"-l:{STAND_INS[_NEEDED[name]].sonames[release]}", "-Wl,-rpath,$ORIGIN")


def _unit_digest(unit: LibrarySource, options: Sequence[str]) -> str:
    """A digest of what a unit is compiled from: its folder's files, and the headers that all share."""
    shared = (NATIVE, NATIVE / "core", NATIVE / "libraries" / "common", NATIVE / "names")
    paths = [path for folder in shared for path in folder.iterdir() if path.suffix in (".h", ".def", ".txt")]
    paths += [path for folder in {file.parent for file in unit.files} for path in folder.iterdir() if path.is_file()]
    digest = hashlib.sha256("\0".join([*options, unit.text]).encode())
    for path in sorted(paths):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:20]


def _remove_older(stored: Path, name: str) -> None:
    """Keep a unit's newest objects only."""
    objects = sorted(stored.parent.glob(f"{name}-*.o"), key=lambda path: path.stat().st_mtime)
    for old in objects[:-_STORED_OBJECTS]:
        old.unlink(missing_ok=True)


def build_installed(built: Path) -> None:
    """Build all libraries into a package, in the place of those of other sources; where that fails, into none.

    Raises:
        CompilerError: g++ is missing or fails.
    """
    digest = native_digest()
    if (built / digest).is_dir():
        return
    shutil.rmtree(built, ignore_errors=True)
    made = built / f"{digest}.{os.getpid()}"
    made.mkdir(parents=True)
    try:
        LibraryBuilder(made).core()
        LibraryBuilder(made).stand_ins()
        os.replace(made, built / digest)
    finally:
        shutil.rmtree(made, ignore_errors=True)
