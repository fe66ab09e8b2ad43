"""Each PTX instruction gives the bits that the machine code made of it gives, for ordinary and for extreme operands."""

from __future__ import annotations

import numpy as np
import pytest
from sass_launches import VOLTA, as_machine_code, both_ways, needs_machine_code

from memsim.sources.ptx import DeviceMemory, PtxLaunch, execute

THREADS = 256
LETTERS = {"b16": "h", "b32": "r", "b64": "rd"}


def _each(names: str, kinds: str, count: int = 2) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(f"{name}.{kind}", kind, (kind,) * count) for name in names.split() for kind in kinds.split()]


INTEGERS = [
    *_each("add sub mul.lo min max div rem", "s32 u32 s64 u64"), *_each("mul.hi", "s32 u32"),
    *_each("and or xor", "b32 b64"), *_each("not", "b32 b64", 1), *_each("neg abs", "s32 s64", 1),
    *_each("mad.lo", "s32 u32 s64", 3), *_each("mad.hi sad", "s32 u32", 3), *_each("brev", "b32 b64", 1),
    ("mul.wide.s32", "s64", ("s32", "s32")), ("mul.wide.u32", "u64", ("u32", "u32")),
    ("mad.wide.s32", "s64", ("s32", "s32", "s64")), ("mad.wide.u32", "u64", ("u32", "u32", "u64")),
    *[(f"{name}.{kind}", "u32", (kind,)) for name in ("popc", "clz") for kind in ("b32", "b64")],
    *[(f"shl.{kind}", kind, (kind, "u32")) for kind in ("b32", "b64")],
    *[(f"shr.{kind}", kind, (kind, "u32")) for kind in ("s32", "u32", "s64", "u64")],
    *[(f"shf.{way}.{how}.b32", "b32", ("b32", "b32", "u32")) for way in "lr" for how in ("clamp", "wrap")],
    *[(f"bfe.{kind}", kind, (kind, "u32", "u32")) for kind in ("s32", "u32")],
    ("prmt.b32", "b32", ("b32", "b32", "b32")), ("dp4a.s32.u32", "s32", ("b32", "b32", "b32")),
    *[(f"lop3.b32 @, {{}}, {{}}, {{}}, {table};", "b32", ("b32",) * 3) for table in (0x96, 0xE8, 0xCA, 0x1D, 0x80)],
]  # fmt: skip
FLOATS = [
    *_each("add.rn sub.rn mul.rn div.rn min max add.rz mul.rp add.rm", "f32"), *_each("fma.rn fma.rz fma.rm", "f32", 3),
    *_each("neg abs sqrt.rn rcp.rn sqrt.rz", "f32", 1), *_each("add.sat mul.ftz add.ftz", "f32"),
    *_each("ex2.approx lg2.approx rsqrt.approx", "f32", 1),
]  # fmt: skip
DOUBLES = [
    *_each("add.rn sub.rn mul.rn div.rn", "f64"), *_each("fma.rn", "f64", 3),
    *_each("neg abs sqrt.rn rcp.rn", "f64", 1),
]  # fmt: skip
HALVES = [*_each("add sub mul min max", "f16x2"), *_each("fma.rn", "f16x2", 3), *_each("neg abs", "f16x2", 1)]
CONVERSIONS = [
    *[(f"cvt.{how}.{to}.f32", to, ("f32",)) for how in ("rni", "rzi", "rmi", "rpi") for to in ("s32", "u32", "s64")],
    *[(f"cvt.{how}.f32.{of}", "f32", (of,)) for how in ("rn", "rz") for of in ("s32", "u32", "s64", "u64")],
    *[(f"cvt.rn.f64.{of}", "f64", (of,)) for of in ("s32", "u32", "s64")],
    ("cvt.rn.f32.f64", "f32", ("f64",)), ("cvt.f64.f32", "f64", ("f32",)), ("cvt.rzi.s32.f64", "s32", ("f64",)),
    ("cvt.rn.f16x2.f32", "b32", ("f32", "f32")), ("cvt.rni.f32.f32", "f32", ("f32",)),
    ("cvt.rzi.f32.f32", "f32", ("f32",)), ("cvt.s64.s32", "s64", ("s32",)), ("cvt.u32.u64", "u32", ("u64",)),
]  # fmt: skip
BLACKWELL = [
    *[(f"{name}.f32x2", "b64", ("b64", "b64")) for name in ("add.rn", "sub.rn", "mul.rn", "add.rn.ftz")],
    *[(f"redux.sync.{how} @, {{}}, -1;", "b32", ("b32",)) for how in ("min.s32", "max.s32", "min.u32", "max.u32")],
    ("fma.rn.f32x2", "b64", ("b64", "b64", "b64")),
    ("max.s32 %r8, {0}, {1}; max.s32 @, %r8, 0;", "b32", ("b32", "b32")),
    ("xor.b64 %rd8, {1}, 0x80000000; fma.rn.f32x2 @, {0}, %rd8, {2};", "b64", ("b64",) * 3),
    ("xor.b64 %rd8, {1}, 0x8000000000000000; add.rn.f32x2 @, {0}, %rd8;", "b64", ("b64", "b64")),
    ("mov.b64 %rd8, {{%r1, %r1}}; mul.rn.f32x2 @, {1}, %rd8;", "b64", ("b64", "b64")),
]  # fmt: skip
GROUPS = {
    "integers": INTEGERS,
    "floats": FLOATS,
    "doubles": DOUBLES,
    "halves": HALVES,
    "conversions": CONVERSIONS,
    "blackwell": BLACKWELL,
}

OF_AMPERE = ("halves", "conversions")  # have instructions that came with sm_80
SINCE = dict.fromkeys(OF_AMPERE, 80) | {"blackwell": 100}
WHERE = [(name, one) for name in GROUPS for one in (75, 80, 90, 100, 120) if one >= SINCE.get(name, 75)]
WHERE += [pytest.param(name, *VOLTA.values, marks=VOLTA.marks) for name in GROUPS if name not in SINCE]


def _register(kind: str, number: int) -> str:
    width = {"f16x2": "32"}.get(kind, kind.lstrip("bsuf"))
    return f"%{LETTERS[f'b{width}']}{number}"


def _text(group: list[tuple[str, str, tuple[str, ...]]], target: int = 75) -> str:
    """A kernel that stores what each instruction makes of the thread's operands: three of 64 bits."""
    lines = []
    for number, (name, to, kinds) in enumerate(group):
        result, operands = _register(to, 9), [_register(kind, k + 1) for k, kind in enumerate(kinds)]
        line = (
            name.replace("@", result).format(*operands) if ";" in name else f"{name} {result}, {', '.join(operands)};"
        )
        size = 64 if result.startswith("%rd") else 32
        lines += [line, f"st.global.b{size} [%rd20 + {8 * THREADS * number}], {result};"]
    body = "\n".join(lines)
    return (
        f".version 8.7\n.target sm_{target}\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{{\n"
        ".reg .b32 %r<16>;\n.reg .b64 %rd<32>;\nmov.u32 %r0, %tid.x;\nld.param.u64 %rd10, [in];\n"
        "mad.wide.u32 %rd11, %r0, 24, %rd10;\nld.param.u64 %rd12, [out];\nmad.wide.u32 %rd20, %r0, 8, %rd12;\n"
        + "".join(f"ld.global.b64 %rd{k}, [%rd11 + {8 * k - 8}];\ncvt.u32.u64 %r{k}, %rd{k};\n" for k in (1, 2, 3))
        + f"{body}\nret;\n}}\n"
    )


def _operands(name: str) -> np.ndarray:
    """Three operands a thread: numbers of the group's type, among them extreme ones."""
    random = np.random.default_rng(5)
    bits = random.integers(0, 1 << 64, (THREADS, 3), np.uint64, endpoint=False)
    small = random.integers(0, 70, (THREADS, 3)).astype(np.uint64)
    if name in ("doubles",):
        numbers = (random.standard_normal((THREADS, 3)) * 10.0 ** random.integers(-9, 9, (THREADS, 3))).view(np.uint64)
        extreme = np.array([0, 1 << 63, 0x3FF << 52, 0x7FF << 52, 0x400 << 52], np.uint64)
        numbers[:40] = random.choice(extreme, (40, 3))
        return numbers
    if name in ("floats", "conversions", "blackwell"):
        scaled = random.standard_normal((THREADS, 6)) * 10.0 ** random.integers(-12, 12, (THREADS, 6))
        numbers = scaled.astype(np.float32).view(np.uint64)
        extreme = np.array([0, 0x80000000, 0x3F800000, 0x7F800000, 0xFF800000, 1, 0x007FFFFF, 0x7F7FFFFF], np.uint64)
        numbers[:60] = random.choice(extreme, (60, 3))
        return numbers
    if name == "halves":
        return random.standard_normal((THREADS, 12)).astype(np.float16).view(np.uint64)
    bits[THREADS // 2 :] = np.where(random.random((THREADS // 2, 3)) < 0.5, small[: THREADS // 2], bits[THREADS // 2 :])
    bits[:, 1] |= np.uint64(1)  # a divisor
    bits[:, 2] = np.where(random.random(THREADS) < 0.7, small[:, 2] & np.uint64(31), bits[:, 2])
    return bits


def _same(one: np.ndarray, other: np.ndarray, kind: str) -> bool:
    """Whether bits are equal; a NaN in double precision may have any sign and payload (PTX ISA, section 9.7.3)."""
    both_nan = np.isnan(one.view(np.float64)) & np.isnan(other.view(np.float64)) if kind == "f64" else False
    return bool(((one == other) | both_nan).all())


@needs_machine_code
@pytest.mark.parametrize(("name", "architecture"), WHERE)
def test_an_instruction_gives_the_bits_of_ptx(name, architecture):
    group = GROUPS[name]

    def make():
        memory, out = DeviceMemory(), np.zeros((len(group), THREADS), np.uint64)
        addresses = [memory.add(np.ascontiguousarray(_operands(name)), "in"), memory.add(out, "out")]
        return PtxLaunch(_text(group, SINCE.get(name, 75)), "k", (1, 1, 1), (THREADS, 1, 1), addresses), memory, [out]

    (expected,), (found,) = both_ways(make, architecture)
    wrong = [group[k][0] for k in range(len(group)) if not _same(expected[k], found[k], group[k][1])]
    assert not wrong


UNIFORM = """.version 8.7
.target sm_120
.address_size 64
.visible .entry k(.param .f32 x, .param .f32 y, .param .s32 n, .param .u64 out)
{
    .reg .b32 %r<16>;
    .reg .f32 %f<16>;
    .reg .b64 %rd<4>;
    .reg .pred %p<4>;
    ld.param.f32 %f1, [x];
    ld.param.f32 %f2, [y];
    ld.param.s32 %r1, [n];
    ld.param.u64 %rd1, [out];
    mov.u32 %r2, %tid.x;
    mad.wide.u32 %rd2, %r2, 4, %rd1;
    cvt.rn.f32.s32 %f3, %r1;
    fma.rn.f32 %f4, %f1, %f2, %f3;
    add.f32 %f5, %f4, %f1;
    mul.f32 %f6, %f5, %f2;
    setp.lt.f32 %p1, %f6, %f4;
    selp.f32 %f7, %f6, %f3, %p1;
    cvt.rzi.s32.f32 %r3, %f7;
    setp.lt.s32 %p3, %r3, 1;
    @%p3 bra END;
    mov.u32 %r5, 0;
LOOP:
    ld.global.b32 %r4, [%rd2];
    add.s32 %r4, %r4, %r3;
    st.global.b32 [%rd2], %r4;
    bar.sync 0;
    add.s64 %rd2, %rd2, 128;
    add.s32 %r5, %r5, 1;
    setp.lt.s32 %p2, %r5, %r3;
    @%p2 bra LOOP;
END:
    ret;
}
"""


@needs_machine_code
@pytest.mark.parametrize(("x", "y", "n"), [(1.5, 2.25, 6), (0.5, 3.0, 20), (2.0, 0.5, 3)])
def test_uniform_floats_leave_memory_of_ptx(x, y, n):
    def make():
        memory, out = DeviceMemory(), np.zeros((64, 32), np.int32)
        return PtxLaunch(UNIFORM, "k", (1, 1, 1), (32, 1, 1), [x, y, n, memory.add(out, "out")]), memory, [out]

    launch, _, _ = make()
    names = {one.name for one in as_machine_code(launch, 120).sass.code}
    assert {"UFFMA", "UFADD", "UFMUL", "UFSETP", "UI2FP"} <= names
    (expected,), (found,) = both_ways(make, 120)
    assert expected.any()
    assert found.tobytes() == expected.tobytes()


SHARED_SUM = """.version 8.7
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out)
{
    .shared .align 4 .f32 total;
    .reg .b32 %r<4>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, total;
    mov.f32 %f1, 0f00000000;
    st.shared.f32 [%r2], %f1;
    bar.sync 0;
    cvt.rn.f32.u32 %f2, %r1;
    atom.shared.add.f32 %f3, [%r2], %f2;
    bar.sync 0;
    ld.shared.f32 %f3, [%r2];
    mad.wide.u32 %rd2, %r1, 4, %rd1;
    st.global.f32 [%rd2], %f3;
    ret;
}
"""


@needs_machine_code
@pytest.mark.parametrize("architecture", [80, 120])
def test_lanes_add_floats_in_shared_memory(architecture):
    """By a loop of ATOMS.CAST, whose outcome is in a register on sm_80 and in a predicate on sm_120."""
    memory, out = DeviceMemory(), np.zeros(64, np.float32)
    launch = PtxLaunch(SHARED_SUM, "k", (1, 1, 1), (64, 1, 1), [memory.add(out, "out")])
    code = as_machine_code(launch, architecture)
    assert any(one.opcode.startswith("ATOMS.CAST") for one in code.sass.code)
    execute(code, memory)
    assert out.tolist() == [sum(range(64))] * 64
