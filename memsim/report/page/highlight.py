"""Source text with its syntax marked, line by line: CUDA C++, Python and whatever else Pygments has a lexer for."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import PurePath

from memsim.support.errors import InputError

_CUDA = (".cu", ".cuh", ".h", ".hpp", ".inl", ".cpp", ".cc")  # headers hold device code too


def highlighted(name: str, lines: Sequence[str]) -> list[str]:
    """HTML of each line, everything escaped; tokens stand in ``<span>`` elements of Pygments' short classes.

    Args:
        name: of the file, whose suffix names the language; of an unknown one, no token is marked.
        lines: of the file, without line ends.

    Raises:
        InputError: Pygments is not installed.
    """
    try:
        from pygments import highlight, lexers
        from pygments.formatters import HtmlFormatter
        from pygments.util import ClassNotFound
    except ImportError:
        raise InputError("memsim report", "pygments", "is not installed; pip install 'memsim[report]'") from None
    file = PurePath(name).name
    try:
        exact = {"stripnl": False, "ensurenl": False}
        suffix = PurePath(file).suffix
        known = "PythonLexer" if suffix == ".py" else "CudaLexer" if suffix in _CUDA else None
        # One that is not named takes 0.1 s to find.
        lexer = getattr(lexers, known)(**exact) if known else lexers.get_lexer_for_filename(file, **exact)
    except ClassNotFound:
        return [escape(line) for line in lines]
    marked = highlight("\n".join(lines), lexer, HtmlFormatter(nowrap=True)).split("\n")
    if len(marked) == len(lines) + 1 and not marked[-1]:
        marked.pop()
    return marked if len(marked) == len(lines) else [escape(line) for line in lines]
