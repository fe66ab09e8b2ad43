"""Trials are kept as they finish: a run that was killed and resumed has the result of an undisturbed run."""

from __future__ import annotations

import random
import sqlite3
import tracemalloc

import numpy as np
import pytest
from budget import FIRST_SEED, cases

import memsim
from experiments.robustness.interrupts import TRIALS, different, interrupt, kill, small_trace, usual_seconds
from memsim import Result
from memsim.hierarchy.trial import Trial
from memsim.support.errors import InputError
from memsim.support.journal import Journal, journal_path

GPU = "tesla-c2050"


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    return small_trace(tmp_path_factory.mktemp("trace"))


@pytest.fixture(scope="module")
def uninterrupted(trace):
    return memsim.simulate(trace, GPU, trials=TRIALS, seed=1)


def run(trace, **options):
    return memsim.simulate(trace, GPU, **{"trials": 6, "seed": 1} | options)


def left_by_a_kill(trace, out, numbers):
    """The journal of a run that was killed after these trials."""

    class Killed(BaseException):
        pass

    def die(finished):
        if finished.trial[0] == numbers[-1]:
            raise Killed

    with pytest.raises(Killed):
        run(trace, out=out, progress=die)
    journal = Journal(journal_path(out), out)
    assert list(journal.tasks().values()) == [len(numbers)]
    journal.close()


def same(result, uninterrupted, trials=6):
    return result.trials.trial.tolist() == list(range(trials)) and not different(result, uninterrupted)


def test_result_is_written_and_nothing_else_is_left(trace, uninterrupted, tmp_path):
    result = run(trace, out=tmp_path / "r.h5")
    assert [path.name for path in tmp_path.iterdir()] == ["r.h5"]
    assert same(result, uninterrupted) and same(Result.load(tmp_path / "r.h5"), uninterrupted)


def test_existing_result_is_continued_or_overwritten(trace, uninterrupted, tmp_path):
    out = tmp_path / "r.h5"
    run(trace, out=out, trials=2)
    with pytest.raises(InputError, match="r.h5: file exists; give --resume to continue it, or --force to overwrite"):
        run(trace, out=out)
    before = Result.load(out).trials.wall_seconds
    result = run(trace, out=out, resume=True)
    assert same(result, uninterrupted) and np.array_equal(result.trials.wall_seconds[:2], before)  # made once
    assert len(run(trace, out=out, resume=True, trials=3).trials.trial) == 6  # none is thrown away
    assert len(run(trace, out=out, force=True, trials=3).trials.trial) == 3


@pytest.mark.parametrize("jobs", [1, 2])
def test_resumed_run_equals_an_uninterrupted_one(trace, uninterrupted, tmp_path, jobs):
    out = tmp_path / "r.h5"
    left_by_a_kill(trace, out, [0, 1, 2])
    with pytest.raises(InputError, match="has 3 trials of a run that was ended; give --resume to continue it"):
        run(trace, out=out)
    reported = []
    result = run(
        trace, out=out, resume=True, jobs=jobs, progress=lambda finished: reported.append(int(finished.trial[0]))
    )
    assert reported[:3] == [0, 1, 2] and sorted(reported) == list(range(6))
    assert same(result, uninterrupted) and [path.name for path in tmp_path.iterdir()] == ["r.h5"]


def test_what_a_killed_run_left_goes_by_force(trace, tmp_path):
    out = tmp_path / "r.h5"
    left_by_a_kill(trace, out, [0, 1])
    assert len(run(trace, out=out, force=True, trials=1).trials.trial) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["r.h5"]


def test_trials_are_added_by_run_that_is_killed(trace, uninterrupted, tmp_path):
    out = tmp_path / "r.h5"
    run(trace, out=out, trials=2)
    with pytest.raises(ZeroDivisionError):
        run(trace, out=out, resume=True, progress=lambda finished: 1 // (4 - int(finished.trial[0])))
    assert len(Result.load(out).trials.trial) == 2
    assert same(run(trace, out=out, resume=True), uninterrupted)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"seed": 2}, "seed is 1 there and 2 now"),
        ({"settings": {"l1.ways": 8}}, "gpu.l1.ways is 64 there and 8 now"),
        ({"warm": True}, "warm is False there and True now"),
    ],
)
@pytest.mark.parametrize("killed", [False, True])
def test_trials_of_something_else_are_refused(trace, tmp_path, changed, problem, killed):
    out = tmp_path / "r.h5"
    left_by_a_kill(trace, out, [0, 1]) if killed else run(trace, out=out, trials=2)
    with pytest.raises(InputError, match=f"r.h5: {problem}; give another path, or --force to start again"):
        run(trace, out=out, resume=True, **changed)
    assert len(run(trace, out=out, resume=True).trials.trial) == 6  # untouched


def test_a_damaged_journal_is_one_line(trace, uninterrupted, tmp_path):
    """Any byte of it: the run continues from what is whole, or says how to start again."""
    out = tmp_path / "r.h5"
    left_by_a_kill(trace, out, [0, 1])
    path = journal_path(out)
    undamaged, draw = path.read_bytes(), random.Random(FIRST_SEED)
    text = undamaged.index(b'{"gpu"')
    offsets = [text, text + 5, *(draw.randrange(text, text + 4000) for _ in range(6)), *draw.choices(range(8192), k=2)]
    for offset in offsets:
        for byte in (0x00, 0xFF):
            out.unlink(missing_ok=True)
            path.write_bytes(undamaged[:offset] + bytes([byte]) + undamaged[offset + 1 :])
            try:
                found = run(trace, out=out, resume=True, trials=2)
            except InputError as error:
                assert "\n" not in str(error) and "--force to start again" in str(error)
            else:
                assert same(found, uninterrupted, trials=2)


def test_numbers_of_trials_that_are_typing_mistakes(trace, tmp_path):
    """A billion trials cost nothing before the first one is finished; more than a million are refused."""
    for trials in (1_000_001, 10**20):
        with pytest.raises(InputError, match=f"run: trials are {trials:,}; give at most 1,000,000"):
            run(trace, trials=trials)
    with pytest.raises(InputError, match="trials is 1000001"):
        memsim.Study(kernels="spmv", vary={"l1.ways": [4]}, trials=1_000_001)
    left_by_a_kill(trace, tmp_path / "r.h5", [0])
    tracemalloc.start()

    def stop(finished):
        raise KeyboardInterrupt

    result = run(trace, trials=1_000_000, progress=stop)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert result.interrupted and most < 30e6


def test_older_journal_is_refused(trace, tmp_path):
    out = tmp_path / "r.h5"
    left_by_a_kill(trace, out, [0, 1])
    with sqlite3.connect(journal_path(out)) as base:
        base.execute("PRAGMA user_version = 1")
    base.close()
    with pytest.raises(InputError, match="r.h5: journal is of format 1, not 2; give --force to start again"):
        run(trace, out=out, resume=True)
    assert len(run(trace, out=out, force=True).trials.trial) == 6


def test_another_trace_is_refused(trace, tmp_path):
    run(trace, out=tmp_path / "r.h5", trials=1)
    with pytest.raises(InputError, match="trace.digest is"):
        run(memsim.trace("spmv", rows=4096, nnz_per_row=7), out=tmp_path / "r.h5", resume=True)


def test_a_rule_goes_on_where_it_was(trace, uninterrupted, tmp_path):
    """Until the same interval, in one run or in two: the same trials."""
    options = {"trials": None, "until": 0.002, "min_trials": 2, "max_trials": TRIALS}
    once = run(trace, **options)
    out = tmp_path / "r.h5"
    first = run(trace, out=out, **options | {"max_trials": 3})
    again = run(trace, out=out, resume=True, **options)
    assert once.trials.trial.tolist() == again.trials.trial.tolist() and not different(again, once)
    assert not first.until["reached"] and again.until == once.until


def test_an_error_names_the_stored_trials(trace, tmp_path):
    def fail(finished):
        if finished.trial[0] == 1:
            raise InputError("run", "jobs", "is 2; a worker was killed")

    with pytest.raises(InputError, match="run: jobs is 2; a worker was killed; 2 trials kept, continue with --resume"):
        run(trace, out=tmp_path / "r.h5", progress=fail)


def test_every_column_of_a_trial_is_kept(trace, tmp_path):
    out = tmp_path / "r.h5"
    left_by_a_kill(trace, out, [0])
    journal = Journal(journal_path(out), out)
    ((task, _),) = journal.tasks().items()
    ((_, arrays),) = journal.rows(task)
    assert arrays.keys() == Trial.columns(0).keys()


@pytest.mark.slow
@pytest.mark.random
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_kill_at_any_moment_loses_nothing(trace, uninterrupted, tmp_path, jobs):
    times = cases(8)
    draw, span = random.Random(FIRST_SEED + times), usual_seconds(trace, jobs)
    found = [kill(trace, tmp_path, uninterrupted, jobs, draw, span) for _ in range(times)]
    assert not any(one.damaged or one.wrong or one.lost or one.repeated for one in found), found
    assert sum(one.finished for one in found)


@pytest.mark.slow
@pytest.mark.random
@pytest.mark.parametrize("jobs", [1, 2])
def test_interrupt_ends_run_and_keeps_its_trials(trace, tmp_path, jobs):
    times = cases(8)
    draw, span, reference = (
        random.Random(FIRST_SEED + times),
        usual_seconds(trace, jobs),
        memsim.simulate(trace, GPU, trials=20),
    )
    found = [interrupt(trace, tmp_path, reference, jobs, draw, span) for _ in range(times)]
    assert not any(one.hung or one.wrong for one in found), found
    assert sum(one.kept for one in found)
