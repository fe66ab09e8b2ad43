"""Statistics against textbook values, coverage by simulation, and their laws."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from memsim.analysis.statistics import Moments, Ratio, Sample

VALUES = st.lists(st.floats(0, 1), min_size=2, max_size=50).map(np.array)


def test_t_interval_of_a_published_example():
    """NIST/SEMATECH e-Handbook 1.3.5.2, ZARR13: 195 values of mean 9.261460 and sd 0.022789."""
    rng = np.random.default_rng(0)
    drawn = rng.normal(size=195)
    values = 9.261460 + 0.022789 * (drawn - drawn.mean()) / drawn.std(ddof=1)
    assert Sample(values).interval() == pytest.approx((9.258242, 9.264679), abs=1e-6)


@given(VALUES)
def test_t_interval_agrees_with_scipy(values):
    if np.ptp(values) < 1e-9:
        return
    expected = scipy.stats.ttest_1samp(values, 0).confidence_interval(0.9)
    assert Sample(values).interval(0.9) == pytest.approx(tuple(expected), abs=1e-9)


@pytest.mark.parametrize("method, slack", [("t", 0.02), ("bootstrap", 0.06)])
def test_interval_holds_mean_as_often_as_it_says(method, slack):
    """300 samples of 20 normal trials; bootstrap intervals are known to be somewhat narrow at this size."""
    rng = np.random.default_rng(1)
    runs = 1500 if method == "t" else 60
    intervals = [Sample(rng.normal(3, 1, 20)).interval(method=method) for _ in range(runs)]
    held = np.mean([low <= 3 <= high for low, high in intervals])
    assert abs(held - 0.95) < slack


def test_spread_holds_one_run_and_does_not_shrink():
    values = np.random.default_rng(2).normal(0.5, 0.01, 4000)
    sample, half = Sample(values), Sample(values[:2000])
    low, high = sample.spread()
    assert np.mean((values >= low) & (values <= high)) == pytest.approx(0.954, abs=0.01)
    assert sample.spread().width == pytest.approx(half.spread().width, rel=0.05)
    assert sample.interval().width == pytest.approx(half.interval().width / np.sqrt(2), rel=0.05)


@given(VALUES)
def test_convergence_is_the_sd_of_every_prefix(values):
    count, sd = Sample(values).convergence()
    assert count.tolist() == list(range(2, len(values) + 1))
    assert sd == pytest.approx([np.std(values[:n], ddof=1) for n in count], abs=1e-7)


@given(VALUES, st.integers(1, 20) | st.none())
def test_a_histogram_counts_every_trial_once(values, bins):
    counts, edges = Sample(values).histogram(bins)
    assert counts.sum() == len(values) and len(edges) == len(counts) + 1 and (np.diff(edges) > 0).all()


@pytest.mark.parametrize("method", ["t", "bootstrap"])
def test_degenerate_samples(method):
    one, none, same = Sample(np.array([0.4])), Sample(np.full(5, np.nan)), Sample(np.full(9, 0.3))
    assert one.interval(method=method) is None and one.spread() is None and np.isnan(one.sd) and one.mean == 0.4
    assert none.interval(method=method) is None and np.isnan(none.mean) and none.histogram()[0].sum() == 0
    assert same.interval(method=method) == pytest.approx((0.3, 0.3)) and same.interval(method=method).width == 0
    assert one.convergence()[0].size == 0


def test_trials_without_a_value_are_left_out():
    assert Sample(np.array([0.2, np.nan, 0.4])).mean == pytest.approx(0.3)


def test_bootstrap_is_reproducible_and_follows_skew():
    values = np.random.default_rng(3).exponential(1, 30)
    low, high = Sample(values).interval(method="bootstrap")
    assert (low, high) == Sample(values).interval(method="bootstrap")
    assert high - values.mean() > values.mean() - low


def test_unknown_method_and_level_are_refused():
    with pytest.raises(ValueError, match="normal"):
        Sample(np.arange(3.0)).interval(method="normal")
    with pytest.raises(ValueError, match="level"):
        Sample(np.arange(3.0)).interval(level=95)


@given(VALUES)
def test_intervals_of_ratios_stay_where_ratios_are(values):
    """And are those of the values otherwise."""
    for found, free in (
        (Ratio(values).interval(), Sample(values).interval()),
        (Ratio(values).spread(), Sample(values).spread()),
    ):
        assert found == (max(free.low, 0), min(free.high, 1))


def test_few_trials_near_zero():
    assert Ratio(np.array([0.1, 0.2])).interval().low == 0 > Sample(np.array([0.1, 0.2])).interval().low


@given(VALUES)
def test_moments_one_by_one_are_those_of_all(values):
    moments = Moments()
    for value in [*values.tolist(), float("nan")]:
        moments.add(value)
    assert moments.count == len(values)
    assert (moments.mean, moments.sd) == pytest.approx((values.mean(), values.std(ddof=1)), abs=1e-12)
    assert moments.interval() == pytest.approx(Sample(values).interval(), abs=1e-9)
