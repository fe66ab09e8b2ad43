"""A kernel's launch as a launcher catches it, whatever language it came from."""

from __future__ import annotations

import re
import site
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memsim.sources.ptx.origin import Origin

Extents = tuple[int, int, int]
_ENTRY = re.compile(r"\.entry\s+([\w$]+)")
_PACKAGE = str(Path(__file__).parents[3])


@dataclass(frozen=True)
class Code:
    """A kernel as its compiler made it.

    Attributes:
        ptx: the whole module.
        entry: the kernel's name in it.
        name: as its author wrote it.
        source: the file of the author's that it was compiled from, as results name it.
        parameters: their names, where they are known; they name the arrays that are passed.
        origin: where the files lie whose lines its PTX names; by default none is looked for.
    """

    ptx: str
    entry: str
    name: str
    source: str
    parameters: tuple[str, ...] = ()
    origin: Origin = Origin()


@dataclass(frozen=True)
class Caught:
    """One launch, as ``captured.launches`` lists it.

    Attributes:
        kernel: its name, as its author wrote it.
        index: which of this kernel's launches, from 0.
        order: which of all launches of the program, from 0.
        grid, block, cluster: extents (x, y, z), in blocks, threads and blocks.
        shared_bytes: dynamic shared memory of a block.
        where: the user's line that launched it, ``FILE:LINE``.
        code: what runs.
        arguments: one a parameter: device addresses and scalars.
    """

    kernel: str
    index: int
    order: int
    grid: Extents
    block: Extents
    cluster: Extents
    shared_bytes: int
    where: str
    code: Code = field(repr=False)
    arguments: Sequence[Any] | bytes = field(repr=False)


def entries(ptx: str) -> list[str]:
    r"""Names of the kernels in a PTX text.

    >>> entries(".visible .entry add(\n.param .u64 a)")
    ['add']
    """
    return _ENTRY.findall(ptx)


def extents(value: Any) -> Extents:
    """Extents as launchers give them, a number or up to three, filled up with ones.

    >>> extents(7), extents((4, 2))
    ((7, 1, 1), (4, 2, 1))
    """
    given = tuple(int(one) for one in value) if isinstance(value, Sequence) else (int(value),)
    x, y, z = (*given, 1, 1, 1)[:3]
    return x, y, z


def user_line() -> str:
    """The innermost line that runs now and lies in no installed package, ``FILE:LINE``."""
    libraries = (_PACKAGE, sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"), *site.getsitepackages(), "<")
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(libraries):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
