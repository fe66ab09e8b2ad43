"""A trace after coalescing: what every trial of one (trace, GPU) replays, shared and never written.

Lines are numbered densely in order of first use, so caches compare small integers and everything about a line's place
(set, slice, channel, bank, row) is a table made once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from memsim.trace.schema import MIX, LoadClass

# One warp instruction, ready to replay. `first` indexes lines/masks; `slots` are the load-store unit's passes of an
# access that touches no cache (shared memory with its bank conflicts, constants). It is 0 for cached accesses, which
# occupy the unit for at least `wavefronts` times the time of a lookup. `critical_path` is the longest chain of
# dependent instructions within its compute run. The waits are a scoreboard's, or, in a trace without any, those that
# its flags imply. `answers` is the class of loads (LoadClass) that it answers among, or NO_ANSWER.
INSTRUCTION = np.dtype(
    [
        ("first", "<i8"),
        ("count", "<u2"),
        ("op", "<u2"),
        ("kind", "u1"),
        ("flags", "u1"),
        ("slots", "<u2"),
        ("compute_run", "<u4"),
        ("critical_path", "<u4"),
        ("wait_long", "u1"),
        ("wait_short", "u1"),
        ("wait_copies", "u1"),
        ("answers", "u1"),
        ("instruction_mix", "<u2"),
        ("wavefronts", "<u2"),  # with it, two records to a cache line of the host
    ]
)
NO_ANSWER = len(LoadClass)

# Where a warp diverges, at a row: rows from there to the first of the second path, and to where both reconverge; else
# 0, 0.
DIVERGENCE = np.dtype([("second", "<u4"), ("reconvergence", "<u4")])

# Of a trace of machine code, what its control codes say of a row (memsim.trace.schema): the scoreboard that it sets,
# those that it waits for, cycles until the warp's next instruction, the class of a result that is no access's, how many
# groups of products of a warp group may be unfinished.
CONTROL = np.dtype([("set", "u1"), ("wait", "u1"), ("stall", "u1"), ("result", "u1"), ("products", "u1")])

# Bits of `flags` in addition to schema.Flag's (without `path_switch`): a load that L1 does not serve; an access of the
# constants' own unit.
BYPASS_FLAG, CONSTANT_FLAG = 8, 16

# Attribute of Transactions -> dtype of its column (and of its .npy file).
COLUMNS: dict[str, np.dtype] = {
    "instructions": INSTRUCTION,
    "lines": np.dtype("<u4"),
    "masks": np.dtype("u1"),
    "partial": np.dtype("u1"),
    "merged": np.dtype("u1"),
    "words": np.dtype("<u4"),
    "line_address": np.dtype("<u8"),
    "first_instruction": np.dtype("<i8"),
    "first_warp": np.dtype("<i8"),
    "mixes": MIX,
    "phase": np.dtype("<u4"),
    "arrivals": np.dtype("<u4"),
    "divergences": DIVERGENCE,
    "controls": CONTROL,
    "local": np.dtype("u1"),
    "n_ops": np.dtype("<i8"),
}


@dataclass(frozen=True)
class Transactions:
    """Coalesced trace.

    Attributes:
        instructions: INSTRUCTION records, warp after warp.
        lines: u4, one per transaction: number of the L1 line.
        masks: u1, one per transaction: sectors of the line it asks for (bit s: bytes s*32 to s*32+31).
        partial: u1, one per transaction: those of them of which a store writes some bytes and not all.
        merged: u1, one per transaction: sectors that L1 does not send, as the warp's next store takes them along
            (memsim.trace.merged_stores). Empty where L1 merges no stores.
        words: u4, one per transaction: words that a store writes whole, of the sectors that it covers in part (bit
            8 * s + w: word w of sector s). Empty where L2 does not complete sectors from memory.
        local: u1, one per static instruction: whether it is a store to local memory for which L1 has a write policy of
            its own. Empty where none is.
        line_address: u8, one per line: byte address divided by the line's bytes.
        first_instruction: i8, n_warps + 1.
        first_warp: i8, n_blocks + 1.
        n_ops: static instructions of the trace.
        mixes: MIX, the classes of instructions in compute runs.
        phase: u4, one an instruction: the number of the mbarrier's phase at which it arrives or that it awaits, 0 for
            none. Empty where no instruction has one.
        arrivals: u4, by the number of a phase: instructions that arrive at it. Empty where `phase` is.
        divergences: DIVERGENCE, one per instruction, where the GPU issues both paths of a branch at once. Empty where
            there is none.
        controls: CONTROL, one an instruction. Empty where the trace is not of machine code.
    """

    instructions: np.ndarray
    lines: np.ndarray
    masks: np.ndarray
    partial: np.ndarray
    line_address: np.ndarray
    first_instruction: np.ndarray
    first_warp: np.ndarray
    n_ops: int
    mixes: np.ndarray = field(default_factory=lambda: np.zeros(1, MIX))
    phase: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint32))
    arrivals: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint32))
    divergences: np.ndarray = field(default_factory=lambda: np.zeros(0, DIVERGENCE))
    controls: np.ndarray = field(default_factory=lambda: np.zeros(0, CONTROL))
    merged: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint8))
    words: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint32))
    local: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint8))

    @property
    def warps_per_block(self) -> int:
        """Warps of the largest block."""
        return int(np.diff(self.first_warp).max())

    @classmethod
    def load(cls, directory: str | Path) -> Transactions:
        """Map the files that :func:`memsim.trace.coalesce.coalesce` wrote to `directory`, read-only."""
        columns = {name: np.load(column_path(directory, name), mmap_mode="r") for name in COLUMNS if name != "n_ops"}
        return cls(**columns, n_ops=int(np.load(column_path(directory, "n_ops"))[0]))


def column_path(directory: str | Path, name: str) -> Path:
    """File of one column in a directory of transactions."""
    return Path(directory) / f"{name}.npy"
