"""Barriers of a block and of a cluster: who came, whether all did, what the predicates of all come to."""

from __future__ import annotations

import numpy as np

from memsim.jit.compiled import called, loop
from memsim.sources.ptx.machine.codes import (
    ALL_LANES,
    BARRIER_DST,
    BARRIER_ID,
    BARRIER_KIND,
    BLOCK,
    CLUSTER_PHASE,
    LANES,
    STATUS,
    WarpStatus,
    X,
)
from memsim.sources.ptx.machine.tables import CLUSTER_ARRIVED, CLUSTER_PHASE_NOW, TEAM, WARPS
from memsim.trace.bits import popcount

READY, AT_BARRIER, WARP_DONE, AT_CLUSTER = (
    int(WarpStatus.ready), int(WarpStatus.at_barrier), int(WarpStatus.done), int(WarpStatus.at_cluster_barrier)
)  # fmt: skip
# Kinds of a barrier's micro-op.
SYNC, ARRIVE, RED_AND, RED_OR, RED_POPC = range(5)
SPECIFIC = 16  # added to the kind of a barrier with a given number of threads
CAME, AND, OR, POPC = range(4)


@called
def arrive(m, record, number, kind, predicate, active):
    """A warp comes to a barrier of its block; ``predicate`` has the bits of its lanes."""
    barrier = m.barriers[record[BLOCK], number]
    if barrier[CAME] == 0:
        barrier[AND], barrier[OR], barrier[POPC] = 1, 0, 0
    barrier[CAME] += LANES
    if predicate & active != active:
        barrier[AND] = 0
    if predicate & active:
        barrier[OR] = 1
    barrier[POPC] += popcount(predicate & active)


@called
def expected(m, block, threads):
    """Threads that a barrier of a block waits for: those given, or those of all its warps that still run."""
    if threads >= 0:
        return threads
    count = np.int64(0)
    for w in range(block * m.grid[WARPS], (block + 1) * m.grid[WARPS]):
        if m.records[w, STATUS] != WARP_DONE:
            count += LANES
    return count


@called
def release(m, block, number):
    """Let those who wait at a barrier continue, and give them the result of the predicates."""
    barrier = m.barriers[block, number]
    for w in range(block * m.grid[WARPS], (block + 1) * m.grid[WARPS]):
        record = m.records[w]
        if record[STATUS] != AT_BARRIER or record[BARRIER_ID] != number:
            continue
        record[STATUS] = READY
        kind, to = record[BARRIER_KIND] & (SPECIFIC - 1), record[BARRIER_DST]
        if kind == RED_POPC:
            for lane in range(LANES):
                m.registers[w, to, lane] = barrier[POPC]
        elif kind == RED_AND or kind == RED_OR:
            m.predicates[w, to] = ALL_LANES if barrier[AND if kind == RED_AND else OR] else 0
    barrier[CAME] = 0


@called
def release_after_exit(m, block):
    """A warp has ended: barriers of whole blocks may wait for nobody now; returns whether any let go."""
    for number in range(16):
        came = m.barriers[block, number, CAME]
        if came > 0 and came >= expected(m, block, np.int64(-1)) and waits_for_all(m, block, number):
            release(m, block, number)


@called
def waits_for_all(m, block, number):
    """Whether the warps at a barrier wait for all of the block (their threads were not given)."""
    for w in range(block * m.grid[WARPS], (block + 1) * m.grid[WARPS]):
        record = m.records[w]
        if record[STATUS] == AT_BARRIER and record[BARRIER_ID] == number:
            return record[BARRIER_KIND] < SPECIFIC
    return False


ARRIVE_CLUSTER, WAIT_CLUSTER = 2, 1  # bits: barrier.cluster.arrive, barrier.cluster.wait


@loop
def cluster_barrier(m, w, pc, active):
    """barrier.cluster: a warp arrives, or waits until all warps of the cluster have; the last one lets all go on."""
    record, row = m.records[w], m.code[pc]
    status = m.status
    n_warps = m.grid[TEAM] * m.grid[WARPS]
    if row[X] & ARRIVE_CLUSTER:
        record[CLUSTER_PHASE] = status[CLUSTER_PHASE_NOW]
        status[CLUSTER_ARRIVED] += 1
        n_done = np.int64(0)
        for w in range(n_warps):
            n_done += np.int64(m.records[w, STATUS] == WARP_DONE)
        if status[CLUSTER_ARRIVED] + n_done >= n_warps:
            status[CLUSTER_ARRIVED] = 0
            status[CLUSTER_PHASE_NOW] += 1
            for w in range(n_warps):
                if m.records[w, STATUS] == AT_CLUSTER:
                    m.records[w, STATUS] = READY
    elif record[CLUSTER_PHASE] == status[CLUSTER_PHASE_NOW]:
        record[STATUS] = AT_CLUSTER
    return np.int64(0)
