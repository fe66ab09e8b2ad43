"""Functions of CUDA's device runtime (libcudadevrt, which is machine code) as PTX.

C++ programs have their grid's barrier in NVIDIA's header <cooperative_groups.h>. Others, such as Numba's ``cuda.cg``,
call two functions of cuda_device_runtime_api.h. Here the barrier is a counter in the grid's workspace, whose highest
bit changes when the last block has arrived. The handle of a graph's condition is the address of its value.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_HEAD = """
.version 6.0
.target sm_60
.address_size 64
"""
_GRID_BARRIER = """
.weak .func (.param .b64 func_retval0) cudaCGGetIntrinsicHandle(.param .b32 cudaCGGetIntrinsicHandle_param_0)
{
.reg .b32 %r<3>;
.reg .b64 %rd<4>;
mov.u32 %r1, %envreg1;
mov.u32 %r2, %envreg2;
cvt.u64.u32 %rd1, %r1;
shl.b64 %rd1, %rd1, 32;
cvt.u64.u32 %rd2, %r2;
or.b64 %rd3, %rd1, %rd2;
st.param.b64 [func_retval0+0], %rd3;
ret;
}
.weak .func (.param .b32 func_retval0) cudaCGSynchronize(
.param .b64 cudaCGSynchronize_param_0, .param .b32 cudaCGSynchronize_param_1)
{
.reg .pred %p<4>;
.reg .b32 %r<20>;
.reg .b64 %rd<2>;
ld.param.u64 %rd1, [cudaCGSynchronize_param_0];
bar.sync 0;
mov.u32 %r1, %tid.x;
mov.u32 %r2, %tid.y;
mov.u32 %r3, %tid.z;
or.b32 %r4, %r1, %r2;
or.b32 %r4, %r4, %r3;
setp.ne.s32 %p1, %r4, 0;
@%p1 bra $arrived;
membar.gl;
mov.u32 %r5, %nctaid.x;
mov.u32 %r6, %nctaid.y;
mov.u32 %r7, %nctaid.z;
mul.lo.u32 %r8, %r5, %r6;
mul.lo.u32 %r8, %r8, %r7;
mov.u32 %r9, %ctaid.x;
mov.u32 %r10, %ctaid.y;
mov.u32 %r11, %ctaid.z;
or.b32 %r12, %r9, %r10;
or.b32 %r12, %r12, %r11;
setp.eq.s32 %p2, %r12, 0;
mov.u32 %r13, 0x80000001;
sub.u32 %r14, %r13, %r8;
selp.b32 %r15, %r14, 1, %p2;
atom.add.u32 %r16, [%rd1+4], %r15;
$wait:
ld.volatile.u32 %r17, [%rd1+4];
xor.b32 %r18, %r17, %r16;
setp.ge.s32 %p3, %r18, 0;
@%p3 bra $wait;
membar.gl;
$arrived:
bar.sync 0;
mov.u32 %r19, 0;
st.param.b32 [func_retval0+0], %r19;
ret;
}
"""
_GRAPH_CONDITION = """
.weak .func cudaGraphSetConditional(
.param .b64 cudaGraphSetConditional_param_0, .param .b32 cudaGraphSetConditional_param_1)
{
.reg .b32 %r<2>;
.reg .b64 %rd<2>;
ld.param.u64 %rd1, [cudaGraphSetConditional_param_0];
ld.param.u32 %r1, [cudaGraphSetConditional_param_1];
st.volatile.u32 [%rd1], %r1;
ret;
}
"""
_FUNCTIONS = (
    (re.compile(r"\.extern\s+\.func[^;{]*\bcudaCG(?:GetIntrinsicHandle|Synchronize)\b"), _GRID_BARRIER),
    (re.compile(r"\.extern\s+\.func[^;{]*\bcudaGraphSetConditional\b"), _GRAPH_CONDITION),
)


def with_device_functions(texts: Sequence[str]) -> list[str]:
    """The PTX texts of a module, with those functions of the device runtime that one of them calls."""
    called = [text for pattern, text in _FUNCTIONS if any(pattern.search(one) for one in texts)]
    return [*texts, _HEAD + "".join(called)] if called else list(texts)
