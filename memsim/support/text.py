"""Text of files that nobody vouches for, as it can be stored and shown: one line, no control characters."""

from __future__ import annotations

from typing import Any


def printable(text: str) -> str:
    r"""`text` with what cannot be printed (line feeds, escapes, marks of direction) written out as Python does.

    >>> printable("x\n\x1b[31m")
    'x\\n\\x1b[31m'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def all_printable(value: Any) -> Any:
    r"""A JSON value with every text in it, keys too, made :func:`printable`.

    >>> all_printable({"a\tb": ["c\n", 3]})
    {'a\\tb': ['c\\n', 3]}
    """
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list):
        return [all_printable(item) for item in value]
    if isinstance(value, dict):
        return {all_printable(name): all_printable(item) for name, item in value.items()}
    return value
