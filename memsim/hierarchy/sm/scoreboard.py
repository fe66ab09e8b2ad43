"""What a warp's next instruction waits for: all loads of a sequence, or by scoreboard those whose values it uses.

By scoreboard a warp has a board for each class of loads. Loads of a class answer in order: load k counts as answered
when it and all before it have. Their times lie in a ring, NEVER where a time is not known yet; what hits in L1 is known
when it is looked up. How many loads may be unanswered is bounded (``sm.loads_per_warp``), so that the ring never laps.

Machine code says which of six scoreboards an instruction sets, and which an instruction waits for (Huerta et al.,
*Dissecting and Modeling the Architecture of Modern GPU Cores*, MICRO 2025, section 4: dependence counters). A
scoreboard counts the accesses that set it and have not answered, in whichever order they do. An instruction of another
unit has a latency that is known, so its result's time is noted at once. The stall count of an access, which is cycles
until its warp's next instruction, holds that one back (``stalls``).

Products of a warp group (wgmma) set no scoreboard: an instruction may wait until all but the newest groups of them are
done (PTX ISA, wgmma.wait_group). Tensor cores take products in order, so a group is done when its last product is.
"""

from __future__ import annotations

import numpy as np

from memsim.hierarchy.codes import NEVER
from memsim.hierarchy.sm.events import push
from memsim.hierarchy.sm.mbarriers import answered
from memsim.hierarchy.sm.state import AWAKE, CLASSES, FOR_LOADS, RING, SLOTS, WAITS
from memsim.jit.compiled import inlined
from memsim.jit.prefetch_host import prefetch
from memsim.trace.schema import NO_SCOREBOARD, NO_WAIT, PRODUCT_GROUPS, SCOREBOARDS
from memsim.trace.transactions import NO_ANSWER


@inlined
def begin_warp(m, w, block, pc, end, age, weight):
    """A warp of a block, or the second path of one, begins: it waits for nothing and has no loads."""
    m.warps[w].pc = pc
    m.warps[w].end = end
    m.warps[w].age = age
    m.warps[w].block = block
    m.warps[w].weight = weight
    m.warps[w].outstanding_loads = m.warps[w].wake = 0
    m.warps[w].ready = m.warps[w].started = m.warps[w].run_issued = 0
    m.warps[w].waiting = AWAKE
    if m.p[0].scoreboard:
        clear_scoreboards(m, w)


@inlined
def clear_scoreboards(m, w):
    """Forget all loads of a warp."""
    for b in range(w * CLASSES, (w + 1) * CLASSES):
        m.class_scoreboards[b].loads = 0
        m.class_scoreboards[b].answered = 0
        m.class_scoreboards[b].time = 0
    if len(m.controls):
        m.stalls[w] = 0
        for s in range(w * SCOREBOARDS, (w + 1) * SCOREBOARDS):
            m.scoreboards[s].outstanding = 0
            m.scoreboards[s].time = 0
        m.groups[w * PRODUCT_GROUPS : (w + 1) * PRODUCT_GROUPS] = 0


@inlined
def set_scoreboard(m, w, ring_slot, pc):
    """Have a load, by its place in the rings, set the scoreboard that its control code names until it has answered."""
    if len(m.controls) and ring_slot >= 0:
        number = np.int64(m.controls[pc].set)
        m.setters[ring_slot] = number
        if number != NO_SCOREBOARD:
            m.scoreboards[w * SCOREBOARDS + number].outstanding += 1


@inlined
def release_scoreboard(m, w, ring_slot, time):
    """A load has answered, or will at `time` for sure."""
    if len(m.controls) and m.setters[ring_slot] != NO_SCOREBOARD:
        s = w * SCOREBOARDS + np.int64(m.setters[ring_slot])
        m.scoreboards[s].outstanding -= 1
        m.scoreboards[s].time = max(m.scoreboards[s].time, time)


@inlined
def note_result(m, w, pc, time):
    """Have the last instruction before `pc`, which issued at `time`, set its scoreboard until its result is there."""
    if len(m.controls) and m.controls[pc].result > 0 and m.controls[pc].set != NO_SCOREBOARD:
        s = w * SCOREBOARDS + np.int64(m.controls[pc].set)
        m.scoreboards[s].time = max(m.scoreboards[s].time, time + m.results[m.controls[pc].result].cycles)


@inlined
def end_group(m, w, time):
    """Note when the newest of a warp's groups of products will be done."""
    first = w * PRODUCT_GROUPS
    for k in range(first + PRODUCT_GROUPS - 1, first, -1):
        m.groups[k] = m.groups[k - 1]
    m.groups[first] = time


@inlined
def groups_done(m, w):
    """When the groups of products are done that a warp's next instruction, or its end, waits for."""
    if len(m.controls) == 0:
        return 0
    pc = m.warps[w].pc
    left = 0 if pc == m.warps[w].end else np.int64(m.controls[pc].products)
    return m.groups[w * PRODUCT_GROUPS + left] if left != NO_WAIT else 0


@inlined
def scoreboards_clear(m, w):
    """When the scoreboards that a warp's next instruction waits for are clear, NEVER while that is not known."""
    time = groups_done(m, w)
    if len(m.controls) and m.warps[w].pc != m.warps[w].end:
        wait = np.int64(m.controls[m.warps[w].pc].wait)
        for number in range(SCOREBOARDS):
            s = w * SCOREBOARDS + number
            if wait >> number & 1:
                time = max(time, NEVER if m.scoreboards[s].outstanding > 0 else m.scoreboards[s].time)
    return time


@inlined
def enter_load(m, w, load_class):
    """Note that a warp issues a load of a class; its place in the ring, or -1 of what answers nothing."""
    if load_class == NO_ANSWER:
        return -1
    b = w * CLASSES + load_class
    ring_slot = b * RING + (m.class_scoreboards[b].loads & (RING - 1))
    m.class_scoreboards[b].loads += 1
    m.rings[ring_slot] = NEVER
    return ring_slot


@inlined
def answered_by(m, b, number):
    """When the first `number` loads of a class have answered, NEVER while that is not known of one.

    A warp that needed more of them before has waited, or tries again because another class made it wait.
    """
    at = m.class_scoreboards[b].answered
    time = m.class_scoreboards[b].time
    while at < number and m.rings[b * RING + (at & (RING - 1))] != NEVER:
        time = max(time, m.rings[b * RING + (at & (RING - 1))])
        at += 1
    if at == m.class_scoreboards[b].loads:  # none is under way: counting begins anew, where the ring is warm
        m.class_scoreboards[b].loads = 0
        m.class_scoreboards[b].answered = 0
    else:
        m.class_scoreboards[b].answered = at
    m.class_scoreboards[b].time = time
    return time if at >= number else NEVER


@inlined
def allowed(m, w, load_class):
    """How many of its loads of a class may be unanswered when a warp issues its next instruction."""
    if m.warps[w].pc == m.warps[w].end:
        return 0
    i = m.instructions[m.warps[w].pc]
    wait = np.int64(i.wait_long if load_class == 0 else i.wait_short if load_class == 1 else i.wait_copies)
    if i.answers == load_class:
        return min(wait, m.p[0].loads_per_warp - 1)
    return wait if wait != NO_WAIT else RING


@inlined
def all_answered(m, w):
    """When all that a warp's next instruction waits for has answered, NEVER while that is not known."""
    time = scoreboards_clear(m, w)
    for load_class in range(CLASSES):
        b = w * CLASSES + load_class
        time = max(time, answered_by(m, b, m.class_scoreboards[b].loads - allowed(m, w, load_class)))
    return time


@inlined
def must_wait(m, w):
    """Whether the warp's next instruction may have to wait for loads before it, or the warp ends."""
    pc = m.warps[w].pc
    if pc == m.warps[w].end:
        return True
    if not m.p[0].scoreboard:
        return m.instructions[pc].flags & WAITS != 0
    i = m.instructions[pc]
    if i.wait_long & i.wait_short & i.wait_copies != NO_WAIT:
        return True
    if len(m.controls) and (m.controls[pc].wait > 0 or m.controls[pc].products != NO_WAIT):
        return True
    if i.answers == NO_ANSWER:
        return False
    b = w * CLASSES + i.answers
    return m.class_scoreboards[b].loads - m.class_scoreboards[b].answered >= m.p[0].loads_per_warp


@inlined
def wait_for_loads(m, sm, slot, time):
    """A warp acts again when what its next instruction waits for is there."""
    w = sm * SLOTS + slot
    m.warps[w].started = 0
    if m.p[0].scoreboard:
        known = all_answered(m, w)
        if known == NEVER:
            m.warps[w].waiting = FOR_LOADS
            m.warps[w].wake = time  # passes of shared memory may last longer than what it waits for
        else:
            push(m, sm, slot, max(known, time))
    elif m.warps[w].outstanding_loads == 0:
        push(m, sm, slot, max(m.warps[w].wake, time))
        m.warps[w].wake = 0
    else:
        m.warps[w].waiting = FOR_LOADS


@inlined
def load_ended(m, sm, f, now):
    """All transactions of a load have answered: wake its warp, if that was what it waited for."""
    slot = m.loads[f].warp
    w = sm * SLOTS + slot
    time = NEVER
    if m.p[0].scoreboard:
        m.rings[m.loads[f].ring_slot] = m.loads[f].done
        release_scoreboard(m, w, m.loads[f].ring_slot, m.loads[f].done)
        answered(m, sm, slot, m.loads[f].ring_slot, max(m.loads[f].done, now))
        if m.warps[w].waiting == FOR_LOADS:
            time = max(all_answered(m, w), m.warps[w].wake)
    else:
        m.warps[w].wake = max(m.warps[w].wake, m.loads[f].done)
        m.warps[w].outstanding_loads -= 1
        if m.warps[w].outstanding_loads == 0 and m.warps[w].waiting == FOR_LOADS:
            time = m.warps[w].wake
            m.warps[w].wake = 0
    if time != NEVER:
        m.warps[w].waiting = AWAKE
        push(m, sm, slot, time)
        prefetch(m.instructions, m.warps[w].pc)
