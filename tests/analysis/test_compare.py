"""Comparison of results: pairs and Welch against scipy, matched loads, what CI asks."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from scipy import stats
from synthetic import spmv
from typer.testing import CliRunner

import memsim
from memsim.analysis.result import RunResult
from memsim.cli import app
from memsim.support.errors import InputError


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """The same kernel on a GPU, and on one with slower DRAM: 12 trials each, of one seed; and of another seed."""
    folder = tmp_path_factory.mktemp("compare")
    memsim.trace("spmv", rows=4096, nnz_per_row=8, gpu="tesla-c2050", out=folder / "t.h5")
    for name, seed, latency in (("a", 3, 250), ("b", 3, 900), ("other", 4, 900)):
        settings = {"dram.latency_cycles": latency}
        memsim.simulate(folder / "t.h5", trials=12, seed=seed, settings=settings).save(folder / f"{name}.h5")
    return folder


def test_pairs_match_paired_t_test_and_beat_welch(pair):
    a, b, other = (RunResult.load(pair / f"{name}.h5") for name in ("a", "b", "other"))
    found, unpaired = memsim.compare(a, b), memsim.compare(a, other)
    logs = [np.log(result.cycles.values) for result in (a, b, other)]
    its = stats.ttest_rel(logs[1], logs[0]).confidence_interval()
    assert found.log_time.interval == pytest.approx((its.low, its.high))
    assert found.speedup == pytest.approx(np.exp(np.mean(logs[0] - logs[1]))) and found.speedup < 1
    its = stats.ttest_ind(logs[2], logs[0], equal_var=False).confidence_interval()
    assert unpaired.log_time.interval == pytest.approx((its.low, its.high))
    assert not found.pairing.why_not and "seeds 3 and 4" in unpaired.pairing.why_not
    assert found.log_time.interval.width < unpaired.log_time.interval.width


def test_trials_pair_by_number_however_many_each_has(pair):
    a, b = (RunResult.load(pair / f"{name}.h5") for name in "ab")
    columns = {name: value[4:] for name, value in vars(b.trials).items() if isinstance(value, np.ndarray)}
    fewer = memsim.compare(a, RunResult(dataclasses.replace(b.trials, **columns)))
    assert fewer.pairing.first.tolist() == list(range(4, 12)) and fewer.pairing.second.tolist() == list(range(8))
    changes = np.log(b.cycles.values[4:] / a.cycles.values[4:])
    assert fewer.log_time.change == pytest.approx(changes.mean())
    one = {name: value[:1] for name, value in vars(b.trials).items() if isinstance(value, np.ndarray)}
    single = memsim.compare(a, RunResult(dataclasses.replace(b.trials, **one)))
    assert "1 trial numbers" in single.pairing.why_not and single.speedup_interval is None and single.speedup < 1


def test_a_result_is_as_fast_as_itself(pair):
    found = memsim.compare(pair / "a.h5", pair / "a.h5")
    assert found.speedup == 1 and found.speedup_interval == (1, 1)
    assert all(row.latency.change == 0 == row.share.change for row in found.loads.matched)
    assert not found.loads.only_first and not found.slower_than(0)


def test_loads_match_by_location_then_text():
    one, other = spmv(seed=1), spmv(seed=2)
    for op in other.ops:
        op["line"] += 2  # two lines were put in above
    other.ops[4]["text"] = "y[other]"
    found = memsim.compare(RunResult(one), RunResult(other)).loads
    assert [(row.text, row.location, row.second_location) for row in found.matched] == [
        ("row_ptr[row]", "spmv.py:41", "spmv.py:43"), ("row_ptr[row + 1]", "spmv.py:41", "spmv.py:43"),
        ("indices[j]", "spmv.py:43", "spmv.py:45"), ("val[j]", "spmv.py:44", "spmv.py:46"),
    ]  # fmt: skip
    assert [load.text for load in found.only_first] == ["y[ind]"]
    assert [load.text for load in found.only_second] == ["y[other]"]


def test_results_of_two_conventions_are_refused():
    with pytest.raises(InputError, match="convention"):
        memsim.compare(RunResult(spmv(), "model"), RunResult(spmv(), "traffic"))


def _call(*arguments):
    return CliRunner().invoke(app, ["compare", *map(str, arguments)])


def test_the_command_prints_tables_and_json(pair):
    done = _call(pair / "a.h5", pair / "b.h5", pair / "other.h5")
    assert done.exit_code == 0 and "slower" in done.stdout and "12 pairs" in done.stdout and "Welch" in done.stdout
    document = json.loads(_call(pair / "a.h5", pair / "b.h5", "--json").stdout)
    (found,) = document["comparisons"]
    assert found["pairs"] == 12 and found["speedup"] < 1 and found["why_not_paired"] is None
    assert {row["array"] for row in found["arrays"]["matched"]} == {"row_ptr", "indices", "val", "y"}


def test_the_exit_status_tells_ci(pair):
    a, b = pair / "a.h5", pair / "b.h5"
    slower = 1 / memsim.compare(a, b).speedup - 1
    assert slower > 0.01
    assert _call(a, b, "--fail-if-slower", f"{slower / 2:.6f}").exit_code == 1
    assert _call(a, b, "--fail-if-slower", f"{200 * slower}%").exit_code == 0
    assert _call(b, a, "--fail-if-slower", "0%").exit_code == 0
    assert "differ" not in _call(a, b, "--fail-if-slower", "0%").stderr
    for bad in ([a], [a, b, "--fail-if-slower", "five"], [a, b.with_name("none.h5")], [a, pair / "t.h5"]):
        done = _call(*bad)
        assert done.exit_code == 2 and len(done.stderr.splitlines()) == 1


def test_other_kernels_and_gpus_are_reported(pair, tmp_path):
    """Whatever is compared: the text, JSON and standard error, which CI keeps, say so."""
    other = tmp_path / "saxpy.h5"
    trace = memsim.trace("saxpy", n=1 << 14, blocks="all", out=tmp_path / "t.h5")
    memsim.simulate(trace, gpu="tesla-v100", trials=2, seed=3).save(other)
    done = _call(pair / "a.h5", other, "--fail-if-slower", "5%")
    for says in ("the kernels differ: csr, axpy", "the GPUs differ: tesla-c2050, tesla-v100", "the launches differ"):
        assert f"note: {says}" in done.stdout and says in done.stderr
    loads, arrays = (done.stdout.partition(f"{title} of the second only\n")[2] for title in ("loads", "arrays"))
    assert loads.startswith("  saxpy.py:") and arrays.startswith("  x, ")
    as_json = _call(pair / "a.h5", other, "--json")
    assert json.loads(as_json.stdout)["comparisons"][0]["cautions"][0] == "the kernels differ: csr, axpy"
    assert "the kernels differ" in as_json.stderr
