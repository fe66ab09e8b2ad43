"""The list of programs, ``programs.csv``: mains of public repositories, each at one commit."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from pathlib import Path

LIST = Path(__file__).parent / "programs.csv"


@dataclass(frozen=True)
class PublicProgram:
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

    def folder(self, checkouts: Path) -> Path:
        """The folder of its main file, where `checkouts` has each repository as ``owner+name``."""
        return (self._top(checkouts) / self.main).parent

    def files(self, checkouts: Path) -> list[str]:
        """Its main file and further sources."""
        return [str(self._top(checkouts) / name) for name in [self.main, *filter(None, self.sources.split(":"))]]

    def include_options(self, checkouts: Path) -> list[str]:
        """The compiler's options that name its folders of headers."""
        return [f"-I{self._top(checkouts) / name}" for name in filter(None, self.includes.split(":"))]

    def _top(self, checkouts: Path) -> Path:
        return checkouts / self.repository.replace("/", "+")


def listed(path: Path = LIST) -> list[PublicProgram]:
    """The programs of the list."""
    with path.open(newline="") as file:
        return [PublicProgram(**row) for row in csv.DictReader(file)]


def write(programs: Iterable[PublicProgram], path: Path = LIST) -> None:
    """Write the list."""
    with path.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(field.name for field in fields(PublicProgram))
        table.writerows(map(astuple, programs))
