"""With Numba as it comes (MEMSIM_PLAIN_NUMBA=1), loops give the same results and use none of its internals.

With the newest Numba that the package index offers, memsim's extensions give them, too.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba import config
from places import ROOT

LOOPS = """
import json, sys
from typing import NamedTuple
import numpy as np
from memsim.jit import compile_entry, vector_compare
from memsim.jit.compiled import inlined, loop
from memsim.jit.prefetch_host import prefetch
from memsim.jit.separate_kernel import address_of, call_at
from memsim.jit.specialization import fixed
from memsim.jit.struct_pointer import pointer_to
from memsim.profile.stack import picked

class Level(NamedTuple):
    tags: np.ndarray
    p: np.ndarray

@inlined
def first_equal(m, value):
    bits = vector_compare.equal_few(m.tags, 0, value) | vector_compare.equal_many(m.tags, 0, value)
    return vector_compare.lowest_bit(bits) if bits else -1

@loop
def find(m, value, end):
    m = pointer_to(m)
    prefetch(m.tags, 5)
    return 100 * first_equal(m, value) + m.p[0].ways

@loop
def stop(m, w, pc, active):
    return m.p[0].ways + w + pc + active

@loop
def call(address, m):
    m = pointer_to(m)
    return call_at(address, m, 1, 2, 3)

p = fixed(np.array([(4, 7)], [("ways", "<i8"), ("policy", "<i8")]), ["ways"])
level = Level(np.arange(64, dtype=np.int32)[::-1].copy(), p)
found = [int(compile_entry.entry(find, level, 63 - k, 0)(level, 63 - k, 0)) for k in (0, 9, 15)]
assert compile_entry.is_ready(find, level, 1, 0)
names = "jit_units", "cached_loop", "struct_pointer_type"
internals = [name for name in names if f"memsim.jit.{name}" in sys.modules]
called = int(compile_entry.entry(call, np.int64(0), level)(np.int64(address_of(stop, level)), level))
from numba import __version__
print(json.dumps([found, int(picked(np.int64(7), np.int64(3))), called, internals, __version__]))
"""


TRANSACTIONS = """
import json, sys
from dataclasses import fields
import memsim
from memsim.gpu.presets import load_gpu
from memsim.jit.mode import PLAIN_NUMBA
from memsim.trace.coalesce import coalesce

found = coalesce(memsim.trace("saxpy", n=512, gpu="a100"), load_gpu("a100"))
arrays = [getattr(found, one.name) for one in fields(found)]
print(json.dumps([PLAIN_NUMBA, *(of.tolist() if hasattr(of, "tolist") else of for of in arrays)]))
"""


def results(folder: Path, *arguments: str, script: str = LOOPS, **variables: str) -> list:
    (folder / "loops_of_test.py").write_text(script)
    command = [sys.executable, str(folder / "loops_of_test.py"), *arguments]
    variables |= {"MEMSIM_CACHE": str(folder / "cache")}
    done = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_plain_numba_gives_the_same_results(tmp_path):
    plain = results(tmp_path, MEMSIM_PLAIN_NUMBA="1")
    assert not (tmp_path / "cache" / "loops").exists()
    extended = results(tmp_path)
    assert plain[:3] == extended[:3] == [[4, 904, 1504], plain[1], 10]
    assert plain[3] == [] and "cached_loop" in extended[3]


@pytest.mark.slow
@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_plain_numba_coalesces_the_same(tmp_path):
    """Loops of memsim itself. Those of a whole trial take four minutes to compile, so no test compiles them."""
    plain = results(tmp_path, script=TRANSACTIONS, MEMSIM_PLAIN_NUMBA="1")
    extended = results(tmp_path, script=TRANSACTIONS)
    assert plain[0] and not extended[0] and plain[1:] == extended[1:] and len(plain[1]) == 3 * 512 // 32


@pytest.mark.slow
@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_newest_numba_gives_the_same_results(tmp_path):
    """setup.cfg names the newest version that was tried; a failure here comes before a user's."""
    newest = tmp_path / "newest"
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(newest), "numba", "llvmlite"]
    done = subprocess.run(pip, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no package index: {(done.stderr.strip().splitlines() or ['pip fails'])[-1]}")
    paths = os.pathsep.join([str(newest), *filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))])
    found = results(tmp_path, PYTHONPATH=paths)
    (installed,) = newest.glob("numba-*.dist-info")
    assert found[:3] == [[4, 904, 1504], found[1], 10] and "cached_loop" in found[3]
    assert installed.name == f"numba-{found[4]}.dist-info"
