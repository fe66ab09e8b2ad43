"""Texture and surface objects as kernels see them: where their texels lie and how coordinates select them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from memsim.trace.schema import Space

# Columns of the machine's table of textures; borders are the bits of float64.
(ID, ADDRESS, WIDTH, HEIGHT, DEPTH, ROW_BYTES, SLICE_BYTES, TEXEL, COMPONENT, COMPONENTS, KIND, IS_LINEAR, MODE_X,
 MODE_Y, MODE_Z, FILTER, READ_MODE, SRGB, NORMALIZED, BORDER, LEVELS, LAYERED, BIAS, LOWEST_LEVEL,
 HIGHEST_LEVEL, DIMENSIONS) = (*range(20), 23, 24, 25, 26, 27, 28)  # fmt: skip
FIELDS = 29
SIGNED, UNSIGNED, FLOAT = range(3)  # kinds of components
WRAP, CLAMP, MIRROR, BORDERED = range(4)  # address modes
POINT, LINEAR = range(2)  # filters
FETCHES = ("tex", "tld4", "TEX", "TLD", "TLD4")  # instructions of PTX and of machine code
LEVEL_ALIGNMENT = 512  # bytes that a level of a mipmapped array takes a multiple of


def space_of_array(space: Space, sampled: bool) -> Space:
    """The space of an access to an array of a space: a texture's, if texture units or the read-only path read it."""
    if sampled:
        return Space.texture
    return Space.global_ if space is Space.texture else space


@dataclass(frozen=True)
class BoundTexture:
    """A texture or surface object (CUDA driver API, CUDA_RESOURCE_DESC and CUDA_TEXTURE_DESC).

    Attributes:
        address: of the first texel.
        extents: width, height and depth (or layers) in texels; 0 for a dimension that the texture does not have.
        row_bytes, slice_bytes: from one row or slice to the next.
        bits: of the components x, y, z and w; 0 for those that a texel does not have.
        kind: of the components: SIGNED, UNSIGNED or FLOAT.
        linear_memory: read by element number; elements outside are 0.
        modes: address modes for x, y and z.
        filter: POINT or LINEAR.
        normalized_float: whether integers are read as fractions of the largest.
        normalized: whether coordinates are fractions of the extents.
        border: components outside with the mode BORDERED.
        levels: of a mipmapped array; 0 for others.
        layered: whether the third extent counts layers.
        bias, lowest_level, highest_level: of the level of detail.
    """

    address: int
    extents: tuple[int, int, int]
    row_bytes: int
    slice_bytes: int
    bits: tuple[int, int, int, int]
    kind: int
    linear_memory: bool = False
    modes: tuple[int, int, int] = (CLAMP, CLAMP, CLAMP)
    filter: int = POINT
    normalized_float: bool = False
    srgb: bool = False
    normalized: bool = False
    border: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    levels: int = 0
    layered: bool = False
    bias: float = 0.0
    lowest_level: float = 0.0
    highest_level: float = 0.0

    @property
    def texel_bytes(self) -> int:
        return sum(self.bits) // 8

    def row(self, number: int) -> np.ndarray:
        """The texture's row of the machine's table."""
        row = np.zeros(FIELDS, np.int64)
        row[[ID, ADDRESS, ROW_BYTES, SLICE_BYTES]] = number, self.address, self.row_bytes, self.slice_bytes
        row[[WIDTH, HEIGHT, DEPTH]] = [max(extent, 1) for extent in self.extents]
        row[[TEXEL, COMPONENT, COMPONENTS]] = self.texel_bytes, self.bits[0] // 8, sum(one > 0 for one in self.bits)
        row[[KIND, IS_LINEAR, MODE_X, MODE_Y, MODE_Z]] = self.kind, self.linear_memory, *self.modes
        row[[FILTER, READ_MODE, SRGB, NORMALIZED]] = self.filter, self.normalized_float, self.srgb, self.normalized
        row[[LEVELS, LAYERED]] = self.levels, self.layered
        row[DIMENSIONS] = sum(extent > 0 for extent in self.extents[: 2 if self.layered else 3])
        row[BORDER : BORDER + 4] = np.array(self.border, np.float64).view(np.int64)
        levels = np.array([self.bias, self.lowest_level, self.highest_level], np.float64)
        row[[BIAS, LOWEST_LEVEL, HIGHEST_LEVEL]] = levels.view(np.int64)
        return row


def table_of(textures: Iterable[tuple[int, BoundTexture]]) -> np.ndarray:
    """The machine's table, i8 [textures + 1, FIELDS]; the last row has the number 0 and stands for no texture."""
    return np.stack([*(one.row(number) for number, one in textures), np.zeros(FIELDS, np.int64)])
