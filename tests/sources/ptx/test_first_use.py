"""A first capture: two processes compile the loops of a trace, each of them once; later ones compile none."""

import os
import subprocess
import sys

import pytest

from memsim.support.cores import all_cores

FIRST_USE = """
from memsim.jit.cached_loop import CachedLoop
from memsim.jit.jit_units import being_compiled
from memsim.sources.ptx import load_loops

save, here = CachedLoop.save_overload, []

def noted(cache, signature, data):
    if not being_compiled():
        here.append(cache._function.__name__)
    return save(cache, signature, data)

CachedLoop.save_overload = noted
load_loops()
print(*here)
"""
SEPARATE = {"_floating", "_active", "count_rows", "sort_rows", "sort_addresses"}


@pytest.mark.slow  # compiles the loops anew, which takes 15 s
@pytest.mark.skipif(all_cores() == 1, reason="one core: one process compiles all")
def test_two_processes_compile_the_loops_of_traces(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}

    def compiled_here():
        script = [sys.executable, "-c", FIRST_USE]
        return set(subprocess.run(script, env=environment, capture_output=True, text=True, check=True).stdout.split())

    here = compiled_here()
    assert "run" in here and not SEPARATE & here
    assert all(list(tmp_path.rglob(f"*.{name}-*.nbi")) for name in SEPARATE)
    assert not {"run", *SEPARATE} & compiled_here()
