"""The barrier of a grid by functions of the device runtime, as Numba compiles ``cuda.cg.this_grid().sync()``."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_process import GpuProcess

BLOCKS, ROUNDS = 5, 3
SYNCHRONIZE = """{
.param .b64 param0;
.param .b32 param1;
.param .b32 retval0;
st.param.b64 [param0+0], %rd6;
st.param.b32 [param1+0], %r4;
call.uni (retval0), cudaCGSynchronize, (param0, param1);
ld.param.b32 %r6, [retval0+0];
}"""
PTX = f"""
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b64 func_retval0) cudaCGGetIntrinsicHandle(.param .b32 param_0);
.extern .func (.param .b32 func_retval0) cudaCGSynchronize(.param .b64 param_0, .param .b32 param_1);
.visible .entry rounds(.param .u64 out)
{{
.reg .pred %p<3>;
.reg .b32 %r<12>;
.reg .b64 %rd<12>;
ld.param.u64 %rd1, [out];
mov.u32 %r1, %ctaid.x;
mov.u32 %r2, %tid.x;
setp.ne.u32 %p1, %r2, 0;
mul.wide.u32 %rd2, %r1, 4;
add.u64 %rd3, %rd1, %rd2;
add.u32 %r3, %r1, 1;
rem.u32 %r3, %r3, {BLOCKS};
mul.wide.u32 %rd4, %r3, 4;
add.u64 %rd5, %rd1, %rd4;
mov.u32 %r4, 0;
{{
.param .b32 param0;
.param .b64 retval0;
mov.u32 %r10, 1;
st.param.b32 [param0+0], %r10;
call.uni (retval0), cudaCGGetIntrinsicHandle, (param0);
ld.param.b64 %rd6, [retval0+0];
}}
$round:
ld.volatile.global.u32 %r5, [%rd5];
{SYNCHRONIZE}
@%p1 bra $stored;
add.u32 %r7, %r5, 1;
st.volatile.global.u32 [%rd3], %r7;
$stored:
{SYNCHRONIZE}
add.u32 %r4, %r4, 1;
setp.lt.u32 %p2, %r4, {ROUNDS};
@%p2 bra $round;
ret;
}}
"""


@pytest.fixture
def process(tmp_path):
    found = GpuProcess(tmp_path)
    found.load(PTX)
    return found


def test_all_blocks_meet_at_the_grid_barrier(process: GpuProcess) -> None:
    values = np.arange(BLOCKS, dtype=np.int32) * 10
    out = process.allocate(values)
    reply = process.launch("rounds", out.to_bytes(8, "little"), grid=BLOCKS, block=64, cooperative=True)
    assert reply.status == 0, process.launches.failures
    assert (process.read(out, BLOCKS) == np.roll(values, -ROUNDS) + ROUNDS).all()


def test_a_grid_barrier_needs_a_cooperative_launch(process: GpuProcess) -> None:
    out = process.allocate(np.zeros(BLOCKS, np.int32))
    assert process.launch("rounds", out.to_bytes(8, "little"), grid=BLOCKS, block=64).status != 0
    assert "cudaLaunchCooperativeKernel" in str(process.launches.failures[0])
