"""Micro-ops outside of the hot part, one branch each."""

from __future__ import annotations

import numpy as np

from memsim.sources.ptx.machine import across, floats, rare_integers, tensors
from memsim.sources.ptx.machine import integers as lanes
from memsim.sources.ptx.machine.access import DONE, OUTSIDE, log_masked
from memsim.sources.ptx.machine.atomics import atomic
from memsim.sources.ptx.machine.barriers import cluster_barrier
from memsim.sources.ptx.machine.bulk import copy_bulk, copy_tensor
from memsim.sources.ptx.machine.codes import (
    CLOCK,
    COUNT,
    DST,
    LANES,
    LIST,
    OP,
    SHIFT,
    STEPS,
    C,
    Micro,
    X,
    Y,
)
from memsim.sources.ptx.machine.copies import commit, copy_async, matrix, wait_group
from memsim.sources.ptx.machine.mbarriers import mbarrier
from memsim.sources.ptx.machine.tables import SHARED_BYTES, SHARED_ROW, TRACING, WARPS
from memsim.support.compiled import inlined

COPY_ASYNC, COMMIT, WAIT_GROUP, MATRIX_LOAD, MATRIX_STORE = (
    int(one)
    for one in (
        Micro.copy_async, Micro.commit, Micro.wait_group, Micro.matrix_load, Micro.matrix_store
    )
)  # fmt: skip
MBARRIER, MMA, WGMMA, BULK, TENSOR, CLUSTER = (
    int(one) for one in (Micro.mbarrier, Micro.mma, Micro.wgmma, Micro.bulk, Micro.tensor, Micro.cluster_barrier)
)
INTEGER, FLOATING, CONVERT, ATOMIC, ALIAS, SHUFFLE, VOTE, MATCH, REDUCE, ELECT, ACTIVE, CLOCK_READ = (
    int(one)
    for one in (
        Micro.integer, Micro.floating, Micro.convert, Micro.atomic, Micro.alias, Micro.shuffle, Micro.vote, Micro.match,
        Micro.reduce, Micro.elect, Micro.active, Micro.clock,
    )
)  # fmt: skip
_COMPARE, _TEST = int(floats.COMPARE), int(floats.TEST)


@inlined
def rare(m, record, w, warp, pc, r, row, predicates, active, mask, n):
    """Carry out a micro-op; DONE, or why it cannot be."""
    op = row[OP]
    if op == ALIAS:
        _share(m, w, row)
        return np.int64(DONE)
    if active == 0:
        if op == ATOMIC or op == COPY_ASYNC or op == MATRIX_LOAD or op == MATRIX_STORE:
            log_masked(m, record, warp, row[Y])
        return np.int64(DONE)
    if op == MBARRIER:
        return mbarrier(m, record, w, warp, pc, r, row, predicates, active)
    if op == MMA or op == WGMMA:
        return _tensor(m, record, w, r, row, predicates, op == MMA)
    if op == BULK:
        return copy_bulk(m, record, w, warp, pc, r, row, active)
    if op == TENSOR:
        return copy_tensor(m, record, w, warp, pc, r, row, active)
    if op == CLUSTER:
        return cluster_barrier(m, record, row)
    if op == COPY_ASYNC:
        return copy_async(m, record, w, warp, pc, r, row, active)
    if op == COMMIT or op == WAIT_GROUP:
        if op == COMMIT:
            commit(m, record, w, warp)
        elif m.grid[TRACING]:
            wait_group(m, record, w, warp, row[X], active)
        return np.int64(DONE)
    if op == MATRIX_LOAD or op == MATRIX_STORE:
        return matrix(m, record, w, warp, pc, r, row, active, op == MATRIX_STORE)
    if op == ATOMIC:
        return atomic(m, record, w, warp, pc, r, row, active)
    if op == INTEGER:
        rare_integers.operate(r, row, m.row, n)
    elif op == FLOATING:
        bits = floats.operate(r, row, predicates, m.row, m.cell, m.single, m.double, n)
        if row[Y] == _COMPARE or row[Y] == _TEST:
            _set(predicates, row, bits, active)
            return np.int64(DONE)
        if row[Y] == floats.SET:
            for lane in range(LANES):
                m.row[lane] = row[COUNT] if (bits >> lane) & 1 else 0
    elif op == CONVERT:
        floats.convert(r, row, m.row, m.cell, m.single, m.double, n)
    elif op == SHUFFLE:
        across.shuffle(r, row, predicates, m.row, active)
    elif op == VOTE:
        across.vote(row, predicates, m.row, active)
        if row[X] != across.BALLOT:
            return np.int64(DONE)
    elif op == MATCH:
        across.match(r, row, predicates, m.row, active)
    elif op == REDUCE:
        across.reduce(r, row, m.row, active)
    elif op == ELECT:
        across.elect(row, predicates, m.row, active)
    elif op == ACTIVE:
        m.row[:] = active
    elif op == CLOCK_READ:
        record[CLOCK] += 1
        m.row[:] = record[STEPS] + record[CLOCK]
    lanes.blend(r[row[DST]], m.row, active, n)
    return np.int64(DONE)


@inlined
def _tensor(m, record, w, r, row, predicates, whole):
    """A matrix product: mma of the warp, or its part of wgmma's."""
    if whole:
        tensors.multiply(r, row, m.lists, m.cell, m.single, m.double, m.left_matrix, m.right_matrix, m.sums)
        return np.int64(DONE)
    shared = m.hosts[m.grid[SHARED_ROW]]
    added = predicates[row[SHIFT]] != 0
    done = tensors.multiply_shared(m, r, row, shared, m.grid[SHARED_BYTES], (w % m.grid[WARPS]) & 3, added)
    return np.int64(DONE if done else OUTSIDE)


@inlined
def _share(m, w, row):
    """Registers that got the value of others wait for the same loads: pairs (to, from) in the lists."""
    for k in range(row[LIST], row[LIST] + 2 * row[COUNT], 2):
        to, of = m.lists[k], m.lists[k + 1]
        m.pending[w, to] = m.pending[w, of]


@inlined
def _set(predicates, row, bits, active):
    """A floating-point comparison's predicates: joined with predicate C by the table in COUNT's low bits.

    COUNT holds the table, the complement's table, and the complement's predicate plus one.
    """
    other = predicates[row[C]]
    joined = lanes.truth(row[COUNT] & 15, bits, other)
    complement = (row[COUNT] >> 8) - 1
    if complement >= 0:
        second = lanes.truth((row[COUNT] >> 4) & 15, bits, other)
        predicates[complement] = (predicates[complement] & ~active) | (second & active)
    predicates[row[DST]] = (predicates[row[DST]] & ~active) | (joined & active)
