"""A run of sampled blocks: its answer is near the whole launch's, and says how near."""

from __future__ import annotations

import numpy as np
import pytest

import memsim
from memsim.report.result_json import document
from memsim.report.text import tables
from memsim.support.errors import InputError

GPU = "tesla-v100"
SETTINGS = {"sm.count": 2, "stochastic.start_alignment": False, "l2.size_bytes": 128 << 10}


@pytest.fixture(scope="module")
def trace():
    return memsim.trace("saxpy", n=640 * 256, gpu=GPU, blocks="all")


@pytest.fixture(scope="module")
def full(trace):
    return memsim.simulate(trace, GPU, trials=2, seed=1, settings=SETTINGS, jobs=1)


def sampled(trace, **options):
    return memsim.simulate(
        trace, GPU, **{"trials": 2, "seed": 1, "settings": SETTINGS, "jobs": 1, "sample": True} | options
    )


@pytest.fixture(scope="module")
def sample(trace):
    return sampled(trace)


def test_a_sample_tells_the_whole_launch(sample, full):
    assert sample.kernel_time.mean == pytest.approx(full.kernel_time.mean, rel=0.1)
    assert sample.l2_read.mean == pytest.approx(full.l2_read.mean, abs=0.02)
    low, high = sample.kernel_time_interval
    assert low < full.kernel_time.mean < high


def test_a_sample_replays_a_fifth_of_the_blocks(sample, full):
    found = sample.sampling
    assert found.launched == 640 and 0 < found.blocks <= 0.2 * 640 and not sample.whole
    assert sample.trials.transactions.mean() < 0.25 * full.trials.transactions.mean()
    assert found.time_ms > 0 and found.ratios["l2_read"] >= 0
    assert full.sampling is None


def test_a_result_keeps_its_groups(sample, tmp_path):
    sample.save(tmp_path / "r.h5")
    again = memsim.Result.load(tmp_path / "r.h5")
    assert again.sampling == sample.sampling
    assert np.array_equal(again.trials.group_counters, sample.trials.group_counters)


def test_text_and_json_report_error_of_sampling(sample, full):
    assert "due to sampling of blocks" in tables(sample) and "due to sampling" not in tables(full)
    assert document(sample)["sampling"]["groups"] == len(sample.trials.about["sample"]["groups"])
    assert document(full)["sampling"] is None


def test_trials_of_samples_and_whole_launches_stay_separate(trace, sample, tmp_path):
    sampled(trace, out=tmp_path / "r.h5")
    with pytest.raises(InputError, match="sample"):
        memsim.simulate(trace, GPU, trials=3, seed=1, settings=SETTINGS, out=tmp_path / "r.h5", resume=True)


def test_workers_and_quanta_change_nothing(trace, sample):
    again = sampled(trace, jobs=2)
    assert np.array_equal(again.trials.group_counters, sample.trials.group_counters)


def test_causes_are_not_looked_for(sample):
    with pytest.raises(InputError, match="sample of blocks"):
        sample.why()


def test_what_cannot_be_sampled_is_refused(trace):
    with pytest.raises(InputError, match="less than 33 times"):
        memsim.simulate(trace, GPU, trials=1, sample=True)
    with pytest.raises(InputError, match="inclusive"):
        memsim.simulate(trace, "tesla-c2050", trials=1, sample=True)
    with pytest.raises(InputError, match="cold caches"):
        sampled(trace, warm=True)
    part = memsim.trace("saxpy", n=640 * 256, gpu=GPU, blocks="0:600")
    with pytest.raises(InputError, match="600 of the launch's 640"):
        sampled(part)
