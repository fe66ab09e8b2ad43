"""Matrix products of a warpgroup and copies of boxes do the same as PTX and as machine code."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from ptx_kernels import persistent_tma
from sass_launches import as_machine_code, both_ways, needs_machine_code

from memsim.gpu.presets import load_gpu
from memsim.hierarchy.system import System
from memsim.sources.ptx import DeviceMemory, PtxLaunch, trace_launch
from memsim.trace.coalesce import coalesce
from memsim.trace.reader import Trace
from memsim.trace.schema import GROUP, NO_OP, NO_SCOREBOARD, NO_WAIT, PRODUCT, Flag, Space

COLUMNS, THREADS, WORDS = 16, 128, 1024
TEXT = """.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 words, .param .u32 keeps)
{{
    .shared .align 1024 .b32 data[1024];
    .reg .b32 %s<{sums}>;
    .reg .b32 %x<4>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<8>;
    .reg .pred %p<2>;
    ld.param.u64 %rd1, [words];
    ld.param.u32 %r1, [keeps];
    setp.ne.u32 %p1, %r1, 0;
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, data;
    mad.wide.u32 %rd2, %r2, 32, %rd1;
    mad.lo.u32 %r4, %r2, 32, %r3;
    ld.global.v4.b32 {{%x0, %x1, %x2, %x3}}, [%rd2];
    st.shared.v4.b32 [%r4], {{%x0, %x1, %x2, %x3}};
    ld.global.v4.b32 {{%x0, %x1, %x2, %x3}}, [%rd2+16];
    st.shared.v4.b32 [%r4+16], {{%x0, %x1, %x2, %x3}};
    fence.proxy.async;
    bar.sync 0;
    shr.u32 %r5, %r3, 4;
    and.b32 %r5, %r5, 16383;
    cvt.u64.u32 %rd3, %r5;
    or.b64 %rd3, %rd3, {descriptor};
    add.u64 %rd4, %rd3, 128;
    {loads}
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n16k{depth}.{types} {{{registers}}}, {left}, %rd4, %p1{signs};
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    {stores}
    ret;
}}
"""
# Core matrices of 8 rows of 16 bytes: 128 bytes apart along the depth, 256 across.
DESCRIPTOR = 8 << 16 | 16 << 32
FORMS = {
    "halves": ("f32.f16.f16", 16, False, ", 1, 1, 0, 0"),
    "b-transposed": ("f32.f16.f16", 16, False, ", 1, 1, 0, 1"),
    "negative": ("f16.f16.f16", 16, False, ", -1, -1, 1, 0"),
    "bf16-in-registers": ("f32.bf16.bf16", 16, True, ", 1, 1, 0"),
    "tf32": ("f32.tf32.tf32", 8, False, ", 1, 1"),
    "bytes": ("s32.s8.u8", 32, False, ""),
    "bytes-in-registers": ("s32.u8.u8", 32, True, ""),
    "e4m3-e5m2": ("f32.e4m3.e5m2", 32, False, ", 1, 1"),
    "sums-of-halves": ("f16.e4m3.e4m3", 32, False, ", 1, 1"),
}


def _text(types: str, depth: int, in_registers: bool, signs: str, columns: int = COLUMNS) -> str:
    sums = columns // 4 if types.startswith("f16") else columns // 2
    names = [f"%s{k}" for k in range(sums)]
    text = TEXT.format(
        sums=sums, depth=depth, types=types, signs=signs, registers=", ".join(names), descriptor=DESCRIPTOR,
        left="{%x0, %x1, %x2, %x3}" if in_registers else "%rd3",
        loads="\n    ".join(f"ld.global.b32 {name}, [%rd2+{4 * k}];" for k, name in enumerate(names)),
        stores="\n    ".join(f"st.global.b32 [%rd2+{4 * k}], {name};" for k, name in enumerate(names)),
    )  # fmt: skip
    return text.replace(".reg .b32 %s", ".reg .f32 %s") if types.startswith("f32") else text


@needs_machine_code
@pytest.mark.parametrize("keeps", [1, 0])
@pytest.mark.parametrize("form", FORMS)
def test_products_leave_sums_of_ptx(form, keeps):
    text = _text(*FORMS[form])

    def make():
        memory = DeviceMemory()
        words = np.random.default_rng(1).integers(0, 1 << 32, WORDS, np.uint32)
        words &= np.uint32(0xBFBFBFBF)  # neither infinite nor NaN in any of the types
        address = memory.add(words, "words")
        return PtxLaunch(text, "k", (1, 1, 1), (THREADS, 1, 1), [address, keeps]), memory, [words]

    (expected,), (found,) = both_ways(make, 90)
    assert found.tobytes() == expected.tobytes()
    assert len(np.unique(expected)) > WORDS // 4


@needs_machine_code
@pytest.mark.slow
def test_copied_boxes_have_rows_of_ptx(tmp_path):
    """Global rows of the same kinds, widths and lanes, of which as many arrive at mbarriers."""
    found = []
    for how in ("ptx", "sass"):
        launch, memory = persistent_tma().launch(90)
        launch = as_machine_code(launch, 90) if how == "sass" else launch
        trace = trace_launch(launch, memory, tmp_path / f"{how}.h5", load_gpu("h100-pcie"), blocks="all")
        (chunk,) = trace.chunks()
        rows = [k for k in range(len(chunk.op)) if chunk.op[k] != NO_OP]
        ops = [trace.ops[chunk.op[k]] for k in rows]
        kinds = [
            (op.kind, op.width, op.bypass_l1, op.async_copy, int(chunk.mask[k]), bool(chunk.flags[k] & Flag.arrives))
            for k, op in zip(rows, ops, strict=True)
            if op.space is Space.global_
        ]
        found.append(sorted(kinds))
    assert found[0] == found[1]
    assert any(arrives for *_, arrives in found[0])


WIDE = 64  # columns: a warp's quarter of 64 x 64 x 16 takes 32 cycles of its scheduler's 512 products per cycle
CHAIN = """    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {{{registers}}}, %rd3, %rd4, 1, 1, 1, 0, 0;
    wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {{{registers}}}, %rd4, %rd3, 1, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned {left};
"""


def _chain(folder: Path, groups: int, left: int) -> Trace:
    """A trace of a kernel that multiplies so many groups of two products, and leaves some unfinished at each wait."""
    whole = _text(*FORMS["halves"], WIDE)
    first, last = whole.index("    wgmma.fence"), whole.index("    wgmma.wait_group")
    registers = ", ".join(f"%s{k}" for k in range(WIDE // 2))
    text = whole[:first] + CHAIN.format(registers=registers, left=left) * groups + whole[last:]
    memory = DeviceMemory()
    address = memory.add(np.zeros(2 * WORDS, np.uint32), "words")
    launch = as_machine_code(PtxLaunch(text, "k", (1, 1, 1), (THREADS, 1, 1), [address, 1]), 90)
    return trace_launch(launch, memory, folder / f"{groups}-{left}.h5", load_gpu("h100-pcie"), blocks="all")


@needs_machine_code
def test_rows_have_products_and_waits_for_groups(tmp_path):
    (chunk,) = _chain(tmp_path, 3, 1).chunks()
    for warp in range(4):
        rows = slice(chunk.first_instruction[warp], chunk.first_instruction[warp + 1])
        assert chunk.result[rows][chunk.result[rows] >= PRODUCT].tolist() == [PRODUCT, GROUP] * 3
        assert (chunk.scoreboard_set[rows][chunk.result[rows] >= PRODUCT] == NO_SCOREBOARD).all()
        assert chunk.wait_products[rows][chunk.wait_products[rows] != NO_WAIT].tolist() == [1, 1, 1, 0]


@needs_machine_code
def test_time_of_chain_is_that_of_tensor_cores(tmp_path):
    cycles = []
    for groups in (4, 20):
        tx = coalesce(_chain(tmp_path, groups, 1), load_gpu("h100-pcie"))
        cycles.append(int(System(tx, load_gpu("h100-pcie"), 1, np.random.SeedSequence(0)).run().cycles))
    assert cycles[1] - cycles[0] == pytest.approx(16 * 2 * 32, rel=0.02)
