"""Device linking of PTX texts: what one file declares, another defines."""

from __future__ import annotations

import re

from compilers import assembled

from memsim.capture.link import linked

USER = """
.version 8.0
.target sm_75
.address_size 64
.extern .func (.param .b32 func_retval0) twice
(
.param .b32 twice_param_0
)
;
.extern .global .align 4 .u32 counter;
.global .align 1 .b8 $str[3] = {97, 10, 0};
.visible .entry work(.param .u64 p)
{
.reg .b32 %r<4>;
.reg .b64 %rd<4>;
.loc 1 4 0
ld.param.u64 %rd1, [p];
mov.u32 %r1, 7;
{
.param .b32 param0;
st.param.b32 [param0+0], %r1;
.param .b32 retval0;
call.uni (retval0), twice, (param0);
ld.param.b32 %r2, [retval0+0];
}
st.global.u32 [counter], %r2;
mov.u64 %rd2, $str;
st.global.u64 [%rd1], %rd2;
ret;
}
.file 1 "user.cu"
"""
MAKER = """
.version 8.1
.target sm_80
.address_size 64
.visible .global .align 4 .u32 counter;
.global .align 1 .b8 $str[2] = {98, 0};
.weak .func shared_template() { ret; }
.visible .func (.param .b32 func_retval0) twice(.param .b32 twice_param_0)
{
.reg .b32 %r<4>;
.reg .b64 %rd<2>;
.loc 1 9 0
ld.param.u32 %r1, [twice_param_0];
mov.u64 %rd1, $str;
call.uni shared_template, ();
add.s32 %r2, %r1, %r1;
st.param.b32 [func_retval0+0], %r2;
ret;
}
.file 1 "maker.cu"
"""
OTHER = """
.version 8.0
.target sm_75
.address_size 64
.weak .func shared_template() { ret; }
.visible .entry more() { call.uni shared_template, (); ret; }
"""
DEVICE_RUNTIME = """
.version 9.0
.target sm_121
.address_size 64
.visible .func __nv_static_52__f45_22_cuda_device_runtime_cu_3e_x() { ret; }
"""


def test_single_text_stays_as_it_is():
    assert linked([USER]) == USER
    assert linked([USER, DEVICE_RUNTIME]) == USER


def test_declarations_find_definitions_of_other_texts(tmp_path):
    """The assembler takes the result, which it does not with any name missing or there twice."""
    text = linked([USER, MAKER, OTHER])
    assembled(text, "sm_80", tmp_path)
    assert text.count(".visible .global .align 4 .u32 counter") == 1 and ".extern" not in text
    assert text.count("call.uni shared_template") == 2 and text.count("shared_template() { ret; }") == 1
    assert re.findall(r"\.version (\S+)\n\.target (\S+)", text) == [("8.1", "sm_80")]


def test_private_names_stay_apart():
    text = linked([USER, MAKER])
    assert re.findall(r"\.b8 (\S+)\[", text) == ["$str", "$str$of1"]
    assert "mov.u64 %rd1, $str$of1;" in text and "mov.u64 %rd2, $str;" in text


def test_line_numbers_keep_their_files():
    text = linked([USER, MAKER])
    assert re.findall(r"\.loc (\d+) (\d+)", text) == [("1", "4"), ("2", "9")]
    assert re.findall(r'\.file (\d+) "(\S+)"', text) == [("1", "user.cu"), ("2", "maker.cu")]
