"""Programs whose replay takes long get fewer trials, and gains only as far as their replays are short."""

from __future__ import annotations

from importlib import import_module

import pytest

import memsim
from memsim.api import profile
from memsim.why import Bottleneck, Cause

GPU = "tesla-v100"


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    folder = tmp_path_factory.mktemp("traces")
    sizes = {"a": 1 << 12, "b": 1 << 13}
    return [memsim.trace("saxpy", n=n, gpu=GPU, blocks="all", out=folder / f"{name}.h5") for name, n in sizes.items()]


@pytest.mark.parametrize(("long", "trials"), [(1, 2), (1 << 21, 3)])
def test_a_long_program_begins_with_two_trials(traces, monkeypatch, long, trials):
    monkeypatch.setattr(profile, "LONG", long)
    monkeypatch.setattr(profile, "WITHIN", 1.0)
    found = memsim.profile_program(traces, GPU, quick=True, jobs=1)
    assert len(found.time.values) == trials


def test_gains_are_replayed_within_a_budget_only(traces, monkeypatch):
    replayed = []
    monkeypatch.setattr("memsim.api.replay.simulate", lambda trace, *given, **options: replayed.append(trace))
    monkeypatch.setattr("memsim.why.gains.with_gains", lambda result, trace, causes, jobs: causes)
    for most in (1 << 23, 1):
        monkeypatch.setattr(profile, "MOST_REPLAYED", most)
        memsim.profile_program(traces, GPU, jobs=1)
    assert [trace.digest for trace in replayed] == [trace.digest for trace in traces[::-1]]


@pytest.mark.parametrize(("room", "trials", "causes"), [(12, 3, 3), (6, 3, 1), (5, 2, 1), (2, 1, 1), (1, 0, 0)])
def test_short_budgets_replay_the_first_cause(traces, monkeypatch, room, trials, causes):
    replayed = []
    found = memsim.profile_program(traces[:1], GPU, quick=True, jobs=1)
    transactions = int(found.groups[0].typical.trials.transactions.mean())
    cause = Bottleneck(Cause.scattered, (), 0.0, 1.0)
    monkeypatch.setattr(profile, "MOST_REPLAYED", room * transactions)
    monkeypatch.setattr(import_module("memsim.why.explain"), "find_causes", lambda result, trace: [cause] * 3)
    monkeypatch.setattr("memsim.why.stored.documents", lambda causes: [])
    monkeypatch.setattr("memsim.api.replay.simulate", lambda *given, trials, **options: trials)
    monkeypatch.setattr(
        "memsim.why.gains.with_gains",
        lambda result, trace, causes, jobs: replayed.append((result, len(causes))) or causes,
    )
    found = memsim.profile_program(traces[:1], GPU, jobs=1)
    assert found.about["findings"][0]["upper_bound"] == pytest.approx(1 - found.groups[0].breakdown.of_best)
    assert replayed == ([(trials, causes)] if trials else [])
