"""Public CUDA programs for a GPU's profiler: which, and how they are built.

The rule, applied before any of them was built or run: of the three lists in ``experiments/capture``, the programs that
need nothing but CUDA's runtime and were captured within 20 s of a processor; of each repository at most five, at equal
distances in the order of the lists. Two kinds are left out: programs with "hello" in their path, which move no data,
and those of SGEMM_CUDA, whose kernels are measured by themselves. The list takes one program of each repository, then
a second of each, and so on, up to 130: a run that ends early has seen most repositories. The list is fixed: it follows
the results of the time when it was made, which have changed since.
"""

from __future__ import annotations

import csv
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from itertools import chain, zip_longest
from pathlib import Path

from experiments.capture.programs import PublicProgram, listed
from experiments.capture.trying import read
from memsim.capture.build import LENIENT
from memsim.capture.compilers import find_compiler, wheel_includes
from memsim.capture.linking import link_folder
from memsim.support.errors import InputError

LIST = Path(__file__).parent / "h100_programs.csv"
ARCHITECTURE = 90
EACH, COUNT, LONGEST = 5, 130, 20.0  # programs of a repository, and of all; seconds of a capture
_LISTS = (
    ("programs.csv", "scoreboard.csv"),
    ("later.csv", "later_scoreboard.csv"),
    ("third.csv", "third_scoreboard.csv"),
)
_ELSEWHERE = ("siboehm/SGEMM_CUDA",)
_LIBRARIES = ("cublas", "cublasLt", "curand", "cufft", "cusparse", "cusolver")
# What CUDA 13 has removed, and what its documentation names in the place of it.
_RENAMED = ("cudaThreadSynchronize=cudaDeviceSynchronize", "cudaThreadExit=cudaDeviceReset")


@dataclass(frozen=True)
class NumberedProgram:
    """A program of the list.

    Attributes:
        name: of its executable: a number and the name of its main file.
        program: which needs nothing but CUDA's runtime.
    """

    name: str
    program: PublicProgram


def chosen() -> Iterator[NumberedProgram]:
    """The programs that the rule takes, in the order of the list."""
    of_repositories: dict[str, list[PublicProgram]] = {}
    for program in _fitting():
        of_repositories.setdefault(program.repository, []).append(program)
    turns = zip_longest(*(_spread(programs, EACH) for programs in of_repositories.values()))
    in_order = [program for program in chain.from_iterable(turns) if program is not None]
    for number, one in enumerate(in_order[:COUNT]):
        name = f"{number:03}_{re.sub(r'[^0-9A-Za-z_-]', '_', Path(one.main).stem)}"
        yield NumberedProgram(name, one)


def _fitting() -> Iterator[PublicProgram]:
    """Programs of the three lists that were captured soon and need nothing else."""
    folder = Path(__file__).parents[1] / "capture"
    for programs, scoreboard in _LISTS:
        results = read(folder / scoreboard)
        for one in listed(folder / programs):
            row = results.get((one.repository, one.main, one.arguments))
            captured = row is not None and row.result == "captured" and float(row.seconds) <= LONGEST
            if captured and not (one.needs or one.repository in _ELSEWHERE or "hello" in one.main.lower()):
                yield one


def _spread(programs: list[PublicProgram], count: int) -> list[PublicProgram]:
    """At most so many, at equal distances: the middles of equal parts."""
    count = min(count, len(programs))
    return [programs[(2 * turn + 1) * len(programs) // (2 * count)] for turn in range(count)]


def write(programs: Iterable[NumberedProgram], path: Path = LIST) -> None:
    """Write the list."""
    names = [field.name for field in fields(PublicProgram) if field.name != "needs"]
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["name", *names])
        table.writerows([one.name, *(getattr(one.program, name) for name in names)] for one in programs)


def public_programs(path: Path = LIST) -> list[NumberedProgram]:
    """The programs of the list."""
    with path.open(newline="", encoding="utf-8") as file:
        return [NumberedProgram(row.pop("name"), PublicProgram(**row, needs="")) for row in csv.DictReader(file)]


def build_all(checkouts: Path, folder: Path, headers: Sequence[Path] = (), jobs: int = 1) -> None:
    """Build each program of the list; those that do not build are written to ``not_built.csv``.

    The executables contain PTX and the machine code that the same nvcc makes of it, and look for CUDA's runtime at the
    run. ``commands.txt`` has a line per program: its name and its arguments.

    Args:
        checkouts: folder with each repository as ``owner+name``, at the list's commit.
        folder: for the executables.
        headers: folders of headers that the toolkit lacks.
        jobs: compilers that run at a time.
    """
    folder.mkdir(parents=True, exist_ok=True)
    programs = public_programs()
    with ThreadPoolExecutor(jobs) as compilers:
        problems = list(compilers.map(lambda one: _build(one, checkouts, folder, headers), programs))
    built = [one for one, problem in zip(programs, problems, strict=True) if not problem]
    failed = [(one.name, problem) for one, problem in zip(programs, problems, strict=True) if problem]
    (folder / "commands.txt").write_text(
        "".join(f"{one.name} {one.program.arguments}".rstrip() + "\n" for one in built)
    )
    with (folder / "not_built.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([("name", "message"), *failed])


def _build(numbered: NumberedProgram, checkouts: Path, folder: Path, headers: Sequence[Path]) -> str:
    """Build one program; returns why that failed, or "" if it is there."""
    program, made = numbered.program, folder / numbered.name
    files, includes = program.files(checkouts), program.include_options(checkouts)
    if absent := [one for one in files if not Path(one).is_file()]:
        return f"{Path(absent[0]).relative_to(checkouts)} is not among the checkouts"
    if made.exists():
        return ""
    line = [*_options(headers), *includes, *files, "-o", str(made.absolute()), *_libraries()]
    done = subprocess.run(line, capture_output=True, text=True, errors="replace", cwd=program.folder(checkouts))
    if done.returncode:
        lines = [one for one in (done.stderr + done.stdout).splitlines() if "error" in one or "undefined" in one]
        return (lines or ["nvcc gives no reason"])[0].replace(f"{checkouts}/", "")
    if strip := shutil.which("strip"):
        subprocess.run([strip, str(made)], check=True)
    return ""


def _libraries() -> list[str]:
    """Libraries of the toolkit, of which a program is linked with those that it calls."""
    folder = link_folder(find_compiler(), stand_ins=True)
    return ["-Xlinker", "--as-needed", "-L", str(folder), *(f"-l{one}" for one in _LIBRARIES)]


def _options(headers: Sequence[Path]) -> list[str]:
    """The compiler and the options of every program: those of ``memsim capture``, and machine code too."""
    compiler = find_compiler()
    if compiler.nearest(ARCHITECTURE) != ARCHITECTURE:
        raise InputError(compiler.path, "nvcc", f"does not compile for sm_{ARCHITECTURE}; give a newer one")
    codes = f"arch=compute_{ARCHITECTURE},code=[compute_{ARCHITECTURE},sm_{ARCHITECTURE}]"
    return [
        str(compiler.path), "-O3", "-std=c++17", *LENIENT, "-cudart", "shared", "-lineinfo", "--no-compress",
        "-gencode", codes,
        *(f"-D{one}" for one in _RENAMED), *wheel_includes(), *(f"-Xcompiler=-idirafter,{one}" for one in headers),
    ]  # fmt: skip


def command_of(numbered: NumberedProgram, folder: Path) -> list[str]:
    """Its command line."""
    return [str((folder / numbered.name).absolute()), *shlex.split(numbered.program.arguments)]
