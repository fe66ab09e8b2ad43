"""What the study of Baghsorkhi 2012 computes from results, and the store policy it claims."""

from __future__ import annotations

import numpy as np
import pytest
import synthetic

from experiments.baghsorkhi2012.hits import settled
from experiments.baghsorkhi2012.machine import store_claims
from experiments.baghsorkhi2012.vectorized import speedup
from memsim.analysis.result import RunResult
from memsim.analysis.statistics import Ratio


def test_stores_hit_l2_only_where_store_was_before():
    before_read, before_written = store_claims()
    assert (before_read.ours, before_read.verdict) == (0, "met")
    assert (before_written.ours, before_written.verdict) == (100, "met")


@pytest.mark.parametrize(
    ("values", "trials"),
    [
        ([1, 3, 2, 4, 0], 4),  # sd of the first n: 1.41, 1, 1.29, 1.58; a quarter of the last is 0.40
        ([0, 2, 0, 2, 0, 2], 3),  # 1.41, 1.15, ..., 1.10; a quarter is 0.27
        ([5, 5, 5], 2),
    ],
)
def test_sd_settles_where_it_stays_within_quarter(values, trials):
    assert settled(Ratio(np.array(values, float))) == trials


def test_interval_of_speedup_has_its_stated_coverage():
    rng = np.random.default_rng(1)
    result, inside = RunResult(synthetic.spmv(8)), 0
    for _ in range(400):
        before, after = (RunResult(result.trials) for _ in range(2))
        for drawn, mean in ((before, 3e6), (after, 1e6)):
            drawn.__dict__["kernel_time"] = type(result.kernel_time)(rng.normal(mean, 0.02 * mean, 20))
        _, (low, high) = speedup(before, after)
        inside += low <= 3 <= high
    assert inside / 400 == pytest.approx(0.95, abs=0.03)
