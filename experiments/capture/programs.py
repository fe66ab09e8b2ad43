"""The list of programs, ``programs.csv``: mains of public repositories, each at one commit."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from pathlib import Path

LIST = Path(__file__).parent / "programs.csv"


@dataclass(frozen=True)
class Program:
    """One program, as its user would build and run it.

    Attributes:
        repository: owner and name.
        commit: of the repository.
        main: the file with ``main``, in the repository.
        sources: further files, with colons between.
        includes: folders for ``-I``, with colons between.
        arguments: of its command line.
        needs: what it needs besides CUDA's runtime and libraries; "": it is plain.
    """

    repository: str
    commit: str
    main: str
    sources: str
    includes: str
    arguments: str
    needs: str


def listed(path: Path = LIST) -> list[Program]:
    """The programs of the list."""
    with path.open(newline="") as file:
        return [Program(**row) for row in csv.DictReader(file)]


def write(programs: Iterable[Program], path: Path = LIST) -> None:
    """Write the list."""
    with path.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(field.name for field in fields(Program))
        table.writerows(map(astuple, programs))
