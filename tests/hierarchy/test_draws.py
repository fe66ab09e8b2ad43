"""Sources of randomness one by one: one that is drawn as in another trial is exactly that trial's, the rest stays."""

from __future__ import annotations

import machines
import numpy as np
import pytest
from budget import drawn
from hypothesis import given
from hypothesis import strategies as st
from machines import instruction

from memsim.gpu.presets import load_gpu, override
from memsim.hierarchy.draws import SOURCES, active, draws
from memsim.hierarchy.system import System

KEYED = ("warp_weights", "arbitration", "warp_scheduler", "replacement")
ALL_ON = {
    "stochastic.page_placement": True, "sm.warp_scheduler": "random", "l2.replacement": "random", "sm.count": 2,
}  # fmt: skip


def _seeds(trial):
    return np.random.SeedSequence(5, spawn_key=(trial,)).spawn(2)


def _run(tx, gpu, sources, trial=0):
    others = {source: _seeds(other)[0] for source, other in sources.items() if source != "dram_grouping"}
    grouping = np.random.default_rng(_seeds(sources.get("dram_grouping", trial))[1])
    return vars(System(tx, gpu, 2, _seeds(trial)[0], others=others).run(grouping=grouping))


def _same(one, other):
    return {name for name in one if "seconds" not in name and np.array_equal(one[name], other[name])}


@drawn(40)
@given(data=st.data())
def test_all_sources_of_another_trial_are_that_trial(data):
    gpu = data.draw(machines.machines())
    tx = data.draw(machines.traces(gpu))
    other = _run(tx, gpu, {}, trial=1)
    assert _same(_run(tx, gpu, dict.fromkeys(SOURCES, 1)), other) == _same(other, other)
    assert _same(_run(tx, gpu, dict.fromkeys(active(gpu), 1)), other) == _same(other, other)
    rest = dict.fromkeys(set(SOURCES) - set(active(gpu)), 1)
    own = _run(tx, gpu, {})
    assert _same(_run(tx, gpu, rest), own) == _same(own, own)


def test_one_source_is_drawn_anew_and_rest_stays():
    gpu = override(load_gpu("tesla-c2050"), ALL_ON)
    tx = machines.trace([[[instruction([(line, 15)]) for line in range(9)]] for _ in range(6)])
    own, other = (draws(tx, gpu, 4, _seeds(trial)[0]) for trial in (0, 1))
    for source, name in (("page_placement", "where"), ("start_alignment", "phases"), *zip(KEYED, KEYED, strict=True)):
        mixed = draws(tx, gpu, 4, _seeds(0)[0], others={source: _seeds(1)[0]})
        for field in vars(own):
            mine, theirs, found = (_bytes(getattr(drawn, field)) for drawn in (own, other, mixed))
            assert mine != theirs and found == (theirs if field == name else mine)
    assert active(gpu) == tuple(source for source in SOURCES if source != "warp_weights")


@pytest.mark.parametrize(
    "switch, value, moved",
    [("page_placement", True, {"where"}), ("start_alignment", False, {"phases"}), ("arbitration", False, set()),
     ("warp_weights", False, set()), ("dram_grouping", False, set())],
)  # fmt: skip
def test_switch_leaves_all_other_draws_as_they_are(switch, value, moved):
    """Common random numbers, also between points of a study that differ in what is random."""
    gpu = load_gpu("tesla-c2050")
    tx = machines.trace([[[instruction([(line, 15)]) for line in range(9)]] for _ in range(6)])
    before, after = (draws(tx, one, 4, _seeds(0)[0]) for one in (gpu, override(gpu, {f"stochastic.{switch}": value})))
    assert {name for name in vars(before) if _bytes(getattr(before, name)) != _bytes(getattr(after, name))} == moved


def _bytes(value):
    return getattr(value, "mapping", np.asarray(0 if hasattr(value, "mapping") else value)).tobytes()


@pytest.mark.parametrize("source, changes", [("dram_grouping", {"memory_sum"}), ("arbitration", {"latency_sum"})])
def test_a_source_changes_what_it_should(source, changes):
    gpu = override(load_gpu("tesla-c2050"), {"sm.count": 4})
    rng = np.random.default_rng(0)
    lines = iter(rng.permutation(4 * 12 * 30 * 2).tolist())
    blocks = [[[instruction([(next(lines), 15), (next(lines), 15)]) for _ in range(30)]] for _ in range(4 * 12)]
    tx = machines.trace(blocks)
    own, other = _run(tx, gpu, {}), _run(tx, gpu, {source: 1})
    changed = set(own) - _same(own, other) - {"wall_seconds", "compiled_seconds"}
    assert changes <= changed
    if source == "dram_grouping":
        assert all(name.startswith("memory") for name in changed)
