"""What a folder of measurements contains, and how memsim runs the launch of a row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from experiments.silicon.columns import read_table
from experiments.silicon.programs import MECHANISMS, PROGRAMS
from experiments.silicon.public_programs import command_of, public_programs

TABLES = {"own": "own_programs.csv", "mechanisms": "mechanisms.csv", "programs": "programs.csv"}
ABOUT = ("table", "program", "parameters", "kernel", "launch", "grid", "block")


@dataclass(frozen=True)
class Measured:
    """A launch that was measured.

    Attributes:
        about: cells of the columns :data:`ABOUT`.
        cells: those of its counters.
        files: an executable, or a CUDA C++ file.
        arguments: of the program.
        kernel: its name; "": any.
        launch: which of the kernel's, from 0; None: the one with the most accesses.
    """

    about: dict[str, str]
    cells: Mapping[str, str] = field(repr=False)
    files: str
    arguments: tuple[str, ...]
    kernel: str
    launch: int | None


def rows(folder: Path, executables: Path) -> Iterator[Measured]:
    """The launches of all tables, in their order.

    Args:
        folder: of the tables.
        executables: folder of the public programs, as ``build`` makes them.

    Raises:
        InputError: a table lacks a column.
    """
    for table, name in TABLES.items():
        if (folder / name).exists():
            yield from _OF[table](folder / name, executables)


def _own(file: Path, _: Path) -> Iterator[Measured]:
    known = {program.name: program for program in PROGRAMS}
    for row in read_table(file, ("program", "kernel", "grid", "block")):
        program = known[row["program"]]
        about = _about("own", row, program.name, " ".join(program.arguments), 0)
        yield Measured(about, row, str(program.file), program.arguments, program.kernel, None)


def _mechanisms(file: Path, _: Path) -> Iterator[Measured]:
    for row in read_table(file, ("group", "row", "name", "a", "b", "c", "kernel", "grid", "block")):
        parameters = " ".join(row[name] for name in ("name", "a", "b", "c"))
        about = _about("mechanisms", row, row["group"], parameters, int(row["row"]))
        yield Measured(about, row, str(MECHANISMS), (row["group"], row["row"]), "", 0)


def _programs(file: Path, executables: Path) -> Iterator[Measured]:
    known = {numbered.name: numbered for numbered in public_programs()}
    seen: Counter[tuple[str, str]] = Counter()
    for row in read_table(file, ("program", "kernel", "grid", "block")):
        numbered, launch = known[row["program"]], seen[row["program"], row["kernel"]]
        seen[row["program"], row["kernel"]] += 1
        executable, *arguments = command_of(numbered, executables)
        about = _about("programs", row, numbered.name, numbered.program.arguments, launch)
        yield Measured(about, row, executable, tuple(arguments), row["kernel"], launch)


def _about(table: str, row: Mapping[str, str], program: str, parameters: str, launch: int) -> dict[str, str]:
    cells = (table, program, parameters, row["kernel"], str(launch), row["grid"], row["block"])
    return dict(zip(ABOUT, cells, strict=True))


_OF = {"own": _own, "mechanisms": _mechanisms, "programs": _programs}
