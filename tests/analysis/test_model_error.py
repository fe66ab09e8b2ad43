"""The prediction interval holds as many new programs as it says, and no table is counted twice."""

from __future__ import annotations

from dataclasses import astuple, replace
from math import exp, log

import numpy as np
import pytest

from memsim.analysis.model_error import LEVEL, LaunchError, least_programs, measured_errors, model_error
from memsim.analysis.statistics import Interval


def family(rng, name="7", programs=12, launches=4, within=0.1) -> list[LaunchError]:
    """Programs whose errors are normal, each with launches that err alike."""
    found = []
    for program in range(programs):
        centre = rng.normal(0.1, 0.2)
        found += [LaunchError(name, f"{name}.{program}", centre + rng.normal(0, within)) for _ in range(launches)]
    return found


@pytest.mark.parametrize("level", [0.8, 0.9])
@pytest.mark.parametrize("skewed", [False, True])
def test_new_program_is_covered_as_often_as_promised(level, skewed):
    rng, held = np.random.default_rng(1), []
    for _ in range(2000):
        *known, new = family(rng, programs=40, launches=1)
        if skewed:
            *known, new = (replace(one, error=exp(4 * one.error)) for one in (*known, new))
        found = model_error("7", known, level)
        held.append(found.low <= new.error <= found.high)
    assert np.mean(held) == pytest.approx(level, abs=0.025)


def test_launches_of_one_program_count_once():
    errors = family(np.random.default_rng(2), programs=30)
    again = [one for one in errors if one.program == "7.0"] * 5
    once, more = model_error("7", errors), model_error("7", errors + again)
    assert astuple(more) == pytest.approx(astuple(once))


def test_family_of_few_programs_uses_all_others():
    rng = np.random.default_rng(3)
    wide, narrow = family(rng, programs=30), [LaunchError("8", f"8.{k}", 0.01 * k) for k in range(3)]
    own, pooled, unknown = model_error("8", narrow), model_error("8", wide + narrow), model_error("9", wide)
    assert (own.low, own.high) == (0.0, 0.02)  # no other is known
    assert pooled.low < own.low < own.high < pooled.high and pooled.programs == 3
    every = model_error("7", wide)
    assert unknown.programs == 0 and unknown.low <= every.low < every.high <= unknown.high


def test_family_of_many_programs_uses_no_other():
    rng = np.random.default_rng(4)
    own = family(rng, programs=least_programs(LEVEL))
    assert model_error("7", own + [LaunchError("8", "8.0", 3.0)]) == model_error("7", own)


def test_trials_and_sampling_widen_the_interval():
    found = model_error("7")
    own, both = found.interval(10.0), found.interval(10.0, Interval(8.0, 15.0))
    assert both.low < own.low and both.high > own.high
    assert log(both.high / 10.0) - found.middle == pytest.approx(np.hypot(found.high - found.middle, log(1.5)))
    assert own == pytest.approx([10 * exp(found.low), 10 * exp(found.high)])


def test_table_has_launches_of_several_families():
    errors = measured_errors()
    assert {"7", "8", "9"} <= {one.family for one in errors} and len({one.program for one in errors}) >= 45
    prints = "014_06_debug_example_cuda"  # with code of the GPU that memsim does not execute
    assert all(abs(one.error) < 1 for one in errors if one.program != prints)
