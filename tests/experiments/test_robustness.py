"""Killed commands leave no damaged output, no process, and nothing that the next run does not clear away."""

from __future__ import annotations

import pytest
from compilers import needs_gxx

from experiments.robustness.kills import COMMANDS, kill_at_random

TIMES, MANY_TIMES = 3, 20


@needs_gxx
@pytest.mark.parametrize("times", [TIMES, pytest.param(MANY_TIMES, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_kill_at_any_moment_damages_nothing(tmp_path, name, times):
    done = kill_at_random(name, tmp_path, times, seed=times)
    assert done.runs > 0, "all had ended before"
    assert (done.damaged, done.outlived, done.left) == (0, 0, [])
