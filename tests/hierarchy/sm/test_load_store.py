"""How long the load-store unit is busy: the longer of its tag stage and its data stage, where it alone decides."""

from __future__ import annotations

import machines
import numpy as np
import pytest
from machines import instruction

import memsim
from memsim.gpu.presets import load_gpu, override
from memsim.hierarchy.system import System
from memsim.trace.coalesce import coalesce

LINES = 16


def cycles_a_load(transactions: int, wavefronts: int, tags: int) -> float:
    """Of loads that hit, by eight warps of which each has many under way."""
    gpu = machines.gpu(
        sm__dependence="scoreboard", sm__issue_per_cycle=8, l1__size_bytes=4096, l1__ways=32, l1__tags_per_cycle=tags
    )
    loads = [(line, 1) for line in range(transactions)]
    first = instruction([(line, 1) for line in range(LINES)])

    def cycles(n: int) -> int:
        warp = [first, *(instruction(loads, sequence=False, wavefronts=wavefronts) for _ in range(n))]
        return System(machines.trace([[warp] * 8]), gpu, 1, np.random.SeedSequence(0)).run().cycles

    return (cycles(120) - cycles(60)) / (60 * 8)


@pytest.mark.parametrize(
    ("transactions", "wavefronts", "tags", "cycles"),
    [(1, 0, 1, 1), (8, 0, 1, 8), (8, 8, 4, 8), (8, 2, 4, 2), (9, 3, 4, 3), (8, 2, 2, 4), (1, 5, 4, 5), (4, 32, 4, 32)],
)
def test_the_longer_stage_decides(transactions, wavefronts, tags, cycles):
    assert cycles_a_load(transactions, wavefronts, tags) == pytest.approx(cycles, rel=0.02)


def test_a_hit_takes_l1s_latency():
    tx = machines.trace([[[instruction([(0, 1)], op=0), instruction([(0, 1)], op=1)]]])
    gpu = machines.gpu()
    trial = System(tx, gpu, 1, np.random.SeedSequence(0)).run()
    assert trial.latency_sum[1] == trial.instruction_latency_sum[1] == gpu.l1.hit_latency_cycles


def test_data_of_a_conflict_come_later():
    """One load that hits: its last data leave as many cycles later as the data stage has wavefronts more."""

    def cycles(wavefronts: int) -> int:
        warp = [instruction([(0, 1)]), instruction([(0, 1)], wavefronts=wavefronts), instruction([(0, 1)])]
        return System(machines.trace([[warp]]), machines.gpu(), 1, np.random.SeedSequence(0)).run().cycles

    assert cycles(32) == cycles(1) + 31 == cycles(0) + 31


@pytest.mark.parametrize("kernel", ["transpose", "spmv"])
def test_stage_of_its_own_is_off_by_default(kernel):
    """With a bank of tags and no bank of data, wavefronts are transactions, and no result depends on them."""
    off = {"l1.tags_per_cycle": 1, "l1.banks": None, "l1.bytes_per_cycle": None}
    gpu = override(load_gpu("tesla-v100"), off)
    transactions = coalesce(memsim.trace(kernel, blocks="0:8"), gpu)
    assert np.array_equal(transactions.instructions["wavefronts"], transactions.instructions["count"])
    one = System(transactions, gpu, 4, np.random.SeedSequence(1)).run()
    transactions.instructions["wavefronts"] = 0
    other = System(transactions, gpu, 4, np.random.SeedSequence(1)).run()
    assert one.cycles == other.cycles and np.array_equal(one.latency_histogram, other.latency_histogram)
