"""Which of a program's launches are captured, and how much of each."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from memsim.support.errors import InputError

ALL = range(sys.maxsize)
"""Every launch."""


@dataclass(frozen=True)
class CaptureSelection:
    """What of a program's run is captured.

    Attributes:
        kernels: by name; none: any.
        launches: which launches of a kernel, from 0; None: the first, or with ``to_end`` that with the
            most accesses.
        blocks: ``FIRST:LAST``, ``4x`` (times the resident threads) or ``all``; None: what section 3.1 of Baghsorkhi
            2012 asks for.
        snapshot_only: other blocks of the launch do not run, so what runs later sees wrong data.
        registers: of a thread; None: as nvcc reports for the GPU, where there is nvcc.
        to_end: let the program run to its end; else it is ended as soon as the wanted traces are complete.
        stand_ins: where all launches are wanted, leave out those that others stand for (memsim/capture/unexecuted.py).
    """

    kernels: tuple[str, ...] = ()
    launches: Sequence[int] | None = None
    blocks: str | None = None
    snapshot_only: bool = False
    registers: int | None = None
    to_end: bool = False
    stand_ins: bool = False

    @property
    def heaviest(self) -> bool:
        """Whether all launches run, to be compared."""
        return self.launches is None and self.to_end and not self.snapshot_only

    @property
    def several(self) -> bool:
        """Whether more than one launch was asked for by its number, or more than one kernel by its name."""
        return len(self.kernels) > 1 or (self.launches is not None and len(self.launches) > 1)

    def file_stem(self, kernel: str, index: int) -> str:
        """The name of a launch's trace in a folder."""
        return kernel if self.launches is None or len(self.launches) == 1 else f"{kernel}-{index}"


def chosen_kernels(given: str | Sequence[str] | None) -> tuple[str, ...]:
    """Kernels by name, as ``--kernel`` has them.

    >>> chosen_kernels("a, b"), chosen_kernels(None)
    (('a', 'b'), ())
    """
    texts = given.split(",") if isinstance(given, str) else given or ()
    return tuple(name for text in texts if (name := text.strip()))


def chosen_launches(given: int | str | Sequence[int] | None) -> Sequence[int] | None:
    """Launches by number, as ``--launch`` has them: one, several with commas, or all.

    Raises:
        InputError: something else.

    >>> chosen_launches("0,3,7"), chosen_launches(2), chosen_launches("all") is ALL
    ((0, 3, 7), (2,), True)
    """
    if given is None or isinstance(given, range):
        return given
    if given == "all":
        return ALL
    numbers = [given] if isinstance(given, int) else given.split(",") if isinstance(given, str) else given
    try:
        found = tuple(sorted({int(one) for one in numbers}))
    except ValueError:
        found = ()
    if not found or found[0] < 0:
        raise InputError("--launch", str(given), "is not a launch number; give one from 0 on, several (0,3,7) or all")
    return found
