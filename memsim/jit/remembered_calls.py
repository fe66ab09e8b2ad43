"""Types of operators and built-in functions that are worked out once, and not at every place that calls them.

To find the type of ``a + b``, Numba tries some thirty implementations of ``+`` in turn, twice each, at every place that
adds, and again where it writes the addition in LLVM's language. The answer depends on the types of the arguments alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core.types.functions import BaseFunction

_known: dict[tuple[Any, ...], tuple[Any, Any]] = {}
_work_out = BaseFunction.get_call_type


def _remembered(function: Any, context: Any, args: Any, kws: Any) -> Any:
    """The signature that a function is called with; only those that were found are kept."""
    key = id(function), id(context), tuple(args), tuple(kws.items())
    if key not in _known:
        _known[key] = _work_out(function, context, args, kws), function  # which keeps its id its own
    return _known[key][0]


@contextmanager
def remembered_calls() -> Iterator[None]:
    """Around the compilation of a loop, in which no implementation is added for types that another one answers for."""
    before = BaseFunction.get_call_type
    BaseFunction.get_call_type = _remembered
    try:
        yield
    finally:
        BaseFunction.get_call_type = before
