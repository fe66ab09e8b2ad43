"""Chooses the programs of the list by a rule that nobody's taste enters, before any of them was tried.

Of each repository, the mains that have a kernel, open no file (what they would read is not part of the repository, as a
rule) and are no exercise with gaps to fill; of these, in the order of their paths, so many at equal distances.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from experiments.capture.programs import PublicProgram

EACH = 12
_MAIN = re.compile(r"\bmain\s*\(")
_OPENS = re.compile(r"\bfopen\s*\(|\bifstream\b|sdkFindFilePath|\bopen\s*\([^)]*O_RDONLY|imread")
_EXERCISE = re.compile(r"FIXME", re.IGNORECASE)
_INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
_SOURCES = (".cu", ".cpp", ".cc", ".c")
# What a program needs besides CUDA's runtime and the libraries of docs/how_to/capture.md; such a program is not plain.
_NEEDS = {
    "MPI": r'#\s*include\s*[<"]mpi\.h',
    "PyTorch": r'#\s*include\s*[<"](ATen|torch|c10)/',
    "graphics": r'#\s*include\s*[<"](GL/|GLES|EGL|helper_gl|vulkan|d3d|cuda_gl|cuda_d3d|nvsci|nvmedia)',
    "OpenCV": r'#\s*include\s*[<"]opencv',
    "CUTLASS": r'#\s*include\s*[<"](cutlass|cute)/',
    "driver API": r"\bcu(Init|Module|Launch|Ctx|MemAlloc|MemCreate|LibraryLoad)\w*\s*\(",
    "NVRTC": r"nvrtc",
    "NVML": r"nvml\.h",
    "NPP": r'#\s*include\s*[<"]npp',
    "cuSOLVER": r"cusolver",
    "Thrust": r'#\s*include\s*[<"]thrust/',
    "CUB": r'#\s*include\s*[<"]cub/',
    "surfaces, 3-D textures": r"\bsurf[123]D|\btex3D|Mipmapped|cudaTextureTypeCubemap|tex2DLayered",
    "kernels that launch kernels": r"cdp|cudaStreamFireAndForget|DynamicParallelism|nestedHelloWorld|nestedReduce",
    "several processes": r"cudaIpc",
    "several GPUs": r"cudaDeviceEnablePeerAccess|cufftXtSetGPUs",
    "cuDNN": r"\bcudnnCreate\b",
    "cuFFT": r"\bcufft(Plan|MakePlan)\w+\s*\(",
    "cuSPARSE": r"\bcusparseCreate\b",
    "NCCL": r"\bncclCommInit\w*\s*\(",
}
_WRONG = re.compile(r"wrong|memcheck|assert", re.IGNORECASE)  # in its name: a program that is to fail


@dataclass(frozen=True)
class Repository:
    """Where mains come from.

    Attributes:
        name: of the repository, owner and name.
        commit: that the list is of.
        pattern: of its files that may be programs.
        includes: folders for ``-I``, in the repository.
        arguments: of each program; several, where a program is tried with each.
        sources: further files of each program.
        each: how many mains are chosen; None: all.
    """

    name: str
    commit: str
    pattern: str = "**/*.cu"
    includes: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ("",)
    sources: tuple[str, ...] = ()
    each: int | None = EACH

    def checkout(self, checkouts: Path) -> Path:
        """Its folder among the checkouts."""
        return checkouts / self.name.replace("/", "+")


def chosen(repository: Repository, checkouts: Path) -> Iterator[PublicProgram]:
    """The programs of a repository that the rule chooses."""
    top = repository.checkout(checkouts)
    given = [top / one for one in repository.sources]
    programs = [(path, given or _others(path)) for path in sorted(top.glob(repository.pattern))]
    programs = [(path, sources) for path, sources in programs if _fits(path, sources)]
    count = len(programs) if repository.each is None else min(repository.each, len(programs))
    for path, sources in (programs[number * len(programs) // count] for number in range(count)):
        for arguments in repository.arguments:
            yield PublicProgram(
                repository.name,
                repository.commit,
                path.relative_to(top).as_posix(),
                ":".join(one.relative_to(top).as_posix() for one in sources),
                ":".join([*repository.includes, *_include_folders(path, top)]),
                arguments or _arguments(path),
                _needs(path, sources),
            )


def _needs(path: Path, sources: list[Path]) -> str:
    """What keeps a program from being plain."""
    text = _all_text(path, sources)
    found = [need for need, pattern in _NEEDS.items() if re.search(pattern, text)]
    return "; ".join([*found, *(["to fail"] if _WRONG.search(path.stem) else [])])


def _text(path: Path) -> str:
    return path.read_text("latin-1")


def _fits(path: Path, sources: list[Path]) -> bool:
    """Whether a file is a program of the rule's sort."""
    if not _MAIN.search(_text(path)):
        return False
    own = "".join(map(_text, [path, *sources]))
    reads = _OPENS.search(own) or "data/" in _arguments(path)
    return "__global__" in _all_text(path, sources) and not reads and not _EXERCISE.search(own)


def _all_text(path: Path, sources: list[Path]) -> str:
    """Of a program's sources, and of the files next to them that these include."""
    todo, seen = [path, *sources], dict.fromkeys([path, *sources])
    while todo:
        one = todo.pop()
        for name in _INCLUDE.findall(_text(one)):
            included = one.parent / name
            if included.is_file() and included not in seen:
                seen[included] = None
                todo.append(included)
    return "\n".join(map(_text, seen))


def _others(path: Path) -> list[Path]:
    """Source files next to a main that the folder's build file names, have no main and are included by none."""
    build = "".join(_text(one) for one in path.parent.glob("*") if one.name in ("Makefile", "CMakeLists.txt"))
    neighbours = [one for one in sorted(path.parent.iterdir()) if one.suffix in _SOURCES and one != path]
    included = {name for one in [path, *neighbours] for name in _INCLUDE.findall(_text(one))}
    return [
        one
        for one in neighbours
        if re.search(rf"\b{re.escape(one.stem)}\.(o|cu|cpp|cc|c)\b", build)
        and one.name not in included
        and not _MAIN.search(_text(one))
    ]


def _makefile(path: Path) -> str:
    build = path.parent / "Makefile"
    return _text(build) if build.exists() else ""


def _include_folders(path: Path, top: Path) -> list[str]:
    """The ``-I`` of the folder's Makefile that lie in the repository."""
    given = re.findall(r"-I\s*([\w./-]+)", _makefile(path))
    folders = {(path.parent / one).resolve() for one in given}
    return sorted(one.relative_to(top).as_posix() for one in folders if one.is_dir() and one.is_relative_to(top))


def _arguments(path: Path) -> str:
    """What the Makefile's target ``run``, or a script of that name, gives the program."""
    scripts = (folder / "run" for folder in (path.parent, path.parent.parent))
    text = "\n".join([_makefile(path), *(_text(one) for one in scripts if one.is_file())])
    found = re.search(r"^(?:run:.*\n\t.*?\./\S+|(?:[\w.]+/)+\w+)[ \t]+([^\n|>;&$]*)", text, re.MULTILINE)
    return found[1].strip() if found else ""


REPOSITORIES = (
    Repository(
        "karpathy/llm.c", "f1e2ace651495b74ae22d45d1723443fd00ecd3a", "dev/cuda/*.cu", arguments=("1",), each=None
    ),
    Repository(
        "siboehm/SGEMM_CUDA",
        "60cba6f9b20a198116c76f18de8047f44df8c8b8",
        "sgemm.cu",
        includes=("src",),
        arguments=tuple(map(str, range(13))),
        sources=("src/runner.cu",),
    ),
    Repository("siboehm/SGEMM_CUDA", "60cba6f9b20a198116c76f18de8047f44df8c8b8", "*_*.cu"),
    Repository("Lashi0812/CudaProgramming", "409a4c6f2e7b92689d34b21662116787f3fa3e42", includes=("include",)),
    Repository("Liu-xiandong/How_to_optimize_in_GPU", "5d2def3e082c4e1364c3ade54451b7b9d1d6f044"),
    Repository("BBuf/how-to-optim-algorithm-in-cuda", "10a3a8d243037e2544686eb673fda86fba23143f"),
    Repository("CoffeeBeforeArch/cuda_programming", "8711be08e2060680820304594f3691cc0016edd1"),
    Repository("Infatoshi/cuda-course", "79681bfd003d403170dd93c0436c6f2a45cb390f"),
    Repository(
        "NVIDIA/cuda-samples",
        "c94ff366aed18c797b8a85dfaac7817b0228b420",
        "Samples/**/*.cu",
        includes=("Common",),
        each=24,
    ),
    Repository("NVIDIA-developer-blog/code-samples", "72d62ec464442786a36754508bcb1094d197d6a5"),
    Repository("brucefan1983/CUDA-Programming", "8b6c96ba30fafeb3f71c74b2abb18a6bf849822d"),
    Repository(
        "deeperlearning/professional-cuda-c-programming",
        "ee58310bcdcec62a609f02b6c5193452d8102183",
        includes=("examples/common", "solutions/common"),
    ),
    Repository("olcf/cuda-training-series", "9cd77d539d85ee3457e09a083ba299b787b7a16e"),
    Repository("sgrauerg/polybenchGpu", "5584aaa7d0be810ff5eb0b61c49fb64ecc81ba4c", "CUDA/**/*.cu"),
    Repository("yuhc/gpu-rodinia", "9c10d3ea16ddba2ba057cc3951a9efc4c2cc18a4", "cuda/**/*.cu"),
    Repository("zjin-lcf/HeCBench", "f27000a5188f8ac79bd43fc95a1b3f890c18823d", "src/**/*.cu", each=24),
)
