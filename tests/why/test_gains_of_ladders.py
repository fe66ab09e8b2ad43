"""Ladders of kernels: the gain predicted for a step is what a later step gains, and no more."""

from __future__ import annotations

import ladders
import pytest
from test_gains import check_bounds

import memsim
from memsim.why import Cause, explain

LADDERS = {
    "reduction": (ladders.reduction, dict(n=1 << 19)),
    "layer_norm": (ladders.layer_norm, dict(rows=1 << 11)),
    "sgemm": (ladders.sgemm, dict(k=32)),  # so short that C counts
    "long sgemm": (ladders.sgemm, dict(k=256)),
}
# Ladder, step, the later step that puts its first cause right, that cause. Harris' second reduction has conflicts in
# the place of the first one's idle lanes, so it is the third that shows what these cost. Of products, the sixth stores
# four words at once, the tenth whole sectors; the eighth has conflicts that its column more was to avoid.
TOLD = [
    ("reduction", 0, 2, Cause.divergence),
    ("reduction", 1, 2, Cause.conflicts),
    ("reduction", 2, 3, Cause.trees),
    ("layer_norm", 4, 5, Cause.evicted_l2),
    ("sgemm", 5, 6, Cause.scattered),
    ("sgemm", 6, 10, Cause.scattered),
    ("sgemm", 7, 10, Cause.scattered),
    ("sgemm", 9, 10, Cause.scattered),
    ("long sgemm", 8, 6, Cause.conflicts),
]
# Fewer than 3 % are won, and nothing is said.
FINISHED = [("reduction", 4, 6), ("reduction", 6, 7)]

# Of the time: the second reduction's barriers of one warp and its bank conflicts save about 6.5 % each.
ALIKE = 0.005

# What a launch cost when the bounds below were chosen: of a shorter one, each gain is a larger share.
LAUNCH = {"launch.idle_cycles": 2000, "launch.active_cycles": 1277}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def simulated():
    """Trace and result of a step, made once."""
    made = {}

    def of(ladder, step):
        if (ladder, step) not in made:
            kernel, size = LADDERS[ladder]
            trace = memsim.trace(kernel, gpu="tesla-v100", blocks="all", step=step, **size)
            made[ladder, step] = trace, memsim.simulate(trace, gpu="tesla-v100", trials=2, seed=1, settings=LAUNCH)
        return made[ladder, step]

    return of


def won(simulated, ladder, slow, fast):
    return 1 - simulated(ladder, fast)[1].kernel_time.mean / simulated(ladder, slow)[1].kernel_time.mean


def reported(simulated, ladder, step):
    trace, result = simulated(ladder, step)
    causes = explain(result, trace).bottlenecks
    check_bounds(causes)
    return [one for one in causes if one.gain is not None]


@pytest.mark.parametrize(("ladder", "slow", "fast", "cause"), TOLD)
def test_predicted_gain_is_that_of_later_steps(simulated, ladder, slow, fast, cause):
    causes = reported(simulated, ladder, slow)
    named = next(one for one in causes if one.cause is cause)
    assert causes[0].gain.share.mean - named.gain.share.mean < ALIKE
    assert named.gain.share.mean == pytest.approx(won(simulated, ladder, slow, fast), rel=1 / 3)


def test_rows_per_thread_gain_like_rows_per_block(simulated):
    rows, before = dict(rows=1 << 11), simulated("layer_norm", 1)[1].kernel_time.mean
    traces = [
        memsim.trace(ladders.layer_norm_part, gpu="tesla-v100", blocks="all", part=part, **rows) for part in range(3)
    ]
    after = sum(memsim.simulate(trace, gpu="tesla-v100", trials=2, seed=1).kernel_time.mean for trace in traces)
    first = reported(simulated, "layer_norm", 1)[0]
    assert first.cause is Cause.scattered
    assert first.gain.share.mean == pytest.approx(1 - after / before, rel=1 / 3)


def test_products_bound_by_instructions_have_no_gain(simulated):
    """Eight results by one of a thread: what the next step's eight by eight win, no rule on accesses sees."""
    trace, result = simulated("long sgemm", 4)
    first = explain(result, trace).bottlenecks[0]
    assert first.cause is Cause.issue_bound and first.gain is None


@pytest.mark.parametrize(("ladder", "slow", "fast"), FINISHED)
def test_finished_ladder_has_no_findings(simulated, ladder, slow, fast):
    assert 0 <= won(simulated, ladder, slow, fast) < 0.03
    assert not reported(simulated, ladder, slow)


def test_barriers_of_last_warp_gain_no_more_later(simulated):
    """That step also spares the other warps their comparisons, so at least half is reported, not all."""
    first = reported(simulated, "reduction", 3)[0]
    assert first.cause is Cause.barriers and first.gain.share.mean < first.attributable_share
    assert 1 / 2 < first.gain.share.mean / won(simulated, "reduction", 3, 4) < 1
