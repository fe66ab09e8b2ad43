"""Random straight PTX of rarer instructions: carries, warp collectives, atomics, halves, conversions, shared memory.

A form is an instruction's text with its result ``{0}`` and its operands ``{1}`` and on, the kind of the result and
those of the operands, as in :mod:`experiments.silicon.random_programs.typed`.
"""

from __future__ import annotations

from experiments.silicon.random_programs.typed import FORMS, TypedProgram

_ROUNDED = ("rn", "rz", "rm", "rp")
_OWN = 16  # bytes of shared memory that only its thread accesses
Form = tuple[str, str, str]


def _plain(names: str, to: str, kinds: str) -> list[Form]:
    """Instructions whose operands stand in order."""
    places = ", ".join(f"{{{k}}}" for k in range(1 + len(kinds)))
    return [(f"{name} {places};", to, kinds) for name in names.split()]


def _integer() -> list[Form]:
    return [
        *_plain("mul24.lo.s32 mul24.lo.u32 mul24.hi.s32 mul24.hi.u32 add.sat.s32 sub.sat.s32", "r", "rr"),
        *_plain("mad24.lo.s32 mad24.lo.u32 mad24.hi.u32", "r", "rrr"),
        *_plain("mad.hi.sat.s32 dp4a.s32.s32 dp4a.s32.u32 dp4a.u32.s32", "r", "rrr"),
        *_plain("dp2a.lo.s32.s32 dp2a.hi.u32.s32 dp2a.lo.u32.u32 shf.l.clamp.b32", "r", "rrr"),
        *_plain("prmt.b32.f4e prmt.b32.b4e prmt.b32.rc8 prmt.b32.ecl prmt.b32.ecr prmt.b32.rc16", "r", "rrr"),
        *_plain("bfind.shiftamt.u32 bfind.shiftamt.s32", "r", "r"), *_plain("bfind.shiftamt.u64", "r", "l"),
        *_plain("bmsk.clamp.b32 bmsk.wrap.b32 szext.clamp.s32 szext.wrap.u32", "r", "rr"),
        *_plain("sad.u64", "l", "lll"),
        *_plain("sad.s64", "l", "lll"),
        *_plain("slct.b32.s32", "r", "rrr"), *_plain("slct.b32.f32", "r", "rrf"),
        *_plain("slct.f64.s32", "d", "ddr"), *_plain("mad.hi.u64 mad.hi.s64", "l", "lll"),
        *[(f"lop3.b32 {{0}}, {{1}}, {{2}}, {{3}}, {table};", "r", "rrr") for table in (0x96, 0xE8, 0xCA, 0x1B, 0x6C)],
        ("add.cc.u32 {0}, {1}, {2};\naddc.u32 {3}, {3}, {4};", "r", "rrrr"),
        ("sub.cc.u32 {0}, {1}, {2};\nsubc.u32 {3}, {3}, {4};", "r", "rrrr"),
        ("mad.lo.cc.u32 {0}, {1}, {2}, {3};\nmadc.hi.u32 {4}, {1}, {2}, {5};", "r", "rrrrr"),
        ("add.cc.u64 {0}, {1}, {2};\naddc.u64 {3}, {3}, {4};", "l", "llll"),
        *[(f"set.{how}.u32.{one} {{0}}, {{1}}, {{2}};", "r", 2 * kind)
          for how in ("eq", "lt", "ge") for one, kind in (("s32", "r"), ("u64", "l"), ("f32", "f"), ("f64", "d"))],
        *[(f"set.{how}.f32.{one} {{0}}, {{1}}, {{2}};", "f", 2 * kind)
          for how in ("ne", "gt") for one, kind in (("s32", "r"), ("f32", "f"))],
    ]  # fmt: skip


def _video() -> list[Form]:
    """Instructions that ptxas replaces by others, of which memsim knows few."""
    return [
        *_plain("vadd.s32.s32.s32 vsub.s32.u32.s32.sat vabsdiff.s32.s32.u32 vmax.s32.s32.s32", "r", "rr"),
        *_plain("vabsdiff4.u32.u32.u32.add vadd4.u32.u32.u32 vavrg2.s32.s32.s32 vset4.u32.u32.lt", "r", "rrr"),
    ]


def _float() -> list[Form]:
    found = [
        *[form for how in _ROUNDED for form in
          _plain(f"fma.{how}.ftz.f32 fma.{how}.sat.f32 fma.{how}.ftz.sat.f32", "f", "fff")],
        *[form for how in _ROUNDED for form in _plain(f"div.{how}.f32 div.{how}.ftz.f32", "f", "ff")],
        *[form for how in _ROUNDED for form in
          _plain(f"sqrt.{how}.f32 rcp.{how}.f32 sqrt.{how}.ftz.f32 rcp.{how}.ftz.f32", "f", "f")],
        *[form for how in _ROUNDED for form in _plain(f"div.{how}.f64", "d", "dd")],
        *[form for how in _ROUNDED for form in _plain(f"sqrt.{how}.f64 rcp.{how}.f64", "d", "d")],
        *_plain("min.ftz.f32 max.ftz.f32 min.NaN.f32 max.NaN.f32", "f", "ff"),
        *_plain("min.ftz.NaN.f32 min.xorsign.abs.f32 max.NaN.xorsign.abs.f32 copysign.f32", "f", "ff"),
        *_plain("copysign.f64", "d", "dd"),
        *_plain("abs.ftz.f32 neg.ftz.f32 cvt.sat.f32.f32 cvt.rni.ftz.f32.f32 cvt.rzi.sat.f32.f32", "f", "f"),
        *_plain("cvt.rna.tf32.f32", "r", "f"),
        *[(f"testp.{name}.f32 {{p}}, {{1}};\nselp.b32 {{0}}, {{2}}, {{3}}, {{p}};", "r", "frr")
          for name in ("finite", "infinite", "number", "notanumber", "normal", "subnormal")],
        *[(f"testp.{name}.f64 {{p}}, {{1}};\nselp.b32 {{0}}, {{2}}, {{3}}, {{p}};", "r", "drr")
          for name in ("finite", "infinite", "number", "notanumber", "normal", "subnormal")],
        *[(f"setp.{how}.ftz.f32 {{p}}, {{1}}, {{2}};\nselp.b32 {{0}}, {{3}}, {{4}}, {{p}};", "r", "ffrr")
          for how in ("eq", "lt", "geu", "neu")],
    ]  # fmt: skip
    return found


def _half() -> list[Form]:
    one = "{{.reg .b16 %s<3>;\nmov.b32 {{%s0, %s1}}, {1};\n"  # a half of a pair
    return [
        *_plain("fma.rn.sat.f16x2 fma.rn.relu.f16x2 fma.rn.ftz.f16x2 fma.rn.bf16x2 fma.rn.relu.bf16x2", "h", "hhh"),
        *_plain("add.rn.sat.f16x2 mul.rn.ftz.f16x2 sub.rn.ftz.sat.f16x2", "h", "hh"),
        *_plain("add.rn.bf16x2 sub.rn.bf16x2 mul.rn.bf16x2", "h", "hh"),
        *_plain("min.NaN.f16x2 max.ftz.f16x2 min.xorsign.abs.f16x2 min.bf16x2 max.NaN.bf16x2", "h", "hh"),
        *_plain("neg.ftz.f16x2 abs.bf16x2 neg.bf16x2", "h", "h"),
        *_plain("cvt.rz.f16x2.f32 cvt.rn.relu.f16x2.f32", "h", "ff"),
        *_plain("cvt.rn.bf16x2.f32 cvt.rz.bf16x2.f32 cvt.rn.relu.bf16x2.f32", "h", "ff"),
        *[(f"{one}cvt.{to}.f16 {{0}}, %s0;\n}}}}", kind, "h")
          for to, kind in (("f32", "f"), ("ftz.f32", "f"), ("f64", "d"))],
        *[(f"{one}cvt.f32.bf16 {{0}}, %s1;\n}}}}", "f", "h")],
        *[(f"{one}cvt.{how}.{to}.f16 {{0}}, %s1;\n}}}}", kind, "h") for how in ("rni", "rzi", "rmi", "rpi")
          for to, kind in (("s32", "r"), ("u32", "r"), ("s64", "l"))],
        *[(f"{one}cvt.{how}.f16.{of} %s2, {{2}};\nmov.b32 {{0}}, {{{{%s0, %s2}}}};\n}}}}", "h", "h" + kind)
          for how in _ROUNDED
          for of, kind in (("f32", "f"), ("f64", "d"), ("s32", "r"), ("u64", "l"))],
        (f"{one}cvt.rn.satfinite.e4m3x2.f32 %s2, {{2}}, {{3}};\nmov.b32 {{0}}, {{{{%s1, %s2}}}};\n}}}}", "h", "hff"),
        (f"{one}cvt.rn.satfinite.relu.e5m2x2.f32 %s2, {{2}}, {{3}};"
         f"\nmov.b32 {{0}}, {{{{%s1, %s2}}}};\n}}}}", "h", "hff"),
        (f"{one}cvt.rn.f16x2.e4m3x2 {{0}}, %s0;\n}}}}", "h", "h"),
        (f"{one}cvt.rn.f16x2.e5m2x2 {{0}}, %s1;\n}}}}", "h", "h"),
        *[(f"{one}{name}.f16 %s2, %s0, %s1;\nmov.b32 {{0}}, {{{{%s2, %s0}}}};\n}}}}", "h", "h")
          for name in ("add.rn", "mul.rn.sat", "sub.rn", "min", "max.NaN")],
        *[(f"{one}{name}.{sign}16 %s2, %s0, %s1;\nmov.b32 {{0}}, {{{{%s2, %s0}}}};\n}}}}", "r", "r") for sign in "su"
          for name in ("add", "sub", "mul.lo", "mul.hi", "min", "max")],
        *[(f"{one}mul.wide.{sign}16 {{0}}, %s0, %s1;\n}}}}", "r", "r") for sign in "su"],
        *[(f"{one}{name}16 %s2, %s0, {{2}};\nmov.b32 {{0}}, {{{{%s2, %s1}}}};\n}}}}", "r", "rr")
          for name in ("shl.b", "shr.s", "shr.u")],
    ]  # fmt: skip


def _converted() -> list[Form]:
    small = [("s8", "u8", "s16", "u16")[k] for k in range(4)]
    return [
        *[(f"{{{{.reg .b32 %t2;\ncvt.{sat}{to}.{of} %t2, {{1}};\nxor.b32 {{0}}, %t2, {{2}};\n}}}}", "r", kind + "r")
          for to in small for of, kind in (("s32", "r"), ("u32", "r"), ("s64", "l")) for sat in ("", "sat.")],
        *[(f"{{{{.reg .b32 %t2;\ncvt.{how}.{to}.{of} %t2, {{1}};\nxor.b32 {{0}}, %t2, {{2}};\n}}}}", "r", kind + "r")
          for to in small for of, kind in (("f32", "f"), ("f64", "d")) for how in ("rzi", "rni")],
        *[form for name in ("sat.s32.u32", "sat.u32.s32") for form in _plain(f"cvt.{name}", "r", "r")],
        *[form for name in ("sat.s32.s64", "sat.u32.s64", "sat.s32.u64") for form in _plain(f"cvt.{name}", "r", "l")],
        *[form for how in _ROUNDED for form in _plain(f"cvt.{how}.ftz.f32.f64 cvt.{how}.sat.f32.f64", "f", "d")],
        *_plain("cvt.ftz.f64.f32", "d", "f"), *_plain("cvt.rni.f64.f64 cvt.rpi.f64.f64 cvt.sat.f64.f64", "d", "d"),
        *_plain("cvt.rn.sat.f32.s32", "f", "r"), *_plain("cvt.rzi.ftz.s32.f32 cvt.rmi.ftz.u32.f32", "r", "f"),
    ]  # fmt: skip


def _collective() -> list[Form]:
    """Whole warps take part."""
    return [
        *[(f"shfl.sync.{how}.b32 {{0}}, {{1}}, {{2}}, {clamp}, -1;", "r", "rr") for how in ("up", "down", "bfly", "idx")
          for clamp in (0 if how == "up" else 31, 0x1800 if how == "up" else 0x181F, 0x1C07)],
        ("shfl.sync.idx.b32 {0}|{p}, {1}, {2}, 31, -1;", "r", "rr"),
        ("shfl.sync.down.b32 {0}|{p}, {1}, 5, {2}, -1;", "r", "rr"),
        ("vote.sync.ballot.b32 {0}, {p}, -1;", "r", ""), ("vote.sync.ballot.b32 {0}, !{p}, -1;", "r", ""),
        *[(f"vote.sync.{how}.pred {{p}}, {{p}}, -1;", "r", "") for how in ("all", "any", "uni")],
        ("match.any.sync.b32 {0}, {1}, -1;", "r", "r"), ("match.any.sync.b64 {0}, {1}, -1;", "r", "l"),
        ("match.all.sync.b32 {0}|{p}, {1}, -1;", "r", "r"),
        *[(f"redux.sync.{how} {{0}}, {{1}}, -1;", "r", "r")
          for how in ("add.s32", "add.u32", "min.s32", "min.u32",
                      "max.s32", "max.u32", "and.b32", "or.b32", "xor.b32")],
        ("bar.sync 0;\nbar.red.popc.u32 {0}, 0, {p};", "r", ""), ("bar.red.and.pred {p}, 0, {p};", "r", ""),
    ]  # fmt: skip


def _memory() -> list[Form]:
    """Accesses of a thread's own bytes of shared memory, at %t1; and sums that all threads add to."""
    found = [
        ("st.shared.v4.b32 [%t1], {{{1}, {2}, {3}, {4}}};\nld.shared.b64 {0}, [%t1 + 8];", "l", "rrrr"),
        ("st.shared.v2.b64 [%t1], {{{1}, {2}}};\nld.shared.b32 {0}, [%t1 + 4];", "r", "ll"),
        *[(f"st.shared.b64 [%t1], {{1}};\nld.shared.{one} {{0}}, [%t1 + {at}];", "r", "l")
          for one, at in (("s8", 3), ("u8", 5), ("s16", 2), ("u16", 6))],
        *[(f"st.shared.b64 [%t1], {{1}};\nst.shared.{one} [%t1 + {at}], {{2}};\nld.shared.b64 {{0}}, [%t1];", "l", "lr")
          for one, at in (("b8", 3), ("b16", 2), ("b32", 4))],
        ("st.shared.b32 [%t1], {1};\natom.shared.cas.b32 {0}, [%t1], {2}, {3};\nld.shared.b32 {2}, [%t1];", "r", "rrr"),
        ("st.shared.b64 [%t1], {1};\natom.shared.cas.b64 {0}, [%t1], {2}, {3};\nld.shared.b64 {2}, [%t1];", "l", "lll"),
        ("mov.u32 {0}, 0;\nbar.sync 0;\nst.shared.b32 [both], {0};\nbar.sync 0;\nred.shared.add.u32 [both], {1};\n"
         "bar.sync 0;\nld.shared.b32 {0}, [both];", "r", "r"),
        ("bar.sync 0;\nst.shared.b64 [%t1], {1};\nbar.sync 0;\n"
         "xor.b32 %r6, %t1, 528;\nld.shared.b64 {0}, [%r6];\nbar.sync 0;", "l", "l"),
    ]  # fmt: skip
    names = [(f"{how}.{one}", kind) for kind, types in (("r", ("u32", "s32")), ("l", ("u64", "s64")))
             for one in types for how in ("min", "max")]  # fmt: skip
    names += [
        (f"{how}.{one}", kind) for kind, one in (("r", "b32"), ("l", "b64")) for how in ("and", "or", "xor", "exch")
    ]
    names += [
        ("inc.u32", "r"),
        ("dec.u32", "r"),
        ("add.u32", "r"),
        ("add.u64", "l"),
        ("add.f64", "d"),
        ("add.f32", "f"),
    ]
    names += [("add.noftz.f16x2", "h")]
    for name, kind in names:
        type_ = "b64" if kind in "ld" else "b32"
        found.append((f"st.shared.{type_} [%t1], {{1}};\natom.shared.{name} {{0}}, [%t1], {{2}};\n"
                      f"ld.shared.{type_} {{1}}, [%t1];", kind, 2 * kind))  # fmt: skip
    return found


def _approximate() -> list[Form]:
    return [
        *_plain("rcp.approx.f32 rcp.approx.ftz.f32 rsqrt.approx.f32 rsqrt.approx.ftz.f32 sqrt.approx.f32", "f", "f"),
        *_plain("sqrt.approx.ftz.f32 sin.approx.f32 sin.approx.ftz.f32 cos.approx.f32 cos.approx.ftz.f32", "f", "f"),
        *_plain("lg2.approx.f32 lg2.approx.ftz.f32 ex2.approx.f32 ex2.approx.ftz.f32 tanh.approx.f32", "f", "f"),
        *_plain("div.approx.f32 div.approx.ftz.f32 div.full.f32 div.full.ftz.f32", "f", "ff"),
        *_plain("rcp.approx.ftz.f64 rsqrt.approx.f64 rsqrt.approx.ftz.f64", "d", "d"),
        *_plain("ex2.approx.f16x2 tanh.approx.f16x2 ex2.approx.ftz.bf16x2 tanh.approx.bf16x2", "h", "h"),
    ]


def _tensor() -> list[Form]:
    """Products of tensor cores; what a warp's lanes hold of the matrices is random."""
    single, whole, pair = ("{{%f0, %f1, %f2, %f3}}", "{{%r0, %r1, %r2, %r3}}", "{{%h0, %h1}}")
    four, two = "{{%h2, %h3, %h4, %h5}}", "{{%h0, %h1}}"
    ints, few = "{{%r2, %r3, %r4, %r5}}", "{{%r4, %r5}}"
    found = [(f"mma.sync.aligned.m16n8k{k}.row.col.f32.{of}.{of}.f32 {single}, {four if k == wide else two}, "
              f"{two if k == wide else '{{%h5}}'}, {single};", "f", "")
             for of, wide in (("f16", 16), ("bf16", 16)) for k in (wide // 2, wide)]  # fmt: skip
    found += [
        (f"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {pair}, {four}, {{{{%h3, %h4}}}}, {pair};", "h", ""),
        (f"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {pair}, {{{{%h2, %h3}}}}, {{{{%h4}}}}, {pair};", "h", ""),
        (f"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {single}, {ints}, {few}, {single};", "f", ""),
        (f"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {single}, {few}, {{{{%r2}}}}, {single};", "f", ""),
        ("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {{%d0, %d1}}, {{%d2}}, {{%d3}}, {{%d4, %d5}};", "d", ""),
    ]  # fmt: skip
    found += [(f"mma.sync.aligned.m16n8k{k}.row.col{sat}.s32.{a}.{b}.s32 {whole}, {ints}, {few}, {whole};", "r", "")
              for a, b, k, sat in (("s8", "s8", 32, ""), ("u8", "s8", 32, ""), ("s8", "s8", 32, ".satfinite"),
                                   ("s4", "s4", 64, ""))]  # fmt: skip
    found += [(f"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.{how}.popc {whole}, {ints}, {few}, {whole};", "r", "")
              for how in ("xor", "and")]  # fmt: skip
    found += [(f"mma.sync.aligned.m16n8k32.row.col.f32.{a}.{b}.f32 {single}, {ints}, {few}, {single};", "f", "")
              for a, b in (("e4m3", "e4m3"), ("e5m2", "e4m3"))]  # fmt: skip
    return found


GROUPS = {
    "integer": _integer(),
    "float": _float(),
    "half": _half(),
    "converted": _converted(),
    "collective": _collective(),
    "memory": _memory(),
}


class WideProgram(TypedProgram):
    """A typed program of which two lines of three are of these forms."""

    head_more = (
        ".shared .align 1024 .b8 own[1024];\n.shared .align 8 .b8 both[8];\n"
        f"mad.lo.u32 %t1, %t0, {_OWN}, 0;\nmov.u32 %r6, own;\nadd.u32 %t1, %t1, %r6;\n"
    )

    def _line(self) -> str:
        """Two of three are of these forms."""
        if self._random.random() < 0.33:
            return super()._line()
        return self.line_of(self._random.choice(GROUPS[self._random.choice(list(GROUPS))]))

    def line_of(self, form: Form) -> str:
        """An instruction of a form, with random registers."""
        text, to, kinds = form
        self.forms.append(text)
        line = text.format(self._register(to), *map(self._register, kinds), p=self._predicate())
        return f"{{\n{line}\n}}" if "\n" in line else line


# All instructions, for programs of one form alone: those of the GPU's own accuracy and order of sums are only here.
ALONE: list[Form] = [
    *[form for name, to, kinds in FORMS for form in _plain(name, to, kinds)],
    *[form for group in GROUPS.values() for form in group],
    *_video(),
    *_approximate(),
    *_tensor(),
]


class FormProgram(WideProgram):
    """A few lines of one form: ``ALONE[seed % len(ALONE)]``, with registers by the seed."""

    def __init__(self, seed: int) -> None:
        self.form = ALONE[seed % len(ALONE)]
        super().__init__(seed, length=5)

    def _line(self) -> str:
        return self.line_of(self.form)
