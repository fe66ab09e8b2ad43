"""Which kernel of a PTX text a launch in C++ means: templates and overloads have one name and several entries."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memsim.sources.capture.lane_log import Argument
from memsim.sources.capture.ptxas import kernel_name
from memsim.sources.ptx.cpp.parameters import packed, parameters
from memsim.sources.ptx.launchers.caught import entries
from memsim.sources.ptx.mangled import demangled


def fitting(ptx: str, kernel: str, written: str, given: Sequence[Argument]) -> list[str]:
    """The entries that a launch may mean; the one, where the launch's own text or the arguments' types tell.

    Args:
        ptx: the module.
        kernel: bare name.
        written: as the launch writes it, ``ns::k<float, 4>``.
        given: its arguments.
    """
    found = [entry for entry in entries(ptx) if kernel_name(entry) == kernel]
    found = [entry for entry in found if packed(given, parameters(ptx, entry)) is not None]
    if len(found) > 1:
        named = [entry for entry in found if _template_arguments(demangled(entry)) == _template_arguments(written)]
        exact = [entry for entry in named or found if _is_exact(ptx, entry, given)]
        return exact or named or found
    return found


def _is_exact(ptx: str, entry: str, given: Sequence[Argument]) -> bool:
    """Whether no argument has to be converted."""
    kinds = {"f": "fb", "i": "subp", "u": "subp", "p": "ub", "s": "b"}
    return all(
        one.kind[0] in kinds[argument.kind] and one.bytes == len(argument.data)
        for one, argument in zip(parameters(ptx, entry), given, strict=True)
    )


def _template_arguments(name: str) -> str:
    """What stands in a name's first angle brackets, without spaces and casts.

    >>> _template_arguments("void k<float, (int)4>(float*)"), _template_arguments("k")
    ('float,4', '')
    """
    start, depth = name.find("<"), 0
    for at in range(max(start, 0), len(name) if start >= 0 else 0):
        depth += {"<": 1, ">": -1}.get(name[at], 0)
        if depth == 0:
            return re.sub(r"\([\w ]+\)(?=[\d-])|\s+|(?<=\d)[uUlL]+", "", name[start + 1 : at])
    return ""
