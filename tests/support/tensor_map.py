"""The 128 bytes of a tensor map, as memsim's cuTensorMapEncodeTiled writes them and the PTX machine reads them."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from memsim.sources.ptx.machine.bulk import MAGIC
from memsim.support.errors import InputError

BYTES = 128
MOST_RANK = 5  # of a CUDA tensor map
SWIZZLES = {0: 0, 32: 3, 64: 2, 128: 1}  # bytes of the pattern -> how matrix descriptors name it


def tensor_map(
    address: int,
    element_bytes: int,
    shape: Sequence[int],
    strides: Sequence[int],
    box: Sequence[int],
    swizzle: int = 0,
) -> bytes:
    """The 128 bytes that stand for a tensor in device memory.

    Args:
        address: of its first element, a multiple of 16.
        element_bytes: 1, 2, 4 or 8.
        shape: elements of each dimension, the innermost (contiguous) one first.
        strides: bytes from one element to the next of each dimension but the innermost.
        box: elements of a copy in each dimension, 1 to 256.
        swizzle: bytes of the pattern in which a copy lies in shared memory: 0 (none), 32, 64 or 128.

    Raises:
        InputError: what TMA cannot have.

    >>> len(tensor_map(1 << 28, 2, (64, 32), (128,), (64, 8), 128))
    128
    """
    rank = len(shape)
    if not 1 <= rank <= MOST_RANK or len(strides) != rank - 1 or len(box) != rank:
        raise InputError("tensor map", "shape", f"has {rank} dimensions; give 1 to {MOST_RANK}, strides of all but one")
    if not all(1 <= one <= 256 for one in box):
        raise InputError("tensor map", "box", f"is {tuple(box)}; each extent is 1 to 256")
    if swizzle not in SWIZZLES or element_bytes not in (1, 2, 4, 8):
        raise InputError(
            "tensor map", "swizzle", f"is {swizzle} for {element_bytes}-byte elements; memsim has 0, 32, 64, 128"
        )
    padding = [0] * (MOST_RANK - rank)
    boxes = sum(extent << 9 * d for d, extent in enumerate(box))
    words = [
        MAGIC, address, element_bytes | rank << 8 | SWIZZLES[swizzle] << 16, *shape, *padding, *strides, *padding, boxes
    ]  # fmt: skip
    return struct.pack("<16q", *words, *[0] * (16 - len(words)))
