"""Tensor maps that a kernel makes with tensormap.replace copy the boxes that cuTensorMapEncodeTiled's maps copy."""

from __future__ import annotations

import numpy as np
import pytest
from ptx_traces import accesses
from tensor_map import tensor_map

from memsim.gpu.presets import load_gpu
from memsim.sources.ptx import DeviceMemory, PtxLaunch, execute, trace_launch
from memsim.support.errors import InputError

ROWS, COLUMNS, BOX_ROWS, BOX_COLUMNS = 24, 64, 4, 16
FIELD = "@%p1 tensormap.replace.tile.{}.shared::cta.b1024.{} [made], {};"
TO = "global.shared::cta.tensormap::generic.release.gpu.sync.aligned"


def _fields(element_stride: int) -> str:
    values = [
        ("global_address", "b64", "%rd1"), ("rank", "b32", "1"), ("box_dim", "b32", f"0, {BOX_COLUMNS}"),
        ("box_dim", "b32", f"1, {BOX_ROWS}"), ("global_dim", "b32", "0, %r7"), ("global_dim", "b32", f"1, {ROWS}"),
        ("global_stride", "b64", f"0, {4 * COLUMNS}"), ("elemtype", "b32", "7"),
        ("element_stride", "b32", "0, 1"), ("element_stride", "b32", f"1, {element_stride}"),
        ("interleave_layout", "b32", "0"), ("swizzle_mode", "b32", "0"), ("fill_mode", "b32", "0"),
    ]  # fmt: skip
    return "\n".join(FIELD.format(*one) for one in values)


def _launch(element_stride: int = 1):
    """A warp makes a map of `x`, and copies a box by it and one by the given map to `y`."""
    copy = (
        "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256;"
        "@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [s+{at}],"
        " [{map}, {{{{%r5, %r6}}}}], [bar];"
    )
    text = f""".version 8.3\n.target sm_90a\n.address_size 64\n.visible .entry k(
    .param .u64 x, .param .u64 y, .param .u64 space, .param .u32 columns, .param .align 64 .b8 map[128])\n{{
    .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>;
    .shared .align 128 .b8 made[128]; .shared .align 128 .b8 s[512]; .shared .align 8 .b8 bar[8];
    ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u64 %rd3, [space]; ld.param.u32 %r7, [columns];
    mov.b64 %rd15, map; cvta.param.u64 %rd15, %rd15;
    mov.u32 %r1, %tid.x; setp.eq.s32 %p1, %r1, 0; mov.u32 %r5, 8; mov.u32 %r6, 20;
    @%p1 mbarrier.init.shared::cta.b64 [bar], 2;
    {_fields(element_stride)}
    bar.warp.sync -1;
    tensormap.cp_fenceproxy.{TO} [%rd3], [made], 128;
    fence.proxy.tensormap::generic.acquire.gpu [%rd3], 128;
    {copy.format(at=0, map="%rd3").replace("{{", "{").replace("}}", "}")}
    {copy.format(at=256, map="%rd15").replace("{{", "{").replace("}}", "}")}
    W: mbarrier.try_wait.parity.shared::cta.b64 %p3, [bar], 0; @!%p3 bra W;
    mov.u32 %r8, s; mad.lo.u32 %r8, %r1, 16, %r8; mad.wide.u32 %rd4, %r1, 16, %rd2;
    ld.shared.v4.b32 {{%r10, %r11, %r12, %r13}}, [%r8]; st.global.v4.b32 [%rd4], {{%r10, %r11, %r12, %r13}};
    ret;\n}}\n"""
    memory, y = DeviceMemory(), np.zeros((2, BOX_ROWS, BOX_COLUMNS), np.float32)
    x = np.arange(ROWS * COLUMNS, dtype=np.float32).reshape(ROWS, COLUMNS)
    address = memory.add(x, "x")
    given = tensor_map(address, 4, (COLUMNS, ROWS), (4 * COLUMNS,), (BOX_COLUMNS, BOX_ROWS))
    arguments = [address, memory.add(y, "y"), memory.add(np.zeros(16, np.int64), "space"), COLUMNS, given]
    return PtxLaunch(text, "k", (1, 1, 1), (32, 1, 1), arguments), memory, x, y


def test_a_made_map_copies_its_box():
    launch, memory, x, y = _launch()
    execute(launch, memory)
    box = x[20:24, 8:24]
    np.testing.assert_array_equal(y, [box, box])


@pytest.mark.parametrize("check", [False, True])
def test_both_maps_are_traced_alike(tmp_path, check):
    """Also where only addresses are computed."""
    launch, memory, *_ = _launch()
    trace = trace_launch(launch, memory, tmp_path / "t.h5", load_gpu("h100"), "all", check=check)
    boxes = [k for k, op in enumerate(trace.ops) if op.text.startswith("cp.async.bulk.tensor")]
    made, given = (accesses(trace)[op] for op in boxes)
    assert made and made == given


def test_other_element_strides_are_refused():
    launch, memory, *_ = _launch(element_stride=2)
    with pytest.raises(InputError, match="tensor map"):
        execute(launch, memory)
