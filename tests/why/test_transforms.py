"""Transforms change what they are for and nothing else."""

from __future__ import annotations

import dataclasses
import itertools
from functools import cache

import numpy as np
import pytest
import slow_and_fast
from budget import cases
from divergent_lanes import traced

import memsim
from memsim import Launch, Thread, workload
from memsim.trace.coalesce import coalesce
from memsim.trace.lanes import IDLE, lane_addresses, with_addresses
from memsim.trace.reader import CHUNK_INSTRUCTIONS, Trace
from memsim.trace.schema import MOST_MIXES, NO_OP, Flag, KnownWaits, OpKind
from memsim.why import Cause
from memsim.why.transforms import find_transforms
from memsim.why.transforms.transform import TransformedTrace, read_blocks


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
    gpu = memsim.load_gpu("tesla-v100")
    return find_transforms(cause, trace, ops, gpu)[which].of(trace, gpu)[0]


def in_one_block(t: Thread, a, counts):
    """What the second block alone does, in every space, with lanes apart and with a value that decides an address."""
    tile = t.shared(64, np.int32)
    with t.where(t.block_idx.x == 1):
        tile[t.thread_idx.x] = a[t.global_id]
        for step in range(4):
            with t.where(t.lane_id % 2 == 0):
                a[a[t.global_id + step] % 64] = tile[(t.thread_idx.x + step) % 64]
        counts.atomic_add(t.thread_idx.x % 4, 1)


@workload
def one_of_three() -> Launch:
    """Three blocks of two warps."""
    return Launch(in_one_block, 3, 64, dict(a=np.arange(256, dtype=np.int32), counts=np.zeros(4, np.int32)))


def each_its_own(t: Thread, indices, a, b):
    """Indices that one block finds in order and the next ones out of order; a barrier, and copies that none follows."""
    tile = t.shared(64, np.int32)
    t.sync()
    for step in range(8):
        b[t.global_id] = a[indices[(t.block_idx.x * 8 + step) * 64 + t.thread_idx.x]]
    tile[t.thread_idx.x] = a[t.global_id]


@workload
def in_and_out_of_order() -> Launch:
    """Three blocks of two warps; two of them read at random."""
    places = np.arange(3 * 512, dtype=np.int32)
    places[512:] = np.random.default_rng(0).permutation(places[512:])
    a = np.zeros(3 * 512, np.int32)
    return Launch(each_its_own, 3, 64, dict(indices=places, a=a, b=np.zeros_like(a)))


def _counted(trace):
    """As a trace of compiled code, whose waits are counts of loads."""
    return dataclasses.replace(trace, issue=dataclasses.replace(trace.issue, dependence=KnownWaits.scoreboard))


TRACES = {
    "own order": lambda: memsim.trace(in_and_out_of_order, blocks="all"),
    "own order, counted": lambda: _counted(memsim.trace(in_and_out_of_order, blocks="all")),
    "one block": lambda: memsim.trace(one_of_three, blocks="all"),
    "tree": lambda: memsim.trace(slow_and_fast.reduce, blocks="all", n=1 << 10),
    "lanes": lambda: _trace("warp_divergence", n=1 << 10, variant="lanes"),
    "atomics": lambda: _trace("histogram", n=1 << 10, bins=8, grid=4),
    "copies": lambda: _trace("staged_axpy", n=1 << 10),
    "data": lambda: _trace("spmv", rows=512, nnz_per_row=8),
}


@cache
def traced_once(name):
    return TRACES[name]()


GPU, READ, KEPT = memsim.load_gpu("tesla-v100"), Trace.chunks, {}


def chunks_read_once(trace, most=CHUNK_INSTRUCTIONS):
    """Of a trace on disk: reading is most of the time of a transform of so few blocks."""
    key = trace.path, most, trace.first_instruction.tobytes()
    if key not in KEPT:
        KEPT[key] = list(READ(trace, most))
    return KEPT[key]


@pytest.mark.parametrize("cause", Cause, ids=lambda cause: cause.name)
@pytest.mark.parametrize("name", TRACES)
def test_transforms_do_not_depend_on_blocks_per_chunk(name, cause, monkeypatch):
    """Of all ops, and of each by itself (in a quick run, of the last one)."""
    trace, gpu, chunks = traced_once(name), GPU, TransformedTrace.chunks
    monkeypatch.setattr(Trace, "chunks", chunks_read_once)
    every = tuple(range(len(trace.ops)))
    for ops, sizes in [(every, (1, 100)), *(((op,), (1,)) for op in every[-cases(len(every), 1) :])]:
        for transform, rows in itertools.product(find_transforms(cause, trace, ops, gpu), sizes):
            if rows == sizes[0]:
                fixed = transform.of(trace, gpu)[0]
                whole = coalesce(fixed, gpu)
            with monkeypatch.context() as patch:
                patch.setattr(TransformedTrace, "chunks", lambda self, _, rows=rows: chunks(self, rows))
                parts = coalesce(fixed, gpu)
            for column in dataclasses.fields(whole):
                values = getattr(parts, column.name), getattr(whole, column.name)
                assert np.array_equal(*values), (transform.text, ops, rows, column.name)


USES = "ld.global.u32 %r6, [%rd3]; add.u32 %r7, %r6, 1; st.global.u32 [%rd3], %r7;"
TWO_PATHS = f"{USES * 6} @%p1 bra $other; {USES * 6} bra $end; $other: {USES} $end: {USES * 6}"


@pytest.mark.parametrize("cause", Cause, ids=lambda cause: cause.name)
def test_lanes_part_where_they_did(cause, tmp_path):
    """Else what a transform wins would be lost by sides in turn: it waits for fewer loads, or lanes are others."""
    trace, gpu = traced(TWO_PATHS, tmp_path), memsim.load_gpu("tesla-v100")
    before = coalesce(trace, gpu).divergences
    assert before["reconvergence"].any()
    for transform in find_transforms(cause, trace, tuple(range(len(trace.ops))), gpu):
        after = coalesce(transform.of(trace, gpu)[0], gpu)
        assert np.array_equal(after.divergences, before), transform.text
        assert not after.instructions["wait_long"][before["reconvergence"] > 0].any()


def test_lanes_read_and_written_back_are_the_trace():
    trace = _trace("spmv", rows=512, nnz_per_row=8)
    for blocks in read_blocks(trace, 1000):
        rows = np.flatnonzero(blocks.chunk.op != 0xFFFF)
        addresses = lane_addresses(blocks.chunk, rows)
        again = with_addresses(blocks.chunk, rows, addresses)
        assert (lane_addresses(again, rows) == addresses).all() and (again.mask == blocks.chunk.mask).all()
        assert again.first_address[-1] == len(again.addresses)


def test_blocks_together_are_the_trace():
    trace = _trace()
    parts = list(read_blocks(trace, 100))
    (chunk,) = trace.chunks()
    assert len(parts) == trace.n_blocks
    assert (np.concatenate([part.chunk.base for part in parts]) == chunk.base).all()
    assert [part.chunk.warps.start for part in parts] == trace.first_warp[:-1].tolist()


@pytest.mark.parametrize("which", [0, 1])
def test_scattered_lanes_are_coalesced_within_same_bytes(which):
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


def test_both_paths_of_a_branch_become_one_access():
    trace = _trace("warp_divergence", n=1 << 12, variant="lanes")
    loads = tuple(k for k, op in enumerate(trace.ops) if op.text.startswith("x["))
    fixed = _repaired(trace, Cause.divergence, loads, 1)
    before = np.concatenate([_lanes(trace, op) for op in loads])
    after = np.concatenate([_lanes(fixed, op) for op in loads])
    assert 2 * len(after) == len(before) and (after != IDLE).all()
    assert np.array_equal(np.sort(before[before != IDLE]), np.sort(after.ravel()))


@pytest.mark.parametrize("which", [0, 1])
def test_merged_atomics_still_reach_every_address(which):
    trace = _trace("histogram", n=1 << 12, bins=8, grid=4)
    op = _op(trace, "counts")
    before, after = _lanes(trace, op), _lanes(_repaired(trace, Cause.contended, (op,), which), op)
    assert set(np.unique(after)) - {IDLE} == set(np.unique(before)) - {IDLE}
    most = 4 * 8 if which else 8 * len(before)  # an address once a block, or an instruction
    assert (after != IDLE).sum() <= most


@pytest.mark.parametrize("gpu, known", [("tesla-v100", 1), ("a100", 0), ("h100", 0), ("rtx3080", 0)])
def test_addresses_are_spread_where_they_are_not_yet(gpu, known):
    assert len(find_transforms(Cause.channels, _trace(), (0,), memsim.load_gpu(gpu))) == known


def test_accesses_outside_arrays_keep_their_layout():
    trace, gpu = _trace(), memsim.load_gpu("tesla-v100")
    trace = dataclasses.replace(trace, ops=tuple(dataclasses.replace(op, array=-1) for op in trace.ops))
    (dealt,) = find_transforms(Cause.scattered, trace, (0, 1), gpu)
    assert dealt.text == "a block's accesses to memory assigned to its lanes in address order"
    assert find_transforms(Cause.misaligned, trace, (0, 1), gpu) == []
    assert (_repaired(trace, Cause.exchange, (0,)).n_blocks, coalesce(dealt.of(trace, gpu)[0], gpu).n_ops) == (4, 2)


def chased(t: Thread, following, sums, linked):
    """A list whose elements lie at equal steps, followed; or the same elements added up."""
    place, total = t.var(t.global_id), t.var(0)
    for step in t.range(12):
        if linked:
            place.set(following[place])
            total += place
        else:
            total += following[t.global_id + 64 * step]
    sums[t.global_id] = total


@workload
def list_or_array(linked: bool = True) -> Launch:
    """Two blocks of a warp; the list's elements are 64 apart."""
    following = (np.arange(1024, dtype=np.int32) + 64) % 1024
    return Launch(chased, 2, 32, dict(following=following, sums=np.zeros(64, np.int32), linked=linked))


@pytest.mark.parametrize("linked", [True, False])
def test_regular_chain_of_loads_is_not_prefetched(linked):
    trace = memsim.trace(list_or_array, linked=linked, blocks="all")
    load = _op(trace, "following")
    later = _repaired(trace, Cause.latency, (load,))
    waits = [
        [chunk.wait_long[chunk.op == load] for chunk in one.chunks()]  # of loads alone: the store waits less in both
        for one in (trace, later)
    ]
    assert trace.ops[load].by_data is linked and trace.issue.dependence is KnownWaits.scoreboard
    assert all(np.array_equal(*each) for each in zip(*waits, strict=True)) is linked


def halves(t: Thread, sums, both):
    """Four warps, then one or two, then one, with a barrier after each step."""
    part = t.shared(128, np.float32)
    part[t.thread_idx.x] = 1.0
    t.sync()
    with t.where(t.thread_idx.x < (64 if both else 32)):
        part[t.thread_idx.x] = 2.0
    t.sync()
    with t.where(t.thread_idx.x < 16):
        part[t.thread_idx.x] = 3.0
    t.sync()
    with t.where(t.thread_idx.x == 0):
        sums[t.block_idx.x] = part[0]


@workload
def halved(both: bool = False) -> Launch:
    """Three blocks."""
    return Launch(halves, 3, 128, dict(sums=np.zeros(3, np.float32), both=both))


@pytest.mark.parametrize(("both", "remaining"), [(False, 1), (True, 2)])
def test_barriers_between_accesses_of_one_warp_are_removed(both, remaining):
    trace = memsim.trace(halved, both=both, blocks="all")
    transformed = _repaired(trace, Cause.barriers, ())
    for one, barriers in ((trace, 3), (transformed, remaining)):
        flags = np.concatenate([chunk.flags for chunk in one.chunks()])
        assert np.count_nonzero(flags & Flag.barrier) == 3 * 4 * barriers


def test_every_other_block_ends_at_its_first_barrier():
    trace = TRACES["tree"]()
    (before,), (after,) = trace.chunks(), _repaired(trace, Cause.trees, ()).chunks()
    for warp, (first, end) in enumerate(itertools.pairwise(before.first_instruction)):
        barrier = first + int(np.argmax(before.flags[first:end] & Flag.barrier != 0))
        remaining = barrier if warp // trace.launch.warps_per_block % 2 else end
        assert after.op[first:remaining].tolist() == before.op[first:remaining].tolist()
        assert (
            (after.op[remaining:end] == NO_OP).all()
            and not after.flags[remaining:end].any()
            and not after.compute_run[remaining:end].any()
        )


def one_warp_at_a_time(t: Thread, a, sharers, syncs):
    """One warp after the other stores to the same elements, with barriers before each turn."""
    for number in sharers:
        for _ in range(syncs):
            t.sync()
        with t.where(t.thread_idx.x // 32 == number):
            a[t.lane_id] = 1.0


@workload
def sharers(order: str = "01", syncs: int = 1) -> Launch:
    """Two blocks of two warps."""
    arguments = dict(a=np.zeros(32, np.float32), sharers=[int(number) for number in order], syncs=syncs)
    return Launch(one_warp_at_a_time, 2, 64, arguments)


@pytest.mark.parametrize("syncs", [1, 2, 3])
@pytest.mark.parametrize(("order", "remaining"), [("01", [1]), ("001", [2]), ("0110", [1, 3]), ("00", [])])
def test_between_two_warps_one_barrier_stays(order, remaining, syncs):
    """The first behind the accesses of the other warp."""
    transformed = _repaired(memsim.trace(sharers, order=order, syncs=syncs, blocks="all"), Cause.barriers, ())
    expected = np.zeros(len(order) * syncs, bool)
    expected[[number * syncs for number in remaining]] = True
    (chunk,) = transformed.chunks()
    for first, end in itertools.pairwise(chunk.first_instruction):
        left = chunk.flags[first:end][chunk.op[first:end] == NO_OP] & Flag.barrier != 0
        assert left[: len(expected)].tolist() == expected.tolist()


def through_memory(t: Thread, a, b):
    """What a block stores is read back behind a compute run of known instructions, one of unknown ones, and none."""
    a[t.global_id] = 1
    t.sync()
    total = a[t.global_id + 1 - 1]
    t.compute(3)
    total = total + a[t.global_id]
    b[t.global_id] = total + a[t.global_id]


@workload
def handed_back() -> Launch:
    """Two blocks of two warps."""
    return Launch(through_memory, 2, 64, dict(a=np.zeros(128, np.int32), b=np.zeros(128, np.int32)))


@pytest.mark.parametrize("mixes", [None, MOST_MIXES // 2, MOST_MIXES // 2 + 1])
def test_load_passed_by_shuffle_leaves_instruction_in_run(mixes):
    """Of which the mix knows, where it knew the compute run's others, unless there is no room for such mixes."""
    trace = memsim.trace(handed_back, blocks="all")
    if mixes:
        table = np.resize(trace.issue.mixes, mixes)  # of which the trace uses the first ones
        trace = dataclasses.replace(trace, issue=dataclasses.replace(trace.issue, mixes=table))
    loads = [op for op, of in enumerate(trace.ops) if of.kind is OpKind.load]
    transformed = _repaired(trace, Cause.exchange, tuple(loads))
    (was,), (now,) = trace.chunks(), transformed.chunks()
    handed = np.isin(was.op, loads)
    assert (now.op[handed] == NO_OP).all() and (now.compute_run == was.compute_run + handed).all()
    unknown = handed & (was.instruction_mix == 0) & (was.compute_run > 0)
    assert set(was.compute_run[unknown]) == {3} and len(set(was.compute_run[handed & ~unknown])) == 2
    room = 2 * len(trace.issue.mixes) <= MOST_MIXES
    assert (now.instruction_mix[~handed] == was.instruction_mix[~handed]).all()
    assert ((now.instruction_mix[handed] == 0) == (unknown[handed] | (not room))).all()
    of_mix = transformed.issue.mixes
    shuffles = (
        of_mix["count_shuffle"][now.instruction_mix].astype(int)
        - trace.issue.mixes["count_shuffle"][was.instruction_mix]
    )
    assert (shuffles == (now.instruction_mix != was.instruction_mix) * room).all()
    assert (transformed.issue.issued[now.instruction_mix] == now.compute_run)[now.instruction_mix > 0].all()


def add_rows(t: Thread, a, out, length, threads, waits):
    row, part = t.global_id % threads, t.global_id // threads
    total = 0.0
    for step in range(length):
        total += a[(part * length + step) * threads + row]
        if waits:
            t.sync()
    out[t.global_id] = total


@workload
def few_threads(parts: int = 1, length: int = 160, waits: bool = False) -> Launch:
    """Sums of columns by 4 blocks, or by so many times as many that add up a part each."""
    threads = 4 * 64
    arrays = dict(a=np.zeros(threads * length, np.float32), out=np.zeros(threads * parts, np.float32))
    numbers = dict(length=length // parts, threads=threads, waits=waits)
    return Launch(add_rows, 4 * parts, 64, arguments=arrays | numbers)


def test_divided_threads_do_same_accesses():
    trace = _trace(few_threads, length=40)
    divided = _repaired(trace, Cause.few_warps, ())
    assert divided.launch.n_blocks == divided.n_blocks == 20 and divided.n_warps == 5 * trace.n_warps
    for op in range(len(trace.ops)):
        before, after = (_lanes(one, op) for one in (trace, divided))
        assert len(before) == len(after) and sorted(map(tuple, before)) == sorted(map(tuple, after))
    assert sum(len(chunk.warps) for chunk in divided.chunks()) == divided.n_warps


def test_divided_threads_take_time_of_divided_program():
    gpu, trials = "tesla-v100", 2
    whole = memsim.trace(few_threads, blocks="all", gpu=gpu)
    before = memsim.simulate(whole, gpu=gpu, trials=trials)
    after = memsim.simulate(memsim.trace(few_threads, blocks="all", gpu=gpu, parts=20), gpu=gpu, trials=trials)
    (few,) = (one for one in memsim.why.explain(before, whole).bottlenecks if one.cause is Cause.few_warps)
    assert few.gain is not None and "among 20 threads" in few.gain.transform
    assert few.gain.share.mean == pytest.approx(1 - after.kernel_time.mean / before.kernel_time.mean, abs=0.03)


def test_blocks_that_wait_are_not_divided():
    trace, gpu = _trace(few_threads, length=40, waits=True), memsim.load_gpu("tesla-v100")
    assert find_transforms(Cause.few_warps, trace, (), gpu) == []
