"""The static instruction of an access in an Accel-Sim trace: known by PC, opcode and variant."""

from __future__ import annotations

import numpy as np

from memsim.jit.compiled import inlined
from memsim.sources.imported.accelsim.problems import NEW_OP, TEXT_USED
from memsim.sources.imported.accelsim.state import OP_SLOTS_LOG2

_MIX = np.uint64(0x9E3779B97F4A7C15)  # 2**64 over the golden ratio, which spreads keys over a table


@inlined
def find_ops(s, tables, unread):
    """Put the static instruction of every space that is accessed into ``found``; NEW_OP when the table lacks one."""
    for space in range(4):
        lane_mask = tables.found[space, 0]
        if lane_mask == 0:
            continue
        key = s.pc << 16 | s.opcode << 4 | (space + unread)
        slot = np.int64((np.uint64(key) * _MIX) >> np.uint64(64 - OP_SLOTS_LOG2))
        while tables.ops[slot].key != key:
            if tables.ops[slot].key < 0:
                first = 0
                while (lane_mask >> first) & 1 == 0:
                    first += 1
                s.address = tables.lanes[first]
                s.key = key
                s.variant = space + unread
                s.slot = slot
                return NEW_OP
            slot = (slot + 1) & ((1 << OP_SLOTS_LOG2) - 1)
        tables.found[space, 1] = tables.ops[slot].op
    return TEXT_USED
