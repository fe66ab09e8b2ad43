"""The rule that ends a run, and the running interval of the progress bar."""

from __future__ import annotations

import dataclasses

import numpy as np
import synthetic

from memsim.analysis.result import Result
from memsim.analysis.stopping import Running, narrower_than, widest
from memsim.montecarlo.trials import Trials


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
        intervals = [ratio.interval() for ratio in Result(_some(trials, slice(count))).ratios.values()]
        expected = count > 1 and all(interval.width < 0.006 for interval in intervals)
        answers.append(enough(_some(trials, slice(count - 1, count))))
        assert answers[-1] == expected
    assert answers[-1] and not answers[3]


def test_accesses_that_do_not_happen_do_not_keep_a_run_going():
    trials = synthetic.spmv(3)
    trials.counters[:] = 0
    assert narrower_than(1e-6)(trials) and widest(Result(trials).ratios) is None


def test_trials_that_agree_are_enough():
    trials = synthetic.spmv(3)
    trials.counters[:] = trials.counters[0]
    assert narrower_than(1e-6)(trials)


def test_the_running_interval_is_that_of_all_trials_so_far():
    trials = synthetic.spmv(10)
    running = Running()
    notes = [running.add(_some(trials, slice(t, t + 1))) for t in range(10)]
    name, width = widest(Result(trials).ratios)
    assert notes[0] == "" and running.trials == 10
    assert name == "l2_write"
    assert notes[-1] == f"L2 write {Result(trials).l2_write.mean:.2%} ± {width / 2:.2%}"
