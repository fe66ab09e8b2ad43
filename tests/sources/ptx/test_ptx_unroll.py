"""Loops of few rounds are written out: what they compute stays, and ptxas does the same to them."""

from __future__ import annotations

import operator
import re
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from compilers import assembled
from hypothesis import given
from hypothesis import strategies as st

from memsim.gpu.presets import load_gpu
from memsim.sources.ptx import DeviceMemory, PtxLaunch, execute, trace_launch
from memsim.sources.ptx.alias import Places
from memsim.sources.ptx.flow import basic_blocks
from memsim.sources.ptx.module import Instruction
from memsim.sources.ptx.schedule import scheduled
from memsim.sources.ptx.text import parse
from memsim.sources.ptx.unroll import MOST_OF_KERNEL, MOST_OF_SHORT, unrolled
from memsim.sources.sass.tools import places_of
from memsim.support.errors import InputError

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


STORED = "st.global.u32 [%rd4+64], %r8;"
KEPT = [
    f"shfl.sync.bfly.b32 %r8, %r9, 1, 31, -1; {STORED}",
    f"vote.sync.ballot.b32 %r8, %p2, -1; {STORED}",
    f"match.any.sync.b32 %r8, %r9, -1; {STORED}",
    "bar.warp.sync -1;",
    "barrier.sync 0;",
    "membar.cta;",
    "fence.acq_rel.gpu;",
    "sqrt.rn.f32 %f1, %f1;",
    "rcp.rn.f32 %f1, %f1;",
    "div.rn.f32 %f1, %f1, %f2;",
    "div.u64 %rd4, %rd4, %rd1;",
]
WRITTEN = [
    "bar.sync 0;",
    "sqrt.approx.f32 %f1, %f1;",
    "div.full.f32 %f1, %f1, %f2;",
    f"rem.u32 %r8, %r9, %r1; {STORED}",
    f"activemask.b32 %r8; {STORED}",
    f"atom.global.add.u32 %r8, [%rd4+64], 1; {STORED}",
]


def sized_texts() -> list[str]:
    return [text_of(rounds, products) for rounds, products in SIZES]


def text_with(one: str) -> str:
    return text_of(8, 4, f"{one} add.s32 %r9, %r9, 1;")


def text_by_pragma(kept: bool) -> str:
    return text_of(8, 4).replace("L1:", 'L1:\n.pragma "nounroll";' if kept else "L1:")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """How many instructions of a name ptxas makes of a text: all texts in one run of it."""
    if not places_of("nvdisasm"):
        pytest.skip("no nvdisasm")
    texts = list(dict.fromkeys([*sized_texts(), *map(text_with, KEPT + WRITTEN), *map(text_by_pragma, (True, False))]))
    head, mark, _ = texts[0].partition(".visible")
    kernels = [text.partition(mark)[2].replace("k(", f"k{number}(", 1) for number, text in enumerate(texts)]
    code = assembled(head + mark + mark.join(kernels), "sm_75", tmp_path_factory.mktemp("loops"))
    listing = subprocess.run([places_of("nvdisasm")[0], "-c", str(code)], check=True, capture_output=True)
    parts = re.split(r"\.section\s+\.text\.k(\d+)\b", listing.stdout.decode())
    found = {texts[int(number)]: listed for number, listed in zip(parts[1::2], parts[2::2], strict=True)}
    assert len(found) == len(texts)
    return lambda text, opcode: len(re.findall(rf"\b{opcode}\b", found[text]))


@pytest.mark.parametrize(("rounds", "products"), SIZES)
def test_ptxas_writes_the_same_out(rounds, products, made):
    written = made(text_of(rounds, products), "FFMA") == rounds * products
    assert written == ((rounds, products) in SIZES[:WHOLE])


@pytest.mark.parametrize(("one", "kept"), [*((one, True) for one in KEPT), *((one, False) for one in WRITTEN)])
def test_instructions_that_keep_loops_rolled_match_ptxas(one, kept, made):
    text = text_with(one)
    assert (rounds_of(text, 4) == 1) == kept
    assert (made(text, "LDS") == 4) == kept  # of loops that are written out it joins some, and makes more


@pytest.mark.parametrize("kept", [True, False])
def test_pragma_keeps_loop_rolled_for_ptxas_and_here(kept, made):
    text = text_by_pragma(kept)
    assert (rounds_of(text, 4) == 1) == kept
    assert (made(text, "FFMA") == 4) == kept


NUMBERS = st.one_of(st.integers(-12, 12), st.sampled_from([0x7FFC, 0xFFFC, 0x7FFFFFFC, 0xFFFFFFFC, (1 << 32) + 3]))


@given(
    begin=NUMBERS,
    step=st.integers(-3, 3) | st.just(0xFFFFFFFF),
    limit=NUMBERS,
    compared=st.sampled_from(["eq", "ne", "lt", "le", "gt", "ge"]),
    kind=st.sampled_from(["s16", "u16", "s32", "u32", "s64", "u64"]),
    turned=st.booleans(),
)
def test_rounds_written_out_are_those_that_run(begin, step, limit, compared, kind, turned):
    """Compared with NumPy's integers of the type, which go round at its end."""
    whole = np.dtype(f"{'int' if kind[0] == 's' else 'uint'}{kind[1:]}").type

    def of(number: int) -> np.integer:
        return np.array([number % (1 << int(kind[1:]))], np.uint64).astype(whole)[0]

    ran, counter, goes_on = 0, of(begin), True
    with np.errstate(over="ignore"):
        while goes_on and ran < MOST_OF_SHORT:
            ran, counter = ran + 1, counter + of(step)
            goes_on = bool(getattr(operator, compared)(counter, of(limit))) != turned
    name = f"%c{kind[1:]}"
    text = text_of(0, 1, f"add.{kind} {name}, {name}, {step};", f"setp.{compared}.{kind} %p1, {name}, {limit};")
    text = text.replace(".reg .pred", ".reg .b16 %c16; .reg .b32 %c32; .reg .b64 %c64; .reg .pred")
    text = text.replace("mov.u32 %r9, 0;", f"mov.b{kind[1:]} {name}, {begin};")
    text = text.replace("@%p1", "@!%p1") if turned else text
    assert rounds_of(text, 1) == (ran if not goes_on and ran * 5 <= MOST_OF_SHORT else 1)


@pytest.mark.slow
def test_text_of_many_loops_is_scheduled_in_short():
    rows = " ".join(f"ld.global.f32 %f{k}, [%rd{k}]; st.global.f32 [%rd{k}+64], %f{k};" for k in (1, 2, 3, 4))
    loop = "mov.u32 %r9, 0; L{0}: " + rows + " add.s32 %r9, %r9, 1; setp.lt.s32 %p1, %r9, 64; @%p1 bra L{0};"
    head, _, end = text_of(1, 1).partition("mov.u32 %r9, 0;")
    text = head + " ".join(loop.format(number) for number in range(100)) + end[end.index("@%p1 bra L1;") + 12 :]
    function = parse(text, "t").functions["k"]
    begun = time.process_time()
    body, _ = unrolled(function.body, function.registers)
    blocks = basic_blocks(body)
    places = Places([one for block in blocks for one in block.instructions])
    lengths = [len(scheduled(block.instructions, places)) for block in blocks]
    assert MOST_OF_SHORT < max(lengths) <= MOST_OF_KERNEL + 100
    assert time.process_time() - begun < 3


def test_register_that_is_not_declared_is_told_of():
    text = text_of(4, 1, "mov.u32 %zz, 1; add.s32 %r9, %r9, 1;")
    launch = PtxLaunch(text, "k", (1, 1, 1), (32, 1, 1), [0])
    with pytest.raises(InputError, match="zz"):
        trace_launch(launch, DeviceMemory(), Path("t.h5"), load_gpu("quadro-gv100"), "all", check=True)


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
        ("add.s32 %r9, %r9, 1;", "setp.lt.s32 %p1|%p2, %r9, 4;", 1),  # two results
        ("add.sat.s32 %r9, %r9, 1;", "setp.lt.s32 %p1, %r9, 4;", 1),
        ("add.s32 %r9, %r9, 1;", "setp.lt.s64 %p1, %r9, 4;", 1),  # of another width
        ("add.s32 %r9, %r9, 1;", "@%p2 mov.u32 %r8, 1; setp.ne.s32 %p1, %r9, 4;", 1),  # a result under a predicate
    ],
)
def test_trip_count_is_read_or_left(step, test, rounds):
    assert rounds_of(text_of(0, 2, step, test), 2) == rounds


def test_a_counter_that_begins_elsewhere_is_left():
    assert rounds_of(text_of(4, 2).replace("mov.u32 %r9, 0;", "mov.u32 %r9, 0;\nL0:"), 2) == 1
    assert rounds_of(text_of(4, 2).replace("ret;", "@%p3 bra L1; ret;"), 2) == 1  # entered from elsewhere, too


def test_what_is_computed_and_accessed_stays(tmp_path):
    """Values by the rolled code (no trace is made), and by the written-out code of a trace; and the same accesses."""
    values = np.arange(32 * 8 + 300, dtype=np.float32)

    def ready():
        memory = DeviceMemory()
        array = values.copy()
        return PtxLaunch(text_of(4, 4), "k", (1, 1, 1), (32, 1, 1), [memory.add(array, "x")]), memory, array

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
