"""Parameters whose values a loop is compiled for, so that what other values would need is no part of its code.

The value stands in the title of the field, hence in the type of the record that Numba sees: a machine with another
value gets a loop of its own, which takes seconds to compile. So only values that many machines share are worth it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np
from numba import types

from memsim.jit.mode import PLAIN_NUMBA

_EQUALS = "="  # in a title, between a field and its value


def fixed(record: np.ndarray, names: Iterable[str]) -> np.ndarray:
    """The same memory, as a record whose fields of these names never change.

    Args:
        record: one record of integers.
        names: of fields; loops for it read the others from memory.

    >>> shape = np.array([(4, 0)], [("ways", "<i8"), ("policy", "<i8")])
    >>> int(fixed(shape, ["policy"])["policy"][0]), fixed(shape, ["policy"]).dtype == shape.dtype
    (0, False)
    """
    if PLAIN_NUMBA:
        return record
    titles = {name: f"{name}{_EQUALS}{record[name][0]}" for name in names}
    for name in titles:
        _teach(name)
    fields = [((titles[n], n) if n in titles else n, record.dtype[n].str) for n in record.dtype.names or ()]
    return record.view(np.dtype(fields))


def is_fixed(record: np.ndarray) -> bool:
    """Whether loops are compiled for values of some of a record's fields."""
    return any(len(field) == 3 for field in (record.dtype.fields or {}).values())  # the third is the title


def matching(kinds: Iterable[Mapping[str, int]], values: Mapping[str, int]) -> tuple[str, ...]:
    """The names in the first of some kinds that has all values as they are; none if there is no such kind.

    >>> matching([{"lines": 4, "sectors": 1}, {"lines": 1}], {"lines": 1, "sectors": 4})
    ('lines',)
    """
    return next((tuple(kind) for kind in kinds if all(values[name] == value for name, value in kind.items())), ())


@cache
def _teach(name: str) -> None:
    """Have Numba take the value of such a field from its title; of a record without one, from memory."""

    def read(context: Any, builder: Any, kind: Any, record: Any) -> Any:
        from numba.np.arrayobj import record_getattr  # all of NumPy's implementation, which only compiling needs

        title = kind.fields[name].title
        if not (isinstance(title, str) and title.startswith(f"{name}{_EQUALS}")):  # none, or a user's own
            return record_getattr(context, builder, kind, record, name)
        return context.get_constant(kind.typeof(name), int(title.partition(_EQUALS)[2]))

    from numba.core.imputils import lower_getattr

    lower_getattr(types.Record, name)(read)
