"""Which launches of a program are executed and traced, and which trace stands for each."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import pytest
from compilers import needs_capture

import memsim
from memsim.capture.protocol import Allocation, AllocationKind, LaunchRequest
from memsim.capture.stand_ins import StandIns
from memsim.capture.unexecuted import UnexecutedLaunches
from memsim.sources.launch_list import NAME, all_activities, all_launches
from memsim.support.errors import InputError


@dataclass
class Memory:
    """Two allocations: of the device at 4096, pinned at 8192."""

    version: int = 1
    kinds: dict[int, AllocationKind] = field(
        default_factory=lambda: {1: AllocationKind.device, 2: AllocationKind.pinned}
    )

    def allocation_at(self, address):
        kind = self.kinds.get(address >> 12)
        return None if kind is None else Allocation(address, 64, 0, 0, kind, "")


def launch(address=4096, undisturbed=True, grid=4, where="a.cu:1"):
    shape = (grid, 1, 1)
    return LaunchRequest(
        1, 0, shape, (32, 1, 1), (1, 1, 1), 0, False, 1024, 1, where, address.to_bytes(8, "little"), undisturbed
    )


def executed(launches, memory=None):
    found, memory = UnexecutedLaunches(), memory or Memory()
    return [found.find(one, memory, True, False) is None for one in launches]


def test_the_third_of_equal_launches_is_not_executed():
    assert executed([launch(undisturbed=False), launch(), launch(where="a.cu:9"), launch()]) == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize("other", [dict(undisturbed=False), dict(grid=5)])
def test_what_differs_begins_a_new_row(other):
    assert executed([launch(), launch(), launch(**other), launch(**other), launch()]) == [True] * 5


def test_launches_with_several_parameters_are_a_row():
    assert executed([launch(), launch(4100)] * 3) == [True] * 4 + [False] * 2


def test_memory_read_by_host_is_always_written():
    assert executed([launch(8192)] * 5) == [True] * 5


def test_an_allocation_in_between_begins_a_new_row():
    found, memory = UnexecutedLaunches(), Memory()
    assert [found.find(launch(), memory, True, False) for _ in range(2)] == [None, None]
    memory.version = 2
    assert found.find(launch(), memory, True, False) is None


@pytest.mark.parametrize(("same", "first"), [(True, [0]), (False, [0, 1, 2])])
def test_launches_at_doubling_distances_are_traced(same, first):
    found, traced = StandIns(), []
    for number in range(40):
        parameters = b"" if same else bytes([number])
        if found.is_traced("k", parameters):
            traced.append(number)
        found.add("k", parameters, number, 1000, bool(traced) and traced[-1] == number)
    assert traced == [*first, 3, 5, 9, 17, 33] and len(found.orders) == 40
    others = found.orders[4], found.orders[6:9], found.orders[34:36]
    assert others == ((3, [5] * 3, [33] * 2) if same else (2, [3, 5, 3], [17, 33]))
    found.add("k", b"", 40, 1100, False)  # 10 % more accesses: alike no longer
    assert all(found.is_traced("k", b"") for _ in range(3))


def test_trace_of_same_parameters_stands_in_first():
    found = StandIns()
    for number, parameters in enumerate((b"a", b"b", b"a")):
        found.add("k", parameters, number, 100, number < 2)
    assert found.orders == [0, 1, 0]


PROGRAM = """
#include <cstdio>
__global__ void add(float *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; x[i] += 1; }
int main() {
    const int n = 1 << 12;
    float *x, h[n];
    cudaMalloc(&x, sizeof h);
    cudaMemset(x, 0, sizeof h);
    for (int r = 0; r < 30; r++) add<<<n / 256, 256>>>(x);
    for (int r = 0; r < 2; r++) {
        add<<<n / 256, 256>>>(x);
        cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost);
    }
    return h[5] != EXPECTED;
}
"""


@needs_capture
@pytest.mark.slow
def test_failed_check_of_incomplete_results_is_noted(tmp_path):
    """The program expects what its 32 launches add up to, of which four were executed."""
    source = tmp_path / "loop.cu"
    source.write_text(PROGRAM)
    captured = memsim.capture(
        source, out=tmp_path / "traces", launch="all", gpu="tesla-v100", definitions=["EXPECTED=32"], stand_ins=True
    )
    assert len(captured.program) == 32 and any("exit code 1" in one for one in captured.notes)


@needs_capture
@pytest.mark.slow
@pytest.mark.parametrize(("stand_ins", "sum_of_launches"), [(True, 4), (False, 32)])
def test_a_benchmark_loop_is_executed_twice(tmp_path, stand_ins, sum_of_launches):
    """30 launches in a row of which 2 run; the 31st repeats them, the last one comes after a copy."""
    source = tmp_path / "loop.cu"
    source.write_text(PROGRAM)
    expected = 3 if stand_ins else sum_of_launches
    captured = memsim.capture(
        source, out=tmp_path / "traces", launch="all", gpu="tesla-v100", definitions=[f"EXPECTED={expected}"],
        stand_ins=stand_ins,
    )  # fmt: skip
    assert captured.launches == {"add": 32} and len(captured.program) == 32
    assert len(captured.traces) == (1 if stand_ins else 32)
    kinds = [kind for kind, _, _ in captured.activities]
    assert kinds.count("launch") == 32 and kinds.count("to_host") == 2 and kinds.count("fill") == 1
    listed = all_launches(tmp_path / "traces", captured.traces)
    assert [one.path for one in listed] == [captured.traces[place].path for place in captured.program]
    assert all_activities(tmp_path / "traces") == list(captured.activities)
    found = memsim.profile_program(listed, "tesla-v100", quick=True, activities=captured.activities)
    assert sum(group.launches for group in found.groups) == 32


FLUSHING = """
#include <cstdio>
__global__ void add(float *x) { x[threadIdx.x] += 1; }
int main() {
    const int n = 1 << 19;
    float *x, *flush, first;
    cudaMalloc(&x, 4 * n);
    for (int r = 0; r < 2; r++) {
        cudaMalloc(&flush, 4 * n);
        for (int i = 0; i < 9; i++) {
            cudaMemset(x, 0, 4 * n);
            cudaMemset(flush, 1, 4 * n);
            add<<<1, 32>>>(i % 3 ? flush : x);
        }
        cudaMemset(flush, 1, 4 * n - 4);  // another length
        cudaMemset(flush + 4, 0, 4 * n - 16);
        cudaMemset(flush, 1, 4 * n - 4);
        cudaMemcpy(&first, flush + 8, 4, cudaMemcpyDeviceToHost);
        if (*(int *)&first != 0x01010101) return 1;
        cudaMemcpy(&first, x, 4, cudaMemcpyDeviceToHost);
        if (first != 0) return 2;
        for (int i = 0; i < 9; i++) {
            cudaMemset(x, 0, 4 * n);
            add<<<1, 32>>>(x);
        }
        for (int i = 0; i < 2; i++) add<<<1, 64>>>(x);
        cudaMemcpy(&first, x, 4, cudaMemcpyDeviceToHost);
        if (first != 2) return 3;
        cudaFree(flush);
    }
}
"""


@needs_capture
@pytest.mark.slow
def test_fills_that_repeat_leave_the_same_memory(tmp_path):
    """Of nine launches alike the last is not executed, so memory has the fill before it, to which two others add."""
    source = tmp_path / "flush.cu"
    source.write_text(FLUSHING)
    captured = memsim.capture(source, out=tmp_path / "traces", launch="all", gpu="tesla-v100", stand_ins=True)
    assert captured.exit_code == 0 and captured.launches == {"add": 40}


@pytest.mark.parametrize("text", ["", "[]", '{"traces": ["a.h5"], "launches": [1]}', '{"launches": []}', "{\x00"])
def test_a_damaged_list_of_launches_is_one_line(tmp_path, text):
    trace = memsim.trace("saxpy", n=1 << 10, blocks="all", out=tmp_path / "a.h5")
    (tmp_path / NAME).write_text(text)
    with pytest.raises(InputError, match=NAME):
        all_launches(tmp_path, [trace])
    (tmp_path / NAME).write_text(json.dumps({"traces": ["a.h5"], "launches": [0, 0], "activities": [["x"]]}))
    assert len(all_launches(tmp_path, [trace])) == 2
    with pytest.raises(InputError, match="activities"):
        all_activities(tmp_path)
