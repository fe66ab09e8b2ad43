"""The types that operations work in: C's conversions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, reduce
from typing import Any

import numpy as np


def literal_type(value: Any) -> np.dtype:
    """The type of a number without one: int32 (int64 if it does not fit), float32, bool.

    >>> literal_type(1).name, literal_type(2**40).name, literal_type(0.5).name, literal_type(np.float64(1)).name
    ('int32', 'int64', 'float32', 'float64')
    """
    if type(value) is int:
        return np.dtype(np.int32 if -(2**31) <= value < 2**31 else np.int64)
    return np.dtype(np.float32) if type(value) is float else np.asarray(value).dtype


@cache
def common_type(first: np.dtype, second: np.dtype) -> np.dtype:
    """The type two operands convert to: C's usual arithmetic conversions.

    >>> common_type(np.dtype("i4"), np.dtype("u4")).name, common_type(np.dtype("i8"), np.dtype("f4")).name
    ('uint32', 'float32')
    """
    kinds = first.kind + second.kind
    if "f" in kinds:
        return max((dtype for dtype in (first, second) if dtype.kind == "f"), key=lambda dtype: dtype.itemsize)
    promoted = [np.dtype(np.int32) if dtype.itemsize < 4 else dtype for dtype in (first, second)]
    return max(promoted, key=lambda dtype: (dtype.itemsize, dtype.kind == "u"))


def operand_type(values: Sequence[Any]) -> np.dtype:
    """The type that an operation's operands, arrays and numbers, convert to; a number takes the other's type.

    >>> ones = np.ones(3, np.int32)
    >>> operand_type([ones, 0.5]).name, operand_type([2, ones.astype("f8")]).name, operand_type([ones]).name
    ('float32', 'float64', 'int32')
    """
    arrays = [value.dtype for value in values if isinstance(value, np.ndarray)]
    if all(is_bool(value) for value in values):
        return arrays[0]
    if len(values) != 2 or len(arrays) == 2:
        return reduce(common_type, arrays)
    (dtype,), (number,) = arrays, [value for value in values if not isinstance(value, np.ndarray)]
    if type(number) is int and dtype.kind in "iuf" and dtype.itemsize >= 4:
        return dtype
    weak = type(number) is float and dtype.kind == "f"
    return dtype if weak else common_type(dtype, literal_type(number))


def is_bool(value: Any) -> bool:
    """Whether an array or a number is of truth values."""
    return isinstance(value, bool) or getattr(value, "dtype", None) == np.bool_
