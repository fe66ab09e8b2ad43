"""Warps of 64 lanes: they make the transactions of their two halves, compute the same, and come back from files."""

from __future__ import annotations

import numpy as np
import pytest

from memsim.gpu.config import GPU
from memsim.gpu.occupancy import occupancy
from memsim.gpu.presets import load_gpu, override
from memsim.profile.demand import demand
from memsim.sources.describe import Constant, Launch, Recorder, Workload, load_workload
from memsim.sources.record import record
from memsim.support.errors import InputError
from memsim.trace.bits import popcounts
from memsim.trace.coalesce import coalesce
from memsim.trace.lanes import lane_addresses, with_addresses
from memsim.trace.reader import Trace
from memsim.trace.schema import NO_OP
from memsim.trace.transactions import Transactions

NARROW = load_gpu("h100")
WIDE = override(NARROW, {"sm.warp_size": 64, "sm.max_warps": 32})
THREADS = 512
RNG = np.random.default_rng(1)


def _kernel(t, order, values, table, sums, out):
    """Gathers, shared memory, constants and atomics, with one lane in three idle for a part of it."""
    i = t.global_id
    x = values[order[i]] + table[i % 16]
    mine = t.shared(256, np.float32, name="mine")
    mine[i % 256] = x
    t.sync()
    with t.where(i % 3 != 0):
        out[i] = mine[(i * 7) % 256]
        sums.atomic_add(i % 5, 1)


def _launch(**_: object) -> Launch:
    arguments = dict(
        order=RNG.permutation(THREADS).astype(np.int32), values=np.arange(THREADS, dtype=np.float32),
        table=Constant(np.arange(16, dtype=np.float32)), sums=np.zeros(5, np.int32), out=np.zeros(THREADS, np.float32),
    )  # fmt: skip
    return Launch(_kernel, THREADS // 256, 256, arguments)


@pytest.fixture(scope="module")
def traces(tmp_path_factory) -> tuple[Trace, Trace]:
    """The same launch with warps of 32 and of 64 lanes."""
    launch, folder = _launch(), tmp_path_factory.mktemp("traces")
    workload = Workload(lambda: launch, "kernel.py")
    first, second = (record(workload, {}, gpu, "all", folder / f"{gpu.sm.warp_size}.h5") for gpu in (NARROW, WIDE))
    return first, second


def _of_warps(tx: Transactions) -> list[list[tuple[int, list[tuple[int, int]], int]]]:
    """The accesses of every warp: (static instruction, transactions (line address, sectors), passes)."""
    found = []
    for begin, end in zip(tx.first_instruction[:-1], tx.first_instruction[1:], strict=True):
        rows = [row for row in tx.instructions[begin:end] if row["op"] != NO_OP]
        found.append(
            [
                (
                    int(row["op"]),
                    [(int(tx.line_address[tx.lines[k]]), int(tx.masks[k]))
                     for k in range(row["first"], row["first"] + row["count"])],
                    int(row["slots"]),
                )
                for row in rows
            ]
        )  # fmt: skip
    return found


def test_wide_warps_make_transactions_of_halves(traces):
    halves, wide = (_of_warps(coalesce(trace, gpu)) for trace, gpu in zip(traces, (NARROW, WIDE), strict=True))
    assert len(halves) == 2 * len(wide) == THREADS // 32
    for number, warp in enumerate(wide):
        pairs = zip(halves[2 * number], halves[2 * number + 1], strict=True)
        assert warp == [(one[0], one[1] + two[1], one[2] + two[2]) for one, two in pairs]


def test_lanes_come_back_from_the_file(traces):
    """A wide warp's matrix of addresses is that of its halves, side by side; moved lanes can be put back."""
    chunks = [next(trace.chunks()) for trace in traces]
    assert [chunk.mask.dtype for chunk in chunks] == [np.uint32, np.uint64]
    matrices = []
    for chunk in chunks:
        rows = np.flatnonzero(chunk.op != NO_OP)
        matrices.append((chunk.op[rows], lane_addresses(chunk, rows)))
        again = with_addresses(chunk, rows, matrices[-1][1])
        np.testing.assert_array_equal(again.mask, chunk.mask)
        np.testing.assert_array_equal(lane_addresses(again, rows), matrices[-1][1])
    (narrow_op, narrow), (wide_op, wide) = matrices
    assert wide.shape[1] == 2 * narrow.shape[1] == 64
    for op in np.unique(wide_op):
        assert sorted(wide[wide_op == op].ravel()) == sorted(narrow[narrow_op == op].ravel())


def test_demand_of_both_counts_the_same_lanes(traces):
    both = [demand(trace, coalesce(trace, gpu), gpu) for trace, gpu in zip(traces, (NARROW, WIDE), strict=True)]
    for name in ("lanes", "coalesced_transactions", "transactions"):
        np.testing.assert_array_equal(*(one[name] for one in both), err_msg=name)
    assert both[0]["instructions"].sum() == 2 * both[1]["instructions"].sum()


@pytest.mark.parametrize("name", ["saxpy", "spmv", "reduction", "scan", "histogram64"])
def test_described_kernels_compute_the_same(name):
    """Kernels that count on warps of 32 lanes are not among these."""
    workload = load_workload(name)
    sizes = {"n": 4096} if "n" in workload.parameters() else {}
    parameters = workload.parameters(sizes if name != "spmv" else {"rows": 256})
    launch = workload.build(parameters)
    recorder = Recorder(workload, launch, 64)
    recorder.run(np.arange(launch.shape.n_blocks))
    for array, right in launch.expected().items():
        np.testing.assert_allclose(launch.arguments[array], right, rtol=1e-4, atol=1e-4)


def test_popcount_counts_all_bits():
    masks = np.array([0, 1, 1 << 63, 2**64 - 1, 0xF0F0F0F0F0F0F0F0], np.uint64)
    assert popcounts(masks).tolist() == [0, 1, 1, 64, 32]


def test_other_warp_sizes_are_refused(traces, tmp_path):
    for trace, gpu, words in ((traces[0], WIDE, "is 32; h100 has warps of 64"), (traces[1], NARROW, "is 64; h100")):
        with pytest.raises(InputError, match=words):
            coalesce(trace, gpu)


def test_occupancy_of_mi300x_counts_wavefronts():
    """LLVM, User Guide for AMDGPU Backend: 512 vector registers per lane and SIMD, by 8; LDS by 512 bytes."""
    gpu: GPU = load_gpu("mi300x")
    assert occupancy(gpu, 256).warps_per_block == 4
    assert occupancy(gpu, 256, registers=64).blocks == 8  # eight wavefronts of 64 registers on each SIMD
    assert occupancy(gpu, 256, registers=65).blocks == 7  # 72 registers: seven
    assert occupancy(gpu, 256, registers=128).blocks == 4
    assert occupancy(gpu, 64, shared_bytes=2000).limits["shared memory"] == 32
