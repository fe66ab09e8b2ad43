"""Random straight PTX of all types: each instruction takes what others left, and all that is left is stored."""

from __future__ import annotations

import random

import numpy as np

THREADS = 64
PER_KIND = 6  # registers of each kind, whose values come from memory and go there
WIDTHS = {"r": 32, "l": 64, "f": 32, "d": 64, "h": 32}  # whole numbers, single and double precision, pairs of halves
_TYPES = {"r": "b32", "l": "b64", "f": "f32", "d": "f64", "h": "b32"}
KINDS = tuple(WIDTHS)
SLOTS = PER_KIND * len(KINDS)
_ROUNDED = ("rn", "rz", "rm", "rp")


def _same(kind: str, names: str, types: str, count: int) -> list[tuple[str, str, str]]:
    return [(f"{name}.{one}", kind, kind * count) for name in names.split() for one in types.split()]


def _forms() -> list[tuple[str, str, str]]:
    """Instructions: opcode, kind of the result, kinds of the operands."""
    found = [
        *_same("r", "add sub mul.lo mul.hi min max div rem", "s32 u32", 2), *_same("r", "and or xor", "b32", 2),
        *_same("l", "add sub mul.lo min max div rem", "s64 u64", 2), *_same("l", "mul.hi", "s64 u64", 2),
        *_same("l", "and or xor", "b64", 2), *_same("r", "neg abs", "s32", 1), *_same("l", "neg abs", "s64", 1),
        *_same("r", "not brev cnot", "b32", 1), *_same("l", "not brev cnot", "b64", 1),
        *_same("r", "mad.lo mad.hi sad", "s32 u32", 3), *_same("l", "mad.lo", "s64 u64", 3),
        *_same("r", "prmt shf.l.wrap shf.r.clamp shf.r.wrap", "b32", 3), ("bfi.b32", "r", "rrrr"),
        ("dp4a.u32.u32", "r", "rrr"),
        *[(f"mul.wide.{sign}32", "l", "rr") for sign in "su"], *[(f"mad.wide.{sign}32", "l", "rrl") for sign in "su"],
        *[(f"{name}.{one}", "r", kind) for name in ("popc", "clz") for one, kind in (("b32", "r"), ("b64", "l"))],
        *[(f"bfind.{one}", "r", kind) for one, kind in (("s32", "r"), ("u32", "r"), ("s64", "l"), ("u64", "l"))],
        *[(f"sh{way}32", "r", "rr") for way in ("l.b", "r.s", "r.u")],
        *[(f"sh{way}64", "l", "lr") for way in ("l.b", "r.s", "r.u")],
        *[(f"bfe.{sign}32", "r", "rrr") for sign in "su"], *[(f"bfe.{sign}64", "l", "lrr") for sign in "su"],
        *[(f"{name}.{how}{flush}.f32", "f", "ff") for name in ("add", "sub", "mul") for how in _ROUNDED
          for flush in ("", ".ftz", ".sat")],
        *[(f"fma.{how}.f32", "f", "fff") for how in _ROUNDED], *_same("f", "min max div.rn", "f32", 2),
        *_same("f", "neg abs sqrt.rn rcp.rn min.ftz", "f32", 1)[:4],
        *[(f"{name}.{how}.f64", "d", "dd") for name in ("add", "sub", "mul") for how in _ROUNDED],
        *[(f"fma.{how}.f64", "d", "ddd") for how in _ROUNDED], *_same("d", "min max div.rn", "f64", 2),
        *_same("d", "neg abs sqrt.rn rcp.rn", "f64", 1),
        # Halves that are not said to be rounded may be fused: ptxas makes one HFMA2 of a product and a sum.
        *_same("h", "add.rn sub.rn mul.rn min max", "f16x2", 2), ("fma.rn.f16x2", "h", "hhh"),
        *_same("h", "neg abs", "f16x2", 1),
        *[(f"cvt.{how}.{to}.{of}", kind, source) for how in ("rni", "rzi", "rmi", "rpi")
          for to, kind in (("s32", "r"), ("u32", "r"), ("s64", "l"), ("u64", "l"))
          for of, source in (("f32", "f"), ("f64", "d"))],
        *[(f"cvt.{how}.{to}.{of}", kind, source) for how in _ROUNDED for to, kind in (("f32", "f"), ("f64", "d"))
          for of, source in (("s32", "r"), ("u32", "r"), ("s64", "l"), ("u64", "l"))],
        *[(f"cvt.{how}.f32.f64", "f", "d") for how in _ROUNDED], ("cvt.f64.f32", "d", "f"),
        *[(f"cvt.{how}.f32.f32", "f", "f") for how in ("rni", "rzi", "rmi", "rpi")],
        ("cvt.rn.f16x2.f32", "h", "ff"), ("cvt.s64.s32", "l", "r"), ("cvt.u64.u32", "l", "r"),
        ("cvt.u32.u64", "r", "l"),
    ]  # fmt: skip
    return found


FORMS = _forms()
_COMPARED = [
    *[(f"{how}.{one}", kind) for how in ("eq", "ne", "lt", "le", "gt", "ge")
      for one, kind in (("s32", "r"), ("u32", "r"), ("s64", "l"), ("u64", "l"), ("f32", "f"), ("f64", "d"))],
    *[(f"{how}.{one}", kind) for how in ("equ", "neu", "ltu", "geu", "num", "nan")
      for one, kind in (("f32", "f"), ("f64", "d"))],
]  # fmt: skip


class TypedProgram:
    """A program that reads and writes SLOTS words of 64 bits of each thread, at its place in ``words``."""

    head_more = ""  # lines before the first

    def __init__(self, seed: int, length: int = 40) -> None:
        self._random = random.Random(seed)
        self.forms: list[str] = []
        body = [self._line() for _ in range(length)]
        self.text = _HEAD + self.head_more + "\n".join([*_moves("ld"), *body, *_moves("st"), "ret;\n}\n"])

    def _register(self, kind: str) -> str:
        return f"%{kind}{self._random.randrange(PER_KIND)}"

    def _predicate(self) -> str:
        return f"%p{self._random.randrange(4)}"

    def _line(self) -> str:
        chance = self._random.random()
        if chance < 0.15:
            compared, kind = self._random.choice(_COMPARED)
            self.forms.append(f"setp.{compared}")
            operands = f"{self._register(kind)}, {self._register(kind)}"
            joined = self._random.choice(("", "and", "or", "xor"))
            if joined:
                how, _, one = compared.partition(".")
                return f"setp.{how}.{joined}.{one} {self._predicate()}, {operands}, {self._predicate()};"
            return f"setp.{compared} {self._predicate()}, {operands};"
        if chance < 0.25:
            kind = self._random.choice(KINDS)
            registers = ", ".join(self._register(kind) for _ in range(3))
            return f"selp.{_TYPES[kind]} {registers}, {self._predicate()};"
        name, to, kinds = self._random.choice(FORMS)
        self.forms.append(name)
        kinds_in = [self._register(kind) for kind in kinds]
        first = ""
        if name.split(".")[0] in ("div", "rem") and to in "rl":  # what a division by 0 gives is the hardware's choice
            first = f"or.{_TYPES[to]} %{to}6, {kinds_in[1]}, 1;\n"
            kinds_in[1] = f"%{to}6"
        if name.startswith(("bfe.", "bfi.")):  # ptxas leaves it to the shifts what a place beyond the word means
            first = "".join(f"and.b32 %r{6 + k}, {kinds_in[-1 - k]}, 63;\n" for k in range(2))
            kinds_in[-2:] = ["%r7", "%r6"]
        guard = (
            f"@{self._random.choice(('', '!'))}%p{self._random.randrange(4)} " if self._random.random() < 0.2 else ""
        )
        return f"{first}{guard}{name} {', '.join([self._register(to), *kinds_in])};"


def _moves(name: str) -> list[str]:
    """A load or store of each register at its place."""
    lines = []
    for k, kind in enumerate(KINDS):
        for number in range(PER_KIND):
            place, register = f"[%a0 + {8 * (PER_KIND * k + number)}]", f"%{kind}{number}"
            operands = f"{register}, {place}" if name == "ld" else f"{place}, {register}"
            lines.append(f"{name}.global.{_TYPES[kind]} {operands};")
    return lines


_HEAD = (
    ".version 8.7\n.target sm_75\n.address_size 64\n.visible .entry program(.param .u64 words)\n{\n"
    ".reg .b32 %r<8>;\n.reg .b64 %l<8>;\n.reg .f32 %f<8>;\n.reg .f64 %d<8>;\n.reg .b32 %h<8>;\n.reg .pred %p<8>;\n"
    ".reg .b64 %a<2>;\n.reg .b32 %t<2>;\nmov.u32 %t0, %tid.x;\nld.param.u64 %a1, [words];\n"
    f"mad.wide.u32 %a0, %t0, {8 * SLOTS}, %a1;\n"
    "setp.lt.u32 %p0, %t0, 9;\nsetp.lt.u32 %p1, %t0, 40;\nsetp.ne.u32 %p2, %t0, 3;\nsetp.gt.u32 %p3, %t0, 70;\n"
)


def words_of(seed: int) -> np.ndarray:
    """What registers begin with, u8 [THREADS, kinds, PER_KIND]: numbers of their kinds, among them extreme ones."""
    rng = np.random.default_rng(seed)
    words = np.zeros((THREADS, len(KINDS), PER_KIND), np.uint64)
    anything = rng.integers(0, 1 << 64, words.shape, np.uint64, endpoint=False)
    words[:] = np.where(rng.random(words.shape) < 0.4, anything % np.uint64(70), anything)
    shape = (THREADS, PER_KIND)
    numbers = rng.standard_normal(shape) * 10.0 ** rng.integers(-12, 13, shape)
    singles = np.array([0, 1 << 31, 0x3F800000, 0x7F800000, 0xFF800000, 1, 0x7FFFFF, 0x7F7FFFFF], np.uint32)
    doubles = np.array([0, 1 << 63, 0x3FF << 52, 0x7FF << 52, 0xFFF << 52, 1, 0x7FF8 << 48], np.uint64)
    extreme = rng.random(shape) < 0.2
    words[:, 2] = np.where(extreme, rng.choice(singles, shape), numbers.astype(np.float32).view(np.uint32))
    words[:, 3] = np.where(extreme, rng.choice(doubles, shape), numbers.view(np.uint64))
    halves = rng.standard_normal((*shape, 2)).astype(np.float16).view(np.uint32)
    words[:, 4] = halves[..., 0]
    return words


def differing(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Where words differ; a NaN may have any sign and payload (PTX ISA, section 9.7.3)."""
    differs = one != other
    singles = [np.isnan(words[:, 2].astype(np.uint32).view(np.float32)) for words in (one, other)]
    differs[:, 2] &= ~(singles[0] & singles[1])
    differs[:, 3] &= ~(np.isnan(one[:, 3].view(np.float64)) & np.isnan(other[:, 3].view(np.float64)))
    return differs
