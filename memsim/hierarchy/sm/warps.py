"""Warps: compute runs, barriers and ends, and the scheduler that chooses the next one for the load-store unit."""

from __future__ import annotations

import numpy as np

from memsim.hierarchy.codes import NEVER
from memsim.hierarchy.hashed_draws import hash32
from memsim.hierarchy.sm.divergence import diverge, end_path, next_slot
from memsim.hierarchy.sm.events import push
from memsim.hierarchy.sm.issue import issue
from memsim.hierarchy.sm.l1 import drop_local
from memsim.hierarchy.sm.mbarriers import waits_at_mbarrier
from memsim.hierarchy.sm.scoreboard import must_wait, note_result, wait_for_loads
from memsim.hierarchy.sm.state import (
    ARRIVES,
    AT_BARRIER,
    AWAITS,
    AWAKE,
    BARRIER,
    MASKED,
    OLDEST,
    RANDOM,
    RELEASED,
    SLOTS,
    WEIGHTED,
    YOUNGEST,
)
from memsim.jit.compiled import inlined
from memsim.jit.host_lines import HOST_LINE
from memsim.jit.prefetch_host import prefetch


@inlined
def arrive_at_barrier(m, sm, block, time):
    """A warp arrives at its block's barrier; the SM takes arrivals one after the other."""
    b = sm * SLOTS + block
    m.blocks[b].arrived += 1
    m.blocks[b].taken = max(m.sms[sm].barrier_free, time)
    m.sms[sm].barrier_free = m.blocks[b].taken + m.p[0].arrival_cycles
    release_barrier(m, sm, block, time)


@inlined
def release_barrier(m, sm, block, time):
    """Wake the warps of a block when all that live have arrived."""
    b = sm * SLOTS + block
    if m.blocks[b].live == 0 or m.blocks[b].arrived < m.blocks[b].live:
        return
    m.blocks[b].arrived = 0
    p = m.p[0]
    for slot in range(block * p.warps_per_block, (block + 1) * p.warps_per_block):
        w = sm * SLOTS + slot
        if m.warps[w].waiting == AT_BARRIER:
            m.warps[w].waiting = RELEASED
            push(m, sm, slot, max(time, m.blocks[b].taken) + p.barrier_cycles)


@inlined
def end_warp(m, sm, slot, time):
    """A warp has issued everything and got every answer."""
    block = m.warps[sm * SLOTS + slot].block
    b = sm * SLOTS + block
    m.sms[sm].end = max(m.sms[sm].end, time)
    m.blocks[b].live -= 1
    if m.blocks[b].live > 0:
        release_barrier(m, sm, block, time)
        return
    if len(m.local) > 0:
        drop_local(m, sm, 1 + block)
    n = m.freed_count[0]
    m.freed[n].time = time
    m.freed[n].sm = sm
    m.freed[n].block = block
    m.freed_count[0] = n + 1


@inlined
def make_ready(m, sm, w):
    """A warp may issue its next instruction."""
    m.warps[w].ready = 1
    m.sms[sm].ready += 1
    first = m.instructions[m.warps[w].pc].first
    prefetch(m.lines, first)
    prefetch(m.lines, first + HOST_LINE // 4)
    prefetch(m.masks, first)


@inlined
def goes_to_memory(m, pc):
    """Whether an instruction is one for the load-store unit."""
    return m.instructions[pc].count > 0 or m.instructions[pc].slots > 0


@inlined
def acts_first(m, pc):
    """Whether there is anything to do before an instruction can be ready for the load-store unit."""
    if m.instructions[pc].compute_run > 0 or m.p[0].memory_issue or m.p[0].second_path_slots:
        return True
    return not goes_to_memory(m, pc)


@inlined
def act(m, sm, slot, time):
    """A warp that waits for no load continues: its compute run, then a barrier or the load-store unit, or its end."""
    w = sm * SLOTS + slot
    p = m.p[0]
    if m.warps[w].waiting == RELEASED:
        m.warps[w].waiting = AWAKE
        if p.scoreboard and must_wait(m, w):  # in a sequence, its barrier has waited for all
            wait_for_loads(m, sm, slot, time)
            return
    while True:
        pc = m.warps[w].pc
        if pc == m.warps[w].end:
            if not p.second_path_slots or not end_path(m, sm, slot, time):
                end_warp(m, sm, slot, time)
            return
        if p.second_path_slots:
            diverge(m, sm, slot, pc, time)
        compute_run = np.int64(m.instructions[pc].compute_run)
        access = p.memory_issue if goes_to_memory(m, pc) else 0
        if m.instructions[pc].flags & MASKED:
            access = p.masked_issue
        to_issue = compute_run + access
        if to_issue > 0 and m.warps[w].run_issued == 0:
            m.warps[w].run_issued = 1
            ready = issue(m, sm, slot, pc, to_issue, access, max(time, m.stalls[w]) if len(m.controls) else time)
            if len(m.controls):
                m.stalls[w] = ready + np.int64(m.controls[pc].stall)
            if ready > time:
                push(m, sm, slot, ready)
                return
        m.warps[w].run_issued = 0
        if m.instructions[pc].flags & BARRIER:
            m.warps[w].pc = pc + 1
            m.warps[w].waiting = AT_BARRIER
            arrive_at_barrier(m, sm, m.warps[w].block, time)
            return
        if goes_to_memory(m, pc):
            make_ready(m, sm, w)
            return
        note_result(m, w, pc, time)
        m.warps[w].pc = pc + 1
        if m.instructions[pc].flags & (ARRIVES | AWAITS) and p.scoreboard and waits_at_mbarrier(m, sm, slot, pc, time):
            return
        if must_wait(m, w):
            wait_for_loads(m, sm, slot, time)
            return


@inlined
def choose(m, sm):
    """The scheduler's next warp. A warp inside a sequence continues (bulk scheduling)."""
    p = m.p[0]
    last = m.sms[sm].last
    base = sm * SLOTS
    greedy = p.scheduler == OLDEST or p.scheduler == YOUNGEST
    if m.warps[base + last].ready:
        if m.warps[base + last].started or greedy:
            return last
        if p.scheduler == WEIGHTED and m.sms[sm].credit > 0:
            m.sms[sm].credit -= 1
            return last
    slot = last
    skip = 0
    if p.scheduler == RANDOM:
        skip = hash32(p.scheduler_key ^ hash32(m.sms[sm].draws * 256 + sm)) % m.sms[sm].ready
        m.sms[sm].draws += 1
    if greedy:
        least_age, sign = NEVER, 1 if p.scheduler == OLDEST else -1
        s = 0
        while True:
            if m.warps[base + s].ready and sign * m.warps[base + s].age < least_age:
                least_age = sign * m.warps[base + s].age
                slot = s
            s = next_slot(m, s)
            if s == 0:
                break
    else:
        while True:
            slot = next_slot(m, slot)
            if m.warps[base + slot].ready:
                if skip == 0:
                    break
                skip -= 1
    m.sms[sm].last = slot
    m.sms[sm].credit = m.warps[base + slot].weight - 1
    return slot
