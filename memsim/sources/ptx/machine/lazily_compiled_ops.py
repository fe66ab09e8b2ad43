"""Micro-ops outside of the hot part, each a loop of its own for :mod:`memsim.jit.separate_kernel`."""

from __future__ import annotations

import numpy as np

from memsim.jit.compiled import inlined, loop
from memsim.jit.separate_kernel import address_of
from memsim.sources.ptx.machine import floats, lazily_compiled_integers, tensors, textures, warp_collectives
from memsim.sources.ptx.machine import integers as lanes
from memsim.sources.ptx.machine.access import DONE, OUTSIDE
from memsim.sources.ptx.machine.atomics import atomic
from memsim.sources.ptx.machine.barriers import cluster_barrier
from memsim.sources.ptx.machine.bulk import copy_bulk, copy_tensor
from memsim.sources.ptx.machine.codes import CLOCK, COUNT, DST, LANES, OP, SHIFT, STEPS, A, C, Micro, Stop, X, Y
from memsim.sources.ptx.machine.copies import commit, copy_async, matrix, wait_group
from memsim.sources.ptx.machine.mbarriers import mbarrier
from memsim.sources.ptx.machine.tables import (
    BASE_WARP,
    CALL_DONE,
    SHARED_BYTES,
    SHARED_ROW,
    STOP_LANE,
    TRACING,
    WARPS,
    MachineArrays,
)

HOST_CALL = int(Stop.host_call)
_COMPARE, _TEST, _SET = int(floats.COMPARE), int(floats.TEST), int(floats.SET)


@inlined
def _write_result(m, w, row, active):
    """Put what the active lanes got into the result's register."""
    lanes.blend(m.registers[w][row[DST]], m.row, active, np.int64(len(m.row)))


@loop
def _integer(m, w, pc, active):
    row = m.code[pc]
    lazily_compiled_integers.operate(m.registers[w], row, m.row, np.int64(len(m.row)))
    _write_result(m, w, row, active)
    return DONE


@loop
def _floating(m, w, pc, active):
    row, predicates = m.code[pc], m.predicates[w]
    n = np.int64(len(m.row))
    bits = floats.operate(m.registers[w], row, predicates, m.row, m.cell, m.single, m.double, n)
    if row[Y] == _COMPARE or row[Y] == _TEST:
        _set(predicates, row, bits, active)
        return DONE
    if row[Y] == _SET:
        for lane in range(LANES):
            m.row[lane] = row[COUNT] if (bits >> lane) & 1 else 0
    _write_result(m, w, row, active)
    return DONE


@loop
def _convert(m, w, pc, active):
    row = m.code[pc]
    floats.convert(m.registers[w], row, m.row, m.cell, m.single, m.double, np.int64(len(m.row)))
    _write_result(m, w, row, active)
    return DONE


@loop
def _shuffle(m, w, pc, active):
    row = m.code[pc]
    warp_collectives.shuffle(m.registers[w], row, m.predicates[w], m.row, active)
    _write_result(m, w, row, active)
    return DONE


@loop
def _vote(m, w, pc, active):
    row = m.code[pc]
    warp_collectives.vote(m.registers[w], row, m.predicates[w], m.row, active)
    if row[X] == warp_collectives.BALLOT:
        _write_result(m, w, row, active)
    return DONE


@loop
def _match(m, w, pc, active):
    row = m.code[pc]
    warp_collectives.match(m.registers[w], row, m.predicates[w], m.row, active)
    _write_result(m, w, row, active)
    return DONE


@loop
def _reduce(m, w, pc, active):
    row = m.code[pc]
    warp_collectives.reduce(m.registers[w], row, m.row, active)
    _write_result(m, w, row, active)
    return DONE


@loop
def _elect(m, w, pc, active):
    row = m.code[pc]
    warp_collectives.elect(m.registers[w], row, m.predicates[w], m.row, active)
    _write_result(m, w, row, active)
    return DONE


@loop
def _active(m, w, pc, active):
    m.row[:] = active
    _write_result(m, w, m.code[pc], active)
    return DONE


@loop
def _leave(m, w, pc, active):
    """The active lanes are no longer waited for by those of their set: machine code's BREAK."""
    waits_for = m.registers[w][m.code[pc, A]]
    for lane in range(LANES):
        waits_for[lane] &= ~active
    return DONE


@loop
def _clock(m, w, pc, active):
    record = m.records[w]
    record[CLOCK] += 1
    m.row[:] = record[STEPS] + record[CLOCK]
    _write_result(m, w, m.code[pc], active)
    return DONE


@loop
def _commit(m, w, pc, active):
    commit(m, m.records[w], w, m.status[BASE_WARP] + w)
    return DONE


@loop
def _wait_group(m, w, pc, active):
    if m.grid[TRACING]:
        wait_group(m, m.records[w], w, m.status[BASE_WARP] + w, m.code[pc, X], active)
    return DONE


@loop
def _matrix_load(m, w, pc, active):
    warp = m.status[BASE_WARP] + w
    return matrix(m, m.records[w], w, warp, pc, m.registers[w], m.code[pc], active, False)


@loop
def _matrix_store(m, w, pc, active):
    warp = m.status[BASE_WARP] + w
    return matrix(m, m.records[w], w, warp, pc, m.registers[w], m.code[pc], active, True)


@loop
def _host_call(m, w, pc, active):
    """Have the caller of the machine carry out a function of CUDA's device runtime, then go on."""
    if m.status[CALL_DONE]:
        m.status[CALL_DONE] = 0
        return DONE
    m.status[STOP_LANE] = active
    return HOST_CALL


@loop
def _mma(m, w, pc, active):
    """A matrix product of the warp."""
    row, r = m.code[pc], m.registers[w]
    tensors.multiply(r, row, m.lists, m.cell, m.single, m.double, m.left_matrix, m.right_matrix, m.sums)
    return DONE


@loop
def _wgmma(m, w, pc, active):
    """A warp's part of a matrix product."""
    row = m.code[pc]
    shared = m.hosts[m.grid[SHARED_ROW]]
    added = m.predicates[w][row[SHIFT]] != 0
    rank = (w % m.grid[WARPS]) & 3
    done = tensors.multiply_shared(m, m.registers[w], row, shared, m.grid[SHARED_BYTES], rank, added)
    return DONE if done else OUTSIDE


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


LOOPS = {
    Micro.integer: _integer,
    Micro.floating: _floating,
    Micro.convert: _convert,
    Micro.atomic: atomic,
    Micro.matrix_load: _matrix_load,
    Micro.matrix_store: _matrix_store,
    Micro.copy_async: copy_async,
    Micro.texture: textures.fetch,
    Micro.surface: textures.surface,
    Micro.commit: _commit,
    Micro.wait_group: _wait_group,
    Micro.bulk: copy_bulk,
    Micro.tensor: copy_tensor,
    Micro.mbarrier: mbarrier,
    Micro.shuffle: _shuffle,
    Micro.vote: _vote,
    Micro.match: _match,
    Micro.reduce: _reduce,
    Micro.elect: _elect,
    Micro.active: _active,
    Micro.clock: _clock,
    Micro.leave: _leave,
    Micro.mma: _mma,
    Micro.wgmma: _wgmma,
    Micro.cluster_barrier: cluster_barrier,
    Micro.host_call: _host_call,
}
N_LOOPS = max(LOOPS) + 1
COMMON = (Micro.floating, Micro.active)  # in the machine code of most kernels


def load_common(m: MachineArrays) -> None:
    """Compile the loops that most kernels need, or read them from disk."""
    for op in COMMON:
        address_of(LOOPS[op], m)


def load(m: MachineArrays) -> None:
    """Have the machine know where the loops lie that its micro-ops need."""
    for op in np.unique(m.code[:, OP]).tolist():
        if op in LOOPS:
            m.loops[op] = address_of(LOOPS[op], m)
