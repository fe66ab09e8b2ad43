"""Turns whatever goes wrong in a kernel file into one line that names the file and the line."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from memsim.support.errors import InputError


@contextmanager
def located(show: Callable[[str], str], filename: str, line: int) -> Iterator[None]:
    """Raises InputError for every exception of the block, at the innermost line of ``filename`` it passed through.

    Args:
        show: gives the file's name as messages show it.
        filename: the kernel file, as Python knows it.
        line: named when the exception passed through no line of the file.
    """
    try:
        yield
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        if isinstance(error, SyntaxError) and error.filename == filename:
            line = error.lineno or line
        for entry in traceback.extract_tb(error.__traceback__):
            if entry.filename == filename and entry.lineno:
                line = entry.lineno
        message = str(error) or "no message"
        raise InputError(show(filename), f"line {line}", f"raised {type(error).__name__}: {message}") from error
