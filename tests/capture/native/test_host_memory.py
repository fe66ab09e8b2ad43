"""Python's malloc in the arena: threads, sizes, fork."""

from __future__ import annotations

import sys

import pytest

STRESS = """
import os, random, threading
import numpy

kept = numpy.arange(1_000_000)

def churn(seed):
    chance, live = random.Random(seed), []
    for _ in range(1500):
        block = bytearray(chance.choice([1, 200, 1000, 1030, 5000, 100_000, 5_000_000]))
        block[0] = block[-1] = seed
        live.append(block)
        if chance.random() < 0.3:
            chance.choice(live).extend(bytes([seed]) * chance.choice([10, 2000, 30_000]))  # realloc
        if len(live) > 10:
            old = live.pop(chance.randrange(len(live)))
            assert old[0] == old[-1] == seed
    assert all(block[0] == block[-1] == seed for block in live)

threads = [threading.Thread(target=churn, args=(seed,)) for seed in (1, 2, 3)]
for thread in threads:
    thread.start()
for _ in range(4):
    child = os.fork()
    if child == 0:
        kept[:] = -1  # not the parent's
        good = (numpy.zeros(2_000_000) == 0).all() and (numpy.zeros(2_000_000) == 0).all()
        os._exit(0 if good and kept.sum() == -1_000_000 else 1)
    assert os.waitpid(child, 0)[1] == 0
for thread in threads:
    thread.join()
assert (kept == numpy.arange(1_000_000)).all()
used = numpy.ones(2_000_000)
del used
assert (numpy.zeros(2_000_000) == 0).all()
"""

LIBC = """
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
for name in ("malloc", "realloc", "calloc", "memalign", "aligned_alloc"):
    getattr(libc, name).restype = ctypes.c_void_p
size = libc.malloc_usable_size
pointer = ctypes.c_void_p(libc.malloc(4000))
assert size(pointer) == 4000
ctypes.memset(pointer, 7, 4000)
grown = ctypes.c_void_p(libc.realloc(pointer, 100_000))
assert size(grown) == 100_000 and ctypes.string_at(grown, 4000) == b"\\7" * 4000
shrunk = ctypes.c_void_p(libc.realloc(grown, 100))
assert size(shrunk) == 100 and ctypes.string_at(shrunk, 100) == b"\\7" * 100
libc.free(shrunk)
libc.free(None)
small = ctypes.c_void_p(libc.malloc(10))
ctypes.memset(small, 3, 10)
large = ctypes.c_void_p(libc.realloc(small, 5000))
assert size(large) == 5000 and ctypes.string_at(large, 10) == b"\\3" * 10
libc.free(large)
for alignment in (64, 4096, 1 << 21):
    aligned = libc.aligned_alloc(alignment, 100)
    assert aligned % alignment == 0 and size(ctypes.c_void_p(aligned)) == 100
    libc.free(ctypes.c_void_p(aligned))
place = ctypes.c_void_p()
assert libc.posix_memalign(ctypes.byref(place), 24, 100) == errno.EINVAL
assert libc.posix_memalign(ctypes.byref(place), 256, 100) == 0 and place.value % 256 == 0
assert libc.memsim_host_memory_arena() != 0
"""


@pytest.mark.slow
def test_blocks_keep_contents_under_threads_and_fork(run):
    done = run(sys.executable, "-c", STRESS, preload=True)
    assert done.returncode == 0, done.stderr


def test_malloc_functions_agree_with_the_c_library(run):
    done = run(sys.executable, "-c", LIBC, preload=True)
    assert done.returncode == 0, done.stderr


def test_other_programs_keep_their_malloc(run):
    done = run("cat", "/proc/self/maps", preload=True)
    assert "libmemsim_host_memory" in done.stdout and "memsim-device-memory" not in done.stdout


BY_PATH = """
import ctypes, sys
runtime = ctypes.CDLL(sys.argv[1])
count = ctypes.c_int()
assert runtime.cudaGetDeviceCount(ctypes.byref(count)) == 0 and count.value == 1
try:
    ctypes.CDLL(sys.argv[2])
except OSError:
    sys.exit(7)
"""


def test_wheels_libraries_are_memsims(run, tmp_path):
    """A path of a file that is no library at all leads to memsim's of that name; one without a file still fails."""
    (tmp_path / "libcudart.so.13").touch()
    done = run(sys.executable, "-c", BY_PATH, tmp_path / "libcudart.so.13", tmp_path / "libcuda.so.1", preload=True)
    assert done.returncode == 7, done.stderr
