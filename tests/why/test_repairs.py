"""Repairs change what they are for and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
import slow_and_fast

import memsim
from memsim.trace.coalesce import coalesce
from memsim.trace.lanes import IDLE, lane_addresses, with_addresses
from memsim.why import Cause
from memsim.why.repairs import repairs
from memsim.why.repairs.repair import whole_blocks


def _trace(name="transpose", **parameters):
    return memsim.trace(name, blocks="all", **(parameters or dict(n=64, variant="naive")))


def _lanes(trace, op):
    """Addresses of an op's lanes, instruction by instruction."""
    found = []
    for chunk in trace.chunks():
        found.append(lane_addresses(chunk, np.flatnonzero(chunk.op == op)))
    return np.concatenate(found)


def _op(trace, text):
    return next(k for k, op in enumerate(trace.ops) if op.text.startswith(text))


def _repaired(trace, cause, ops, which=0):
    return repairs(cause, trace, ops)[which].of(trace, memsim.load_gpu("tesla-v100"))[0]


def test_lanes_read_and_written_back_are_the_trace():
    trace = _trace("spmv", rows=512, nnz_per_row=8)
    for blocks in whole_blocks(trace, 1000):
        rows = np.flatnonzero(blocks.chunk.op != 0xFFFF)
        addresses = lane_addresses(blocks.chunk, rows)
        again = with_addresses(blocks.chunk, rows, addresses)
        assert (lane_addresses(again, rows) == addresses).all() and (again.mask == blocks.chunk.mask).all()
        assert again.first_address[-1] == len(again.addresses)


def test_whole_blocks_are_the_trace():
    trace = _trace()
    parts = list(whole_blocks(trace, 100))
    (chunk,) = trace.chunks()
    assert len(parts) == trace.n_blocks
    assert (np.concatenate([part.chunk.base for part in parts]) == chunk.base).all()
    assert [part.chunk.warps.start for part in parts] == trace.first_warp[:-1].tolist()


@pytest.mark.parametrize("which", [0, 1])
def test_scattered_lanes_are_coalesced_and_no_more_bytes_are_in_use(which):
    trace, gpu = _trace(), memsim.load_gpu("tesla-v100")
    store = _op(trace, "b[")
    fixed = _repaired(trace, Cause.scattered, (store,), which)
    before, after = _lanes(trace, store), _lanes(fixed, store)
    assert len(np.unique(after)) == len(np.unique(before)) and after.shape == before.shape
    assert (_lanes(fixed, _op(trace, "a[")) == _lanes(trace, _op(trace, "a["))).all()
    counts = coalesce(fixed, gpu).instructions
    assert coalesce(trace, gpu).instructions["count"][counts["op"] == store].tolist() == [32] * len(after)
    assert counts["count"][counts["op"] == store].tolist() == [1] * len(after)


def test_conflicts_go_and_broadcasts_stay():
    trace, gpu = _trace(n=64, variant="tiled"), memsim.load_gpu("tesla-v100")
    load = _op(trace, "tile[x")
    passes = coalesce(_repaired(trace, Cause.conflicts, (load,)), gpu).instructions
    assert set(passes["slots"][passes["op"] == load]) == {1}
    again = _trace("matmul", n=64, variant="tiled")
    shared = tuple(k for k, op in enumerate(again.ops) if op.space.name == "shared")
    tx, fixed = coalesce(again, gpu), coalesce(_repaired(again, Cause.conflicts, shared), gpu)
    assert (fixed.instructions["slots"] <= tx.instructions["slots"]).all()


def test_filled_lanes_do_the_same_in_fewer_instructions():
    trace = memsim.trace(slow_and_fast.reduce, blocks="all", n=1 << 12)
    op = _op(trace, "partial[tid + step]")
    before, after = _lanes(trace, op), _lanes(_repaired(trace, Cause.divergence, (op,)), op)
    assert (before != IDLE).sum() == (after != IDLE).sum() == 16 * 255
    assert len(before) == 16 * 8 * 5 + 16 * (4 + 2 + 1) and len(after) == 16 * (4 + 2 + 6)


def test_both_sides_of_a_branch_become_one_access():
    trace = _trace("warp_divergence", n=1 << 12, variant="lanes")
    loads = tuple(k for k, op in enumerate(trace.ops) if op.text.startswith("x["))
    fixed = _repaired(trace, Cause.divergence, loads, 1)
    before = np.concatenate([_lanes(trace, op) for op in loads])
    after = np.concatenate([_lanes(fixed, op) for op in loads])
    assert 2 * len(after) == len(before) and (after != IDLE).all()
    assert np.array_equal(np.sort(before[before != IDLE]), np.sort(after.ravel()))


@pytest.mark.parametrize("which", [0, 1])
def test_atomics_are_merged_and_every_address_is_still_added_to(which):
    trace = _trace("histogram", n=1 << 12, bins=8, grid=4)
    op = _op(trace, "counts")
    before, after = _lanes(trace, op), _lanes(_repaired(trace, Cause.contended, (op,), which), op)
    assert set(np.unique(after)) - {IDLE} == set(np.unique(before)) - {IDLE}
    most = 4 * 8 if which else 8 * len(before)  # an address once a block, or an instruction
    assert (after != IDLE).sum() <= most
