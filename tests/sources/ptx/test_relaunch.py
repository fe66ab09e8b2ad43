"""Kernels that are made ready once and launched again, while the program's allocations change."""

from __future__ import annotations

import numpy as np
import pytest
from dropped_interrupt import drop_interrupt

from memsim.sources.ptx.launch import PtxLaunch, parameter_bytes
from memsim.sources.ptx.memory import DeviceMemory
from memsim.sources.ptx.trace import KernelRun
from memsim.support.interrupts import listening

COPY = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry copy(.param .u64 from, .param .u64 to)
{
.reg .b32 %r<4>; .reg .b64 %rd<8>; .shared .b32 tile[32];
mov.u32 %r1, %tid.x; mul.wide.u32 %rd1, %r1, 4;
ld.param.u64 %rd2, [from]; add.s64 %rd3, %rd2, %rd1; ld.global.b32 %r2, [%rd3];
mov.u64 %rd4, tile; add.s64 %rd5, %rd4, %rd1; st.shared.b32 [%rd5], %r2; ld.shared.b32 %r3, [%rd5];
ld.param.u64 %rd6, [to]; add.s64 %rd7, %rd6, %rd1; st.global.b32 [%rd7], %r3;
ret;
}
"""


def launch(arguments: list[int]) -> PtxLaunch:
    return PtxLaunch(COPY, "copy", (1, 1, 1), (32, 1, 1), arguments)


def test_a_relaunch_finds_regions_that_moved():
    memory, source, target = DeviceMemory(), np.arange(32, dtype=np.int32), np.zeros(32, np.int32)
    arguments = [memory.add(source, "from"), memory.add(target, "to")]
    run = KernelRun(launch(arguments), memory, check=True, tracing=False)
    run.all_blocks(range(1))
    for _ in range(3):  # each allocation shifts the rows of the parameters, of shared and of local memory
        memory.add(np.zeros(4, np.int32), "another")
        target[:] = 0
        one = launch(arguments)
        run.relaunch(one, parameter_bytes(one, one.function), memory, changed=True)
        run.all_blocks(range(1))
        assert (target == source).all()


def test_a_retraced_kernel_logs_the_same_accesses():
    memory, source, target = DeviceMemory(), np.arange(32, dtype=np.int32), np.zeros(32, np.int32)
    arguments = [memory.add(source, "from"), memory.add(target, "to")]
    run = KernelRun(launch(arguments), memory, check=False, tracing=True)
    logged = []
    for _ in range(2):
        run.blocks(np.arange(1))
        logged.append(run.chunk(1, 0))
        memory.add(np.zeros(4, np.int32), "another")
        one = launch(arguments)
        run.retrace(one, parameter_bytes(one, one.function), memory)
    assert (logged[0].addresses == logged[1].addresses).all()
    assert (logged[0].op == logged[1].op).all()
    assert run.program.by_data is False


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_interrupt_that_python_dropped_ends_the_kernel():
    memory, target = DeviceMemory(), np.zeros(32, np.int32)
    arguments = [memory.add(np.arange(32, dtype=np.int32), "from"), memory.add(target, "to")]
    run = KernelRun(launch(arguments), memory, check=True, tracing=False)
    with pytest.raises(KeyboardInterrupt), listening():
        drop_interrupt()
        run.all_blocks(range(1))
    run.all_blocks(range(1))  # and is forgotten then
    assert target.tolist() == list(range(32))
