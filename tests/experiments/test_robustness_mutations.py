"""Damaged input of every kind ends in one line: a little of what experiments.robustness.mutations tries."""

import numpy as np
import pytest
from budget import FIRST_SEED, cases

from experiments.robustness.mutations import GPU, RESULT, TRACE, flipped_bits, originals, study, table
from experiments.robustness.trying import Outcome, tried


@pytest.fixture(scope="module")
def place():
    with originals() as folder:
        yield folder


@pytest.mark.slow
@pytest.mark.random
def test_nothing_hangs_crashes_or_misleads(place):
    count = cases(200)
    tallies = study(place, count, FIRST_SEED + 11)
    assert [tally.kind for tally in tallies[:3]] == [TRACE, RESULT, GPU]
    assert sum(sum(tally.outcomes.values()) for tally in tallies) == count
    assert not any(tally.bad for tally in tallies), table(tallies)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [TRACE, RESULT])
def test_no_flipped_bit_gives_other_numbers(place, kind):
    assert flipped_bits(place, kind, 1000, np.random.default_rng(2)) == (0, 0)


def hang():
    while True:
        pass


def take_memory():
    np.ones(5 << 25)  # 1.25 GB


def crash():
    raise ZeroDivisionError


@pytest.mark.slow
def test_the_harness_sees_what_it_looks_for(tmp_path, monkeypatch):
    outcomes = [tried(action, tmp_path)[0] for action in (take_memory, crash, lambda: None)]
    assert outcomes == [Outcome.memory, Outcome.traceback, Outcome.done]
    monkeypatch.setattr("experiments.robustness.trying.SECONDS", 2)
    assert tried(hang, tmp_path)[0] == Outcome.hang
