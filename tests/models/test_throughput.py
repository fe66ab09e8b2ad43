"""The work that parts of a machine have with a kernel: counted otherwise, and less than what the replay takes."""

import itertools
from collections import Counter

import numpy as np
import pytest

import memsim
from memsim.gpu.presets import load_gpu, override
from memsim.hierarchy.mapping import layout
from memsim.models.throughput import BusyPart, busy_cycles, work_of
from memsim.trace.coalesce import coalesce
from memsim.trace.schema import OpKind
from memsim.trace.transactions import BYPASS_FLAG

GPUS = ["tesla-c1060", "tesla-c2050", "tesla-v100"]
KERNELS = {
    "spmv": dict(rows=2048, nnz_per_row=8),
    "histogram": dict(n=1 << 13),
    "transpose": dict(n=128, variant="tiled"),
    "neighbours": dict(n=64, fetched="1", layout="columns", stored="columns"),
}


def counted(transactions, gpu):
    """Sectors that reach L2 and main memory, by the sets that the definition speaks of."""
    instructions, to_l2, read, written = transactions.instructions, [], set(), set()
    for first, last in itertools.pairwise(transactions.first_warp):
        loaded = set()
        for number in range(transactions.first_instruction[first], transactions.first_instruction[last]):
            one = instructions[number]
            cached = gpu.l1.enabled and one["kind"] == OpKind.load and not one["flags"] & BYPASS_FLAG
            for k in range(one["first"], one["first"] + one["count"]):
                sectors = {(int(transactions.lines[k]), s) for s in range(8) if transactions.masks[k] >> s & 1}
                requested = sectors - loaded if cached else sectors
                loaded |= sectors if cached else set()
                to_l2 += sorted(requested)
                read |= requested if one["kind"] != OpKind.store else set()
                written |= requested if one["kind"] != OpKind.load else set()
    memory = [*read, *written] if gpu.l2.enabled else to_l2
    channels = Counter(int(layout(transactions, gpu).mapping["channel"][line]) for line, _ in memory)
    return len(to_l2), len(memory), max(channels.values()) * gpu.dram.channels / len(memory)


@pytest.mark.slow
@pytest.mark.parametrize("gpu", GPUS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_sectors_are_those_that_sets_count(kernel, gpu):
    gpu = load_gpu(gpu)
    transactions = coalesce(memsim.trace(kernel, blocks="0:4", **KERNELS[kernel]), gpu)
    work = work_of(transactions, gpu)
    assert (work.l2_sectors, work.memory_sectors, pytest.approx(work.channel_skew)) == counted(transactions, gpu)


@pytest.mark.parametrize("gpu", GPUS)
@pytest.mark.parametrize(
    ("kernel", "parameters"),
    [
        ("matmul", dict(n=96)),
        ("transpose", dict(n=256, variant="tiled")),
        ("transpose", dict(n=256, variant="naive")),
        ("neighbours", dict(n=256, fetched="1")),
    ],
)
def test_no_unit_is_busy_longer_than_replay(kernel, parameters, gpu):
    """But latency: what a warp meets first in the order of the trace, another may have fetched before in time."""
    gpu = load_gpu(gpu)
    trace = memsim.trace(kernel, blocks="all", **parameters)
    busy = busy_cycles(work_of(coalesce(trace, gpu), gpu), trace, gpu)
    took = memsim.simulate(trace, gpu, trials=1).cycles.mean
    assert all(cycles <= (1.2 if part is BusyPart.latency else 1.02) * took for part, cycles in busy.items())
    assert max(busy.values()) > 0.3 * took  # and the largest says something


@pytest.mark.parametrize("gpu", GPUS)
def test_a_warp_alone_takes_its_chain_of_latencies(gpu):
    """But for main memory, where some of its loads find their row open."""
    gpu = override(load_gpu(gpu), {"stochastic.start_alignment": False})
    trace = memsim.trace("pointer_chase", blocks="all", gpu=gpu)
    work = work_of(coalesce(trace, gpu), gpu)
    assert memsim.simulate(trace, gpu, trials=1).cycles.mean == pytest.approx(work.block_cycles, rel=0.05)


def test_skew_is_busiest_channel_over_mean():
    """Rows of 2048 bytes lie in one channel each of eight: a column of 32 elements falls on one alone."""
    gpu = load_gpu("tesla-c1060")
    naive, diagonal = (
        work_of(coalesce(memsim.trace("transpose", n=512, variant=variant, blocks="0:16"), gpu), gpu)
        for variant in ("tiled", "diagonal")
    )
    assert naive.channel_skew > 2 * diagonal.channel_skew
    assert naive.memory_sectors == pytest.approx(diagonal.memory_sectors)


def test_launch_scales_with_share_of_traced_blocks():
    gpu = load_gpu("tesla-v100")
    few, all_ = (memsim.trace("saxpy", n=1 << 16, blocks=blocks) for blocks in ("0:128", "all"))
    part = [busy_cycles(work_of(coalesce(trace, gpu), gpu), trace, gpu)[BusyPart.channels] for trace in (few, all_)]
    assert np.isclose(*part, rtol=0.05)
