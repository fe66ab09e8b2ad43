"""The entry of a level's loops: compiled without tests of indices, and called once per quantum at little cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numba import types

from memsim.jit.mode import PLAIN_NUMBA, PLAIN_PYTHON


@contextmanager
def _indices_from_the_start() -> Iterator[None]:
    """Compile without Numba's check of every index for being negative, which Python would count from the end.

    No index of the loops is negative (tests run them as plain Python and look), and the checks took a fifth of a trial.
    """
    from numba.np import arrayobj

    def as_it_is(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:
        return context.cast(builder, index, kind, types.intp if kind.signed else types.uintp)

    checked = arrayobj.fix_integer_index
    arrayobj.fix_integer_index = as_it_is
    try:
        yield
    finally:
        arrayobj.fix_integer_index = checked


def is_ready(function: Any, *arguments: Any) -> bool:
    """Whether a loop needs no compilation for arguments of these types: it was called with such, or lies on disk."""
    if PLAIN_PYTHON:
        return True
    return _is_known(function, _types(arguments))


def _is_known(function: Any, signature: tuple[Any, ...]) -> bool:
    if PLAIN_NUMBA:
        return signature in function.overloads
    from memsim.jit.cached_loop import found_on_disk

    return signature in function.overloads or found_on_disk(function, signature)


def entry(function: Any, *arguments: Any) -> Callable[..., Any]:
    """The machine code of a loop for arguments of these types, compiled if need be.

    Numba's dispatcher works out the types of every argument at every call, which takes microseconds for a tuple of
    arrays; a simulation loop that calls the same compiled loop 40,000 times per trial does it once. Without memsim's
    extensions, the function itself.
    """
    if PLAIN_PYTHON or PLAIN_NUMBA:
        return function
    signature = _types(arguments)
    if not _is_known(function, signature):
        with _indices_from_the_start():
            function.compile(signature)
    return function.overloads[signature].entry_point


_of_arrays: dict[tuple[Any, ...], Any] = {}
_of_tuples: dict[tuple[Any, ...], Any] = {}


def _types(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(_type(argument) for argument in arguments)


def _type(value: Any) -> Any:
    """Numba's type of a value, as ``numba.typeof`` has it; that works out each record's type anew, which took longer
    than a small trial for the hundreds of arrays of a machine."""
    import numba

    if isinstance(value, np.ndarray):
        flags = value.flags
        # Titles of a record's fields carry values (see jit.specialization); dtypes that differ in them are not equal.
        array = value.dtype, value.ndim, flags.c_contiguous, flags.f_contiguous, flags.aligned, flags.writeable
        if array not in _of_arrays:
            _of_arrays[array] = numba.typeof(value)
        return _of_arrays[array]
    if isinstance(value, tuple) and value:
        kinds = type(value), tuple(_type(part) for part in value)
        if kinds not in _of_tuples:
            _of_tuples[kinds] = types.BaseTuple.from_types(kinds[1], kinds[0])
        return _of_tuples[kinds]
    return numba.typeof(value)
