"""Names of C++ as their authors wrote them."""

from __future__ import annotations

import ctypes
from functools import cache


@cache
def demangled(name: str) -> str:
    """A C++ name as its author would write it; as it is, where no C++ runtime is installed that can decode it.

    >>> demangled("main"), demangled("s")  # which alone would be the code of a type, short
    ('main', 's')
    """
    if not name.startswith("_Z"):
        return name
    try:
        runtime = ctypes.CDLL("libstdc++.so.6")
    except OSError:
        return name
    demangle, status = runtime.__cxa_demangle, ctypes.c_int()
    demangle.restype = ctypes.c_void_p
    text = demangle(name.encode(), None, None, ctypes.byref(status))
    if not text:
        return name
    plain = ctypes.string_at(text).decode()
    free = ctypes.CDLL(None).free
    free.argtypes = [ctypes.c_void_p]
    free(text)
    return plain


def variable_name(name: str) -> str:
    """A variable's name without namespaces and the function it is declared in.

    >>> variable_name("tile")
    'tile'
    """
    return demangled(name).rpartition("::")[2]
