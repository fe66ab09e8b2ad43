"""Loops of few rounds are written out: what they compute stays, and ptxas does the same to them."""

from __future__ import annotations

import re
import subprocess

import numpy as np
import pytest

from memsim.gpu.presets import load_gpu
from memsim.sources.ptx import Launch, Memory, execute, trace_launch
from memsim.sources.ptx.compiled.tools import places_of
from memsim.sources.ptx.module import Instruction
from memsim.sources.ptx.text import parse
from memsim.sources.ptx.unroll import unrolled

SUMS = 8  # sums that rounds carry on


def text_of(rounds: int, products: int, step: str = "add.s32 %r9, %r9, 1;", test: str = "") -> str:
    """A kernel whose rounds load `products` words of shared memory each, into sums that it stores."""
    loads = [f"ld.shared.f32 %f{20 + k}, [%r5+{4 * k}];" for k in range(products)]
    sums = [f"fma.rn.f32 %f{k % SUMS}, %f{20 + k}, %f{20 + k}, %f{k % SUMS};" for k in range(products)]
    begin = " ".join(f"ld.global.f32 %f{k}, [%rd4+{4 * k}];" for k in range(SUMS))
    end = " ".join(f"st.global.f32 [%rd4+{4 * k}], %f{k};" for k in range(SUMS))
    return f""".version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 x)
{{
.reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .f32 %f<160>;
.shared .align 4 .b8 s[8192];
ld.param.u64 %rd1, [x]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 32; add.s64 %rd3, %rd1, %rd2;
cvta.to.global.u64 %rd4, %rd3; mov.u32 %r4, s; shl.b32 %r6, %r1, 2; add.s32 %r5, %r4, %r6;
{begin} st.shared.f32 [%r5], %f1; st.shared.f32 [%r5+128], %f2; bar.sync 0;
mov.u32 %r9, 0;
L1:
{" ".join(a + b for a, b in zip(loads, sums, strict=True))}
add.s32 %r5, %r5, 4;
{step}
{test or f"setp.ne.s32 %p1, %r9, {rounds};"}
@%p1 bra L1;
{end} st.global.b32 [%rd4+1024], %r9;
ret;
}}
"""


def rounds_of(text: str, products: int) -> float:
    function = parse(text, "t").functions["k"]
    body, _ = unrolled(function.body, function.registers)
    return sum(isinstance(one, Instruction) and one.text == "ld.shared.f32" for one in body) / products


# The loop's instructions are two a product and four: ptxas writes the first five out whole, and not the others.
SIZES = [(2, 8), (16, 8), (4, 32), (64, 4), (100, 1), (32, 8), (100, 4), (8, 32), (2, 64)]
WHOLE = 5


@pytest.mark.parametrize(("rounds", "products"), SIZES)
def test_loops_up_to_a_size_are_written_out(rounds, products):
    whole = (rounds, products) in SIZES[:WHOLE]
    assert rounds_of(text_of(rounds, products), products) == (rounds if whole else 1)


@pytest.mark.parametrize(("rounds", "products"), SIZES)
def test_ptxas_writes_the_same_out(rounds, products, tmp_path):
    if not places_of("ptxas") or not places_of("nvdisasm"):
        pytest.skip("no ptxas or nvdisasm")
    (tmp_path / "k.ptx").write_text(text_of(rounds, products), encoding="utf-8")
    subprocess.run([places_of("ptxas")[0], "-arch=sm_75", "k.ptx", "-o", "k.cubin"], cwd=tmp_path, check=True)
    told = subprocess.run([places_of("nvdisasm")[0], "-c", "k.cubin"], cwd=tmp_path, check=True, capture_output=True)
    products_made = len(re.findall(r"\bFFMA\b", told.stdout.decode()))
    assert (products_made == rounds * products) == ((rounds, products) in SIZES[:WHOLE])


@pytest.mark.parametrize(
    ("step", "test", "rounds"),
    [
        ("add.s32 %r9, %r9, 2;", "setp.lt.u32 %p1, %r9, 7;", 4),
        ("add.s32 %r9, 3, %r9;", "setp.le.s32 %p1, %r9, 9;", 4),
        ("add.s32 %r9, %r9, -1;", "setp.gt.s32 %p1, %r9, -4;", 4),
        ("setp.ne.s32 %p1, %r9, 3;", "add.s32 %r9, %r9, 1;", 4),  # looks at the counter before it steps
        ("add.s32 %r9, %r9, 1;", "setp.ne.s32 %p1, %r9, %r1;", 1),  # by a number that is not known
        ("shl.b32 %r9, %r9, 1;", "setp.ne.s32 %p1, %r9, 4;", 1),
        ("add.s32 %r9, %r9, 2;", "setp.ne.s32 %p1, %r9, 7;", 1),  # never
        ("add.s32 %r9, %r9, 1;", "@%p2 mov.u32 %r8, 1; setp.ne.s32 %p1, %r9, 4;", 1),  # a result under a predicate
    ],
)
def test_how_often_a_loop_goes_round_is_read_or_left(step, test, rounds):
    assert rounds_of(text_of(0, 2, step, test), 2) == rounds


def test_a_counter_that_begins_elsewhere_is_left():
    assert rounds_of(text_of(4, 2).replace("mov.u32 %r9, 0;", "mov.u32 %r9, 0;\nL0:"), 2) == 1
    assert rounds_of(text_of(4, 2).replace("ret;", "@%p3 bra L1; ret;"), 2) == 1  # entered from elsewhere, too


def test_what_is_computed_and_accessed_stays(tmp_path):
    """Values by the rolled code (no trace is made), and by the written-out code of a trace; and the same accesses."""
    values = np.arange(32 * 8 + 300, dtype=np.float32)

    def ready():
        memory = Memory()
        array = values.copy()
        return Launch(text_of(4, 4), "k", (1, 1, 1), (32, 1, 1), [memory.add(array, "x")]), memory, array

    launch, memory, rolled = ready()
    execute(launch, memory)
    launch, memory, written = ready()
    trace = trace_launch(launch, memory, tmp_path / "t.h5", load_gpu("quadro-gv100"), "all", check=True)
    assert np.array_equal(rolled, written) and not np.array_equal(rolled, values)
    assert rolled[256] == written[256]
    [chunk] = trace.chunks()
    shared = [
        trace.ops[op].width for op in chunk.op if op < len(trace.ops) and trace.ops[op].text.startswith("ld.shared")
    ]
    assert len(shared) == 16  # no alignment is known: none are joined
