"""From what stands in the brackets to element numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from memsim.sources.describe import compiled
from memsim.sources.describe.arithmetic import INTEGER, ONE
from memsim.sources.describe.lanes import Operand
from memsim.sources.describe.masks import Since, newest

if TYPE_CHECKING:
    from memsim.sources.describe.batch import Batch

Index = Any  # Lanes or int, or a tuple of them, one a dimension


def linear(batch: Batch, name: str, shape: tuple[int, ...], index: Index) -> tuple[np.ndarray, Since]:
    """The elements that an index means, i4 or i8 [rows, warp_size], and what they depend on.

    One index of an array of several dimensions counts its elements in order of memory. Every further dimension is
    checked against its extent and counts as one non-memory instruction; the whole is left to the caller to check.

    Args:
        name, shape: of the array.

    Raises:
        IndexError: another number of dimensions, or outside an extent.
        TypeError: no integers.
    """
    indices = index if isinstance(index, tuple) else (index,)
    if len(indices) not in (1, len(shape)):
        raise IndexError(f"{name} has {len(shape)} dimensions, not {len(indices)}")
    elements, since = _integers(batch, name, indices[0])
    if len(indices) > 1:
        _check(batch, name, elements, shape[0])
    for extent, each in zip(shape[1:], indices[1:], strict=len(indices) > 1):
        data, of_index = _integers(batch, name, each)
        _check(batch, name, data, extent)
        elements, since = elements * extent + data, newest(since, of_index)
        batch.context.issue(ONE[INTEGER])
    if not isinstance(elements, np.ndarray):
        elements = np.full((len(batch.context.bits), batch.shape.warp_size), elements, np.int64)
    return elements, since


def _integers(batch: Batch, name: str, index: Operand) -> tuple[Any, Since]:
    """One dimension's index: a whole matrix of i4 or i8, or an int."""
    data, since = batch.read(index)
    dtype = np.asarray(data).dtype
    if dtype.kind not in "iu":
        raise TypeError(f"{name} is indexed by {dtype}; use integers (cast with .astype)")
    if not isinstance(data, np.ndarray):
        return int(data), None
    wide = dtype.itemsize == 8 or dtype == np.uint32
    return np.ascontiguousarray(data, np.int64 if wide else np.int32), since


def _check(batch: Batch, name: str, index: np.ndarray | int, extent: int) -> None:
    """Raise IndexError if an active lane's index is outside its dimension."""
    context = batch.context
    if isinstance(index, int):
        outside = not 0 <= index < extent and context.any
    else:
        outside = compiled.any_outside(index, context.bits, extent)
    if outside:
        raise IndexError(f"an index of {name} is outside its extent of {extent}")
