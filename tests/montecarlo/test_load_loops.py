"""A first use: two processes compile the loops, each of them once; if one is killed, that costs time alone."""

import os
import subprocess
import sys

import numpy as np
import pytest

import memsim
from memsim.hierarchy.execution import Execution
from memsim.hierarchy.system import System
from memsim.jit.compile_entry import _types
from memsim.montecarlo.load_loops import _has_another_core, _system
from memsim.montecarlo.shared_stages import prepared

FIRST_USE = """
import sys
import memsim
from memsim.hierarchy.system import System
from memsim.montecarlo.load_loops import load_loops
from memsim.montecarlo.pool import Processes
from memsim.jit import jit_units as parts

compile, here = parts.Loop.compile, []

def noted(loop, signature):
    if not parts.being_compiled():
        here.append(loop.py_func.__name__)
    return compile(loop, signature)

parts.Loop.compile = noted
if "killed" in sys.argv:
    begin = Processes.begin
    Processes.begin = lambda pool, key, *item: (begin(pool, key, *item), pool._team[0]._process.kill())
    System.is_ready = lambda system, level: False  # the SMs' loop is on disk, and would do without another process
load_loops(memsim.load_gpu("tesla-c2050"))
print(*here)
"""
SEPARATE = {"advance_slices", "advance_channels"}


@pytest.mark.slow  # compiles the loops anew, which takes 20 s
@pytest.mark.skipif(not _has_another_core(), reason="one core, or no fork: one process compiles all")
def test_a_second_process_compiles_half_of_the_loops(tmp_path):
    """Killed, it leaves them to the first; the loops that it does not compile stay on disk in between."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}

    def compiled_here(*arguments):
        script = [sys.executable, "-c", FIRST_USE, *arguments]
        return subprocess.run(script, env=environment, capture_output=True, text=True, check=True).stdout.split()

    here = compiled_here()
    assert "advance_sms" in here and not SEPARATE & set(here)
    assert all(list(tmp_path.rglob(f"*.{name}-*.nbi")) for name in {*here, *SEPARATE})
    for name in SEPARATE:
        for file in tmp_path.rglob(f"*.{name}-*.nb?"):
            file.unlink()
    assert set(compiled_here("killed")) >= SEPARATE
    assert all(list(tmp_path.rglob(f"*.{name}-*.nbi")) for name in SEPARATE)


@pytest.mark.parametrize("gpu", ["tesla-c2050", "tesla-v100", "h100"])
def test_loaded_loops_are_those_of_mapped_traces(gpu, tmp_path):
    """A loop is compiled for the types of its arguments: those of files on disk are the types that were loaded for."""
    machine = memsim.load_gpu(gpu)
    trace = memsim.trace("saxpy", n=256, out=tmp_path / "t.h5")
    execution, _ = prepared(Execution.of(trace, machine, tmp_path), trace)
    mapped = System(execution.transactions, machine, 1, np.random.SeedSequence(0), execution.layout).machine
    loaded = _system(machine).machine
    for level in ("sms", "translation", "slices", "channels"):
        assert _types((getattr(mapped, level),)) == _types((getattr(loaded, level),))
