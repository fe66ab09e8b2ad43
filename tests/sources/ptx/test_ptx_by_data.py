"""Which accesses have addresses from loaded data, by hand."""

from __future__ import annotations

from memsim.sources.ptx.effects import addressed_by_data
from memsim.sources.ptx.module import Instruction
from memsim.sources.ptx.text import parse

# A list followed, an array added up, a gather from an index in shared memory, and a store where the list ends.
KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y)
{
.reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<16>; .reg .f32 %f<8>;
.shared .align 4 .b8 s[128];
ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3;
mov.u32 %r2, 0;
again:
ld.global.u32 %r3, [%rd4];
mul.wide.u32 %rd5, %r3, 4;
add.s64 %rd4, %rd1, %rd5;
ld.global.f32 %f1, [%rd2];
add.f32 %f2, %f2, %f1;
add.s64 %rd2, %rd2, 128;
add.u32 %r2, %r2, 1;
setp.lt.u32 %p1, %r2, 8;
@%p1 bra again;
ld.shared.u32 %r4, [s];
mul.wide.u32 %rd6, %r4, 4;
add.s64 %rd7, %rd1, %rd6;
ld.global.f32 %f3, [%rd7];
st.global.f32 [%rd2], %f2;
st.global.f32 [%rd4], %f3;
ret;
}
"""


def test_lists_and_gathers_are_distinguished_from_arrays():
    body = [one for one in parse(KERNEL, "t").functions["k"].body if isinstance(one, Instruction)]
    found = addressed_by_data(body)
    accesses = [one for one in body if one.name in ("ld", "st") and not one.has("param")]
    assert [id(one) in found for one in accesses] == [True, False, False, True, False, True]
