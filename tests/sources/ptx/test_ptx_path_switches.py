"""Where a warp turns to lanes that parted from others: rows that say so, and none where lanes only skip."""

import numpy as np
import pytest
from divergent_lanes import LONG, STEPS, chase, traced

import memsim
from memsim.gpu.presets import load_gpu, names
from memsim.trace.coalesce import coalesce
from memsim.trace.schema import Flag

BOTH = "@%p1 bra $other; st.global.u32 [%rd3], 1; bra $end; $other: st.global.u32 [%rd3], 2; $end:"
SKIPPED = "@%p1 bra $behind; st.global.u32 [%rd3], 1; $behind: "
LOOP = "mov.u32 %r4, 0; $l: st.global.u32 [%rd3], %r4; add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, %r1; @%p3 bra $l;"


def rows(trace):
    """(lanes, whether the warp turns to them, whether it accesses global memory) of each row."""
    [chunk] = trace.chunks()
    is_store = [op != 0xFFFF and trace.ops[op].space == 0 for op in chunk.op.tolist()]
    return list(zip(chunk.mask.tolist(), (chunk.flags & Flag.path_switch != 0).tolist(), is_store, strict=True))


def test_rows_of_two_sides_stand_apart(tmp_path):
    """What all lanes did comes first, then a side, the turn, the other side; each instruction once."""
    trace = traced(BOTH, tmp_path)
    low, high = (1 << 20) - 1, (1 << 32) - (1 << 20)
    found = rows(trace)
    stores = [k for k, row in enumerate(found) if row[2]]
    assert [found[k][0] for k in stores] == [low, high]
    [turn] = [k for k, row in enumerate(found) if row[1]]
    assert stores[0] < turn < stores[1] and found[turn][0] == high
    assert all(mask in (low, high) for mask, *_ in found[stores[0] : stores[1] + 1])
    [parted] = np.flatnonzero(coalesce(trace, load_gpu("tesla-v100")).divergences["reconvergence"])
    assert parted == stores[0] and found[parted - 1][0] == low | high
    [chunk] = trace.chunks()
    assert not chunk.compute_run[turn] and coalesce(trace, load_gpu("tesla-v100")).instructions["flags"][turn] == 0


@pytest.mark.parametrize(
    ("body", "limit"),
    [
        (SKIPPED, 20),
        (SKIPPED + SKIPPED.replace("@%p1", "@!%p1").replace("$behind", "$after"), 20),  # one side, then the other
        (BOTH, 0),  # all go one way
        (LOOP, 1),  # of as many rounds as the lane's number
    ],
)
def test_no_switch_where_no_lanes_wait(body, limit, tmp_path):
    trace = traced(body, tmp_path, limit)
    assert not any(turn for _, turn, _ in rows(trace))
    assert not len(coalesce(trace, load_gpu("tesla-v100")).divergences)


def cycles(trace, divergence="interleaved"):
    settings = {"sm.divergence": divergence}
    return memsim.simulate(trace, "tesla-v100", trials=1, settings=settings).trials.cycles[0]


@pytest.mark.slow
def test_two_long_sides_take_half_time_on_volta(tmp_path):
    """Of 200 dependent loads of shared memory each; where one side waits for the other, nothing of them is hidden."""
    trace = traced(LONG, tmp_path)
    alone = traced(LONG, tmp_path, limit=32)

    turn, both, one = cycles(trace, "in_turn"), cycles(trace), cycles(alone)
    assert one == cycles(alone, "in_turn") > STEPS * 23
    assert turn > 1.9 * one and both < 1.1 * one


def test_of_three_cases_two_are_in_turn(tmp_path):
    """A switch is a branch in a branch: its last case overlaps those before it (docs/explanation/time.md)."""
    inner = f"@%p4 bra $second; {chase('a')} bra $end; $second: {chase('b')} bra $end;"
    switch = f"setp.ge.u32 %p4, %r1, 10; @%p1 bra $third; {inner} $third: {chase('c')} $end: bar.sync 0;"
    trace = traced(switch, tmp_path)
    assert cycles(trace) == pytest.approx(cycles(trace, "in_turn") * 2 / 3, rel=0.05)  # what comes before is in both


AFTER = "mov.u32 %r5, 3; " + "mul.lo.u32 %r5, %r5, %r5; " * 600
CONVERGED = {
    "by the second side's lanes": "@%p1 st.global.u32 [%rd3], %r5;",
    "by no lane": "setp.gt.u32 %p4, %r1, 99; @%p4 st.global.u32 [%rd3], %r5; st.global.u32 [%rd3], %r5;",
}


@pytest.mark.slow
@pytest.mark.parametrize("after", CONVERGED.values(), ids=CONVERGED)
def test_what_comes_behind_both_sides_waits_for_both(after, tmp_path):
    """A long side and one of a single store, then a chain, and an access whose lanes do not show that all have met."""
    sides = f"@%p1 bra $other; {chase('a')} bra $end; $other: st.global.u32 [%rd3], 2; $end:"
    trace = traced(f"{sides} {AFTER} {after}", tmp_path)
    tx = coalesce(trace, load_gpu("tesla-v100"))
    [parted] = np.flatnonzero(tx.divergences["reconvergence"])
    join = parted + int(tx.divergences["reconvergence"][parted])
    assert (
        tx.instructions["compute_run"][join:].sum() >= 600 and tx.instructions["compute_run"][parted:join].max() < 600
    )
    assert cycles(trace) - cycles(traced(sides, tmp_path)) > 600 * 4


def test_volta_alone_runs_both_sides_at_once():
    both = {name for name in names() if load_gpu(name).sm.divergence == "interleaved"}
    assert both == {"tesla-v100", "quadro-gv100"}
