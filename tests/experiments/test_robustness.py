"""Killed commands leave no damaged output, no process, and nothing that the next run does not clear away."""

from __future__ import annotations

import os
import subprocess

import pytest
from budget import FIRST_SEED, cases
from compilers import needs_gxx

from experiments.robustness.kills import COMMANDS, capture_command, kill_at_random

TIMES = cases(5)


@pytest.mark.slow
@pytest.mark.random
@needs_gxx
@pytest.mark.parametrize("name", COMMANDS)
def test_a_kill_at_any_moment_damages_nothing(tmp_path, name):
    done = kill_at_random(name, tmp_path, TIMES, seed=FIRST_SEED + TIMES)
    assert done.runs > 0, "all had ended before"
    assert (done.damaged, done.outlived, done.left) == (0, 0, [])


@pytest.mark.slow
@needs_gxx
def test_what_killed_compiler_leaves_goes_with_capture(tmp_path):
    """A compiler that dies by its broken pipe clears nothing away; this one never does."""
    tools, temporary = tmp_path / "bin", tmp_path / "temporary"
    tools.mkdir()
    temporary.mkdir()
    careless = tools / "nvcc"
    careless.write_text('#!/bin/sh\n: > "$TMPDIR/left-$$"\necho >> "$CALLS"\nexit 1\n')
    careless.chmod(0o755)
    calls = tmp_path / "calls"
    environment = {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "TMPDIR": str(temporary), "CALLS": str(calls)}
    command = capture_command(tmp_path, tmp_path / "t.h5")
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)
    assert done.returncode == 2 and calls.read_text(), done.stderr
    assert list(temporary.iterdir()) == []
