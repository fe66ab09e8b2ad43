"""What a trace file holds: HDF5, schema ``memsim-trace``. The single place that names groups, columns and flags.

::

    bytes 0 to 511   the seal: SHA-256 of the rest, in text (from 1.3 on, see support.seal)
    /                attributes: schema, version, created_by, digest, kernel, source, parameters (JSON),
                     grid (3), block (3), warp_size, registers (a thread), shared_bytes (a block)
    /ops/*           one row a static op: kind, space, width, array, line, column, file, text, bypass_l1 (from 1.1 on)
    /arrays/*        one row an array: name, space, base, bytes, element_bytes
    /blocks/id       linear block number in the grid, of every traced block
    /blocks/first_warp       index of its first warp in /warps (n_blocks + 1 entries)
    /warps/first_instruction (n_warps + 1 entries)
    /warps/first_address     (n_warps + 1 entries) index into /addresses
    /instructions/*  one row a memory instruction, warp after warp, in program order
    /addresses       byte offsets from the instruction's base, one an active lane, of explicit instructions

``kernel`` is the kernel function's name, ``source`` the file that describes it. Lines and columns count from 1; 0 is
not known.
``gap`` counts the non-memory instructions issued before an instruction; ``beside`` (from 1.2 on) those of them that are
not on their longest chain of dependent ones.
Texts are UTF-8, of fixed length from 1.3 on. ``digest`` names the content (trace.digest).
``width`` is the bytes one lane accesses; ``array`` is a row of /arrays. Every traced block has all its warps.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from math import prod

import numpy as np

SCHEMA = "memsim-trace"
VERSION = (1, 3)


class Kind(IntEnum):
    """What a static op does."""

    load = 0
    store = 1
    atomic = 2  # returns the old value: the warp waits
    reduction = 3  # an atomic whose old value nobody uses: fire and forget


class Space(IntEnum):
    """The memory an access goes to."""

    global_ = 0
    shared = 1
    local = 2
    constant = 3
    texture = 4  # global memory that is read through the texture units, or by loads of read-only data


class Flag(IntEnum):
    """Bits of ``instructions/flags``."""

    sequence = 1  # starts a sequence: waits for the loads of the one before
    barrier = 2  # no memory access: the block's warps wait for each other (op is NO_OP)
    data = 4  # a store, in its sequence, of what the sequence's loads bring: it waits for them


NO_OP = 0xFFFF  # `op` of an instruction without memory access (a barrier, or trailing compute that only has a gap)
EXPLICIT = np.int32(-(2**31))  # `stride` of an instruction whose addresses are listed

# Column name -> dtype of /instructions. `base` is the byte address of the lowest-numbered active lane when strided,
# the lowest address when explicit. A strided lane's address is base + stride * (lane - lowest active lane).
INSTRUCTION_COLUMNS: dict[str, str] = {
    "op": "<u2",
    "flags": "u1",
    "gap": "<u4",
    "mask": "<u4",
    "base": "<u8",
    "stride": "<i4",
    "beside": "<u4",
}
INSTRUCTION_DEFAULTS: dict[str, int] = {"beside": 0}  # columns that a file of an older minor version lacks
ADDRESS_DTYPE = "<u4"
INDEX_COLUMNS: dict[str, str] = {  # dataset -> dtype of what finds blocks and warps
    "blocks/id": "<i8",
    "blocks/first_warp": "<i8",
    "warps/first_instruction": "<i8",
    "warps/first_address": "<i8",
}
OP_COLUMNS: dict[str, str] = {
    "kind": "u1",
    "space": "u1",
    "width": "<u2",
    "array": "<i4",
    "line": "<i4",
    "column": "<i4",
    "file": "str",
    "text": "str",
    "bypass_l1": "u1",
}
OP_DEFAULTS: dict[str, int] = {"bypass_l1": 0}  # columns that a file of an older minor version lacks
ARRAY_COLUMNS: dict[str, str] = {"name": "str", "space": "u1", "base": "<u8", "bytes": "<u8", "element_bytes": "<u2"}


@dataclass(frozen=True)
class LaunchShape:
    """How a kernel was launched.

    Attributes:
        grid, block: extents (x, y, z), in blocks and in threads.
        warp_size: lanes of a warp, at most 32.
        registers: of one thread.
        shared_bytes: of one block.

    >>> LaunchShape((336, 1, 1), (100, 1, 1)).warps_per_block
    4
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    warp_size: int = 32
    registers: int = 32
    shared_bytes: int = 0

    @property
    def n_blocks(self) -> int:
        return prod(self.grid)

    @property
    def threads_per_block(self) -> int:
        return prod(self.block)

    @property
    def warps_per_block(self) -> int:
        return -(-self.threads_per_block // self.warp_size)


@dataclass(frozen=True)
class StaticOp:
    """One load, store or atomic at one source position: a row of /ops. L1 does not serve a load with `bypass_l1`."""

    kind: Kind
    space: Space
    width: int
    array: int
    line: int
    column: int
    file: str
    text: str
    bypass_l1: bool = False


@dataclass(frozen=True)
class ArrayInfo:
    """One array of the kernel: a row of /arrays. Shared arrays have addresses of their own, from 0 in every block."""

    name: str
    space: Space
    base: int
    bytes: int
    element_bytes: int


@dataclass(frozen=True)
class Chunk:
    """Whole warps of a trace, as columns.

    Attributes:
        warps: range of the warps' numbers in the trace.
        first_instruction: i8 [n_warps + 1], index into the columns below, starting at 0.
        first_address: i8 [n_warps + 1], index into ``addresses``, starting at 0.
        op, flags, gap, mask, base, stride, beside: [n_instructions], dtypes of INSTRUCTION_COLUMNS.
        addresses: u4, byte offsets of explicit instructions.
    """

    warps: range
    first_instruction: np.ndarray
    first_address: np.ndarray
    op: np.ndarray
    flags: np.ndarray
    gap: np.ndarray
    mask: np.ndarray
    base: np.ndarray
    stride: np.ndarray
    beside: np.ndarray
    addresses: np.ndarray
