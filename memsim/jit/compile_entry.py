"""The entry of a level's loops: compiled without tests of indices, and called once a window at little cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

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
    signature = _types(arguments)
    if PLAIN_NUMBA:
        return signature in function.overloads
    from memsim.jit.kept_loop import found_on_disk

    return signature in function.overloads or found_on_disk(function, signature)


def entry(function: Any, *arguments: Any) -> Callable[..., Any]:
    """The machine code of a loop for arguments of these types, compiled if need be.

    Numba's dispatcher works out the types of every argument at every call, which takes microseconds for a tuple of
    arrays; a conductor that calls the same loop 40,000 times a trial does it once. Without memsim's extensions, the
    function itself.
    """
    if PLAIN_PYTHON or PLAIN_NUMBA:
        return function
    signature = _types(arguments)
    if not is_ready(function, *arguments):
        with _indices_from_the_start():
            function.compile(signature)
    return function.overloads[signature].entry_point


def _types(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    import numba

    return tuple(numba.typeof(argument) for argument in arguments)
