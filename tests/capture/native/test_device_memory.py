"""Pages of freed device memory: kept for the next allocation, up to a limit."""

from __future__ import annotations

import sys

import pytest

PAGES = 4096  # of the 16 MiB that are allocated twice
PROGRAM = """
import ctypes, resource, sys
driver, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
driver.cuInit(0)
driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
driver.cuCtxSetCurrent(context)

def allocate(mib):
    address = ctypes.c_uint64()
    assert driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(mib << 20)) == 0
    return address

def fault(mib):
    address, before = allocate(mib), resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    ctypes.memset(address.value, 1, mib << 20)
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
    assert driver.cuMemFree_v2(address) == 0
    return faults

driver.cuMemFree_v2(allocate(int(sys.argv[1])))
print(fault(16), fault(16))
"""


@pytest.mark.parametrize(("freed_mib", "kept"), [(1, True), (1500, False)])
def test_freed_memory_keeps_its_pages(run, freed_mib, kept):
    """While at most 1 GiB of holes lies between allocations."""
    done = run(sys.executable, "-c", PROGRAM, str(freed_mib))
    first, second = map(int, done.stdout.split())
    assert first >= PAGES
    assert second < PAGES // 10 if kept else second >= PAGES
