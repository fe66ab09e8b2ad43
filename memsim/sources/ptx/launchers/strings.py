"""Kernels in strings of CUDA C++, by NVRTC: what the stand-ins for CuPy and cuda.core have in common."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memsim.sources.ptx.launchers.capturing import Capturing
from memsim.sources.ptx.launchers.caught import Code, entries, user_line
from memsim.sources.ptx.launchers.nvrtc import compile_string
from memsim.sources.ptx.origin import Origin, beside
from memsim.sources.ptx.ptxas import kernel_name
from memsim.support.errors import InputError

_UNKNOWN = "kernel.cu"  # the file of a string that stands in no file as it is


class StringModule:
    """A string of CUDA C++ (or of PTX) and its kernels, compiled when the first is asked for.

    Args:
        capturing: what launches are handed to.
        code: the source.
        options: NVRTC's.
        expressions: instances of templates that will be asked for.
        ptx: whether `code` is PTX.
    """

    def __init__(
        self,
        capturing: Capturing,
        code: str,
        options: Sequence[str] = (),
        expressions: Sequence[str] = (),
        ptx: bool = False,
    ) -> None:
        self._capturing, self._code = capturing, code
        self._options, self._expressions, self._is_ptx = tuple(options), tuple(expressions), ptx
        self._file, self._line = _written(code, user_line())
        self._text: str | None = None
        self._names: dict[str, str] = {}

    def kernel(self, name: str) -> Code:
        """A kernel by its name, or by a name expression.

        Raises:
            InputError: NVRTC is not installed, the code does not compile, or it has no such kernel.
        """
        if self._text is None:
            self._compile(name)
        assert self._text is not None
        entry = self._names.get(name, name)
        known = entries(self._text)
        if entry not in known:  # without extern "C", which would have kept its name
            found = [one for one in known if kernel_name(one) == name]
            if len(found) != 1:
                raise InputError(self._file, name, f"is no kernel of this code; it has {', '.join(known) or 'none'}")
            entry = found[0]
        bare = kernel_name(entry)
        origin = Origin() if self._is_ptx or self._file == _UNKNOWN else beside(self._file)
        return Code(self._text, entry, bare, self._file, tuple(parameter_names(self._code, bare)), origin)

    def _compile(self, name: str) -> None:
        if self._is_ptx:
            self._text = self._code
            return
        expressions = [*self._expressions, *([name] if "<" in name and name not in self._expressions else [])]
        code = f'#line {self._line} "{self._file}"\n{self._code}'
        made = compile_string(code, self._capturing.gpu, self._options, expressions, self._file)
        self._text, self._names = made.ptx, made.names


def parameter_names(code: str, kernel: str) -> list[str]:
    """Names of a kernel's parameters as its source declares them; none where that cannot be told by its text.

    >>> parameter_names("__global__ void k(const float* __restrict__ x, int n[4], T (*f)(T)) {", "k")
    ['x', 'n', '']
    """
    found = re.search(
        rf"__global__[^;{{}}()]*(?:__launch_bounds__\s*\([^)]*\)[^;{{}}()]*)?\b{re.escape(kernel)}\s*\(", code
    )
    if found is None:
        return []
    depth, parts, start = 1, [], found.end()
    for at in range(found.end(), len(code)):
        depth += {"(": 1, "<": 1, ")": -1, ">": -1}.get(code[at], 0)
        if depth == 0 or (depth == 1 and code[at] == ","):
            parts.append(code[start:at])
            start = at + 1
        if depth == 0:
            break
    names = (re.search(r"(\w+)\s*(?:\[[^\]]*\])?\s*$", part) for part in parts)
    return [name[1] if name else "" for name in names]


def _written(code: str, where: str) -> tuple[str, int]:
    """The file and line where a string begins: in the program that launches it, if its text stands there as it is."""
    file = where.rpartition(":")[0]
    try:
        before, found, _ = Path(file).read_text().partition(code)
    except (OSError, UnicodeDecodeError):
        return _UNKNOWN, 1
    return (os.path.relpath(file), before.count("\n") + 1) if found else (_UNKNOWN, 1)


def plain(value: Any) -> Any:
    """An argument of a launch as memsim passes it: numpy's and ctypes' scalars as numbers of Python, where they can be.

    >>> plain(np.int64(3)), plain(ctypes.c_float(0.5)), plain(np.float32(2.5))
    (3, 0.5, np.float32(2.5))
    """
    if isinstance(value, np.integer | np.bool_ | bool):
        return int(value)
    return value.value if isinstance(value, ctypes._SimpleCData) else value
