"""What standard output is: a terminal of so many columns; or a pipe or file, which gets all."""

from __future__ import annotations

import shutil
import sys

NARROWEST = 40  # columns; below, nothing can be read anyway
WIDEST_PROSE = 100


def columns() -> int | None:
    """Of the terminal (the environment's COLUMNS, or its own); None: standard output is none.

    >>> columns() is None or columns() >= NARROWEST
    True
    """
    return max(NARROWEST, shutil.get_terminal_size().columns) if sys.stdout.isatty() else None


def prose_columns() -> int:
    """Where sentences wrap: at the terminal's edge, and no later than people like to read.

    >>> NARROWEST <= prose_columns() <= WIDEST_PROSE
    True
    """
    return min(columns() or WIDEST_PROSE, WIDEST_PROSE)
