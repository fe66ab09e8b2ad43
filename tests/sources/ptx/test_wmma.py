"""wmma on the CPU: products equal numpy's in every shape and layout, and lanes access what machine code accesses."""

from __future__ import annotations

import numpy as np
import pytest

from memsim.gpu.presets import load_gpu
from memsim.sources.ptx import DeviceMemory, PtxLaunch, execute, trace_launch
from memsim.support.errors import InputError
from memsim.trace.lanes import lane_addresses
from memsim.trace.schema import OpKind, Space

# Registers of a, b and sums in a fragment, by shape and type (PTX ISA 9.0, section 9.7.14.4, table of fragments).
REGISTERS = {
    ("m16n16k16", "f16"): (8, 8), ("m32n8k16", "f16"): (8, 8), ("m8n32k16", "f16"): (8, 8),
    ("m16n16k16", "s8"): (2, 2), ("m32n8k16", "s8"): (4, 1), ("m8n32k16", "s8"): (1, 4),
    ("m16n16k8", "tf32"): (4, 4), ("m8n8k4", "f64"): (1, 1),
}  # fmt: skip
NUMPY = {"f16": np.float16, "s8": np.int8, "tf32": np.float32, "f64": np.float64, "f32": np.float32, "s32": np.int32}
SUM = {"f16": "f32", "s8": "s32", "tf32": "f32", "f64": "f64"}
HEAD = ".version 9.0\n.target sm_80\n.address_size 64\n"


def listed(letter: str, count: int) -> str:
    return "{" + ", ".join(f"%{letter}{i}" for i in range(count)) + "}"


def text(shape: str, kind: str, layouts: tuple[str, str, str], space: str) -> str:
    """A kernel that multiplies one pair of matrices, through shared memory if `space` is that."""
    m, n, k = (int(part) for part in shape.replace("m", "").replace("n", " ").replace("k", " ").split())
    a, b = REGISTERS[shape, kind]
    total, word = SUM[kind], "b64" if kind == "f64" else "b32"
    sums = m * n // 32
    types = f"{total}.{total}" if kind == "f16" else f"{total}.{kind}.{kind}.{total}"
    size = NUMPY[kind]().itemsize
    copies = "\n".join(
        f"""    mad.lo.u32 %s, %tid.x, 16, {first}; setp.lt.u32 %p, %s, {bytes_};
        cvt.u64.u32 %rd4, %s; add.s64 %rd5, %rd{i}, %rd4;
        @%p ld.global.v4.b32 {{%w0, %w1, %w2, %w3}}, [%rd5];
        @%p st.shared.v4.b32 [%s+{at}], {{%w0, %w1, %w2, %w3}};"""
        for i, bytes_, at in ((1, m * k * size, 0), (2, k * n * size, 2048))
        for first in range(0, bytes_, 512)
    )
    places = ("0", "2048") if space == "shared" else ("%rd1", "%rd2")
    strides = [
        {"a": (k, m), "b": (n, k), "c": (n, m)}[part][layout == "col"]
        for part, layout in zip("abc", layouts, strict=True)
    ]
    return f"""{HEAD}.visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc) {{
    .reg .pred %p; .reg .b32 %w<4>, %s; .reg .b64 %rd<6>;
    .shared .align 32 .b8 tile[4096];
    .reg .{word} %a<{a}>, %b<{b}>; .reg .{total} %c<{sums}>;
    ld.param.u64 %rd1, [pa]; ld.param.u64 %rd2, [pb]; ld.param.u64 %rd3, [pc];
{copies if space == "shared" else ""}
    bar.sync 0;
    wmma.load.a.sync.aligned.{layouts[0]}.{shape}.{space}.{kind} {listed("a", a)}, [{places[0]}], {strides[0]};
    wmma.load.b.sync.aligned.{layouts[1]}.{shape}.{space}.{kind} {listed("b", b)}, [{places[1]}], {strides[1]};
    wmma.load.c.sync.aligned.{layouts[2]}.{shape}.global.{total} {listed("c", sums)}, [%rd3], {strides[2]};
    wmma.mma.sync.aligned.{layouts[0]}.{layouts[1]}.{shape}.{types}
        {listed("c", sums)}, {listed("a", a)}, {listed("b", b)}, {listed("c", sums)};
    wmma.store.d.sync.aligned.{layouts[2]}.{shape}.global.{total} [%rd3], {listed("c", sums)}, {strides[2]};
    ret;
}}
"""


def matrices(shape: str, kind: str):
    m, n, k = (int(part) for part in shape.replace("m", "").replace("n", " ").replace("k", " ").split())
    draw = np.random.default_rng(3)
    return [
        draw.integers(-4, 5, size).astype(NUMPY[of])
        for size, of in (((m, k), kind), ((k, n), kind), ((m, n), SUM[kind]))
    ]


def stored(matrix: np.ndarray, layout: str) -> np.ndarray:
    return (matrix if layout == "row" else matrix.T).flatten()


def launched(shape: str, kind: str, layouts: tuple[str, str, str], space: str):
    memory, given = DeviceMemory(), matrices(shape, kind)
    arrays = [stored(one, layout) for one, layout in zip(given, layouts, strict=True)]
    arguments = [memory.add(array, name) for array, name in zip(arrays, "abc", strict=True)]
    return PtxLaunch(text(shape, kind, layouts, space), "k", (1, 1, 1), (32, 1, 1), arguments), memory, given, arrays[2]


CASES = [
    (shape, kind, layouts, space)
    for shape, kind in REGISTERS
    for layouts in (("row", "col", "row"), ("col", "row", "col"), ("row", "row", "row"))
    for space in ("global", "shared")
    if kind != "s8" or layouts == ("row", "col", "row")
]


@pytest.mark.parametrize(("shape", "kind", "layouts", "space"), CASES)
def test_products_are_numpys(shape, kind, layouts, space):
    launch, memory, (a, b, c), result = launched(shape, kind, layouts, space)
    execute(launch, memory)
    assert np.array_equal(result, stored(c + a.astype(c.dtype) @ b.astype(c.dtype), layouts[2]))


# What nvdisasm shows of ptxas's code for sm_80: the first lanes' addresses of a's loads, from the array or the tile on.
SHOWN = {
    ("row", "global"): (4, [[line * 32 + 4 * pair for pair in range(4)] for line in range(2)]),
    ("col", "global"): (4, [[line * 32 + 4 * pair for pair in range(4)] for line in range(2)]),
    ("row", "shared"): (16, [[32 * line for line in range(4)], [32 * line for line in range(4, 8)]]),
}


@pytest.mark.parametrize(("layout", "space"), SHOWN)
def test_lanes_load_what_machine_code_loads(tmp_path, layout, space):
    launch, memory, *_ = launched("m16n16k16", "f16", (layout, "col", "row"), space)
    trace = trace_launch(launch, memory, tmp_path / "t.h5", load_gpu("a100"))
    (chunk,) = trace.chunks()
    ops = [number for number, op in enumerate(trace.ops) if op.kind is OpKind.load and _is_of_a(trace, op, space)]
    width, lanes = SHOWN[layout, space]
    assert {trace.ops[op].width for op in ops} == {width}
    first = next(row for row, op in enumerate(chunk.op.tolist()) if op in ops)
    found = lane_addresses(chunk, np.array([first]))[0].astype(np.int64)
    assert (found - found[0])[:8].tolist() == sum(lanes, [])
    if space == "global":
        assert np.isin(chunk.op, ops).sum() == 16 * 16 * 2 // (32 * width)


def _is_of_a(trace, op, space):
    return op.space is Space.shared if space == "shared" else op.array >= 0 and trace.arrays[op.array].name == "a"


def test_unknown_syntax_is_reported_with_line():
    launch, memory, *_ = launched("m16n16k16", "s8", ("col", "col", "row"), "global")
    with pytest.raises(InputError, match=r":\d+: wmma.load.a.*a layout that memsim does not support"):
        execute(launch, memory)
