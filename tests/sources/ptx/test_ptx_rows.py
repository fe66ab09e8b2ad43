"""How instructions become rows: waits by class, mixes, the order of a basic block, what passes L1 by."""

from __future__ import annotations

import numpy as np
import pytest

from memsim.gpu.presets import load_gpu
from memsim.sources.ptx import DeviceMemory, PtxLaunch, trace_launch
from memsim.trace.schema import NO_OP, NO_WAIT, Flag, OpKind, Space

REGISTERS = ".reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>; .reg .f32 %f<64>;"
ADDRESS = "ld.param.u64 %rd1, [x]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;"


def text_of(body: str) -> str:
    head = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 x)\n"
    return f"{head}{{\n{REGISTERS}\n.shared .align 16 .b8 s[1024];\n{body}\nret;\n}}\n"


def rows_of(body: str, tmp_path):
    memory = DeviceMemory()
    launch = PtxLaunch(text_of(body), "k", (1, 1, 1), (32, 1, 1), [memory.add(np.zeros(4096, np.float32), "x")])
    trace = trace_launch(launch, memory, tmp_path / "t.h5", load_gpu("a100"), "all")
    [chunk] = trace.chunks()
    return trace, chunk


def test_use_waits_for_its_load_not_later_ones(tmp_path):
    """Of three loads the first one's value is used, then the third one's: two are under way, then none."""
    body = f"""{ADDRESS}
    ld.global.f32 %f1, [%rd3]; ld.global.f32 %f2, [%rd3+512]; ld.global.f32 %f3, [%rd3+1024];
    add.f32 %f4, %f1, %f1; add.f32 %f5, %f3, %f4; st.global.f32 [%rd3], %f5;"""
    trace, chunk = rows_of(body, tmp_path)
    assert trace.issue.dependence.value == "scoreboard"
    assert chunk.wait_long.tolist() == [NO_WAIT, NO_WAIT, NO_WAIT, 2, 0]
    assert chunk.op.tolist() == [0, 1, 2, NO_OP, 3] and chunk.compute_run.tolist()[3:] == [1, 1]
    assert set(chunk.wait_short.tolist()) == set(chunk.wait_copies.tolist()) == {NO_WAIT}


def test_classes_of_loads_wait_apart(tmp_path):
    """A use of shared memory's value does not wait for the load from global memory before it."""
    body = f"""{ADDRESS}
    shl.b32 %r2, %r1, 2; ld.global.f32 %f1, [%rd3]; ld.shared.f32 %f2, [%r2]; add.f32 %f3, %f2, %f2;
    st.shared.f32 [%r2], %f3; st.global.f32 [%rd3], %f1;"""
    _trace, chunk = rows_of(body, tmp_path)
    assert chunk.wait_short.tolist() == [NO_WAIT, NO_WAIT, 0, NO_WAIT]
    assert chunk.wait_long.tolist() == [NO_WAIT, NO_WAIT, NO_WAIT, 0]


def test_moved_value_is_waited_for_at_use(tmp_path):
    body = f"""{ADDRESS}
    ld.global.f32 %f1, [%rd3]; mov.f32 %f2, %f1; ld.global.f32 %f3, [%rd3+512]; neg.f32 %f4, %f2;
    st.global.f32 [%rd3], %f4;"""
    _trace, chunk = rows_of(body, tmp_path)
    assert chunk.wait_long.tolist() == [NO_WAIT, NO_WAIT, 1]


def test_groups_of_copies(tmp_path):
    """Two groups of one and two copies; waiting for all but the latest leaves two under way."""
    copy = "cp.async.cg.shared.global [%r2], [%rd4], 16;"
    body = f"""{ADDRESS} shl.b32 %r2, %r1, 4; mul.wide.u32 %rd5, %r1, 16; add.s64 %rd4, %rd1, %rd5;
    {copy} cp.async.commit_group; {copy} {copy} cp.async.commit_group;
    cp.async.wait_group 1; bar.sync 0; cp.async.wait_all; bar.sync 0;"""
    trace, chunk = rows_of(body, tmp_path)
    assert chunk.wait_copies.tolist() == [NO_WAIT, NO_WAIT, NO_WAIT, 2, 0]
    assert [bool(flag & Flag.barrier) for flag in chunk.flags] == [False] * 3 + [True] * 2
    assert all(op.async_copy and op.bypass_l1 and op.width == 16 for op in trace.ops)


def test_mixes_count_by_class(tmp_path):
    """Of three independent additions two are off the critical path; a multiplication's product joins them."""
    body = f"""{ADDRESS}
    ld.global.f32 %f1, [%rd3]; add.f32 %f2, %f1, %f1; ex2.approx.ftz.f32 %f3, %f1; fma.rn.f32 %f4, %f2, %f3, %f1;
    st.global.f32 [%rd3], %f4;"""
    trace, chunk = rows_of(body, tmp_path)
    mix = trace.issue.mixes[chunk.instruction_mix[1]]
    assert (mix["count_fp32"], mix["count_special"], chunk.compute_run[1], chunk.off_path[1]) == (2, 1, 3, 1)


@pytest.mark.parametrize(
    ("arithmetic", "instructions"),
    [
        ("mul.f32 %f2, %f1, %f1; sub.f32 %f3, %f1, %f2;", 1),
        ("mul.ftz.f32 %f2, %f1, %f1; add.ftz.f32 %f3, %f2, %f1;", 1),
        ("mul.rn.f32 %f2, %f1, %f1; sub.f32 %f3, %f1, %f2;", 2),
        ("mul.f32 %f2, %f1, %f1; sub.rn.f32 %f3, %f1, %f2;", 2),
        ("mul.sat.f32 %f2, %f1, %f1; add.f32 %f3, %f2, %f1;", 2),
        ("mul.f32 %f2, %f1, %f1; mul.f32 %f4, %f1, 0f40000000; add.f32 %f3, %f2, %f4;", 2),
        ("mul.f32 %f2, %f1, %f1; add.f32 %f3, %f2, %f2;", 2),
    ],
)
def test_product_fused_into_sum_is_no_instruction(arithmetic, instructions, tmp_path):
    """As ptxas makes one FFMA of them, where neither asks for a rounding and the sum alone uses the product."""
    body = f"{ADDRESS} ld.global.f32 %f1, [%rd3]; {arithmetic} st.global.f32 [%rd3], %f3;"
    trace, chunk = rows_of(body, tmp_path)
    assert trace.issue.mixes[chunk.instruction_mix[1]]["count_fp32"] == instructions


def test_tensor_work_is_counted_and_not_computed(tmp_path):
    a, c = "{%r3, %r4, %r5, %r6}", "{%f1, %f2, %f3, %f4}"
    product = f"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {c}, {a}, {{%r7, %r8}}, {c};"
    body = f"{ADDRESS} {product} {product} st.global.f32 [%rd3], %f1;"
    trace, chunk = rows_of(body, tmp_path)
    mix = trace.issue.mixes[chunk.instruction_mix[0]]
    assert mix["count_tensor"] == 2 and mix["count_tensor_f16"] == 2 * 16 * 8 * 16


def test_atomic_whose_result_nobody_reads_is_reduction(tmp_path):
    body = f"{ADDRESS} atom.global.add.u32 %r2, [%rd3], 1; atom.global.add.u32 %r3, [%rd3], 1; st.shared.b32 [s], %r3;"
    trace, chunk = rows_of(body, tmp_path)
    assert [op.kind for op in trace.ops] == [OpKind.reduction, OpKind.atomic, OpKind.store]
    assert chunk.wait_long.tolist() == [NO_WAIT, NO_WAIT, 0]


def test_cache_operators_and_spaces(tmp_path):
    body = f"""{ADDRESS}
    ld.global.f32 %f1, [%rd3]; ld.global.cg.f32 %f2, [%rd3]; ld.global.nc.f32 %f3, [%rd3];
    ld.global.nc.L1::no_allocate.L2::128B.f32 %f4, [%rd3]; st.shared.f32 [s+16], %f1;"""
    trace, _chunk = rows_of(body, tmp_path)
    assert [op.bypass_l1 for op in trace.ops] == [False, True, False, False, False]
    spaces = [Space.global_, Space.global_, Space.texture, Space.texture, Space.shared]
    assert [op.space for op in trace.ops] == spaces
    assert [array.name for array in trace.arrays] == ["x", "s"]


def test_instructions_keep_the_order_of_the_text(tmp_path):
    """A load behind the use of the one before is not under way with it, though nothing would keep it back."""
    body = f"{ADDRESS} ld.global.f32 %f1, [%rd3]; add.f32 %f3, %f1, %f1; ld.global.f32 %f2, [%rd3+4];"
    _trace, chunk = rows_of(f"{body} st.global.f32 [%rd3], %f3;", tmp_path)
    assert chunk.op.tolist() == [0, 1, 2] and chunk.wait_long.tolist() == [NO_WAIT, 0, NO_WAIT]
