"""What the SMs are made of: their records, the codes their loops use, and all of it as one tuple of arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from memsim.gpu import pipes
from memsim.gpu.choices import L1WritePolicy, WarpScheduler
from memsim.hierarchy.cache.ways import WAY_FIELDS, Cache
from memsim.trace.schema import Flag, LoadClass, OpKind

SLOTS = 64  # warp slots of an SM, at most
EVENT_BITS = 17  # of an event's key that name a slot: those of second paths lie behind all SMs' (`second_path_slots`)
SM_STATE = np.dtype(
    [
        ("time", "<i8"),  # when the load-store unit can act next
        ("link_free", "<i8"),  # when the link from L2 is free
        ("end", "<i8"),  # when the last warp ended
        ("barrier_free", "<i8"),  # when the barrier unit can take the next arrival
        ("next", "<i8"),  # next transaction of the instruction at the load-store unit
        ("stop", "<i8"),  # one past its last transaction
        ("started", "<i8"),  # when its first transaction was looked up
        ("done", "<i8"),  # when the last of its transactions answered within the SM has its data
        ("constants_free", "<i8"),  # when the constants' unit is free
        ("draws", "<i8"),  # random choices made
        ("transactions", "<i8"),
        ("warp", "<i4"),  # slot of its warp, or -1 when the load-store unit is empty
        ("load", "<i4"),  # its record as an outstanding load, or -1 while all of it hit
        ("ring_slot", "<i4"),  # scoreboard: of its answer in `rings`, or -1 for an instruction without an answer
        ("last", "<i4"),  # slot the scheduler chose last
        ("credit", "<i4"),  # sequences that slot may still issue
        ("ready", "<i4"),  # warps that may issue
        ("events", "<i4"),  # entries of the event heap
        ("loads", "<i4"),  # MSHRs in use
        ("stores", "<i4"),  # stores under way
        ("absent", "<i2"),  # whether the line of the next transaction was looked for in vain
        ("pad", "<i2"),
    ]
)
WARP = np.dtype(
    [
        ("pc", "<i8"),
        ("end", "<i8"),
        ("wake", "<i8"),  # latest known completion of the sequence under way; scoreboard: not before this
        ("age", "<i8"),
        ("outstanding_loads", "<i4"),  # instructions of the sequence not answered yet
        ("block", "<i4"),  # block slot of the SM
        ("weight", "<i4"),
        ("ready", "u1"),
        ("run_issued", "u1"),  # the compute run before the instruction at pc has been issued
        ("waiting", "u1"),  # AWAKE, or for what
        ("started", "u1"),  # the sequence at pc is under way: the scheduler stays
    ]
)
# Of a divergent warp: where its paths reconverge, its own end meanwhile, paths that have not ended (0 while the warp is
# converged).
DIVERGED = np.dtype([("reconvergence", "<i8"), ("end", "<i8"), ("paths", "<i8")])
# What a warp waits for when no event will wake it: loads, or the other warps of its block.
# RELEASED: from a barrier of either sort, an event is under way.
AWAKE, FOR_LOADS, AT_BARRIER, RELEASED, AT_MBARRIER = range(5)
BLOCK = np.dtype(
    [
        ("live", "<i4"),
        ("arrived", "<i4"),  # warps at the barrier
        ("taken", "<i8"),  # when the barrier unit took the last arrival
    ]
)
LOAD = np.dtype(
    [("issued", "<i8"), ("done", "<i8"), ("warp", "<i4"), ("left", "<i4"), ("op", "<i4"), ("ring_slot", "<i4")]
)
MSHR_TARGET = np.dtype([("time", "<i8"), ("load", "<i4"), ("next", "<i4"), ("need", "<i4"), ("pad", "<i4")])
OP_TIMES = np.dtype([("sum", "<i8"), ("count", "<i8"), ("instruction_sum", "<i8"), ("instruction_count", "<i8")])
# Also of a way: sectors to be dropped when they come, the memory instruction that last wrote there, the first target
# that waits for its fill, or -1, and whose local memory it holds: 1 + the block slot, ANY_BLOCK of a block that is not
# replayed in time, 0 for none. Four ways are one cache line of the host.
L1_WAY = np.dtype([*WAY_FIELDS, ("poisoned", "u1"), ("waiting", "<i4"), ("writer", "<u2"), ("owner", "<u2")])
ANY_BLOCK = 0xFFFF
# A scoreboard per warp and class of loads: loads issued, the first of them whose times are known, the latest
# of these.
CLASS_SCOREBOARD = np.dtype([("loads", "<i4"), ("answered", "<i4"), ("time", "<i8")])
CLASSES = len(LoadClass)
RING = 64  # loads of a class that may be unanswered, at most
# Machine code: of a scoreboard, accesses that set it and have not answered, when the latest of the others is there.
SCOREBOARD = np.dtype([("outstanding", "<i8"), ("time", "<i8")])
# Of an instruction that brings a result without an access: its latency, its pipe or -1, ticks that it takes there (of a
# product of a warp group: by its row's mix).
RESULT = np.dtype([("cycles", "<i8"), ("pipe", "<i8"), ("ticks", "<i8")])
# Pipes of a scheduler. Times of a mix: ticks in each pipe, then its critical path.
PIPES = len(pipes.PIPES)
CRITICAL_PATH = PIPES
TENSOR = pipes.PIPES.index("tensor")
TICKS = 64  # of a cycle
# A phase of an mbarrier: who has not arrived yet, when the last of the others did.
PHASE = np.dtype([("left", "<i8"), ("time", "<i8")])
FREED = np.dtype([("time", "<i8"), ("sm", "<i4"), ("block", "<i4")])
WEIGHTED, ROUND_ROBIN, OLDEST, YOUNGEST, RANDOM = range(len(WarpScheduler))
THROUGH, ALLOCATE, EVICT, BACK = range(len(L1WritePolicy))
# Flags of an instruction that waits for the loads before it.
WAITS = int(Flag.sequence) | int(Flag.barrier) | int(Flag.data)
BARRIER, MASKED = int(Flag.barrier), int(Flag.masked)
ARRIVES, AWAITS = int(Flag.arrives), int(Flag.awaits)  # at a phase of an mbarrier
OP_LOAD, OP_STORE, OP_ATOMIC = int(OpKind.load), int(OpKind.store), int(OpKind.atomic)


class SMs(NamedTuple):
    """All SMs: parameters, trace, state. Arrays only, so a compiled loop takes it as one argument."""

    p: np.ndarray  # one record of parameters
    instructions: np.ndarray
    lines: np.ndarray
    masks: np.ndarray
    partial: np.ndarray
    merged: np.ndarray  # sectors that are not sent, one per transaction or empty
    words: np.ndarray  # words that a store writes of its partial sectors, one per transaction or empty
    local: np.ndarray  # whether it stores to local memory under `local_write_policy`, one per op or empty
    phase: np.ndarray  # of an mbarrier, one an instruction or empty
    mapping: np.ndarray  # MAPPING, one per line
    sms: np.ndarray
    divergences: np.ndarray  # PARTING, one an instruction or empty
    warps: np.ndarray  # SLOTS an SM; the same again for second paths, where warps diverge
    diverged: np.ndarray  # DIVERGED, SLOTS per SM; empty where no warp diverges
    blocks: np.ndarray  # SLOTS an SM
    heap: np.ndarray  # 2 * SLOTS an SM: time << EVENT_BITS | slot, the warps that act later
    class_scoreboards: np.ndarray  # CLASS_SCOREBOARD, by warp and class of loads (scoreboard only)
    rings: np.ndarray  # RING per scoreboard: when each load answers, NEVER while that is not known
    controls: np.ndarray  # CONTROL, one an instruction (scoreboard only, machine code only)
    scoreboards: np.ndarray  # SCOREBOARD, by warp and number (machine code only)
    setters: np.ndarray  # of each load in the rings the scoreboard that it sets (machine code only)
    stalls: np.ndarray  # [warp] until when the stall count of its last access holds it back (machine code only)
    results: np.ndarray  # RESULT, by what `controls` say of a result
    groups: np.ndarray  # [warp * PRODUCT_GROUPS + k] when its k-th newest group of products is done (machine code only)
    signals: np.ndarray  # of each load in the rings the phase at which it arrives, 0 for none (mbarriers only)
    mbarriers: np.ndarray  # PHASE, by number; of none where the trace has none
    ports: np.ndarray  # [SM, scheduler] when its issue ports are free, in 1/issue_per_cycle cycles
    address_units: np.ndarray  # [SM, scheduler] when its address unit is free
    pipes: np.ndarray  # [SM, scheduler, PIPES] when each pipe is free, in ticks
    compute_run_times: np.ndarray  # [mix, PIPES + 1] ticks in each pipe; CRITICAL_PATH: its cycles
    cache: Cache  # all L1s; its ways are L1_WAY
    allocated_at: np.ndarray  # [way] when its line missed (inclusive L2 only)
    sharers: np.ndarray  # [line * sharer_words + word]: SMs whose L1 may hold the line (inclusive L2 only)
    requests: np.ndarray
    free_requests: np.ndarray
    mshr_targets: np.ndarray
    free_mshr_targets: np.ndarray
    loads: np.ndarray
    free_loads: np.ndarray
    to_l2: np.ndarray  # event queue
    to_sms: np.ndarray  # event queue
    prefetch_cursors: np.ndarray  # requests that the host is asked for, each of another cycle
    replies: np.ndarray  # queue an SM
    counters: np.ndarray  # [op, event, unit] of level l1
    histogram: np.ndarray  # [op, bin]
    times: np.ndarray  # OP_TIMES
    bin_of: np.ndarray  # latency bin of small latencies
    sectors: np.ndarray  # number of bits of a mask
    link_cycles: np.ndarray  # that the data of a mask take on the link from L2
    freed: np.ndarray  # FREED, block slots that became free in this quantum
    freed_count: np.ndarray  # [1]
