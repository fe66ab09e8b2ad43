"""Cache levels between L2 and DRAM: latencies and counts worked out by hand, and the laws on random machines."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import machines
import numpy as np
import pytest
from budget import drawn
from engines import reference
from here import printed
from hypothesis import given
from hypothesis import strategies as st

from memsim.gpu.choices import Replacement
from memsim.gpu.components import COUNTERS, counts_of
from memsim.gpu.config import GPU
from memsim.gpu.memory import MemorySide
from memsim.gpu.memory_side import MEMORY_SIDE
from memsim.hierarchy.system import System
from memsim.reference.model import ReferenceModel
from memsim.support.errors import InputError
from memsim.trace.schema import OpKind

L1, L2, L3 = 10, 60, 200  # cycles from load to use
LEVEL = dict(
    levels=1, size_bytes=[32768], line_bytes=[64], ways=[8], slices=[2], slice_interleave_bytes=[256],
    slice_hash=["modulo"], set_hash=["modulo"], replacement=["lru"], hit_latency_cycles=[L3],
    slice_bytes_per_cycle=[64],
)  # fmt: skip


def _gpu(**changes: Any) -> GPU:
    """L1 of 2 KB, L2 of 8 KB, a level of 32 KB behind it; lines of 128 bytes in L1 and L2."""
    level = LEVEL | changes.pop("level", {})
    fixed = dict(l2__size_bytes=8192, l2__fetch_bytes=128, l1__sector_bytes=128, dram__latency_cycles=500)
    return machines.gpu(memory_side=level, **fixed | changes)


def _walk(gpu: GPU, lines: list[int], kind: OpKind = OpKind.load) -> ReferenceModel:
    """One warp accesses line after line, each when the one before it is there."""
    warp = [machines.instruction([(line, 15)], kind) for line in lines]
    return reference(machines.trace([[warp]]), gpu, 1, 0)


def _counts(model: ReferenceModel) -> dict[str, int]:
    counts = counts_of(MEMORY_SIDE, np.array([model.statistics.components[key] for key in COUNTERS]))
    return {name: int(number) for name, number in counts.items()}


def _dram(model: ReferenceModel, kind: str) -> int:
    """Sectors that DRAM reads or writes."""
    found = model.statistics.counts.items()
    return sum(
        number for (_, level, event, unit), number in found
        if (level, unit) == ("dram", "sectors") and event.startswith(kind)
    )  # fmt: skip


@pytest.mark.parametrize(("kilobytes", "latency"), [(1, L1), (2, L1), (4, L2), (8, L2), (16, L3), (32, L3)])
def test_latency_is_that_of_smallest_fitting_level(kilobytes, latency):
    lines = list(range(kilobytes * 8))
    latencies = _walk(_gpu(), lines * 2).statistics.latencies[0]
    assert set(latencies[len(lines) :]) == {latency}


def test_larger_working_set_reads_all_from_dram():
    lines = list(range(64 * 8))
    model = _walk(_gpu(), lines * 2)
    counts = _counts(model)
    assert counts["l3_hits"] == 0 and counts["l3_misses"] == _dram(model, "read") == 2 * 4 * len(lines)
    assert min(model.statistics.latencies[0]) > L2 + 500
    assert counts["l3_evictions"] == 2 * (2 * len(lines)) - 512  # of lines of 64 bytes, all but what it holds


def test_second_pass_reads_nothing_from_dram():
    lines = list(range(16 * 8))
    model = _walk(_gpu(), lines * 2)
    sectors = 4 * len(lines)
    assert _dram(model, "read") == sectors
    assert _counts(model) == dict.fromkeys(_counts(model), 0) | {
        "l3_reads": 2 * sectors, "l3_hits": sectors, "l3_misses": sectors,
    }  # fmt: skip


def test_writes_pass_through_and_leave_no_line():
    lines = list(range(64))
    model = _walk(_gpu(l2__max_dirty_ways=1), lines, OpKind.store)
    counts = _counts(model)
    assert counts["l3_writes"] == _dram(model, "write") > 0
    assert counts["l3_updates"] == counts["l3_reads"] == 0


@pytest.mark.parametrize(("width", "apart"), [(64, 4), (4, 32)])
def test_slices_take_bytes_per_cycle(width, apart):
    """Sixteen warps read a line of one slice each: one after the other, as L2 sends (4 sectors) or the slice serves."""
    lines = [4 * k for k in range(16)]  # chunks of 256 bytes, two lines each, go to two slices in turn
    gpu = _gpu(level=dict(slice_bytes_per_cycle=[width]))
    warm = [[machines.instruction([(line + 64 * k, 15)]) for k in range(4)] for line in lines]  # fills L2's sets
    again = [[machines.instruction([(line, 15)], bypass=True)] for line in lines]  # an L1 set has four ways
    latencies = reference(machines.trace([warm, again]), gpu, 1, 0).statistics.latencies[0][64:]
    assert latencies[0] == L3
    assert max(latencies) == L3 + 15 * (apart - 1)  # each was looked up a cycle after the one before it


def test_two_levels_answer_after_their_latencies():
    two = {name: value * 2 for name, value in LEVEL.items() if name != "levels"}
    two |= dict(levels=2, size_bytes=[16384, 65536], hit_latency_cycles=[L3, 300])
    for kilobytes, latency in ((12, L3), (48, 300)):
        lines = list(range(kilobytes * 8))
        model = _walk(_gpu(level=two), lines * 2)
        assert set(model.statistics.latencies[0][len(lines) :]) == {latency}
    counts = _counts(model)
    assert counts["l4_reads"] == counts["l3_misses"] and counts["l4_misses"] == _dram(model, "read")


def test_a_line_under_way_is_read_once():
    """Two L2s ask for one line at a time: the level reads it from DRAM once."""
    gpu = _gpu(sm__count=2, l2__instances=2, l2__slices=2)
    blocks = [[[machines.instruction([(0, 15)])]]] * 2
    model = reference(machines.trace(blocks), gpu, 1, 0)
    counts = _counts(model)
    assert (counts["l3_reads"], counts["l3_misses"], counts["l3_merges"]) == (8, 4, 4) and _dram(model, "read") == 4
    first, second = model.statistics.latencies[0]
    assert first == second


def test_separate_l2s_hold_lines_for_own_sms():
    """Block 1, on the other L2, finds in the level what block 0 has read; block 2, on block 0's SM, in L2."""
    gpu = _gpu(sm__count=2, l2__instances=2, l2__slices=2, l2__size_bytes=16384)
    walk = [machines.instruction([(line, 15)]) for line in range(32)]
    later = [machines.instruction([(line, 15)], compute_run=10**5 * (line == 0)) for line in range(32)]
    model = reference(machines.trace([[walk], [later]]), gpu, 1, 0)
    assert set(model.statistics.latencies[0][32:]) == {L3}
    assert _dram(model, "read") == 4 * 32


@st.composite
def _levels(draw, sections: dict[str, Any]) -> dict[str, Any]:
    """Cache levels between L2 and DRAM of a few sets and ways."""
    line, above = sections["l1"]["line_bytes"], sections["l2"]["hit_latency_cycles"]
    levels = draw(st.integers(1, 2))
    own: dict[str, list[Any]] = defaultdict(list)
    for _ in range(levels):
        ways, slices = draw(st.sampled_from([1, 2, 4])), draw(st.integers(1, 3))
        level_line = draw(st.sampled_from([size for size in (32, 64, 128, 256) if size <= line]))
        above += draw(st.integers(1, 40))
        fields = dict(
            size_bytes=ways * slices * level_line * draw(st.sampled_from([1, 2, 4])), line_bytes=level_line, ways=ways,
            slices=slices, slice_interleave_bytes=line * draw(st.sampled_from([1, 2])),
            slice_hash=draw(st.sampled_from(["modulo", "rotated"])),
            set_hash=draw(st.sampled_from(["modulo", "xor_fold", "rotated", "polynomial"])),
            replacement=draw(st.sampled_from([one.value for one in Replacement])), hit_latency_cycles=above,
            slice_bytes_per_cycle=draw(st.sampled_from([8, 24, 32, 64])),
        )  # fmt: skip
        for name, value in fields.items():
            own[name].append(value)
    return dict(own, levels=levels)


@drawn(80, quick=8)
@given(st.data())
def test_conservation_on_random_machines(data):
    gpu = data.draw(machines.machines(memory_side=_levels))
    model = reference(data.draw(machines.traces(gpu)), gpu, data.draw(st.integers(1, 3)), data.draw(st.integers(0, 9)))
    counts = counts_of(MEMORY_SIDE, np.array([model.statistics.components[key] for key in COUNTERS]))
    assert not [words for words, holds in MEMORY_SIDE.laws.items() if not holds(counts)]
    if gpu.memory_side.levels:
        last = gpu.memory_side.each[-1].name
        assert counts[f"{last}_misses"] == _dram(model, "read")
        assert counts["l3_writes"] == counts[f"{last}_writes"] == _dram(model, "write")
    assert model.unfinished == 0 or gpu.sm.dependence == "scoreboard"


@drawn(20, quick=3)
@given(st.data())
def test_level_changes_times_but_not_what_l2_counts(data):
    """With one warp, whose accesses wait for each other, L1 and L2 count the same with the levels and without."""
    gpu = data.draw(machines.machines(memory_side=_levels))
    lines = data.draw(st.lists(st.integers(0, 15), min_size=1, max_size=30))
    mask = (1 << gpu.l1.line_bytes // 32) - 1
    tx = machines.trace([[[machines.instruction([(line, mask)]) for line in lines]]])
    without = gpu.model_copy(update={"memory_side": MemorySide()})
    one, other = (
        {key: n for key, n in reference(tx, of, 1, 0).statistics.counts.items() if key[1] in ("l1", "l2")}
        for of in (gpu, without)
    )
    assert one == other


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (dict(level=dict(ways=[])), "memory_side.ways has 0 entries; give one per level, memory_side.levels = 1"),
        (
            dict(level=dict(hit_latency_cycles=[60])),
            "memory_side.hit_latency_cycles is 60 in l3; give more than the 60",
        ),
        (dict(level=dict(line_bytes=[256])), "memory_side.line_bytes is 256; give a power of two from 32 to"),
        (dict(level=dict(size_bytes=[1000])), "memory_side.size_bytes is 1000; give a multiple of"),
        (dict(level=dict(slice_interleave_bytes=[100])), "memory_side.slice_interleave_bytes is 100; give a multiple"),
        (dict(l2__instances=3), "l2.instances is 3; give a divisor of slices"),
    ],
)
def test_wrong_levels_are_refused(changes, words):
    with pytest.raises(InputError, match=words):
        _gpu(**changes)


@pytest.mark.parametrize(
    ("gpu", "words"),
    [
        (_gpu(), "memory_side.levels is 1, which only the reference model has; give --engine reference, or 0"),
        (machines.gpu(l2__instances=2, l2__slices=2), "l2.instances is 2, which only the reference model has"),
    ],
)
def test_the_compiled_engine_refuses_by_name(gpu, words):
    with pytest.raises(InputError, match=words):
        System(machines.trace([[[machines.instruction([(0, 1)])]]]), gpu, 1, np.random.SeedSequence(0))


def test_a_launch_finds_what_the_last_left():
    gpu, lines = _gpu(), list(range(16 * 8))
    tx = machines.trace([[[machines.instruction([(line, 15)]) for line in lines]]])
    second = reference(tx, gpu, 1, 0, reference(tx, gpu, 1, 0))
    assert _dram(second, "read") == 0 and _counts(second)["l3_hits"] == 4 * len(lines)


def test_run_and_show_report_hit_rate(tmp_path):
    printed(tmp_path, "trace", "saxpy", "-p", "n=2048", "-o", "t.h5", "-q")
    settings = [f"memory_side.{name}={value}".replace("'", '"') for name, value in LEVEL.items()]
    settings = [word for one in settings if "latency" not in one for word in ("--set", one)]
    options = ("--trials", 1, "-j", 1, "--engine", "reference", "--set", "memory_side.hit_latency_cycles=[500]")
    printed(tmp_path, "run", "t.h5", *options, *settings, "-o", "r.h5", "-q")
    text = printed(tmp_path, "show", "r.h5")
    assert "memory_side (1): l3_hit_rate" in text and "l4" not in text.lower()
    rows = {row[0]: row[1:] for line in text.splitlines() if len(row := line.split()) == 8 and row[1] == "sectors"}
    assert list(rows) == ["L1", "L2", "L3", "DRAM"]
    reads, writes, _, hits, misses, merges = (int(one.replace(",", "")) for one in rows["L3"][1:])
    assert reads + writes == hits + misses + merges and rows["DRAM"][1] == rows["L3"][1]


def test_a_prefetcher_without_requests_prints_no_counts(tmp_path):
    printed(tmp_path, "trace", "saxpy", "-p", "n=32", "-o", "t.h5", "-q")
    options = ("--trials", 1, "-j", 1, "--set", "prefetcher.kind=stride")
    text = printed(tmp_path, "run", "t.h5", *options, "--quick")
    assert "prefetcher (stride): coverage 0.0 %\n" in text and "prefetcher counts" not in text
