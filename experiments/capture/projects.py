"""Choose the projects of the fourth list, ``projects.csv``, by a rule that was fixed before any of them was tried.

A project is a folder whose own Makefile calls nvcc, or whose own CMakeLists.txt names a CUDA source and an executable.
The rule takes a project if

* its sources hold a kernel and a ``main``;
* it has at least one of the features that a single file does not show: several CUDA sources, relocatable device code,
  Thrust, CUB, cooperative groups, or a mix of C++ and CUDA sources;
* it needs nothing but the CUDA toolkit, and of its closed libraries only cuBLAS, cuRAND, NVTX and NVML;
* it opens no input file, no window and no second GPU, and downloads nothing while it is built;
* it names nothing that CUDA 13 has removed (texture references, ``clockRate`` of the device's properties ...);
* no other list of this folder has a program of the same folder.

Well-known mini-applications and libraries that the rule misses, because a file of theirs *can* read input or their
build has further targets, are named in ``NAMED``, one to three of a repository. They too were named before any was
tried.

Of each repository, at most ``each`` of these projects at equal distances in the order of their paths. Then the
repositories take turns: the first project of each, the second of each, and so on. The list holds more than 60: the
score is of the first 60 that the CUDA toolkit's own nvcc builds, with the commands of the project's own pages.
Arguments are those of the ``run`` target of the Makefile; none where it has none.
"""

from __future__ import annotations

import argparse
import csv
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path

LIST = Path(__file__).parent / "projects.csv"
_OTHER_LISTS = ("programs.csv", "later.csv", "third.csv")
_SOURCES = frozenset((".cu", ".cuh", ".cpp", ".cc", ".cxx", ".c", ".h", ".hpp", ".inl"))
_OUTSIDE = re.compile(
    r'#\s*include\s*[<"](mpi\.h|ATen|torch|c10|opencv|GL/|GLFW|EGL|vulkan|SDL|SFML|nccl|nvshmem|npp|cudnn|cufft|cutensor'
    r"|cusparse|cusolver|nvjpeg|nvrtc|cuda_gl|helper_gl|cutlass|cute/|boost/|gtest|benchmark/|fmt/|hdf5|gflags|helper_image"
    r"|caliper|shrUtils|cudpp|FreeImage|optix|sycl|Kokkos|hip/|curl)",
)
_INPUT = re.compile(
    r"\bifstream\b|sdkFindFilePath|sdkLoad|imread|stbi_load|cudaDeviceEnablePeerAccess|cudaIpc|cudaGraphicsMap|O_RDONLY"
    r"|fopen\s*\([^;]*\"r[b+]*\"|cuModuleLoad|cudaLibraryLoad|IMMA|cudaLaunchDevice|<<<[^;]*>>>[^;]*// *child"
)
_DOWNLOAD = re.compile(r"FetchContent|ExternalProject|CPMAddPackage|\bwget\b|\bcurl\b|conan|git submodule")
_PACKAGE = re.compile(r"find_package\s*\(\s*(\w+)", re.IGNORECASE)
_PACKAGES = frozenset(("cuda", "cudatoolkit", "openmp", "threads", "thrust", "cub", "libcudacxx", "cccl"))
_CMAKE_CUDA = re.compile(r"add_executable|cuda_add_executable", re.IGNORECASE)
_CMAKE_PROJECT = re.compile(r"^\s*project\s*\(", re.IGNORECASE | re.MULTILINE)
_BUILD_FILES = {"cmakelists.txt": "cmake", "makefile": "make", "gnumakefile": "make"}
_REMOVED = re.compile(
    r"\btexture\s*<|cudaBindTexture|cudaThread(Synchronize|Exit)|(?<!d_)\b\w*[pP]rops?\w*(\.|->)(clockRate|memoryClockRate"
    r"|deviceOverlap|computeMode|kernelExecTimeoutEnabled)|cudaFuncSetSharedMemConfig|__shfl\w*\((?!\w*_sync)|thrust::(unary|binary)_function"
    r"|cub::(Max|Min|Sum)\(\)|cub::TransformInputIterator|cub::CountingInputIterator|cuda_texture_types"
)
_NVCC = re.compile(r"\bnvcc\b|\$[({]NVCC[)}]")


_RUN = re.compile(r"^run\w*:.*\n\t.*?\./\S+[ \t]+([^\n|>;&$]*)", re.MULTILINE)
NAMED = (
    ("ANL-CESAR/XSBench", "cuda", "make", "files thrust", "XSBench", "-m event -s small -l 20000"),
    ("UoB-HPC/BabelStream", ".", "cmake", "mixed", "cuda-stream", "-s 1048576 -n 2"),
    ("UoB-HPC/TeaLeaf", ".", "cmake", "files mixed", "cuda-tealeaf", ""),
    ("UoB-HPC/miniBUDE", ".", "cmake", "mixed", "cuda-bude", "-n 1024 -i 1"),
    ("moderngpu/moderngpu", "tests", "cmake", "thrust", "test_scan", ""),
    ("owensgroup/SlabHash", ".", "cmake", "mixed", "concurrent_map", ""),
    ("LLNL/Quicksilver", "src", "make", "rdc files", "qs", "-n 1000"),
    ("eyalroz/cuda-api-wrappers", "examples", "cmake", "mixed groups", "vectorAdd", ""),
    (
        "ComputationalRadiationPhysics/cuda_memtest",
        ".",
        "cmake",
        "mixed",
        "cuda_memtest",
        "--num_passes 1 --num_iterations 1",
    ),
    ("harrism/hemi", "examples/blackscholes_hemiarray", "make", "mixed", "", ""),
    ("akrivx/cuda-matmul-lab", ".", "cmake", "files mixed", "", ""),
    ("jdcfd/cuda-examples", "Cpp", "cmake", "rdc files groups", "dot_example", ""),
    ("CNugteren/myGEMM", ".", "make", "mixed files", "bin/myGEMM", ""),
    ("ilya-v/nbody-cuda", ".", "cmake", "mixed files thrust", "", ""),
    ("ParRes/Kernels", "Cxx11", "make", "thrust", "nstream-cuda", "10 1000000"),
    ("terkelbo/CUDA-Matmult-Poisson", "matmult", "make", "mixed files", "", ""),
    ("rogerallen/raytracinginoneweekendincuda", ".", "make", "files", "cudart", ""),
    ("trevor-m/cuda-pathtrace", ".", "make", "thrust mixed", "", ""),
    ("bcumming/cuda-examples", ".", "make", "files", "", ""),
    ("ltoniazzi/cuda-examples", "src/reduce", "make", "files", "", ""),
    ("eyalroz/cuda-api-wrappers", "examples", "cmake", "mixed groups", "binaryPartitionCG", ""),
    ("moderngpu/moderngpu", "demo", "cmake", "mixed", "bfs3", ""),
    ("jdcfd/cuda-examples", "Cpp", "cmake", "rdc files groups", "cg_example", ""),
    ("harrism/hemi", "examples/parallel_for", "make", "mixed", "", ""),
    ("yuhc/gpu-rodinia", "cuda/lavaMD", "make", "mixed files", "lavaMD", "-boxes1d 4"),
    ("ParRes/Kernels", "Cxx11", "make", "thrust", "transpose-cuda", "10 256"),
    ("moderngpu/moderngpu", "tests", "cmake", "thrust", "test_mergesort", ""),
    ("eyalroz/cuda-api-wrappers", "examples", "cmake", "mixed", "simpleStreams", ""),
    ("harrism/hemi", "examples/nbody_vec4", "make", "mixed", "", ""),
    (
        "yuhc/gpu-rodinia",
        "cuda/streamcluster",
        "make",
        "files mixed",
        "sc_gpu",
        "10 20 256 4096 4096 1000 none output.txt 1",
    ),
    ("yuhc/gpu-rodinia", "cuda/lud", "make", "mixed files", "cuda/lud_cuda", "-s 256 -v"),
)


@dataclass(frozen=True)
class Project:
    """One project.

    Attributes:
        repository: owner and name.
        commit: of the repository.
        folder: of the project, in the repository.
        build: ``cmake`` or ``make``.
        features: why it is in the list: "files", "rdc", "thrust", "cub", "groups", "mixed", with spaces between.
        program: the executable that is run, as its build names it.
        arguments: of the program.
    """

    repository: str
    commit: str
    folder: str
    build: str
    features: str
    program: str = ""
    arguments: str = ""


def candidates(top: Path, taken: frozenset[str]) -> Iterator[tuple[str, str, str]]:
    """Folder, build and features of each project of a checkout that the rule takes, in the order of the paths."""
    builds: dict[str, str] = {}
    for path in sorted(one for one in top.rglob("*") if one.name.lower() in _BUILD_FILES and one.is_file()):
        kind = _BUILD_FILES[path.name.lower()]
        folder = path.parent.relative_to(top).as_posix()
        if kind == "make" or _CMAKE_PROJECT.search(_text(path)):
            builds.setdefault(folder, kind)
    for folder, kind in sorted(builds.items()):
        if f"{top.name}/{folder}" in taken or _collects(folder, builds):
            continue
        features = _features(top / folder, kind)
        if features:
            yield folder, kind, features


def _collects(folder: str, builds: dict[str, str]) -> bool:
    """Whether a folder stands above others with a build of the same kind: it is a collection, not a project."""
    prefix = "" if folder == "." else f"{folder}/"
    return any(other != folder and other.startswith(prefix) and builds[other] == builds[folder] for other in builds)


def _features(folder: Path, kind: str) -> str:
    """What makes a folder a project of the list; "" if the rule does not take it."""
    build = "".join(_text(one) for one in folder.iterdir() if one.name.lower() in ("cmakelists.txt", "makefile"))
    inner = [_text(one) for one in folder.rglob("CMakeLists.txt")] if kind == "cmake" else []
    whole_build = build + "".join(inner)
    if not (_NVCC if kind == "make" else _CMAKE_CUDA).search(whole_build) or _DOWNLOAD.search(whole_build):
        return ""
    packages = {one.lower() for one in _PACKAGE.findall(whole_build)}
    if kind == "cmake" and packages - _PACKAGES or "mpicc" in whole_build or "mpicxx" in whole_build:
        return ""
    files = [one for one in folder.rglob("*") if one.suffix in _SOURCES and one.is_file()]
    texts = {one: _text(one) for one in files}
    everything = "\n".join(texts.values())
    if "__global__" not in everything and "thrust/" not in everything:
        return ""
    if (
        not re.search(r"\bmain\s*\(", everything)
        or _OUTSIDE.search(everything)
        or _INPUT.search(everything)
        or _REMOVED.search(everything)
    ):
        return ""
    cuda = [one for one in files if one.suffix == ".cu"]
    host = [one for one in files if one.suffix in (".cpp", ".cc", ".cxx", ".c")]
    mains = [one for one in files if re.search(r"\bmain\s*\(", texts[one])]
    found = {
        "files": len(cuda) > 1 and len(mains) < len(cuda),
        "rdc": bool(re.search(r"-rdc[= ]*true|-dc\b|SEPARABLE_COMPILATION\s+(ON|TRUE)|--device-c", whole_build)),
        "thrust": "#include <thrust/" in everything,
        "cub": "#include <cub/" in everything,
        "groups": "cooperative_groups" in everything,
        "mixed": bool(cuda and host),
    }
    return " ".join(name for name, there in found.items() if there)


def _text(path: Path) -> str:
    return path.read_text("latin-1")


def chosen(checkouts: Path, each: int) -> Iterator[Project]:
    """The projects that the rule takes from a folder of checkouts (``owner+name``)."""
    taken = frozenset(_taken())
    turns: list[tuple[int, Project]] = []
    for top in sorted(one for one in checkouts.iterdir() if (one / ".git").exists()):
        commit = _commit(top)
        found = list(candidates(top, taken))
        count = min(each, len(found))
        for turn in range(count):
            folder, build, features = found[turn * len(found) // count]
            arguments = _arguments(top / folder) if build == "make" else ""
            turns.append((turn, Project(top.name.replace("+", "/"), commit, folder, build, features, "", arguments)))
    seen: Counter[str] = Counter(project.repository for _, project in turns)
    for repository, folder, build, features, program, arguments in NAMED:
        top = checkouts / repository.replace("/", "+")
        turns.append((seen[repository], Project(repository, _commit(top), folder, build, features, program, arguments)))
        seen[repository] += 1
    for _, project in sorted(turns, key=lambda one: one[0]):
        yield project


def _commit(top: Path) -> str:
    return subprocess.run(["git", "-C", top, "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()


def _arguments(folder: Path) -> str:
    """What the Makefile's target ``run`` gives the program."""
    text = "\n".join(_text(one) for one in folder.iterdir() if one.name.lower() == "makefile")
    found = _RUN.search(text)
    return found[1].strip() if found else ""


def _taken() -> Iterator[str]:
    """Folders of the programs of the other lists."""
    for name in _OTHER_LISTS:
        with (LIST.parent / name).open(newline="") as file:
            for row in csv.DictReader(file):
                yield f"{row['repository'].replace('/', '+')}/{Path(row['main']).parent.as_posix()}"


def write(projects: list[Project], path: Path = LIST) -> None:
    """Write the list."""
    with path.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(field.name for field in fields(Project))
        table.writerows(map(astuple, projects))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("checkouts", type=Path, help="folder with the repositories, as owner+name")
    parser.add_argument("--each", type=int, default=8, help="projects of one repository")
    parser.add_argument("--out", type=Path, default=LIST)
    given = parser.parse_args()
    write(list(chosen(given.checkouts, given.each)), given.out)
