"""What a compute run's longest chain leads to: an access, a predicate, a branch."""

from __future__ import annotations

import numpy as np
import pytest
from test_ptx_rows import ADDRESS, rows_of

from memsim.gpu.presets import load_gpu, override
from memsim.hierarchy.sm.parameters import compute_run_times
from memsim.hierarchy.sm.state import CRITICAL_PATH
from memsim.trace.schema import LINKS, MIX, NO_OP, Flag


def critical_links_before(trace, chunk, row: int) -> dict[str, int]:
    """Links of the chain from a row on to the first access or barrier, those that there are."""
    end = row + np.flatnonzero((chunk.op[row:] != NO_OP) | (chunk.flags[row:] & Flag.barrier != 0))[0]
    mixes = trace.issue.mixes[chunk.instruction_mix[row : end + 1]]
    return {name: int(mixes[f"critical_{name}"].sum()) for name in LINKS if mixes[f"critical_{name}"].any()}


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
    assert critical_links_before(trace, chunk, 2) == chain


@pytest.mark.parametrize(("own", "cycles"), [({}, 4 + 4 + 13), (dict(guard=12, operand=8, branch=5), 12 + 8 + 5)])
def test_links_without_own_cycles_take_those_of_class(own, cycles):
    pipes = dict(integer=4, control=13) | own
    stated = {f"sm.pipes.{name}_cycles": value for name, value in pipes.items()}
    mixes = np.zeros(1, MIX)
    for link in ("guard", "operand", "branch"):
        mixes[f"critical_{link}"] = 1
    gpu = override(load_gpu("tesla-c2050"), {"sm.instruction_cycles": 22})
    assert compute_run_times(gpu, mixes)[0, CRITICAL_PATH] == 3 * 22
    assert compute_run_times(override(gpu, stated), mixes)[0, CRITICAL_PATH] == cycles


def test_a_chain_takes_the_sum_of_its_links(tmp_path):
    body = "setp.eq.s32 %p1, %r1, 0; @%p1 add.f32 %f2, %f1, %f1; st.shared.f32 [0], %f2;"
    trace, chunk = rows_of(f"{ADDRESS} ld.shared.f32 %f9, [0]; bar.sync 0; {body}", tmp_path)
    gpu = load_gpu("tesla-v100")
    assert compute_run_times(gpu, np.asarray(trace.issue.mixes))[chunk.instruction_mix[2], CRITICAL_PATH] == 12 + 8
