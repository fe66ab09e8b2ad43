"""Single instructions against what the PTX ISA says they do, worked out in numpy or by hand."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from memsim.sources.ptx import DeviceMemory, PtxLaunch, execute
from memsim.sources.ptx.machine import lazily_compiled_ops

LANE = np.arange(32)
REGISTERS = (
    ".reg .pred %p<8>; .reg .b16 %h<16>; .reg .b32 %r<32>; .reg .b64 %rd<16>; .reg .f32 %f<8>; .reg .f64 %fd<8>;"
)
PARAMETERS = ".param .u64 out, .param .u64 in"
WARP = "-1"


def run(body: str, values: np.ndarray | None = None, before: str = "") -> np.ndarray:
    """Run a warp: %r1 is the lane, %r2 the word of `values` of the lane; what the body leaves in %rd9 is returned."""
    source = np.zeros(32, np.uint64) if values is None else values.astype(np.uint64)
    out, memory = np.zeros(32, np.uint64), DeviceMemory()
    arguments = [memory.add(out, "out"), memory.add(source, "in")]
    text = f"""
.version 8.0
.target sm_90
.address_size 64
{before}
.visible .entry k({PARAMETERS})
{{
{REGISTERS}
mov.u32 %r1, %tid.x; mul.wide.u32 %rd1, %r1, 8; mov.b64 %rd9, 0;
ld.param.u64 %rd2, [in]; add.s64 %rd3, %rd2, %rd1; ld.global.b64 %rd4, [%rd3]; cvt.u32.u64 %r2, %rd4;
{body}
ld.param.u64 %rd5, [out]; add.s64 %rd6, %rd5, %rd1; st.global.b64 [%rd6], %rd9;
ret;
}}
"""
    execute(PtxLaunch(text, "k", (1, 1, 1), (32, 1, 1), arguments), memory)
    return out


def words(body: str, values: np.ndarray | None = None) -> np.ndarray:
    """The same with the result in %r9, as signed integers."""
    return run(f"{body} cvt.u64.u32 %rd9, %r9;", values).astype(np.uint32).view(np.int32)


def singles(body: str, values: np.ndarray) -> np.ndarray:
    """The same with a value of the lane in %f1 and the result in %f9, as float32."""
    bits = values.astype(np.float32).view(np.uint32)
    found = run(f"mov.b32 %f1, %r2; {body} mov.b32 %r9, %f2; cvt.u64.u32 %rd9, %r9;", bits)
    return found.astype(np.uint32).view(np.float32)


NUMBERS = np.random.default_rng(1).integers(-(2**31), 2**31, 32).astype(np.int32)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("shl.b32 %r9, %r2, %r1;", lambda v: v << LANE),
        ("shr.s32 %r9, %r2, %r1;", lambda v: v >> LANE),
        ("shr.u32 %r9, %r2, %r1;", lambda v: v.view(np.uint32) >> LANE.astype(np.uint32)),
        ("shl.b32 %r9, %r2, 32;", lambda v: 0 * v),
        ("shr.s32 %r9, %r2, 99;", lambda v: v >> 31),
        ("mul.hi.s32 %r9, %r2, %r2;", lambda v: (v.astype(np.int64) ** 2) >> 32),
        ("mul.hi.u32 %r9, %r2, %r2;", lambda v: (v.view(np.uint32).astype(np.uint64) ** 2) >> np.uint64(32)),
        ("div.s32 %r9, %r2, 7;", lambda v: np.trunc(v / 7).astype(np.int64)),
        ("rem.s32 %r9, %r2, 7;", lambda v: np.fmod(v, 7)),
        ("div.u32 %r9, %r2, 7;", lambda v: v.view(np.uint32) // 7),
        ("abs.s32 %r9, %r2;", lambda v: np.abs(v)),
        ("neg.s32 %r9, %r2;", lambda v: -v),
        ("min.u32 %r9, %r2, 1000;", lambda v: np.minimum(v.view(np.uint32), 1000)),
        ("max.s32 %r9, %r2, 1000;", lambda v: np.maximum(v, 1000)),
        ("popc.b32 %r9, %r2;", lambda v: np.array([int(x).bit_count() for x in v.view(np.uint32)])),
        ("clz.b32 %r9, %r2;", lambda v: np.array([32 - int(x).bit_length() for x in v.view(np.uint32)])),
        ("brev.b32 %r9, %r2;", lambda v: np.array([int(f"{x:032b}"[::-1], 2) for x in v.view(np.uint32)])),
        ("bfe.u32 %r9, %r2, 5, 9;", lambda v: (v.view(np.uint32) >> 5) & 511),
        ("bfe.s32 %r9, %r2, 5, 9;", lambda v: (v << 18) >> 23),
        ("bfi.b32 %r9, %r1, %r2, 8, 4;", lambda v: (v & ~0xF00) | ((LANE & 15) << 8)),
        ("bfind.u32 %r9, %r2;", lambda v: np.array([int(x).bit_length() - 1 for x in v.view(np.uint32)])),
        ("prmt.b32 %r9, %r2, %r1, 0x0123;", lambda v: v.byteswap()),
        ("shf.l.wrap.b32 %r9, %r2, %r2, %r1;", lambda v: (v << LANE) | _down(v, 32 - LANE)),
        ("lop3.b32 %r9, %r2, %r1, 255, 0xE8;", lambda v: (v & LANE) | (v & 255) | (LANE & 255)),
        ("cvt.s32.s8 %r9, %r2;", lambda v: v.astype(np.int8).astype(np.int32)),
        ("cvt.u16.u32 %h1, %r2; cvt.u32.u16 %r9, %h1;", lambda v: v & 0xFFFF),
        ("cvt.sat.s8.s32 %r9, %r2;", lambda v: np.clip(v, -128, 127)),
        ("sad.s32 %r9, %r2, 5, 3;", lambda v: np.abs(v.astype(np.int64) - 5) + 3),
        ("mad.lo.s32 %r9, %r2, %r1, 7;", lambda v: v * LANE + 7),
        ("mul24.lo.u32 %r9, %r2, 3;", lambda v: (v & 0xFFFFFF) * 3),
        ("dp4a.u32.u32 %r9, %r2, %r2, 1;", lambda v: 1 + (v.view(np.uint8).reshape(-1, 4).astype(int) ** 2).sum(1)),
        ("dp2a.lo.s32.u32 %r9, %r2, %r2, 1;", lambda v: 1 + _products(v, 0)),
        ("dp2a.hi.s32.u32 %r9, %r2, %r2, 1;", lambda v: 1 + _products(v, 2)),
        ("fns.b32 %r9, %r2, 4, 2;", lambda v: _nth_bits(v, range(4, 32), 2)),
        ("fns.b32 %r9, %r2, %r1, -3;", lambda v: [_nth_bits(v[i : i + 1], range(i, -1, -1), 3)[0] for i in LANE]),
        ("fns.b32 %r9, %r2, 3, 0;", lambda v: np.where((v >> 3) & 1, 3, -1)),
        (  # the upper word of r2 * r2 + r2 * 2 ** 32 + r2, by halves
            "mad.lo.cc.u32 %r3, %r2, %r2, %r2; madc.hi.u32 %r9, %r2, %r2, %r2;",
            lambda v: [(x * x + (x << 32) + x >> 32) & 0xFFFFFFFF for x in v.view(np.uint32).tolist()],
        ),
        (
            "vabsdiff4.u32.u32.u32 %r9, %r2, 0x80808080, 0;",
            lambda v: _differences(v, np.uint8, 128).astype(np.uint8).view("i4"),
        ),
        ("vabsdiff2.u32.s32.s32.add %r9, %r2, 0, 7;", lambda v: 7 + _differences(v, np.int16, 0).reshape(-1, 2).sum(1)),
        ("add.u16x2 %r9, %r2, %r2;", lambda v: (v.view(np.uint16) * 2).astype(np.uint16).view(np.int32)),
        ("min.s16x2 %r9, %r2, 0;", lambda v: np.minimum(v.view(np.int16), 0).view(np.int32)),
        ("add.cc.u32 %r3, %r2, %r2; addc.u32 %r9, 0, 0;", lambda v: (v < 0).astype(int)),
        (
            "mad.lo.cc.u32 %r3, %r2, %r2, %r2; madc.hi.u32 %r9, %r2, %r2, 0;",
            lambda v: [(w * w + w) >> 32 for w in map(int, v.view(np.uint32))],
        ),
        (
            "mad.lo.cc.u32 %r3, %r2, %r2, %r2; madc.hi.cc.u32 %r4, %r2, %r2, -1; addc.u32 %r9, 0, 0;",
            lambda v: [(w * w + w + (0xFFFFFFFF << 32)) >> 64 for w in map(int, v.view(np.uint32))],
        ),
        ("setp.gt.s32 %p1, %r2, 0; selp.b32 %r9, 1, 2, %p1;", lambda v: np.where(v > 0, 1, 2)),
        ("setp.lo.u32 %p1, %r2, 9; not.pred %p2, %p1; selp.b32 %r9, 1, 2, %p2;", lambda v: 0 * v + 1),
        ("setp.lt.and.s32 %p1|%p2, %r2, 0, %p3; selp.b32 %r9, 1, 2, %p2;", lambda v: 0 * v + 2),
        ("set.lt.u32.s32 %r9, %r2, 0;", lambda v: np.where(v < 0, -1, 0)),
        ("mov.b32 {%h1, %h2}, %r2; mov.b32 %r9, {%h2, %h1};", lambda v: (v << 16) | _down(v, 16)),
    ],
)  # fmt: skip
def test_integers(body, expected):
    with np.errstate(over="ignore"):
        wanted = np.asarray(expected(NUMBERS)).astype(np.int64).astype(np.uint32).view(np.int32)
    assert words(body, NUMBERS.view(np.uint32)).tolist() == wanted.tolist()


TILES = "and.b32 %r4, %r1, 24; shl.b32 %r4, 255, %r4;"  # each lane names the eight lanes of its tile


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("setp.lt.s32 %p1, %r2, 0; vote.sync.ballot.b32 %r9, %p1, %r4;", lambda v, at: _bits(v < 0, at)),
        ("redux.sync.add.s32 %r9, %r2, %r4;", lambda v, at: int(v[at].astype(np.int64).sum())),
        ("redux.sync.min.u32 %r9, %r2, %r4;", lambda v, at: int(v.view(np.uint32)[at].min())),
        (
            "setp.lt.s32 %p1, %r2, 0; vote.sync.any.pred %p2, %p1, %r4; selp.b32 %r9, 1, 2, %p2;",
            lambda v, at: 1 if (v[at] < 0).any() else 2,
        ),
        ("and.b32 %r3, %r2, 1; match.any.sync.b32 %r9, %r3, %r4;", None),
    ],
)
def test_tiles_of_a_warp_act_apart(body, expected):
    found = words(TILES + body, NUMBERS.view(np.uint32))
    for lane in range(32):
        tile = np.arange(lane & 24, (lane & 24) + 8)
        value = expected(NUMBERS, tile) if expected else _bits((NUMBERS[lane] & 1) == (NUMBERS & 1), tile)
        assert int(found[lane]) & 0xFFFFFFFF == value & 0xFFFFFFFF


def _bits(true: np.ndarray, lanes: np.ndarray) -> int:
    return sum(1 << int(lane) for lane in lanes if true[lane])


def _products(values: np.ndarray, first: int) -> np.ndarray:
    """Sums of the products of both signed halves and two unsigned bytes, from byte ``first`` on."""
    halves, bytes_ = values.view(np.int16).reshape(-1, 2), values.view(np.uint8).reshape(-1, 4)
    return (halves.astype(int) * bytes_[:, first : first + 2]).sum(1)


def _nth_bits(values: np.ndarray, positions: range, n: int) -> list[int]:
    """The n-th of the positions at which a bit is set; 2 ** 32 - 1 if there are fewer."""
    found = [[at for at in positions if (int(value) >> at) & 1] for value in values.view(np.uint32)]
    return [row[n - 1] if len(row) >= n else 0xFFFFFFFF for row in found]


def _differences(values: np.ndarray, kind: type, from_: int) -> np.ndarray:
    return np.abs(values.view(kind).astype(int) - from_)


def _down(values: np.ndarray, by: np.ndarray | int) -> np.ndarray:
    """A logical shift to the right by 0 to 32."""
    return (values.view(np.uint32).astype(np.uint64) >> np.asarray(by, np.uint64)).astype(np.int64)


def test_products_of_64_bits():
    values = np.random.default_rng(2).integers(0, 2**64, 32, np.uint64)
    for sign, read in (("u", int), ("s", lambda x: int(np.uint64(x).view(np.int64)))):
        found = run(f"mul.hi.{sign}64 %rd9, %rd4, %rd4;", values)
        assert found.tolist() == [((read(x) ** 2) >> 64) % 2**64 for x in values]


_TIES = [0.5, -1.5, 2.5, 1 + 2**-11, 1 + 3 * 2**-11, 1 + 2**-8]  # of whole numbers, half precision and bfloat16
_ODD = [0, -0.0, np.inf, -np.inf, np.nan, 1e-40]
FLOATS = np.concatenate([np.random.default_rng(3).standard_normal(20) * 10, _TIES, _ODD]).astype(np.float32)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("add.f32 %f2, %f1, 0f3F800000;", lambda v: v + np.float32(1)),
        ("mul.f32 %f2, %f1, %f1;", lambda v: v * v),
        ("fma.rn.f32 %f2, %f1, %f1, %f1;", lambda v: (v.astype("f8") ** 2 + v).astype("f4")),
        ("div.rn.f32 %f2, 0f3F800000, %f1;", lambda v: np.float32(1) / v),
        ("sqrt.rn.f32 %f2, %f1;", lambda v: np.sqrt(v)),
        ("neg.f32 %f2, %f1;", lambda v: -v),
        ("abs.f32 %f2, %f1;", lambda v: np.abs(v)),
        ("max.f32 %f2, %f1, 0f00000000;", lambda v: np.fmax(v, np.float32(0))),
        ("min.NaN.f32 %f2, %f1, 0f00000000;", lambda v: np.minimum(v, np.float32(0))),
        ("add.sat.f32 %f2, %f1, 0f00000000;", lambda v: np.nan_to_num(np.clip(v, 0, 1), nan=0)),
        ("mul.ftz.f32 %f2, %f1, 0f3F800000;", lambda v: np.where(np.abs(v) < 1e-38, v * 0, v)),
        ("ex2.approx.f32 %f2, %f1;", lambda v: np.exp2(v.astype("f8")).astype("f4")),
        ("cvt.rni.f32.f32 %f2, %f1;", lambda v: np.rint(v)),
        ("cvt.rzi.s32.f32 %r3, %f1; cvt.rn.f32.s32 %f2, %r3;", lambda v: _whole(np.trunc(v), -(2**31), 2**31 - 1)),
        ("cvt.rn.f16.f32 %h1, %f1; cvt.f32.f16 %f2, %h1;", lambda v: v.astype("f2").astype("f4")),
        ("cvt.rn.bf16.f32 %h1, %f1; cvt.f32.bf16 %f2, %h1;", lambda v: _brain(v)),
        ("cvt.f64.f32 %fd1, %f1; add.f64 %fd2, %fd1, %fd1; cvt.rn.f32.f64 %f2, %fd2;", lambda v: v + v),
        ("setp.ltu.f32 %p1, %f1, 0f00000000; selp.f32 %f2, 0f3F800000, 0f00000000, %p1;", lambda v: ~(v >= 0) * 1.0),
        ("setp.lt.f32 %p1, %f1, 0f00000000; selp.f32 %f2, 0f3F800000, 0f00000000, %p1;", lambda v: (v < 0) * 1.0),
        ("testp.finite.f32 %p1, %f1; selp.f32 %f2, 0f3F800000, 0f00000000, %p1;", lambda v: np.isfinite(v) * 1.0),
    ],
)
def test_floats(body, expected):
    with np.errstate(all="ignore"):
        wanted = np.asarray(expected(FLOATS), np.float32)
    found = singles(body, FLOATS)
    assert np.array_equal(found, wanted, equal_nan=True), np.flatnonzero(found != wanted)


def _whole(values: np.ndarray, low: int, high: int) -> np.ndarray:
    return np.clip(np.nan_to_num(values.astype("f8"), nan=0), low, high).astype(np.float32)


def _brain(values: np.ndarray) -> np.ndarray:
    """bfloat16: the upper half of float32, rounded to nearest even."""
    bits = values.view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)
    return np.where(np.isnan(values), np.float32(np.nan), rounded)


def test_every_half_keeps_its_bits():
    """All 65536: to float32 and back, and once through float64."""
    for first in range(0, 1 << 16, 1 << 13):
        bits = first + 256 * LANE
        body = "cvt.u16.u32 %h1, %r2; cvt.f32.f16 %f1, %h1; cvt.rn.f16.f32 %h2, %f1; cvt.u32.u16 %r9, %h2;"
        numbers = bits.astype(np.uint16).view(np.float16)
        found = words(body, bits)
        assert np.all((found == bits) | np.isnan(numbers))


@pytest.mark.parametrize(("kind", "exponent", "fraction"), [("e4m3", 4, 3), ("e5m2", 5, 2)])
def test_numbers_of_eight_bits(kind, exponent, fraction):
    """OCP's FP8 formats: every finite code through two halves and back; what is too large becomes the largest."""
    bias = 2 ** (exponent - 1) - 1
    last = 0x7E if kind == "e4m3" else 0x7B
    for first in range(0, last + 1, 32):
        codes = np.minimum(first + LANE, last)
        exponents, fractions = codes >> fraction, codes & ((1 << fraction) - 1)
        scale = np.where(exponents > 0, (1 << fraction) + fractions, fractions)
        values = scale * 2.0 ** (np.maximum(exponents, 1) - bias - fraction)
        body = f"cvt.u16.u32 %h1, %r2; cvt.rn.f16x2.{kind}x2 %r9, %h1;"
        found = words(body, codes).astype(np.uint32) & 0xFFFF
        assert np.array_equal(found.astype(np.uint16).view(np.float16), values)
        back = f"mov.b32 %f1, %r2; cvt.rn.satfinite.{kind}x2.f32 %h1, %f1, %f1; cvt.u32.u16 %r9, %h1;"
        found = words(back, values.astype(np.float32).view(np.uint32))
        assert np.array_equal(found & 255, codes) and np.array_equal(found >> 8, codes)
    large = words(back, np.full(32, 1e9, np.float32).view(np.uint32))
    assert set((large & 255).tolist()) == {last}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"shfl.sync.idx.b32 %r9, %r1, 5, 31, {WARP};", lambda: 0 * LANE + 5),
        (f"shfl.sync.down.b32 %r9, %r1, 3, 31, {WARP};", lambda: np.where(LANE + 3 < 32, LANE + 3, LANE)),
        (f"shfl.sync.up.b32 %r9, %r1, 3, 0, {WARP};", lambda: np.where(LANE >= 3, LANE - 3, LANE)),
        (f"shfl.sync.bfly.b32 %r9, %r1, 16, 31, {WARP};", lambda: LANE ^ 16),
        (f"shfl.sync.down.b32 %r9, %r1, 3, 0x1807, {WARP};", lambda: np.where(LANE % 8 < 5, LANE + 3, LANE)),
        (f"setp.lt.s32 %p1, %r1, 7; vote.sync.ballot.b32 %r9, %p1, {WARP};", lambda: 0 * LANE + 127),
        (f"setp.lt.s32 %p1, %r1, 7; vote.sync.any.pred %p2, %p1, {WARP}; selp.b32 %r9, 1, 0, %p2;",
         lambda: 0 * LANE + 1),
        (f"setp.lt.s32 %p1, %r1, 7; vote.sync.all.pred %p2, %p1, {WARP}; selp.b32 %r9, 1, 0, %p2;", lambda: 0 * LANE),
        (f"and.b32 %r3, %r1, 3; match.any.sync.b32 %r9, %r3, {WARP};", lambda: 0x11111111 << (LANE & 3)),
        (f"redux.sync.add.s32 %r9, %r1, {WARP};", lambda: 0 * LANE + 496),
        (f"redux.sync.max.u32 %r9, %r1, {WARP};", lambda: 0 * LANE + 31),
        ("activemask.b32 %r9;", lambda: 0 * LANE - 1),
        (f"elect.sync %r9|%p1, {WARP}; selp.b32 %r9, 7, 0, %p1;", lambda: np.where(LANE == 0, 7, 0)),
        ("setp.lt.s32 %p1, %r1, 7; @%p1 bra A; mov.b32 %r9, 0; bra B; A: activemask.b32 %r9; B:",
         lambda: np.where(LANE < 7, 127, 0)),
    ],
)  # fmt: skip
def test_lanes_together(body, expected):
    wanted = expected().astype(np.int64).astype(np.uint32).view(np.int32)
    assert words(f"{body}").tolist() == wanted.tolist()


@pytest.mark.parametrize(
    ("operation", "total"),
    [("add.u32", 496), ("max.u32", 31), ("or.b32", 31), ("xor.b32", 0), ("inc.u32", None), ("exch.b32", 31)],
)
def test_atomics_see_each_other(operation, total):
    """Lane after lane: the old values are those that the lanes before left; the last value is what all make."""
    body = f".shared .align 4 .b8 s[4]; mov.b32 %r3, 0; st.shared.b32 [s], %r3; atom.shared.{operation} %r9, [s], %r1;"
    old = words(body)
    after = words(f"{body} ld.shared.b32 %r9, [s];")
    assert old[0] == 0 and (total is None or set(after.tolist()) == {total})
    if operation == "add.u32":
        assert old.tolist() == np.cumsum([0, *LANE[:-1]]).tolist()


def test_floating_point_atomics_and_swaps():
    one = struct.unpack("<I", struct.pack("<f", 1.0))[0]
    body = ".shared .align 4 .b8 s[4]; mov.b32 %r3, 0; st.shared.b32 [s], %r3;"
    summed = words(f"{body} red.shared.add.f32 [s], 0f3F800000; ld.shared.b32 %r9, [s];")
    assert summed.view(np.float32).tolist() == [32.0] * 32
    swapped = words(f"{body} atom.shared.cas.b32 %r9, [s], 0, {one};")
    assert swapped.tolist() == [0] + [one] * 31


def test_local_generic_and_constant_memory():
    """Each lane has its own local memory, also by generic addresses; constants come from the module's variable."""
    before = ".const .align 4 .b32 table[4] = {10, 20, 30, 0x28};"
    body = """
    .local .align 4 .b8 mine[64];
    mov.u64 %rd7, mine; cvta.local.u64 %rd8, %rd7; st.local.b32 [mine+4], %r1;
    ld.b32 %r3, [%rd8+4]; and.b32 %r4, %r1, 3; mul.wide.u32 %rd10, %r4, 4;
    mov.u64 %rd11, table; add.s64 %rd12, %rd11, %rd10; ld.const.b32 %r5, [%rd12];
    add.s32 %r9, %r3, %r5; cvt.u64.u32 %rd9, %r9;"""
    assert run(body, before=before).tolist() == (LANE + 10 * (LANE % 4 + 1)).tolist()


def test_calls_return_what_functions_compute():
    """A function with a branch of its own, called twice, once by some lanes only."""
    before = """
    .func (.param .b32 result) twice(.param .b32 given)
    {
    .reg .b32 %r<4>; .reg .pred %p<2>;
    ld.param.b32 %r1, [given]; setp.gt.s32 %p1, %r1, 20; @%p1 bra L; shl.b32 %r2, %r1, 1;
    st.param.b32 [result], %r2; ret;
    L: mov.b32 %r3, 0; st.param.b32 [result], %r3; ret;
    }"""
    call = """
    {{ .param .b32 a; .param .b32 b; st.param.b32 [a], {0}; {2}call.uni (b), twice, (a); ld.param.b32 {1}, [b]; }}"""
    body = call.format("%r1", "%r3", "") + "setp.lt.s32 %p2, %r1, 4;" + call.format("%r3", "%r4", "@%p2 ")
    body += "selp.b32 %r9, %r4, %r3, %p2; cvt.u64.u32 %rd9, %r9;"
    once = np.where(LANE > 20, 0, 2 * LANE)
    assert run(body, before=before).tolist() == np.where(LANE < 4, 4 * LANE, once).tolist()


def test_calls_pass_vectors():
    """Debug builds pass structures in this way."""
    before = """
    .func (.param .align 8 .b8 result[8]) swapped(.param .align 16 .b8 given[16])
    {
    .reg .b32 %r<5>;
    ld.param.v4.b32 {%r1, %r2, %r3, %r4}, [given];
    add.s32 %r1, %r1, %r3; add.s32 %r2, %r2, %r4; st.param.v2.b32 [result], {%r2, %r1}; ret;
    }"""
    body = """
    add.s32 %r3, %r1, 100; .param .align 16 .b8 a[16]; .param .align 8 .b8 b[8];
    st.param.v4.b32 [a], {%r1, %r3, 7, %r1}; call.uni (b), swapped, (a); ld.param.v2.b32 {%r4, %r5}, [b];
    mad.lo.s32 %r9, %r4, 1000, %r5; cvt.u64.u32 %rd9, %r9;"""
    assert run(body, before=before).tolist() == ((2 * LANE + 100) * 1000 + LANE + 7).tolist()


def test_branches_by_table():
    body = """
    and.b32 %r3, %r1, 3; T: .branchtargets A, B, C, C; brx.idx %r3, T;
    A: mov.b32 %r9, 100; bra E; B: mov.b32 %r9, 200; bra E; C: mov.b32 %r9, 300; E:"""
    assert words(body).tolist() == np.choose(LANE % 4, [100, 200, 300, 300]).tolist()


def test_hints_for_caches_change_no_value():
    """A policy for L2 is made and given to a load and a store."""
    body = """
    createpolicy.fractional.L2::evict_first.b64 %rd7, 1.0;
    ld.global.L1::evict_first.L2::cache_hint.b32 %r9, [%rd3], %rd7;
    st.global.L1::no_allocate.L2::cache_hint.b32 [%rd3], %r9, %rd7;"""
    assert words(body, NUMBERS.view(np.uint32)).tolist() == NUMBERS.tolist()


def test_matrices_of_shared_memory():
    """stmatrix after ldmatrix.trans is a transposition."""
    body = """
    .shared .align 16 .b8 s[256];
    mul.lo.s32 %r3, %r1, 4; mov.u32 %r4, s; add.s32 %r5, %r4, %r3; st.shared.b32 [%r5], %r2; bar.sync 0;
    and.b32 %r6, %r1, 7; shl.b32 %r6, %r6, 4; add.s32 %r7, %r4, %r6;
    ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r8}, [%r7]; add.s32 %r7, %r7, 128;
    stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r7], {%r8}; bar.sync 0; ld.shared.b32 %r9, [%r5+128];"""
    values = np.random.default_rng(4).integers(0, 1 << 32, 32, np.uint32)
    found = words(body, values).view(np.uint16).reshape(8, 8)
    assert np.array_equal(found, values.view(np.uint16).reshape(8, 8).T)


@pytest.mark.parametrize(
    ("types", "k", "kind", "bits"),
    [("f32.tf32.tf32.f32", 8, np.float32, 32), ("s32.s8.s8.s32", 32, np.int8, 8), ("s32.u8.u8.s32", 32, np.uint8, 8)],
)
def test_matrix_products(types, k, kind, bits):
    """Fragments by the ISA's figures: a is 16 x k by rows, b k x 8 by columns, all ones but one element."""
    per = 32 // bits
    one = np.zeros(per, kind)
    one[:] = 1
    word = int(one.view(np.uint32)[0])
    n_a, n_b = 4, 2
    a = ", ".join(["%r10"] * n_a)
    body = f"""
    mov.b32 %r10, {word}; mov.b32 %r11, 0;
    mma.sync.aligned.m16n8k{k}.row.col.{types} {{%r12, %r13, %r14, %r15}}, {{{a}}},
    {{{", ".join(["%r10"] * n_b)}}}, {{%r11, %r11, %r11, %r11}};
    mov.b32 %r9, %r15;"""
    found = words(body)
    wanted = np.float32(k).view(np.int32) if types.startswith("f32") else k
    assert set(found.tolist()) == {int(wanted)}


def test_kernel_compiles_only_loops_of_its_micro_ops(monkeypatch):
    names = {loop: op.name for op, loop in lazily_compiled_ops.LOOPS.items()}
    asked, address_of = set(), lazily_compiled_ops.address_of
    monkeypatch.setattr(
        lazily_compiled_ops, "address_of", lambda loop, m: asked.add(names[loop]) or address_of(loop, m)
    )
    words("add.s32 %r9, %r2, 1;", NUMBERS)
    assert asked == set()
    words("shfl.sync.bfly.b32 %r9, %r2, 1, 31, -1;", NUMBERS)
    assert asked == {"shuffle"}
    singles("add.f32 %f2, %f1, %f1;", NUMBERS)
    assert asked == {"shuffle", "floating"}
