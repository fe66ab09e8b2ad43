"""The rule that ends a run, and the running interval of the progress bar."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import synthetic

from memsim.analysis.result import RunResult
from memsim.analysis.stopping import Plan, Running, narrower_than, widest
from memsim.hierarchy.counters import CountUnit, Event, Level
from memsim.montecarlo.trials import Trials
from memsim.support.errors import InputError


def _some(trials: Trials, chosen: slice) -> Trials:
    """The chosen trials alone."""
    arrays = {
        field.name: value[chosen]
        for field in dataclasses.fields(trials)
        if isinstance(value := getattr(trials, field.name), np.ndarray)
    }
    return dataclasses.replace(trials, **arrays)


def test_enough_is_when_the_widest_interval_is_narrower():
    trials, enough, answers = synthetic.spmv(40), narrower_than(0.006), []
    for count in range(1, 41):
        intervals = [ratio.interval() for ratio in RunResult(_some(trials, slice(count))).ratios.values()]
        expected = count > 1 and all(interval.width < 0.006 for interval in intervals)
        answers.append(enough(_some(trials, slice(count - 1, count))))
        assert answers[-1] == expected
    assert answers[-1] and not answers[3]


def test_inactive_accesses_do_not_prolong_run():
    trials = synthetic.spmv(3)
    trials.counters[:] = 0
    assert narrower_than(1e-6)(trials) and widest(RunResult(trials).ratios) is None


def test_trials_that_agree_are_enough():
    trials = synthetic.spmv(3)
    trials.counters[:] = trials.counters[0]
    assert narrower_than(1e-6)(trials)


def test_running_interval_equals_interval_of_trials_so_far():
    trials = synthetic.spmv(10)
    running = Running()
    notes = [running.add(_some(trials, slice(t, t + 1))) for t in range(10)]
    name, width = widest(RunResult(trials).ratios)
    assert notes[0] == "" and running.trials == 10
    assert name == "l2_write"
    time = RunResult(trials).kernel_time
    time_note = f"time ± {time.interval().width / time.mean / 2:.1%}"
    assert notes[-1] == f"{time_note}, L2 write {RunResult(trials).l2_write.mean:.2%} ± {width / 2:.2%}"


def test_the_default_waits_for_the_time_too():
    trials, enough = synthetic.spmv(40), Plan.of(None, None).enough("model")
    for count in range(1, 41):
        so_far = RunResult(_some(trials, slice(count)), "traffic")
        intervals = [ratio.interval() for ratio in so_far.ratios.values()]
        time = so_far.kernel_time.interval()
        expected = (
            count > 1 and all(one.width < 0.01 for one in intervals) and time.width < 0.02 * so_far.kernel_time.mean
        )
        assert enough(_some(trials, slice(count - 1, count))) == expected


def test_split_of_hits_and_merges_prolongs_no_run():
    trials = synthetic.spmv(3)
    trials.counters[:], trials.cycles[:] = trials.counters[0], trials.cycles[0]
    of = trials.counters[:, 0, Level.l1, :, CountUnit.transactions]
    moved = np.array([0, of[0, Event.read_hit] // 2, of[0, Event.read_hit]])
    of[:, Event.read_hit] -= moved
    of[:, Event.read_merge] += moved
    assert RunResult(trials).l1_read.interval().width > 0.01
    assert Plan.of(None, None).enough("model")(trials)
    assert not Plan.of(None, None, precise=True).enough("model")(trials)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"trials": 4, "precise": True}, "trials is 4, but precise is given too"),
        ({"until": 0.1, "precise": True}, "until is 0.1, but precise is given too"),
        ({"max_trials": 2}, r"max_trials is 2; give 3 \(min_trials\) or more"),
    ],
)
def test_plans_that_exclude_each_other_are_refused(options, problem):
    with pytest.raises(InputError, match=problem):
        Plan.of(**{"trials": None, "until": None} | options)
