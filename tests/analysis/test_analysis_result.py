"""Ratios under each convention, loads and their groups, against hand counts and a loop-by-loop recount."""

from __future__ import annotations

import numpy as np
import pytest
import synthetic
from hypothesis import given
from hypothesis import strategies as st

from memsim.analysis.conventions import AccessKind, Convention, hit_ratio
from memsim.analysis.latency import LatencyDistribution, expected_latency_terms
from memsim.analysis.result import RunResult
from memsim.hierarchy.counters import LATENCY_BINS, CountUnit, Event, Level, latency_bin_edges
from memsim.support.errors import InputError

# L1, transactions: 50 hits, 30 misses, 12 sector misses, 8 merges; sectors: 200, 90, 20, 10.
# L2, sectors: reads 40, 50, 4, 6; writes 5, 20, 0, 0.
COUNTERS = np.zeros((len(Level), len(Event), len(CountUnit)), int)
COUNTERS[Level.l1, :4, CountUnit.transactions] = 50, 30, 12, 8
COUNTERS[Level.l1, :4, CountUnit.sectors] = 200, 90, 20, 10
COUNTERS[Level.l2, :4, CountUnit.sectors] = 40, 50, 4, 6
COUNTERS[Level.l2, 4:8, CountUnit.sectors] = 5, 20, 0, 0


@pytest.mark.parametrize(
    "convention, capability, l1_read, l2_read, l2_write",
    [
        ("model", "2.0", 50 / 100, 40 / 100, 5 / 25),
        ("traffic", "7.0", 58 / 100, 46 / 100, 5 / 25),
        ("profiler", "2.0", 58 / 100, 46 / 100, 5 / 25),
        ("profiler", "7.0", 210 / 320, 46 / 100, 1.0),
    ],
)
def test_conventions_by_hand(convention, capability, l1_read, l2_read, l2_write):
    def ratio(level, access):
        return hit_ratio(COUNTERS, level, (access,), Convention(convention), capability)

    assert ratio(Level.l1, AccessKind.read) == pytest.approx(l1_read)
    assert ratio(Level.l2, AccessKind.read) == pytest.approx(l2_read)
    assert ratio(Level.l2, AccessKind.write) == pytest.approx(l2_write)


def test_a_ratio_of_nothing_is_nan():
    assert np.isnan(hit_ratio(np.zeros_like(COUNTERS), Level.l1))


@pytest.mark.parametrize(
    "grid, traced, waves",
    [(336, 336, 1), (3360, 336, 10), (3360, 21, 40), (60, 30, 1), (100, 84, 100 / 84)],
)
def test_kernel_time_is_cycles_times_waves_over_clock(grid, traced, waves):
    trials = synthetic.spmv(3)
    trials.about["trace"] |= {"grid": [grid, 1, 1], "blocks": traced, "wave_blocks": 84}
    result = RunResult(trials)
    assert result.waves == pytest.approx(waves)
    assert result.kernel_time.mean == pytest.approx(result.cycles.mean * waves / 1150 / 1000)


def test_ratios_and_counters_against_a_recount():
    trials = synthetic.spmv(5)
    result = RunResult(trials)
    reads = [int(Event.read_hit), int(Event.read_miss), int(Event.read_sector_miss), int(Event.read_merge)]
    for t in range(5):
        hits = total = 0
        for op in range(len(trials.ops) + 1):
            counts = trials.counters[t, op, Level.l2, :, CountUnit.sectors].tolist()
            hits += counts[Event.read_hit]
            total += sum(counts[event] for event in reads)
        assert result.l2_read.values[t] == pytest.approx(hits / total)
    for level in ("l1", "l2"):
        for counts in result.counters[level].values():
            arrived = counts["reads"] + counts["writes"] + counts["atomics"]
            assert arrived == pytest.approx(counts["hits"] + counts["misses"] + counts["merges"])
    l1 = trials.counters[:, :, Level.l1, :4, CountUnit.transactions]
    assert result.counters["l1"]["transactions"]["reads"] == l1.sum() / 5


def test_loads_that_bypass_l1_have_no_ratio_there():
    """L1 counts them as misses; their X is that of a load with H1 = 0."""
    trials = synthetic.spmv()
    cached = RunResult(trials).loads[3]
    trials.ops[3]["bypass_l1"] = True
    past = RunResult(trials).loads[3]
    assert cached.l1_hit.mean > 0 and np.isnan(past.l1_hit.mean) and past.l2_hit.mean == cached.l2_hit.mean
    assert past.x.mean > cached.x.mean
    assert RunResult(trials).l1_read.mean != RunResult(synthetic.spmv()).l1_read.mean
    trials.about["gpu"]["l1"]["enabled"] = False
    assert np.isnan(RunResult(trials).l1_read.mean)
    assert RunResult(trials).l2_read.mean == RunResult(synthetic.spmv()).l2_read.mean


def test_shares_sum_to_one_in_every_grouping():
    result = RunResult(synthetic.spmv(6))
    for group in ("load", "array", "line"):
        assert sum(load.share.mean for load in result.loads_by(group)) == pytest.approx(1)


def test_groups_add_before_they_divide():
    """A group's ratio is that of its requests; its latency that of its transactions."""
    trials = synthetic.spmv(4)
    result = RunResult(trials)
    rows = {load.array: load for load in result.loads_by("array")}
    assert list(rows) == ["row_ptr", "indices", "val", "y"]
    pooled = trials.latency_sum[:, :2].sum(1) / trials.latency_count[:, :2].sum(1)
    assert rows["row_ptr"].latency.values == pytest.approx(pooled)
    both = hit_ratio(trials.counters[:, :2].sum(axis=1), Level.l1)
    assert rows["row_ptr"].l1_hit.values == pytest.approx(both)
    lines = {load.line: load for load in result.loads_by("line")}
    assert lines[44].text == "val[j]; y[ind]" and lines[44].array == "" and lines[44].column is None


def test_stores_are_no_loads():
    texts = [load.text for load in RunResult(synthetic.spmv(2)).loads]
    assert texts == ["row_ptr[row]", "row_ptr[row + 1]", "indices[j]", "val[j]", "y[ind]"]


def test_expected_latency_is_the_papers_equation():
    trials = synthetic.spmv(3)
    result = RunResult(trials, "profiler")  # X is the model's whatever the convention shown
    memory = trials.memory_sum / trials.memory_count
    for op, load in enumerate(result.loads):
        h1, h2 = (hit_ratio(trials.counters[:, op], level) for level in (Level.l1, Level.l2))
        assert load.x.values == pytest.approx(h1 * 104 + (1 - h1) * (h2 * 288 + (1 - h2) * memory))
        assert sum(term.mean for term in load.x_terms) == pytest.approx(load.x.mean)


@pytest.mark.parametrize(
    "h1, h2, memory, x",
    [
        (1.0, np.nan, np.nan, 100),  # nobody asks L2
        (0.0, 1.0, np.nan, 200),  # nobody asks memory
        (np.nan, 0.5, 800.0, 500),  # L1 is off
        (0.5, np.nan, 800.0, np.nan),
        (0.5, 0.5, np.nan, np.nan),
        (np.nan, np.nan, 800.0, np.nan),
    ],
)
def test_expected_latency_where_a_level_is_not_used(h1, h2, memory, x):
    terms = expected_latency_terms(np.array(h1), np.array(h2), 100, 200, np.array(memory))
    assert sum(terms) == pytest.approx(x, nan_ok=True)


def test_merging_load_waits_for_fetches_of_others():
    trials = synthetic.spmv(2)
    trials.counters[:, 1, Level.l1] = trials.counters[:, 1, Level.l2] = 0
    trials.counters[:, 1, Level.l1, Event.read_merge, CountUnit.transactions] = 100
    load = RunResult(trials).loads[1]
    h2 = hit_ratio(trials.counters.sum(axis=1), Level.l2)
    assert load.x.values == pytest.approx(h2 * 288 + (1 - h2) * trials.memory_sum / trials.memory_count)
    assert np.isnan(load.l2_hit.mean)


@given(st.lists(st.integers(0, 20_000), min_size=1, max_size=200), st.floats(0.01, 0.99))
def test_quantiles_lie_within_bin_of_exact_quantile(latencies, q):
    edges = latency_bin_edges()
    counts = np.histogram(latencies, edges)[0]
    exact = np.sort(latencies)[max(int(np.ceil(q * len(latencies) - 1e-9)) - 1, 0)]
    bin_ = np.searchsorted(edges, exact, side="right") - 1
    assert edges[bin_] <= LatencyDistribution(counts).quantile(q) <= edges[bin_ + 1]


def test_a_density_integrates_to_one():
    counts = np.random.default_rng(0).integers(0, 9, LATENCY_BINS)
    edges, density = LatencyDistribution(counts).density()
    assert (density * np.diff(edges)).sum() == pytest.approx(1)
    assert np.isnan(LatencyDistribution(np.zeros(LATENCY_BINS, int)).quantile(0.5))


def test_loads_as_csv_and_frame(tmp_path):
    pandas = pytest.importorskip("pandas")
    loads = RunResult(synthetic.spmv(3)).loads
    text = loads.to_csv(tmp_path / "loads.csv")
    read = pandas.read_csv(tmp_path / "loads.csv")
    frame = loads.to_frame()
    assert text.startswith("file,line,column,text,array,l1_hit,l2_hit,latency,latency_low,latency_high,")
    pandas.testing.assert_frame_equal(read, frame)
    assert frame.latency_p5.lt(frame.latency_p50).all() and frame.latency_p50.lt(frame.latency_p95).all()


def test_frames_without_pandas_say_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(InputError, match=r"pip install 'memsim\[frame\]'"):
        RunResult(synthetic.spmv(1)).loads.to_frame()
