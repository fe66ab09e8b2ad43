"""Launches that find what an earlier one found get its results without being executed."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from gpu_process import GpuProcess
from test_stand_ins import launch

from memsim.capture.launches import Launches
from memsim.capture.unexecuted import BYTES_PER_OP, MISSES, LaunchResult, UnexecutedLaunches
from memsim.sources.ptx.full_launch import ExecutedCounts
from memsim.sources.selection import ALL, CaptureSelection

# 64 times y[i] = 3 * y[i] + x[i] + counter; counter grows by one for every thread.
LOOP = """.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 counter = 7;
.visible .entry loop(.param .u64 x, .param .u64 y)
{
 .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p;
 mov.u32 %r1, %tid.x;
 ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y];
 mul.wide.u32 %d3, %r1, 4;
 add.s64 %d4, %d1, %d3;
 add.s64 %d5, %d2, %d3;
 mov.u32 %r2, 0;
AGAIN:
 ld.global.u32 %r3, [%d4];
 ld.global.u32 %r4, [%d5];
 ld.global.u32 %r5, [counter];
 mul.lo.u32 %r4, %r4, 3;
 add.u32 %r4, %r4, %r3;
 add.u32 %r4, %r4, %r5;
 st.global.u32 [%d5], %r4;
 add.u32 %r2, %r2, 1;
 setp.lt.u32 %p, %r2, 64;
 @%p bra AGAIN;
 atom.global.add.u32 %r8, [counter], 1;
 ret;
}
"""
N = 32


@dataclass
class Program:
    """A process with the kernel, whose launches are counted as they are executed."""

    gpu: GpuProcess
    executed: list[str]
    x: int = 0
    y: int = 0

    def launch(self, x=3, y=5, counter=7):
        """Results of a launch that finds these values."""
        for address, value in ((self.x, x), (self.y, y), (self.gpu.variables["counter"], counter)):
            self.gpu.write(address, np.full(1 if address == self.gpu.variables["counter"] else N, value, np.int32))
        parameters = self.x.to_bytes(8, "little") + self.y.to_bytes(8, "little")
        assert self.gpu.launch("loop", parameters, block=N).status == 0
        return self.gpu.read(self.y, N), self.gpu.read(self.gpu.variables["counter"], 1)


def expected(x=3, y=5, counter=7):
    for _ in range(64):
        y = (3 * y + x + counter) & 0xFFFFFFFF
    return np.full(N, y, np.uint32).view(np.int32), np.array([counter + N], np.int32)


@pytest.fixture(params=["heaviest", "all"])
def program(request, tmp_path, monkeypatch):
    executed = []
    for name in ("_traced", "_executed"):
        whole = getattr(Launches, name)
        monkeypatch.setattr(Launches, name, lambda *given, _whole=whole: executed.append(1) or _whole(*given))
    stands = request.param == "all"
    wanted = CaptureSelection(registers=32, to_end=True, launches=ALL if stands else None, stand_ins=stands)
    gpu = GpuProcess(tmp_path, wanted)
    assert gpu.load(LOOP).status == 0
    return Program(gpu, executed, *(gpu.allocate(np.zeros(N, np.int32)) for _ in "xy"))


def test_equal_launches_get_the_same_results(program):
    for _ in range(6):
        for got, right in zip(program.launch(), expected(), strict=True):
            assert np.array_equal(got, right)
    assert len(program.executed) == 2  # the first says what a launch executes, the second is kept
    if program.gpu.launches.selection.stand_ins:
        assert program.gpu.launches.stand_ins.orders == [1] * 6 and not program.gpu.launches.stand_ins.unexecuted


@pytest.mark.parametrize("other", [dict(x=4), dict(y=6), dict(counter=8)])
def test_any_other_byte_is_executed(program, other):
    for _ in range(3):
        program.launch()
    got = program.launch(**other)
    assert all(np.array_equal(a, b) for a, b in zip(got, expected(**other), strict=True))
    assert len(program.executed) == 3


@dataclass
class Memory:
    """One allocation."""

    data: np.ndarray
    textures: dict = field(default_factory=dict)

    def contents(self):
        return [(4096, self.data)]


def executed(found: UnexecutedLaunches, memory: Memory) -> bool:
    """Whether the next launch must be executed, after which it is noted."""
    if found.find(launch(), memory, False, True) is not None:
        return False
    found.add(launch(), memory, LaunchResult(1, 0, ExecutedCounts(64, 1, 1)), False, True)
    return True


def test_launches_that_always_differ_are_compared_no_more():
    found, memory = UnexecutedLaunches(), Memory(np.zeros(64, np.uint8))
    assert [executed(found, memory) for _ in range(3)] == [True, True, False]
    for number in range(1, MISSES + 1):
        memory.data[:] = number
        assert executed(found, memory)
    assert all(executed(found, memory) for _ in range(3))


def test_memory_larger_than_launch_work_is_not_kept():
    found, memory = UnexecutedLaunches(), Memory(np.zeros(64 * BYTES_PER_OP + 1, np.uint8))
    assert [executed(found, memory) for _ in range(3)] == [True] * 3
