"""What a gap's longest chain leads to: an access, a predicate, a branch; and when a branch is decided."""

from __future__ import annotations

import numpy as np
import pytest
from test_ptx_rows import ADDRESS, order, rows_of, text_of

from memsim.gpu.presets import load_gpu, override
from memsim.hierarchy.sm.parameters import gap_times
from memsim.hierarchy.sm.state import CHAIN
from memsim.sources.function_counts import CONVERSION, INTEGER
from memsim.sources.ptx.classes import Counter
from memsim.sources.ptx.text import parse
from memsim.trace.schema import LINKS, MIX, NO_OP, Flag


def chain_before(trace, chunk, row: int) -> dict[str, int]:
    """Links of the chain from a row on to the first access or barrier, those that there are."""
    end = row + np.flatnonzero((chunk.op[row:] != NO_OP) | (chunk.flags[row:] & Flag.barrier != 0))[0]
    mixes = trace.issue.mixes[chunk.mix[row : end + 1]]
    return {name: int(mixes[f"chain_{name}"].sum()) for name in LINKS if mixes[f"chain_{name}"].any()}


SUM = "{%f0, %f1, %f2, %f3}"
MMA = f"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {SUM}, {{%r1, %r2, %r3, %r4}}, {{%r5, %r6}}, {SUM};"


@pytest.mark.parametrize(
    ("body", "chain"),
    [
        ("xor.b32 %r2, %r1, 4; shl.b32 %r3, %r2, 2; st.shared.f32 [%r3], %f1;", {"integer": 1, "operand": 1}),
        ("add.f32 %f2, %f1, %f1; st.shared.f32 [0], %f2;", {"operand": 1}),
        ("xor.b32 %r2, %r1, 4; shl.b32 %r3, %r2, 2; st.shared.f32 [0], %f1;", {"integer": 2}),
        ("ex2.approx.ftz.f32 %f2, %f1; st.shared.f32 [0], %f2;", {"special": 1}),
        ("setp.eq.s32 %p1, %r1, 0; @%p1 st.shared.f32 [0], %f1;", {"guard": 1}),
        ("setp.eq.s32 %p1, %r1, 0; @%p1 add.f32 %f2, %f1, %f1; st.shared.f32 [0], %f2;", {"guard": 1, "operand": 1}),
        ("setp.eq.s32 %p1, %r1, 0; selp.f32 %f2, %f1, %f3, %p1; st.shared.f32 [0], %f2;", {"integer": 1, "operand": 1}),
        ("setp.eq.s32 %p1, %r1, 0; @%p1 bra A; add.f32 %f3, %f1, %f1; A: bar.sync 0;",
         {"guard": 1, "branch": 1, "fp32": 1}),
        (f"xor.b32 %r1, %r7, 4; {MMA} st.shared.f32 [0], %f0;", {"integer": 1}),  # no result of integer's, the store's
        (f"{MMA} {MMA} xor.b32 %r9, %r7, 4; st.shared.f32 [0], %f0;", {}),  # longer than the other one
    ],
)  # fmt: skip
def test_link_to_access_or_under_predicate_is_separate(body, chain, tmp_path):
    trace, chunk = rows_of(f"{ADDRESS} ld.shared.f32 %f9, [0]; bar.sync 0; {body}", tmp_path)
    assert chain_before(trace, chunk, 2) == chain


@pytest.mark.parametrize(
    ("becomes", "chain"),
    [
        ({INTEGER: 2}, {"integer": 1, "operand": 1}),
        ({INTEGER: 1, CONVERSION: 0}, {"operand": 1}),
        ({INTEGER: 1, CONVERSION: 1}, {"integer": 1, "conversion": 1}),  # which of them the store waits for?
        ({CONVERSION: 1}, {"conversion": 1}),  # a scoreboard tells
    ],
)
def test_the_last_of_several_classes_is_not_known(becomes, chain):
    """With what machine code has for an instruction instead of the rules' count."""
    first, store = parse(text_of("xor.b32 %r2, %r1, 4; st.shared.u32 [0], %r2;"), "t").functions["k"].body[-3:-1]
    counter = Counter([first, store], {id(first): becomes})
    counter.add(first)
    chains = counter.segments[counter.take(store)].chains
    assert {name: count for name, count in zip(LINKS, chains, strict=True) if count} == chain


@pytest.mark.parametrize(("own", "cycles"), [({}, 4 + 4 + 13), (dict(guard=12, operand=8, branch=5), 12 + 8 + 5)])
def test_links_without_own_cycles_take_those_of_class(own, cycles):
    pipes = dict(integer=4, control=13) | own
    stated = {f"sm.pipes.{name}_cycles": value for name, value in pipes.items()}
    mixes = np.zeros(1, MIX)
    for link in ("guard", "operand", "branch"):
        mixes[f"chain_{link}"] = 1
    gpu = override(load_gpu("tesla-c2050"), {"sm.instruction_cycles": 22})
    assert gap_times(gpu, mixes)[0, CHAIN] == 3 * 22
    assert gap_times(override(gpu, stated), mixes)[0, CHAIN] == cycles


def test_a_chain_takes_the_sum_of_its_links(tmp_path):
    body = "setp.eq.s32 %p1, %r1, 0; @%p1 add.f32 %f2, %f1, %f1; st.shared.f32 [0], %f2;"
    trace, chunk = rows_of(f"{ADDRESS} ld.shared.f32 %f9, [0]; bar.sync 0; {body}", tmp_path)
    gpu = load_gpu("tesla-v100")
    assert gap_times(gpu, np.asarray(trace.issue.mixes))[chunk.mix[2], CHAIN] == 12 + 8


LOADS = "ld.shared.f32 %f1, [%r1]; ld.shared.f32 %f2, [%r1+4]; add.f32 %f3, %f1, %f2; st.shared.f32 [%r1], %f3;"
DECISION = "add.s32 %r5, %r5, 4; setp.lt.s32 %p1, %r5, 64;"


def test_branch_is_decided_while_loads_are_under_way():
    """As ptxas has it in Rodinia's lud and SGEMM's inner loops: counters and comparison stand before the first use."""
    found = order(f"A: {LOADS} {DECISION} @%p1 bra A;")
    assert found.index("setp.lt.s32") < found.index("add.f32")


@pytest.mark.parametrize(
    "body",
    [
        f"{LOADS} bar.sync 0; {DECISION} @%p1 bra A;",  # reductions: ptxas leaves it behind the barrier
        f"{LOADS} setp.lt.f32 %p1, %f3, %f1; @%p1 bra A;",  # loads decide
    ],
)
def test_branch_is_decided_after_barrier_and_its_loads(body):
    found = order(f"A: {body}")
    assert found.index("add.f32") < next(k for k, name in enumerate(found) if name.startswith("setp"))
