"""The L2 prefetcher: sequences worked out by hand, conservation on random machines, and what it is for."""

from __future__ import annotations

from typing import Any

import machines
import numpy as np
import pytest
from budget import drawn
from engines import assert_equal, both, reference
from here import printed
from hypothesis import given
from hypothesis import strategies as st

from memsim.gpu.components import COMPONENTS, COUNTERS, counts_of
from memsim.gpu.config import GPU
from memsim.gpu.memory import Prefetcher
from memsim.gpu.prefetcher import PREFETCHER, PrefetcherKind
from memsim.hierarchy.parameters import longest_quantum
from memsim.hierarchy.system import System
from memsim.reference.prefetcher import PREFETCHERS, Observed, PrefetchUnit
from memsim.support.errors import InputError
from memsim.trace.schema import OpKind
from memsim.trace.transactions import Transactions

KINDS = [kind.value for kind in PrefetcherKind if kind != PREFETCHER.off]


def _asked(reads: list[int], missed: bool = True, **fields: Any) -> list[list[int]]:
    """The lines that a prefetcher asks for after each read, of one instruction on one SM, in pages of 32 lines."""
    unit = PrefetchUnit(Prefetcher(**fields), 128)
    return [unit.lines_to_fetch(Observed(line, 0, 0, missed)) for line in reads]


def test_next_line_requests_lines_behind_miss():
    of = dict(kind=PrefetcherKind.next_line, distance=1, degree=2)
    assert _asked([4, 9], **of) == [[5, 6], [10, 11]]
    assert _asked([4], missed=False, **of) == [[]]


def test_no_prefetch_leaves_the_page():
    assert _asked([30, 31], kind=PrefetcherKind.next_line, distance=1, degree=2) == [[31], []]


def test_stride_is_used_when_seen_twice():
    of = dict(kind=PrefetcherKind.stride, distance=2, degree=1)
    # Chen and Baer, figure 2: initial, transient (stride 3), steady; a wrong stride leads back to initial.
    assert _asked([0, 3, 6, 9], **of) == [[], [], [12], [15]]
    assert _asked([0, 3, 6, 20, 23], **of)[3:] == [[], [29]]


def test_strides_of_instructions_do_not_mix():
    unit = PrefetchUnit(Prefetcher(kind=PrefetcherKind.stride, distance=1, degree=1), 128)
    reads = [(0, 0), (20, 1), (2, 0), (19, 1), (4, 0), (18, 1)]
    found = [unit.lines_to_fetch(Observed(line, op, 0, True)) for line, op in reads]
    assert found[-2:] == [[6], [17]]


def test_trained_stream_runs_in_either_direction():
    of = dict(kind=PrefetcherKind.stream, distance=4, degree=2, training=2)
    assert _asked([1, 2, 3, 4], **of) == [[], [], [4, 5], [6, 7]]
    assert _asked([20, 19, 18], **of) == [[], [], [17, 16]]
    assert _asked([1, 20, 9], **of) == [[], [], []]  # no two are near each other


def test_stream_does_not_run_beyond_its_distance():
    asked = _asked([1, 2, 3, 3, 3, 4], kind=PrefetcherKind.stream, distance=4, degree=2, training=2)
    assert asked == [[], [], [4, 5], [6, 7], [], [8]]


def _model(kind: str, lines: list[int], warps: int = 1, **changes: Any):
    own = {"kind": kind, "degree": 2, "distance": 2} | changes.pop("prefetcher", {})
    gpu = machines.gpu(prefetcher=own, l2__size_bytes=65536, **changes)
    reads = [[machines.instruction([(line, 15)]) for line in lines[w::warps]] for w in range(warps)]
    return reference(machines.trace([reads]), gpu, 1, 0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_walk_through_memory_gets_faster(kind):
    """One warp reads line after line, so that without a prefetcher every read waits for DRAM."""
    without, with_it = _model("none", list(range(64))), _model(kind, list(range(64)))
    counts = with_it.statistics.components
    assert with_it.cycles < 0.75 * without.cycles
    assert counts["prefetcher", "useful"] > 200 and counts["prefetcher", "unused"] == 0
    assert with_it.statistics.transactions == without.statistics.transactions


def test_prefetches_that_come_late_are_counted_as_late():
    model = _model("next_line", list(range(32)), warps=8, prefetcher={"distance": 1, "degree": 1})
    assert model.statistics.components["prefetcher", "late"] > 0


def test_useless_prefetches_are_left_or_evicted():
    model = _model("next_line", [k * 4 for k in range(64)], prefetcher={"distance": 1, "degree": 1})
    counts = model.statistics.components
    assert counts["prefetcher", "sectors"] == 4 * 64
    assert counts["prefetcher", "left"] + counts["prefetcher", "unused"] == 4 * 64


@st.composite
def _walks(draw, gpu: GPU) -> Transactions:
    """Warps that walk through 64 lines in strides, with a step aside or a store now and then."""
    blocks, warps = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    mask, stride = (1 << gpu.l1.line_bytes // 32) - 1, draw(st.sampled_from([-3, -1, 1, 1, 2, 5]))
    aside, kinds = st.sampled_from([0, 0, 0, 0, 1, -2]), st.sampled_from([OpKind.load] * 5 + [OpKind.store])
    walks = []
    for number in range(blocks * warps):
        start, length = draw(st.sampled_from([0, number, 7 * number])), draw(st.integers(4, 24))
        lines = [(start + k * stride + draw(aside)) % 64 for k in range(length)]
        walks.append([machines.instruction([(line, mask)], draw(kinds), number % 2) for line in lines])
    return machines.trace([walks[first : first + warps] for first in range(0, len(walks), warps)], range(64))


@drawn(60, quick=6)
@given(st.data())
def test_engines_agree_with_random_prefetchers(data):
    """Both engines agree, and each law of the declaration holds."""
    own = data.draw(machines.component(PREFETCHER))
    gpu = data.draw(machines.machines(prefetcher=own))
    tx = data.draw(st.one_of(machines.traces(gpu), _walks(gpu)))
    resident, seed = data.draw(st.integers(1, 3)), data.draw(st.integers(0, 9))
    system, trial, model = both(tx, gpu, resident, seed)
    assert_equal(system, trial, model)
    found = model.statistics
    counts = counts_of(PREFETCHER, np.array([found.components[key] for key in COUNTERS]))
    assert not [words for words, holds in PREFETCHER.laws.items() if not holds(counts)]
    assert (own["kind"] != PREFETCHER.off and gpu.l2.enabled) or not any(counts.values())


@drawn(30, quick=3)
@given(st.data())
def test_prefetches_depend_on_no_quantum(data):
    gpu = data.draw(machines.machines(prefetcher=data.draw(machines.component(PREFETCHER))))
    tx, quantum = data.draw(_walks(gpu)), data.draw(st.integers(1, longest_quantum(gpu)))
    one, other = (System(tx, gpu, 2, np.random.SeedSequence(0), quantum=cut).run() for cut in (None, quantum))
    assert one.cycles == other.cycles and (one.components == other.components).all()
    assert (one.counters == other.counters).all()


@drawn(20, quick=3)
@given(st.data())
def test_prefetched_lines_stay_for_next_launch(data):
    gpu = data.draw(machines.machines(prefetcher=data.draw(machines.component(PREFETCHER))))
    system = model = None
    for seed in range(2):
        tx = data.draw(_walks(gpu))
        before, system = system, System(tx, gpu, 2, np.random.SeedSequence(seed), commands=1 << 14)
        if before:
            system.machine.carry_over_l2(before.machine)
        trial = system.run()
        model = reference(tx, gpu, system.resident, seed, model)
        assert_equal(system, trial, model)


@drawn(20, quick=3)
@given(st.data())
def test_without_a_prefetcher_nothing_changes(data):
    """A kind of none, with any other parameters, gives the cycles of a machine that does not name the component."""
    own = data.draw(machines.component(PREFETCHER)) | {"kind": "none"}
    gpu = data.draw(machines.machines())
    tx = data.draw(machines.traces(gpu))
    named = gpu.model_copy(update={"prefetcher": Prefetcher(**own | {"kind": PrefetcherKind.none})})
    one, other = (reference(tx, of, 1, 0) for of in (gpu, named))
    assert one.cycles == other.cycles and one.statistics.counts == other.statistics.counts


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"prefetcher": {"kind": "stride", "page_bytes": 3000}}, "prefetcher.page_bytes"),
        ({"prefetcher": {"kind": "stride"}, "l2__enabled": False, "l1__enabled": False}, "without an L2"),
    ],
)
def test_wrong_prefetchers_are_refused(changes, words):
    with pytest.raises(InputError, match=words):
        machines.gpu(**changes)


def test_every_component_is_declared_whole():
    for one in COMPONENTS:
        assert one.is_on({one.section: {one.chooser: one.off}}) is False and not one.is_on({})
        fields = GPU.model_fields[one.section].annotation.model_fields
        assert next(iter(fields)) == one.chooser and all(field.description for field in fields.values())
        assert all(one.counters.values()) and one.laws
    assert set(PREFETCHERS) == set(PrefetcherKind) - {PrefetcherKind.none}


@pytest.mark.slow
def test_run_and_show_report_coverage(tmp_path):
    printed(tmp_path, "trace", "saxpy", "-p", "n=2048", "-o", "t.h5", "-q")
    options = ("--trials", 1, "-j", 1, "--set", "prefetcher.kind=next_line")
    texts = []
    for engine in ("reference", "compiled"):
        printed(tmp_path, "run", "t.h5", *options, "--engine", engine, "-o", f"{engine}.h5", "-q")
        shown = printed(tmp_path, "show", f"{engine}.h5")
        assert "prefetcher (next_line): coverage" in shown and "accuracy" in shown and "lateness" in shown
        texts.append(next(line for line in shown.splitlines() if "coverage" in line))
    assert texts[0] == texts[1]
