"""Where the compiled reader of Accel-Sim traces stands, and the tables it looks things up in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from memsim.sources.imported.accelsim.issue import ALL_REGISTERS, WarpState, new_issue
from memsim.sources.imported.lane_rows import ROW, WARP_SIZE
from memsim.sources.imported.opcodes import Opcodes

STATE = np.dtype(
    [
        # What the header says.
        ("prefix", "<i8"),  # numbers before PC: the block and warp of old tracers
        ("commits", "<i8"),  # whether a warp group's matrix product says that it ends a group
        ("line_info", "<i8"),  # whether a source line comes before PC
        ("grid", "<i8", 3),
        ("warps_per_block", "<i8"),
        ("shared_base", "<i8"),  # windows of the generic address space; empty when not known
        ("shared_end", "<i8"),
        ("local_base", "<i8"),
        ("local_end", "<i8"),
        # Where the reader stands.
        ("at", "<i8"),  # position in the text
        ("reached", "<i8"),  # how far the line at hand is read
        ("line", "<i8"),  # number of the line there
        ("in_block", "<i8"),
        ("block", "<i8"),  # linear number in the grid, -1 before it is named
        ("warp", "<i8"),  # in the block, -1 before the first
        ("insts", "<i8"),  # announced for the warp, -1 before that
        ("left", "<i8"),  # of these, still to come
        ("compute_run", "<i8"),  # non-memory instructions since the warp's last row
        ("start", "<i8"),  # whether the warp's next row starts a sequence
        ("sequence", "<i8"),  # a number of its own for every sequence of every warp
        ("blocks", "<i8"),  # whole blocks among the rows
        ("block_row", "<i8"),  # where the block under way begins, among the rows at hand
        ("block_address", "<i8"),
        ("rows_before", "<i8"),  # given away before the rows at hand
        ("addresses_before", "<i8"),
        # The line at hand, and what is asked about it after NEW_OPCODE and NEW_OP.
        ("opcode", "<i8"),
        ("pc", "<i8"),
        ("key", "<i8"),
        ("variant", "<i8"),
        ("source_line", "<i8"),
        ("address", "<i8"),
        ("slot", "<i8"),  # free slot of the table that misses it
    ]
)
OP_SLOT = np.dtype([("key", "<i8"), ("op", "<i8")])  # key -1: the slot is free
BLOCK = np.dtype([("id", "<i8"), ("line", "<i8")])
# Where a warp's rows and addresses lie, counted from the trace's first; row -1: no such warp yet.
SPAN = np.dtype([("row", "<i8"), ("row_end", "<i8"), ("address", "<i8"), ("address_end", "<i8")])

OP_SLOTS_LOG2 = 17  # twice what a trace can name
MOST_REGISTERS = 16  # named by one line, of either kind
MOST_PC = 1 << 40
BARRIERS = 256  # mbarriers of a warp that are remembered, by the low bits of their addresses

# PC, opcode and variant identify a static instruction. Variant: its space, and UNREAD for an atomic whose old value
# nobody reads.
UNREAD = 4


class Tables(NamedTuple):
    """What the reader looks up and fills.

    Attributes:
        spot, opcodes, pool: of :class:`memsim.sources.imported.opcodes.Opcodes`.
        ops: OP_SLOT [2**OP_SLOTS_LOG2], hashed by key.
        registers: i8 [ALL_REGISTERS], the sequence whose load wrote each register last.
        issue: waits and mixes of the warp at hand.
        named: i8 [2 * MOST_REGISTERS], registers that the line at hand writes, then those that it reads.
        lanes: i8 [32], the line's addresses.
        some: i8 [2, 32], scratch for those of one row.
        found: i8 [4, 2], by space: the lanes that access it, the static instruction.
        barriers: i8 [BARRIERS, 2], address of an mbarrier and the warp's newest copy that arrives at it (bulk.py).
        rows, addresses: the trace's rows so far.
        cursor: i8 [2], how many of either.
        blocks: BLOCK, of whole blocks among the rows.
        spans: SPAN, one per warp of these blocks and of the one under way.
    """

    spot: np.ndarray
    opcodes: np.ndarray
    pool: np.ndarray
    ops: np.ndarray
    registers: np.ndarray
    issue: WarpState
    named: np.ndarray
    lanes: np.ndarray
    some: np.ndarray
    found: np.ndarray
    barriers: np.ndarray
    rows: np.ndarray
    addresses: np.ndarray
    cursor: np.ndarray
    blocks: np.ndarray
    spans: np.ndarray


def new_tables(opcodes: Opcodes, rows: int, addresses: int, blocks: int, warps_per_block: int) -> Tables:
    """Empty tables with room for so many rows, addresses, and blocks besides the one under way."""
    ops = np.zeros(1 << OP_SLOTS_LOG2, OP_SLOT)
    ops["key"] = -1
    return Tables(
        spot=opcodes.spot,
        opcodes=opcodes.slots,
        pool=opcodes.pool,
        ops=ops,
        registers=np.full(ALL_REGISTERS, -1),
        issue=new_issue(),
        named=np.zeros(2 * MOST_REGISTERS, np.int64),
        lanes=np.zeros(WARP_SIZE, np.int64),
        some=np.zeros((2, WARP_SIZE), np.int64),
        found=np.zeros((4, 2), np.int64),
        barriers=np.zeros((BARRIERS, 2), np.int64),
        rows=np.zeros(rows, ROW),
        addresses=np.zeros(addresses, np.uint32),
        cursor=np.zeros(2, np.int64),
        blocks=np.zeros(blocks + 1, BLOCK),
        spans=np.zeros((blocks + 1) * warps_per_block, SPAN),
    )
