"""A run's results depend on the seed and the trials' numbers, and on nothing else."""

import numpy as np
import pytest

import memsim
from memsim.gpu.presets import load_gpu
from memsim.hierarchy.counters import Event, Level
from memsim.montecarlo import run as montecarlo
from memsim.montecarlo.trials import Trials
from memsim.support.errors import InputError

TIMES = {"wall_seconds", "compiled_seconds"}


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    return memsim.trace("spmv", rows=1024, nnz_per_row=6, out=tmp_path_factory.mktemp("trace") / "spmv.h5")


def run(trace, **options):
    return montecarlo.run(trace, load_gpu("tesla-c2050"), **options)


def same(one, other):
    names = set(Trials.__dataclass_fields__) - TIMES - {"about", "ops", "arrays"}
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


def test_workers_change_nothing(trace):
    serial = run(trace, trials=7, seed=3)
    assert same(serial, run(trace, trials=7, seed=3, jobs=2))
    assert same(serial, run(trace, trials=7, seed=3, jobs=3))
    assert serial.trial.tolist() == list(range(7))


def test_seeds_differ_and_zero_is_one(trace):
    zero, again, one = (run(trace, trials=3, seed=seed) for seed in (0, 0, 1))
    assert same(zero, again)
    assert not np.array_equal(zero.counters, one.counters)
    assert not np.array_equal(zero.counters[0], zero.counters[1])


def test_more_trials_begin_with_the_fewer(trace):
    few, many = run(trace, trials=2, seed=5), run(trace, trials=4, seed=5)
    assert np.array_equal(few.counters, many.counters[:2])


@pytest.mark.parametrize("jobs", [1, 3])
def test_rule_ends_run_at_same_trial_whatever_workers(trace, jobs):
    seen = []

    def enough(trials):
        seen.extend(trials.trial.tolist())
        return len(seen) >= 5  # as a rule that happens to hold from there on

    done = run(trace, trials=40, seed=1, jobs=jobs, enough=enough, at_least=2, rule={"width": 0.5})
    assert done.trial.tolist() == seen == [0, 1, 2, 3, 4]
    assert done.about["until"] == {"width": 0.5, "reached": True}


def test_at_least_so_many_trials_are_made(trace):
    assert run(trace, trials=9, enough=lambda trials: True, at_least=4).trial.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupt_keeps_the_finished_trials(trace, jobs):
    seen = []

    def interrupt_after_two(row):
        seen.append(row.trial[0])
        if len(seen) == 2:
            raise KeyboardInterrupt

    done = run(trace, trials=30, seed=1, jobs=jobs, progress=interrupt_after_two)
    all_trials = run(trace, trials=30, seed=1)
    assert len(done.trial) == 2
    assert np.array_equal(done.counters, all_trials.counters[done.trial])


def test_warm_caches_need_no_memory(trace):
    """All of the trace's data fits L2, so a second replay reads nothing from DRAM."""
    cold, warm = run(trace, trials=3), run(trace, trials=3, warm=True)
    reads = [Event.read_hit, Event.read_miss]
    assert cold.counters[:, :, Level.dram, reads].sum() > 0
    assert warm.counters[:, :, Level.dram, reads].sum() == 0
    assert np.array_equal(cold.transactions, warm.transactions)


@pytest.mark.parametrize("option", ["trials", "jobs", "at_least"])
def test_a_number_out_of_range_is_named(trace, option):
    with pytest.raises(InputError, match=rf"^run: {option} is 0; give 1 or more$"):
        run(trace, **{option: 0})
