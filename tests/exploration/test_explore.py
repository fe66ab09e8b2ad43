"""memsim explore: the choices, their ranking, what decides, and what is said of bad input."""

import json
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from scipy.stats import spearmanr
from typer.testing import CliRunner

import memsim
from memsim import Launch, workload
from memsim.cli import app
from memsim.exploration import SIMULATED
from memsim.exploration.effects import shares
from memsim.exploration.space import combinations
from memsim.report.exploration import table, text
from memsim.support.errors import InputError


@pytest.fixture(scope="module")
def motivating():
    """The example of Kim and Shrivastava 2011, section 3, at its own size, but with fewer blocks and trials."""
    return memsim.explore("neighbours", "tesla-c1060", n=16384, keep=3, trials=2, blocks="1x", jobs=2)


@pytest.mark.slow
def test_best_version_of_motivating_example_is_found(motivating):
    """Measured: 44.98 and 45.06 ms for these two, 53.69 and more for every other (tables I to III)."""
    best = [version.chosen for version in motivating.versions[:2]]
    assert all(chosen["fetched"] == "0" and chosen["stored"] == "rows" for chosen in best)
    assert {chosen["layout"] for chosen in best} == {"rows", "padded"}
    assert motivating.versions[0].milliseconds < motivating.versions[2].milliseconds


@pytest.mark.slow
def test_its_disaster_is_avoided_and_explained(motivating):
    """Storing by columns, measured 87 times as slow, comes last whatever else is chosen."""
    stored = [version.chosen["stored"] for version in motivating.versions]
    assert stored == ["rows"] * 10 + ["columns"] * 10
    first = motivating.decisions[0]
    assert (first.choice, first.best, first.worst) == ("stored", "rows", "columns")
    assert first.share > 0.9 and first.ratio > 8 and "skew among memory channels" in first.causes
    assert motivating.decisions[1].choice == "layout" and "passes of shared memory" in motivating.decisions[1].causes
    assert "stored decides" in text(motivating) and "busiest memory channel" in text(motivating)


MEASURED = {  # ms on a Tesla C1060, tables I to III: (fetched, layout, stored)
    ("none", "rows", "rows"): 78.15, ("0", "columns", "rows"): 61.11, ("1", "columns", "rows"): 64.86,
    ("2", "columns", "rows"): 63.77, ("0", "rows", "rows"): 45.06, ("1", "rows", "rows"): 54.75,
    ("2", "rows", "rows"): 55.25, ("0", "padded", "rows"): 44.98, ("1", "padded", "rows"): 53.69,
    ("2", "padded", "rows"): 54.39, ("none", "rows", "columns"): 3938.08, ("0", "rows", "columns"): 3933.88,
    ("1", "rows", "columns"): 3936.23, ("2", "rows", "columns"): 3937.56,
}  # fmt: skip


@pytest.mark.slow
def test_models_times_are_in_order_of_those_measured(motivating):
    times = {tuple(version.chosen.values()): version.model.milliseconds for version in motivating.versions}
    assert spearmanr([times[version] for version in MEASURED], list(MEASURED.values())).statistic > 0.95


@pytest.mark.slow
def test_model_ranks_versions_as_they_were_measured(motivating):
    """In steps of 5 %, which shuffle those stored by columns: measured, they differ by 0.1 %."""
    by_model = sorted(motivating.versions, key=lambda version: (version.model.order, version.model.milliseconds))
    ranks = {tuple(version.chosen.values()): rank for rank, version in enumerate(by_model)}
    assert spearmanr([ranks[version] for version in MEASURED], list(MEASURED.values())).statistic > 0.9


@pytest.mark.slow
def test_impossible_versions_are_counted_with_their_reason(motivating):
    assert len(motivating.versions) == 20 and len(motivating.rejected) == 4
    assert all(chosen["fetched"] == "none" and "give rows" in reason for chosen, reason in motivating.rejected)


@pytest.mark.slow
def test_jobs_change_nothing():
    one, two = (
        memsim.explore("transpose", "tesla-c1060", n=256, keep=2, trials=2, blocks="1x", jobs=jobs) for jobs in (1, 2)
    )
    assert table(one).to_csv() == table(two).to_csv()


def test_shares_are_the_classical_sums_of_squares():
    """Of a full factorial: from the means of the levels (Montgomery, Design and Analysis of Experiments, 5.3)."""
    choices = {"a": (1, 2, 3), "b": (1, 2), "c": (1, 2, 3, 4)}
    times = np.exp(np.random.default_rng(1).normal(size=(3, 2, 4)))
    log, found = np.log(times), shares(list(combinations(choices)), times.ravel(), choices)
    for axis, name in enumerate(choices):
        means = log.mean(axis=tuple(other for other in range(3) if other != axis))
        expected = ((means - log.mean()) ** 2).sum() * log.size / len(means) / ((log - log.mean()) ** 2).sum()
        assert found[name] == pytest.approx(expected)


@pytest.mark.slow
def test_interrupted_it_keeps_what_is_simulated():
    def stop(done, total, stage):
        if stage == SIMULATED:
            raise KeyboardInterrupt

    found = memsim.explore("transpose", "tesla-c1060", n=128, keep=3, trials=1, progress=stop)
    assert not found.complete and sum(version.result is not None for version in found.versions) == 1
    assert "interrupted" in text(found)


def scale(t, a, stride):
    with t.where(t.global_id * stride < len(a)):
        a[t.global_id * stride] = 1


@workload(choices={"stride": (1, 2, 3), "block": (64, 4096)})
def strided(n: int = 1 << 16, stride: int = 1, block: int = 64, by: Literal["x", "y"] = "x") -> Launch:
    if stride == 3:
        raise ValueError("stride is 3; give 1 or 2")
    return Launch(scale, n // block, block, {"a": np.zeros(n, np.float32), "stride": stride})


def test_a_workload_of_the_user_is_explored():
    """A stride of 2 stores half of each sector, which takes L2 longer; blocks of 4096 threads fit no SM."""
    found = memsim.explore(strided, "tesla-v100", keep=0)
    assert [version.chosen for version in found.versions] == [{"stride": k, "block": 64} for k in (1, 2)]
    reasons = [reason for _, reason in found.rejected]
    assert len(reasons) == 4 and sum("give 1 or 2" in one for one in reasons) == 2
    assert sum("4096 threads" in one for one in reasons) == 2


@pytest.mark.parametrize(
    ("choices", "error"),
    [({"steps": (1, 2)}, InputError), ({"n": ...}, TypeError), ({"by": "xy"}, TypeError), ({"n": ("a",)}, InputError)],
)
def test_choices_are_checked_where_they_are_declared(choices, error):
    with pytest.raises(error):
        workload(choices=choices)(strided.builder)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("explore saxpy", "choices are none"),
        ("explore transpose --vary variants=a,b", "is not a parameter"),
        ("explore transpose --vary variant=round", "give one of naive"),
        ("explore transpose --vary n", "name=VALUE"),
        ("explore transpose --vary n=", "has no values"),
        ("explore transpose --vary n=64,128 -p n=64", "choose one"),
        ("explore transpose -p n=100", "leave no version"),
        ("explore nothing", "is not in the library"),
        ("explore transpose -o no/such/folder/a.csv", "no/such/folder"),
    ],
)
def test_bad_input_ends_in_one_line(arguments, said):
    done = CliRunner().invoke(app, arguments.split())
    assert done.exit_code == 2 and said in done.output and len(done.output.strip().splitlines()) == 1, done.output


def test_the_command_writes_what_it_prints(tmp_path):
    csv, png = tmp_path / "a.csv", tmp_path / "a.png"
    arguments = ["transpose", "-p", "n=128", "--gpu", "tesla-v100", "--keep", "1", "--trials", "2", "--json", "-o", csv]
    done = CliRunner().invoke(app, ["explore", *map(str, arguments), "--figure", str(png)])
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert len(csv.read_text().splitlines()) == 1 + len(document["versions"]) == 5
    assert document["versions"][0]["simulated_ms"] > 0 and png.read_bytes().startswith(b"\x89PNG")


def test_unreadable_or_too_large_file_is_one_line(tmp_path, monkeypatch):
    file, gpu = tmp_path / "kernel.py", memsim.load_gpu("a100")
    file.write_bytes(b"#" * ((1 << 20) + 1))
    with pytest.raises(InputError, match="kernel.py: file is larger than 1048576 bytes; give a Python program"):
        memsim.explore(file, gpu)

    def refused(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refused)
    with pytest.raises(InputError, match="kernel.py: file cannot be read: Permission denied"):
        memsim.explore(file, gpu)
