"""Nothing is replayed twice: the same run again, more trials, another seed, a damaged file, the limit."""

from __future__ import annotations

import os
from contextlib import contextmanager

import numpy as np
import pytest

import memsim
from memsim.gpu.presets import load_gpu, override
from memsim.montecarlo import run as montecarlo
from memsim.montecarlo.teams import LocalWorkers, Team
from memsim.montecarlo.trial_cache import DEMAND
from memsim.support import result_cache
from memsim.support.cache import VARIABLE
from memsim.support.errors import InputError
from memsim.support.result_cache import StoredRows, remove_beyond


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    return memsim.trace("saxpy", n=4096, out=tmp_path_factory.mktemp("trace") / "t.h5")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where trials are kept, in a cache of this test's own; compiled loops stay where they are."""
    monkeypatch.setattr(result_cache, "cache_folder", lambda kind: tmp_path)
    monkeypatch.setenv(result_cache.VARIABLE, "10")
    return tmp_path


@pytest.fixture
def replayed(monkeypatch):
    """The numbers of the trials that are replayed in this process."""
    numbers = []
    real = montecarlo.replay
    monkeypatch.setattr(montecarlo, "replay", lambda *item: numbers.append(item[1]) or real(*item))
    return numbers


def run(trace, **options):
    return montecarlo.run(trace, load_gpu("tesla-c2050"), **options)


def test_the_same_run_again_replays_nothing(trace, folder, replayed):
    first = run(trace, trials=3, seed=4)
    assert replayed == [0, 1, 2]
    again = run(trace, trials=3, seed=4)
    assert replayed == [0, 1, 2]
    assert np.array_equal(first.counters, again.counters) and np.array_equal(first.cycles, again.cycles)
    assert first.ops == again.ops
    assert {**first.about, "created": ""} == {**again.about, "created": ""}


def test_more_trials_replay_only_the_new_ones(trace, folder, replayed):
    run(trace, trials=2)
    more = run(trace, trials=4)
    assert replayed == [0, 1, 2, 3] and more.trial.tolist() == [0, 1, 2, 3]
    assert run(trace, trials=1).trial.tolist() == [0]
    assert replayed == [0, 1, 2, 3]


def test_rule_ends_cached_run_where_it_ended_before(trace, folder, replayed):
    run(trace, trials=6)
    seen = []

    def enough(trials):
        seen.extend(trials.trial.tolist())
        return len(seen) >= 3

    assert run(trace, trials=6, enough=enough, at_least=2).trial.tolist() == seen == [0, 1, 2]
    assert len(replayed) == 6


class Queue(LocalWorkers):
    """Workers that hold four items and answer them in order."""

    def room(self):
        return 4 - len(self._given)

    def answers(self):
        self._given.reverse()
        found = super().answers()
        self._given.reverse()
        return found


@pytest.fixture
def queue(monkeypatch):
    """Have runs use these workers, and find no demand in this process at the end."""

    @contextmanager
    def team(kind, jobs, function, scratch):
        yield Team(Queue(function), None, scratch)

    monkeypatch.setenv(result_cache.VARIABLE, "0")
    monkeypatch.setattr(montecarlo, "team", team)
    monkeypatch.setattr(montecarlo, "_demand", None)


def test_demand_is_found_after_needed_trials(trace, replayed, queue):
    found = run(trace, trials=6, seed=7, enough=lambda trials: False, at_least=3)
    assert replayed == [0, 1, 2, DEMAND, 3, 4, 5]
    assert len(found.ops) > 0 and found.about["executed"]["warps"] == 128


def test_end_of_run_waits_for_demand_under_way(trace, replayed, queue):
    found = run(trace, trials=6, seed=7, enough=lambda trials: True, at_least=2)
    assert replayed == [0, 1, DEMAND] and found.trial.tolist() == [0, 1]
    assert found.about["executed"]["warps"] == 128


@pytest.mark.parametrize("change", [{"seed": 1}, {"warm": True}, {"gpu": "l2.ways"}])
def test_what_trial_depends_on_is_in_key(trace, folder, replayed, change):
    run(trace, trials=1)
    if "gpu" in change:
        montecarlo.run(trace, override(load_gpu("tesla-c2050"), {"dram.channels": 4}), trials=1)
    else:
        run(trace, trials=1, **change)
    assert replayed == [0, 0]


def test_other_sources_of_the_engine_replay_anew(trace, folder, replayed, monkeypatch):
    from memsim.montecarlo import trial_cache

    run(trace, trials=1)
    monkeypatch.setattr(trial_cache, "own_digest", lambda *rooms: "another")
    run(trace, trials=1)
    assert replayed == [0, 0]


def test_damage_costs_only_what_is_behind_it(trace, folder, replayed):
    full = run(trace, trials=4)
    (file,) = folder.iterdir()
    content = bytearray(file.read_bytes())
    content[len(content) * 2 // 3] ^= 1
    file.write_bytes(content)
    again = run(trace, trials=4)
    assert np.array_equal(full.counters, again.counters)
    assert 4 < len(replayed) < 8
    run(trace, trials=4)
    before = len(replayed)
    run(trace, trials=4)
    assert len(replayed) == before


def test_an_interrupted_run_is_continued(trace, folder, replayed):
    def stop(row):
        if row.trial[0] == 1:
            raise KeyboardInterrupt

    assert run(trace, trials=5, progress=stop).trial.tolist() == [0, 1]
    assert run(trace, trials=3).trial.tolist() == [0, 1, 2]
    assert replayed == [0, 1, 2]


def test_without_room_nothing_is_kept(trace, folder, replayed, monkeypatch):
    monkeypatch.setenv(result_cache.VARIABLE, "0")
    for _ in range(2):
        run(trace, trials=1)
    assert replayed == [0, 0] and not list(folder.iterdir())
    monkeypatch.setenv(result_cache.VARIABLE, "much")
    with pytest.raises(InputError, match="MEMSIM_CACHE_MB: size is 'much'; give megabytes, 0 or more"):
        run(trace, trials=1)


def test_files_that_were_not_used_go_first(tmp_path):
    for age, name in enumerate("abcd"):
        (tmp_path / name).write_bytes(bytes(100))
        os.utime(tmp_path / name, (age, age))
    remove_beyond(tmp_path, 250)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c", "d"]


def test_row_that_was_half_written_is_cut_off(folder):
    rows = StoredRows("key")
    rows.add(1, {"a": np.arange(3)})
    with (folder / "key").open("ab") as file:
        file.write(b"mstr and so on")
    rows.add(2, {"a": np.arange(4)})
    assert [(number, arrays["a"].tolist()) for number, arrays in rows.read()] == [(1, [0, 1, 2]), (2, [0, 1, 2, 3])]


def test_the_command_lists_and_clears(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from memsim.cli import app

    monkeypatch.setenv(VARIABLE, str(tmp_path))
    (tmp_path / "trials").mkdir()
    (tmp_path / "trials" / "a").write_bytes(bytes(2_500_000))
    runner = CliRunner()
    assert "trials      1  2.5" in runner.invoke(app, ["cache", "list"]).stdout
    assert runner.invoke(app, ["cache", "size"]).stdout == "2500000\n"
    wrong = runner.invoke(app, ["cache", "clear", "trial"])
    assert wrong.exit_code == 2 and "cache: kind is 'trial'; there is trials" in wrong.output
    assert runner.invoke(app, ["cache", "clear", "trials"]).stdout == "removed 2.5 MB\n"
    assert not (tmp_path / "trials").exists()
