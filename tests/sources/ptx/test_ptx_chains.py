"""What a gap's longest chain leads to: an access, a predicate, a branch; and when a branch is decided."""

from __future__ import annotations

import numpy as np
import pytest
from test_ptx_rows import ADDRESS, order, rows_of

from memsim.gpu.presets import load_gpu
from memsim.hierarchy.sm.parameters import gap_times
from memsim.hierarchy.sm.state import CHAIN
from memsim.trace.schema import LINKS


def chain_before(trace, chunk, row: int) -> dict[str, int]:
    """Links of the chain in the gap before a row, those that there are."""
    mix = trace.issue.mixes[chunk.mix[row]]
    return {name: int(mix[f"chain_{name}"]) for name in LINKS if mix[f"chain_{name}"]}


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
    ],
)  # fmt: skip
def test_the_link_to_an_access_or_under_a_predicate_is_of_its_own(body, chain, tmp_path):
    trace, chunk = rows_of(f"{ADDRESS} ld.shared.f32 %f9, [0]; bar.sync 0; {body}", tmp_path)
    assert chain_before(trace, chunk, 2) == chain


def test_a_chain_takes_the_sum_of_its_links(tmp_path):
    body = "setp.eq.s32 %p1, %r1, 0; @%p1 add.f32 %f2, %f1, %f1; st.shared.f32 [0], %f2;"
    trace, chunk = rows_of(f"{ADDRESS} ld.shared.f32 %f9, [0]; bar.sync 0; {body}", tmp_path)
    gpu = load_gpu("tesla-v100")
    assert gap_times(gpu, np.asarray(trace.issue.mixes))[chunk.mix[2], CHAIN] == 12 + 8


LOADS = "ld.shared.f32 %f1, [%r1]; ld.shared.f32 %f2, [%r1+4]; add.f32 %f3, %f1, %f2; st.shared.f32 [%r1], %f3;"
DECISION = "add.s32 %r5, %r5, 4; setp.lt.s32 %p1, %r5, 64;"


def test_a_branch_is_decided_while_loads_are_under_way():
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
def test_a_branch_is_not_decided_before_a_barrier_or_without_its_loads(body):
    found = order(f"A: {body}")
    assert found.index("add.f32") < next(k for k, name in enumerate(found) if name.startswith("setp"))
