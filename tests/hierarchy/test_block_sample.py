"""Sampled blocks: groups that leave nothing out change nothing, and walked blocks leave caches as replayed ones do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import memsim
from memsim.gpu.presets import load_gpu, override
from memsim.hierarchy.block_sample import BlockGroup, BlockSample, traffic_of, work_of
from memsim.hierarchy.counters import CountUnit, Level
from memsim.hierarchy.execution import Execution
from memsim.hierarchy.functional_walk import TO_DRAM, TO_L2, can_walk, walk
from memsim.hierarchy.system import System
from memsim.montecarlo.shared_stages import prepared

SMALL = {
    "sm.count": 2, "stochastic.start_alignment": False, "l2.size_bytes": 128 << 10, "l1.size_bytes": 16 << 10,
    "l1.carve_outs": [], "l2.max_dirty_ways": None,
}  # fmt: skip


@pytest.fixture(scope="module")
def launch(tmp_path_factory):
    """A launch of 256 blocks on a small machine with small caches."""
    trace = memsim.trace("saxpy", n=256 * 256, gpu="tesla-v100", blocks="all")
    gpu = override(load_gpu("tesla-v100"), SMALL)
    return prepared(Execution.of(trace, gpu, tmp_path_factory.mktemp("launch")), trace)[0]


def system(execution: Execution, sample: BlockSample | None = None, resident: int | None = None) -> System:
    resident = execution.resident if resident is None else resident
    seeds = np.random.SeedSequence(0)
    return System(execution.transactions, execution.gpu, resident, seeds, execution.layout, sample=sample)


def test_groups_of_all_blocks_equal_whole_launch(launch):
    wave = launch.wave_blocks
    groups = BlockGroup(0, wave, 100), BlockGroup(100, 120, 180), BlockGroup(180, 180, 256)
    whole, parts = system(launch).run(), system(launch, BlockSample(groups, wave)).run()
    assert np.array_equal(parts.counters, whole.counters)
    assert parts.cycles == whole.cycles
    assert parts.group_weight.sum() == 0
    assert 0 < parts.group_cycles.sum() < whole.cycles
    assert (parts.group_counters[2] > 0).any() and not parts.group_counters[3:].any()


def test_weights_are_all_skipped_transactions(launch):
    wave = launch.wave_blocks
    sample = BlockSample((BlockGroup(0, wave, 2 * wave), BlockGroup(128, 140, 160), BlockGroup(230, 240, 256)), wave)
    trial, tx = system(launch, sample).run(), launch.transactions
    assert sample.replayed == 2 * wave + 32 + 26
    assert trial.transactions + trial.group_weight.sum() == pytest.approx(len(tx.lines))


def test_walk_leaves_lines_that_replay_leaves(launch):
    """One block at a time on one SM: then both carry accesses out in the same order."""
    one = replace(launch, gpu=override(launch.gpu, {"sm.count": 1}))
    replayed, walked = system(one, resident=1), system(one, resident=1)
    trial = replayed.run()
    traffic = walk(walked.machine, 1, walked.first, walked.end)
    for level in ("sms", "slices"):
        left, kept = (getattr(one.machine, level).cache for one in (replayed, walked))
        assert set(left.tags[left.tags >= 0]) == set(kept.tags[kept.tags >= 0])
        assert left.ways["valid"].sum() == kept.ways["valid"].sum()
        assert left.ways["dirty"].sum() == kept.ways["dirty"].sum() > (0 if level == "slices" else -1)
    sectors = trial.counters.sum(axis=0)[..., CountUnit.sectors].sum(axis=-1)
    assert traffic[TO_L2] == sectors[Level.l2] and traffic[TO_DRAM] == sectors[Level.dram]


def test_traffic_is_sectors_per_transaction(launch):
    counters = system(launch).run().counters.sum(axis=0)
    assert work_of(counters) == len(launch.transactions.lines)
    assert traffic_of(counters)[0] * work_of(counters) == counters[Level.l2, :, CountUnit.sectors].sum()


@pytest.mark.parametrize(("name", "known"), [("tesla-v100", True), ("a100", True), ("tesla-c2050", False)])
def test_an_inclusive_l2_is_not_walked(name, known):
    assert can_walk(load_gpu(name)) is known


def test_two_partitions_are_walked(tmp_path):
    trace = memsim.trace("saxpy", n=64 * 256, gpu="a100", blocks="all")
    execution, _ = prepared(Execution.of(trace, override(load_gpu("a100"), {"sm.count": 4}), tmp_path), trace)
    walked = system(execution)
    traffic = walk(walked.machine, 4, walked.first, walked.end)
    assert traffic[TO_L2] >= traffic[TO_DRAM] > 0
    assert walked.machine.slices.copied.any()
