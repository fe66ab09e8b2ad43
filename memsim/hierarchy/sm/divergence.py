"""Divergent paths that run at once: the second path of a branch runs as a warp of its own until both have ended.

Since Volta threads have program counters of their own, and a warp's scheduler chooses among groups of them (NVIDIA
Tesla V100 whitepaper WP-08608-001, independent thread scheduling). The second path has its warp's position in the
block, its age, scheduler and pipes, and loads of its own to wait for. Its slot lies `second_path_slots` behind the
warp's. Paths diverge and reconverge when their loads have answered.
"""

from __future__ import annotations

from memsim.hierarchy.sm.events import push
from memsim.hierarchy.sm.scoreboard import begin_warp
from memsim.hierarchy.sm.state import SLOTS
from memsim.jit.compiled import inlined


@inlined
def next_slot(m, slot):
    """The slot that a scheduler looks at after another: those of warps, then those of second paths, then the first."""
    p = m.p[0]
    if slot % SLOTS + 1 < p.warp_slots:
        return slot + 1
    return p.second_path_slots if slot < SLOTS else 0


@inlined
def diverge(m, sm, slot, pc, time):
    """Start the second path of a branch, if the warp diverges at its next instruction and can run both paths."""
    w = sm * SLOTS + slot
    reconvergence = pc + m.divergences[pc].reconvergence
    if slot >= SLOTS or reconvergence == pc or reconvergence > m.warps[w].end:
        return
    if m.warps[w].run_issued or m.diverged[w].paths > 0:
        return
    m.diverged[w].reconvergence = reconvergence
    m.diverged[w].end = m.warps[w].end
    m.diverged[w].paths = 2
    m.warps[w].end = pc + m.divergences[pc].second
    other = w + m.p[0].second_path_slots
    warp = m.warps[w]
    begin_warp(m, other, warp.block, warp.end, reconvergence, warp.age, warp.weight)
    push(m, sm, slot + m.p[0].second_path_slots, time)


@inlined
def end_path(m, sm, slot, time):
    """At its end: whether that is a path's; the warp continues when both paths have ended."""
    host = slot % SLOTS
    w = sm * SLOTS + host
    if m.diverged[w].paths == 0:
        return False
    m.diverged[w].paths -= 1
    if m.diverged[w].paths == 0:
        m.warps[w].pc = m.diverged[w].reconvergence
        m.warps[w].end = m.diverged[w].end
        push(m, sm, host, time)
    return True
