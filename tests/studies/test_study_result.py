"""A study's tables against the trials they come from."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
import synthetic

from memsim.analysis.result import RunResult
from memsim.report.study import conclusions
from memsim.report.study import text as study_text
from memsim.studies.effects import surely_less
from memsim.studies.result import StudyTrials
from memsim.studies.store import StudyCase
from memsim.support.errors import InputError

POINTS = [{"l1.ways": 4, "gpu": "tesla-c2050"}, {"l1.ways": 8, "gpu": "tesla-c2050"}, {"l1.ways": 16, "gpu": "h100"}]
FEWER, MORE = synthetic.spmv(3, seed=1), synthetic.spmv(5, seed=2)


@pytest.fixture
def study():
    """Three points, the last of which was not simulated."""
    return StudyTrials(POINTS, [StudyCase("spmv")], {(0, 0): FEWER, (1, 0): MORE})


def test_outputs_are_those_of_the_results(study):
    found = study.output("l2_read")
    assert found.shape == (3, 5) and np.isnan(found[0, 3:]).all() and np.isnan(found[2]).all()
    assert np.array_equal(found[1], RunResult(MORE).l2_read.values)
    assert np.array_equal(study.output("time_ms")[0, :3], RunResult(FEWER).kernel_time.values)
    assert study.means("tm")[:2].tolist() == [RunResult(one).memory_latency.mean for one in (FEWER, MORE)]
    assert study.varied == ("l1.ways", "gpu") and len(study.outputs) == 6


def test_an_unknown_output_is_named(study):
    with pytest.raises(InputError, match="l3_read is not an output; give one of l1_read"):
        study.output("l3_read")


def test_a_frame_has_a_row_a_trial(study):
    pytest.importorskip("pandas")
    frame = study.to_frame()
    assert len(frame) == 8 and frame[frame.point == 1]["l1.ways"].tolist() == [8] * 5
    assert frame.groupby("point").cycles.mean().tolist() == study.means("cycles")[:2].tolist()


def test_an_xarray_has_ops_and_levels(study):
    pytest.importorskip("xarray")
    found = study.to_xarray()
    assert found.sizes == {"point": 3, "trial": 5, "op": len(synthetic.OPS), "level": 3}
    loads = [op["kind"] == "load" for op in MORE.ops]
    l1 = (found.hit.sum("op") / found.asked.isel(op=loads).sum("op")).sel(level="l1", point=1)
    assert np.allclose(l1, RunResult(MORE).l1_read.values, atol=1e-12)


def _scaled(trials, factor, noise):
    """The same trials with other times; noise differs from trial to trial and from point to point."""
    cycles = (trials.cycles * factor * (1 + np.array(noise))).astype(trials.cycles.dtype)
    return replace(trials, cycles=cycles)


def _grid(factors):
    """Points over two fields, whose times are so many times those of the same trials, each with its own noise."""
    points = [{"l1.size_bytes": size, "l1.ways": ways} for size in (16384, 49152) for ways in (4, 8)]
    base, rng = synthetic.spmv(6, seed=3), np.random.default_rng(5)
    trials = {
        (number, 0): _scaled(base, factors(point), rng.normal(0, 0.004, 6)) for number, point in enumerate(points)
    }
    return StudyTrials(points, [StudyCase("spmv", "tesla-c2050")], trials)


def test_a_study_begins_with_a_sentence():
    """The field that matters with its saving; what lies within the noise is no winner."""
    (sentence,) = conclusions(_grid(lambda point: 0.8 if point["l1.size_bytes"] == 49152 else 1.0))
    found = re.fullmatch(
        r"spmv on tesla-c2050: l1.size_bytes 48 KiB saves ([\d.]+) % \(([\d.]+) … ([\d.]+)\) compared with 16 KiB; "
        r"l1.ways changes nothing within the noise",
        sentence,
    )
    assert found is not None and float(found[1]) == pytest.approx(20, abs=1)
    assert float(found[2]) < float(found[1]) < float(found[3])
    unchanged = _grid(lambda point: 1.0)
    assert conclusions(unchanged) == ["spmv on tesla-c2050: l1.size_bytes and l1.ways change nothing within the noise"]
    text = study_text(unchanged)
    assert text.index("change nothing") < text.index("48 KiB") and "time, " in text


def test_what_no_sentence_can_say():
    lonely = StudyTrials([{"l1.ways": 4}], [StudyCase("spmv")], {(0, 0): FEWER})
    assert conclusions(lonely) == ["spmv: one point"]
    diagonal = StudyTrials([{"a": 1, "b": 1}, {"a": 2, "b": 2}], [StudyCase("spmv")], {(0, 0): FEWER, (1, 0): MORE})
    assert "no two of its points differ in a single field" in conclusions(diagonal)[0]
    one = synthetic.spmv(1)
    single = StudyTrials([{"l1.ways": 4}, {"l1.ways": 8}], [StudyCase("spmv")], {(0, 0): one, (1, 0): one})
    assert "one trial per point" in conclusions(single)[0]


def test_front_has_no_point_within_noise_of_cheaper():
    same, faster = _grid(lambda point: 1.0), _grid(lambda point: 0.8 if point["l1.ways"] == 8 else 1.0)
    assert not any(surely_less(same, first, second, 0) for first in range(4) for second in range(4))
    assert surely_less(faster, 1, 0, 0) and not surely_less(faster, 0, 1, 0)
