"""Whose lines PTX of Warp has: its headers' accesses count where the author's Python called for them."""

from __future__ import annotations

import re

_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', re.MULTILINE)
_LOC = re.compile(r"^(\s*\.loc\s+)(\d+ \d+ \d+)(?:, function_name [^,]+, inlined_at (\d+ \d+ \d+))?", re.MULTILINE)
_HEADERS = "/warp/native/"  # where the package keeps its own


def files(ptx: str) -> dict[str, str]:
    """Source files of a PTX text by their numbers there."""
    return dict(_FILE.findall(ptx))


def authors_lines(ptx: str) -> str:
    r"""A PTX text in which a place in Warp's headers is the place in other files that it was inlined at.

    >>> text = '''.loc 1 7 5
    ... .loc 2 30 9, function_name $a, inlined_at 1 7 5
    ... .loc 2 40 1, function_name $b, inlined_at 2 30 9
    ... .loc 1 3 1, function_name $c, inlined_at 1 7 5
    ... .file 1 "/home/me/k.py"
    ... .file 2 "/x/warp/native/array.h"'''
    >>> print(authors_lines(text).partition(".file")[0].strip())
    .loc 1 7 5
    .loc 1 7 5
    .loc 1 7 5
    .loc 1 3 1
    """
    headers = {number for number, path in files(ptx).items() if _HEADERS in path}
    outside: dict[str, str] = {}  # where a place was inlined at, by the place, as the text has it so far

    def rewritten(found: re.Match[str]) -> str:
        start, place, called = found.groups()
        inside = called is not None and place.split()[0] in headers
        outside[place] = outside.get(called, called) if inside else place
        return start + outside[place]

    return _LOC.sub(rewritten, ptx)
