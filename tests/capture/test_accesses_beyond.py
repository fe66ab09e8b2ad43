"""Accesses out of bounds in mapped device memory: kernels continue, and each line that makes some is reported."""

from __future__ import annotations

import os
import struct

import numpy as np
import pytest

import memsim
from memsim.capture.arena import PAGE, Arena, ProcessMemory
from memsim.capture.outcome import check_outcome, notes_of
from memsim.capture.protocol import Allocation, AllocationKind
from memsim.support.errors import InputError
from tests.capture.gpu_process import GpuProcess

SHIFT = """
.version 8.4
.target sm_89
.address_size 64
.visible .entry shift(.param .u64 x, .param .u64 y, .param .u64 from, .param .u64 to)
{
 .reg .b32 %r<9>; .reg .b64 %d<9>;
 ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y]; ld.param.u64 %d3, [from]; ld.param.u64 %d4, [to];
 mov.u32 %r1, %tid.x; mul.wide.u32 %d5, %r1, 4;
 add.s64 %d1, %d1, %d3; add.s64 %d1, %d1, %d5; add.s64 %d2, %d2, %d4; add.s64 %d2, %d2, %d5;
 ld.global.u32 %r2, [%d1];
 st.global.u32 [%d2], %r2;
 ret;
}
"""


def shifted(process: GpuProcess, x: int, y: int, read: int = 0, written: int = 0) -> int:
    """Copy 32 words from x + read to y + written; the status of the launch."""
    return process.launch("shift", struct.pack("<4Q", x, y, read, written)).status


def notes(process: GpuProcess) -> list[str]:
    return [one for one in notes_of(process.launches, [], False, 0) if "out of bounds" in one]


def test_reads_behind_an_array_are_counted(tmp_path):
    process = GpuProcess(tmp_path)
    x, y = process.allocate(np.arange(1, 31, dtype=np.int32), "x"), process.allocate(np.full(32, 7, np.int32), "y")
    process.load(SHIFT)
    assert shifted(process, x, y) == 0
    assert shifted(process, x, y, read=4) == 0
    assert process.read(y, 32).tolist() == [*range(2, 31), 0, 0, 0]  # what lies behind x was never written
    (note,) = notes(process)
    assert f"kernel shift: read of 4 bytes at {hex(x + 120)} by thread (30,0,0) of block (0,0,0) is out of" in note
    assert "0 bytes after the allocation x of 120 bytes (5 accesses; the memory there is mapped" in note


def test_writes_behind_an_array_harm_no_other(tmp_path):
    process = GpuProcess(tmp_path)
    ones = np.ones(32, np.int32)
    x, y, z = (process.allocate(ones * k, name) for k, name in enumerate("xyz", 1))
    process.load(SHIFT)
    assert shifted(process, x, y, written=128) == 0  # all lanes behind y, which ends 384 bytes before z
    assert shifted(process, y, z) == 0
    assert [process.read(one, 32).tolist() for one in (x, y, z)] == [[1] * 32, [2] * 32, [2] * 32]
    assert shifted(process, y + 128, z) == 0  # the bytes that were written can be read
    assert process.read(z, 32).tolist() == [1] * 32
    assert [("write" in one, "32 accesses" in one) for one in notes(process)] == [(True, True), (False, True)]


@pytest.mark.parametrize("distance", [PAGE, -4], ids=["next page", "before the first array"])
def test_accesses_to_unmapped_memory_end_kernels(tmp_path, distance):
    process = GpuProcess(tmp_path)
    x = process.allocate(np.zeros(32, np.int32), "x")
    process.load(SHIFT)
    assert shifted(process, x + distance, x) == 700
    assert not process.launches.beyond


def test_memory_of_the_host_stays_strict(tmp_path):
    """Its heap has other blocks of the program behind a block."""
    process = GpuProcess(tmp_path, offset=1 << 19)  # the arena's upper half
    x = process.allocate(np.zeros(31, np.int32), "x")
    process.load(SHIFT)
    assert shifted(process, x, x) == 700


def test_programs_that_fail_report_accesses_beyond(tmp_path):
    process = GpuProcess(tmp_path)
    x = process.allocate(np.zeros(31, np.int32), "x")
    process.load(SHIFT)
    assert shifted(process, x, x) == 0
    with pytest.raises(InputError, match="exit code 1; .*read of 4 bytes .* is out of bounds.*write of 4 bytes"):
        check_outcome(process.launches, False, 1, True)


def test_pages_of_allocations_are_mapped():
    """Each up to the next allocation, or the end of its page; what was moved from the host has nothing behind it."""
    descriptor = os.memfd_create("arena")
    os.ftruncate(descriptor, 16 * PAGE)
    memory = ProcessMemory(Arena(descriptor, 16 * PAGE, 8 * PAGE))
    ends = {  # of mapped memory, by offset and bytes of an allocation
        (0, 64): 512,  # the next one
        (512, PAGE - 512): PAGE + 512,  # it ends with its page; the next page is mapped, too
        (PAGE + 512, 100): 2 * PAGE,
        (3 * PAGE, PAGE): 4 * PAGE,  # a whole page, and the next one is not mapped
        (5 * PAGE, 64): 6 * PAGE,
        (9 * PAGE, 64): 9 * PAGE + 64,  # of the host's heap: the arena's upper half
    }
    rows = [Allocation(8 * PAGE + at, size, k, at, AllocationKind.device, "") for k, (at, size) in enumerate(ends)]
    rows.append(Allocation(100 * PAGE, 64, 9, 6 * PAGE, AllocationKind.pinned, "moved"))
    memory.update((), rows)
    expected = [*(8 * PAGE + end for end in ends.values()), 100 * PAGE + 64]
    assert memory.table().mapped.tolist() == expected


@pytest.mark.slow
def test_registered_pages_are_out_of_reach(tmp_path):
    """A kernel that writes all mapped memory behind its array leaves the host's registered pages as they are."""
    (tmp_path / "app.cu").write_text(
        """#include <cstdlib>
__global__ void fill(char* x, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    x[i] = 1;
}
int main() {
  char *x, *host = static_cast<char*>(aligned_alloc(4096, 4096));
  cudaMalloc(&x, 64);
  for (int i = 0; i < 4096; ++i) host[i] = 7;
  cudaHostRegister(host, 4096, cudaHostRegisterDefault);
  cudaMalloc(&x, 64);
  fill<<<1, 1024>>>(x, 2048);
  if (cudaDeviceSynchronize()) return 1;
  for (int i = 0; i < 4096; ++i) if (host[i] != 7) return 2;
  char last = 0;
  cudaMemcpy(&last, x + 63, 1, cudaMemcpyDefault);
  return last == 1 ? 0 : 3;
}
"""
    )
    found = memsim.capture(tmp_path / "app.cu", out=tmp_path / "t.h5", to_end=True)
    assert any("app.cu:4: kernel fill: write of 1 bytes" in note and "1,984 accesses" in note for note in found.notes)
