"""Where the source of PTX lies: its ``.file`` directives may name anything, and traces that quote it are shared."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from memsim.sources.ptx.module import Stamp


@dataclass(frozen=True)
class Origin:
    """What a compiler read.

    Attributes:
        folders: with the program's own files, at or below them; none: of PTX whose source is not known.
        compiled: when, POSIX seconds.
    """

    folders: tuple[Path, ...] = ()
    compiled: float = math.inf

    def files(self, name: str, stamp: Stamp | None) -> Iterator[Path]:
        """The files that a name of a ``.file`` directive may mean, the likeliest first.

        Args:
            name: as it stands there.
            stamp: the one that stands next to the name.
        """
        for path in (*(folder / name for folder in self.folders), Path(name)):
            if self._was_compiled(path, stamp):
                yield path

    def _was_compiled(self, path: Path, stamp: Stamp | None) -> bool:
        """Whether a file is of the program, links followed, and as it was then."""
        try:
            real, about = path.resolve(), path.stat()
        except (OSError, ValueError, RuntimeError):  # none, no name of a file, links in a circle
            return False
        as_it_was = about.st_mtime <= self.compiled and stamp in (None, (int(about.st_mtime), about.st_size))
        return as_it_was and any(real.is_relative_to(folder.resolve()) for folder in self.folders)


NOWHERE = Origin()
"""Of PTX whose source is not known."""


def origin_of(*files: str | Path, compiled: float = math.inf) -> Origin:
    """The origin of a program of these files; what they include lies in their folders."""
    return Origin(tuple(dict.fromkeys(Path(file).absolute().parent for file in files)), compiled)
