"""The two sides of a branch at once: where lanes part, the second side runs as a warp of its own until both have ended.

Since Volta threads have program counters of their own, and a warp's scheduler chooses among groups of them (NVIDIA
Tesla V100 whitepaper WP-08608-001, independent thread scheduling). A second side has its warp's place in the block, its
age, scheduler and pipes, and loads of its own to wait for; its slot lies `sides` behind the warp's. Lanes part and meet
when their loads have answered.
"""

from __future__ import annotations

from memsim.hierarchy.sm.events import push
from memsim.hierarchy.sm.scoreboard import clear_boards
from memsim.hierarchy.sm.state import AWAKE, SLOTS
from memsim.jit.compiled import inlined


@inlined
def next_slot(m, slot):
    """The slot that a scheduler looks at after another: those of warps, then those of second sides, then the first."""
    p = m.p[0]
    if slot % SLOTS + 1 < p.warp_slots:
        return slot + 1
    return p.sides if slot < SLOTS else 0


@inlined
def part(m, sm, slot, pc, time):
    """Let the second side of a branch begin, if lanes part at the warp's next instruction and it runs both sides."""
    w = sm * SLOTS + slot
    join = pc + m.partings[pc].join
    if slot >= SLOTS or join == pc or join > m.warps[w].end or m.warps[w].issued_gap or m.parted[w].sides > 0:
        return
    m.parted[w].join = join
    m.parted[w].end = m.warps[w].end
    m.parted[w].sides = 2
    m.warps[w].end = pc + m.partings[pc].second
    other = w + m.p[0].sides
    m.warps[other].pc = m.warps[w].end
    m.warps[other].end = join
    m.warps[other].age = m.warps[w].age
    m.warps[other].block = m.warps[w].block
    m.warps[other].weight = m.warps[w].weight
    m.warps[other].outstanding_loads = m.warps[other].wake = 0
    m.warps[other].ready = m.warps[other].started = m.warps[other].issued_gap = 0
    m.warps[other].waiting = AWAKE
    clear_boards(m, other)
    push(m, sm, slot + m.p[0].sides, time)


@inlined
def end_side(m, sm, slot, time):
    """At its end: whether that is a side's; the warp continues when both have ended."""
    host = slot % SLOTS
    w = sm * SLOTS + host
    if m.parted[w].sides == 0:
        return False
    m.parted[w].sides -= 1
    if m.parted[w].sides == 0:
        m.warps[w].pc = m.parted[w].join
        m.warps[w].end = m.parted[w].end
        push(m, sm, host, time)
    return True
