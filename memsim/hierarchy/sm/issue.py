"""The issue of a compute run: a scheduler's ports, its pipes, and the critical path of dependent instructions."""

from __future__ import annotations

import numpy as np

from memsim.hierarchy.sm.scoreboard import end_group
from memsim.hierarchy.sm.state import BARRIER, CRITICAL_PATH, PIPES, SLOTS, TENSOR, TICKS
from memsim.jit.compiled import inlined
from memsim.trace.schema import GROUP, PRODUCT
from memsim.trace.transactions import CONSTANT_FLAG


@inlined
def issue(m, sm, slot, pc, count, access, time):
    """When a warp has issued the `count` instructions up to and with the one at `pc`, and may go on.

    The last `access` of them goes to the load-store unit. With schedulers it need only have begun, as its latency
    counts from its issue; its scheduler's address unit takes one every `sm.address_cycles`, but those of the constants'
    unit.

    Ports, pipes and address units serve one compute run after the other. A run takes its scheduler's issue ports for
    one slot per instruction, and each pipe for the time of its instructions there (`compute_run_times`, by mix). The
    warp cannot continue before the end of the critical path or, of machine code, before its stall counts are over.
    Like an access, an instruction that sets a scoreboard need only have begun, and so need a product of a warp group.
    """
    p = m.p[0]
    own = np.int64(m.controls[pc].result) if len(m.controls) else 0
    begun = max(access, np.int64(own > 0)) * p.begins_in_slot
    port = sm * p.schedulers + slot % SLOTS % p.schedulers
    free = max(m.ports[port], time * p.issue_per_cycle) + count * p.issue_cycles
    m.ports[port] = free
    ready = (free - begun * p.issue_cycles + p.issue_per_cycle - 1) // p.issue_per_cycle
    critical_path = np.int64(m.instructions[pc].critical_path) * p.instruction_cycles
    mix = m.instructions[pc].instruction_mix
    if mix:
        critical_path = m.compute_run_times[mix, CRITICAL_PATH]
        ready = max(ready, through_pipes(m, port, mix, own, time))
    ready = max(ready, time + max((count - begun) * p.issue_cycles, critical_path))
    if p.address_cycles and takes_address_unit(m, pc, access):
        turn = max(m.address_units[port], time)
        m.address_units[port] = turn + p.address_cycles
        ready = max(ready, turn)
    if own == GROUP:
        end_group(m, sm * SLOTS + slot, max(ready, (m.pipes[port * PIPES + TENSOR] + TICKS - 1) // TICKS))
    return ready


@inlined
def takes_address_unit(m, pc, access):
    """Whether an instruction is one of those that a scheduler's address unit takes one by one."""
    flags = m.instructions[pc].flags
    if flags & BARRIER:
        return m.p[0].queued_barriers
    return access > 0 and flags & CONSTANT_FLAG == 0


@inlined
def through_pipes(m, port, mix, own, time):
    """When a scheduler's pipes are through with a mix's instructions, and have begun the one whose result is `own`."""
    last = time * TICKS
    for k in range(PIPES):
        busy = m.compute_run_times[mix, k]
        if busy:
            free = max(m.pipes[port * PIPES + k], time * TICKS) + busy
            m.pipes[port * PIPES + k] = free
            own_ticks = busy if own >= PRODUCT else m.results[own].ticks
            last = max(last, free - own_ticks if k == m.results[own].pipe else free)
    return (last + TICKS - 1) // TICKS
