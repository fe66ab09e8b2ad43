"""A first use: two processes compile the loops, each of them once; if one is killed, that costs time alone."""

import os
import subprocess
import sys

import pytest

from memsim.montecarlo.load_loops import _has_another_core

FIRST_USE = """
import memsim
from memsim.montecarlo.load_loops import load_loops
from memsim.montecarlo.pool import Processes
from memsim.jit import jit_units as parts

compile, here = parts.Loop.compile, []

def noted(loop, signature):
    if not parts.being_compiled():
        here.append(loop.py_func.__name__)
    return compile(loop, signature)

parts.Loop.compile = noted
if {killed}:
    begin = Processes.begin
    Processes.begin = lambda pool, key, *item: (begin(pool, key, *item), pool._team[0]._process.kill())
load_loops(memsim.load_gpu("tesla-c2050"))
print(*here)
"""


@pytest.mark.slow  # compiles the loops anew, which takes 20 s
@pytest.mark.skipif(not _has_another_core(), reason="one core, or no fork: one process compiles all")
@pytest.mark.parametrize("killed", [False, True])
def test_a_second_process_compiles_half_of_the_loops(tmp_path, killed):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    script = [sys.executable, "-c", FIRST_USE.format(killed=killed)]
    here = subprocess.run(script, env=environment, capture_output=True, text=True, check=True).stdout.split()
    separate = {"advance_slices", "advance_channels"}
    assert "advance_sms" in here
    assert separate & set(here) == (separate if killed else set())
    assert all(list(tmp_path.rglob(f"*.{name}-*.nbi")) for name in {*here, *separate})
