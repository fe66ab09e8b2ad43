"""What a trace file holds: HDF5, schema ``memsim-trace``. The single place that names groups, columns and flags.

::

    /                attributes: schema, version, created_by, digest, kernel, source, parameters (JSON),
                     grid (3), block (3), warp_size, registers, shared_bytes (per block)
    /ops             one row a static op: kind, space, width, array, line, column, file, text
    /arrays          one row an array: name, space, base, bytes, element_bytes
    /blocks/id       linear block number in the grid, of every traced block
    /blocks/first_warp       index of its first warp in /warps (n_blocks + 1 entries)
    /warps/first_instruction (n_warps + 1 entries)
    /warps/first_address     (n_warps + 1 entries) index into /addresses
    /instructions/*  one row a memory instruction, warp after warp, in program order
    /addresses       byte offsets from the instruction's base, one an active lane, of explicit instructions
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

SCHEMA = "memsim-trace"
VERSION = (1, 0)


class Kind(IntEnum):
    """What a static op does."""

    load = 0
    store = 1
    atomic = 2  # returns the old value: the warp waits
    reduction = 3  # an atomic whose old value nobody uses: fire and forget


class Space(IntEnum):
    global_ = 0
    shared = 1
    local = 2
    constant = 3


class Flag(IntEnum):
    """Bits of ``instructions/flags``."""

    sequence = 1  # starts a sequence: waits for the loads of the one before
    barrier = 2  # no memory access: the block's warps wait for each other (op is NO_OP)


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
}
