"""mbarriers of a block: warps and copies arrive at a phase, warps wait until all that arrive at it have.

What arrives is what the trace says, so a phase is over when as many have arrived as rows of the trace do: counts and
bytes of the objects themselves (PTX ISA, "mbarrier") were followed where the trace was made. Only a scoreboard knows of
them: where a warp waits by sequence (``sm.dependence``), mbarriers are nothing to it.
"""

from __future__ import annotations

from memsim.hierarchy.codes import NEVER
from memsim.hierarchy.sm.events import push
from memsim.hierarchy.sm.state import ARRIVES, AT_MBARRIER, RELEASED, SLOTS
from memsim.jit.compiled import inlined


@inlined
def note_signal(m, ring_slot, pc):
    """Keep with a load's place in the rings at which phase it arrives once it has answered, 0 for none."""
    if len(m.signals) and ring_slot >= 0:
        m.signals[ring_slot] = m.phase[pc] if m.instructions[pc].flags & ARRIVES else 0


@inlined
def answered(m, sm, slot, ring_slot, time):
    """A load of a warp has answered, or will for sure: that may be an arrival."""
    if len(m.signals) and m.signals[ring_slot] > 0:
        arrive(m, sm, m.warps[sm * SLOTS + slot].block, m.signals[ring_slot], time)


@inlined
def arrive(m, sm, block, phase, time):
    """Arrive at a phase; the last one lets go on who waits for it."""
    m.mbarriers[phase].left -= 1
    m.mbarriers[phase].time = max(m.mbarriers[phase].time, time)
    if m.mbarriers[phase].left > 0:
        return
    n = m.p[0].warps_per_block
    for slot in range(block * n, (block + 1) * n):
        w = sm * SLOTS + slot
        if m.warps[w].waiting == AT_MBARRIER and m.phase[m.warps[w].pc - 1] == phase:
            m.warps[w].waiting = RELEASED
            push(m, sm, slot, m.mbarriers[phase].time)


@inlined
def waits_at_mbarrier(m, sm, slot, pc, time):
    """Do what the instruction at `pc`, which is behind the warp, does to an mbarrier; whether the warp waits there."""
    w = sm * SLOTS + slot
    if m.instructions[pc].flags & ARRIVES:
        arrive(m, sm, m.warps[w].block, m.phase[pc], time)
        return False
    over = m.mbarriers[m.phase[pc]].time if m.mbarriers[m.phase[pc]].left <= 0 else NEVER
    if over <= time:
        return False
    m.warps[w].waiting = AT_MBARRIER if over == NEVER else RELEASED
    if over < NEVER:
        push(m, sm, slot, over)
    return True
