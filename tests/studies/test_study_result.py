"""A study's tables against the trials they come from."""

from __future__ import annotations

import numpy as np
import pytest
import synthetic

from memsim.analysis.result import Result
from memsim.studies import Case, StudyResult
from memsim.support.errors import InputError

POINTS = [{"l1.ways": 4, "gpu": "tesla-c2050"}, {"l1.ways": 8, "gpu": "tesla-c2050"}, {"l1.ways": 16, "gpu": "h100"}]
FEWER, MORE = synthetic.spmv(3, seed=1), synthetic.spmv(5, seed=2)


@pytest.fixture
def study():
    """Three points, the last of which was not simulated."""
    return StudyResult(POINTS, [Case("spmv")], {(0, 0): FEWER, (1, 0): MORE})


def test_outputs_are_those_of_the_results(study):
    found = study.output("l2_read")
    assert found.shape == (3, 5) and np.isnan(found[0, 3:]).all() and np.isnan(found[2]).all()
    assert np.array_equal(found[1], Result(MORE).l2_read.values)
    assert np.array_equal(study.output("time_ms")[0, :3], Result(FEWER).kernel_time.values)
    assert study.means("tm")[:2].tolist() == [Result(one).memory_latency.mean for one in (FEWER, MORE)]
    assert study.varied == ("l1.ways", "gpu") and len(study.outputs) == 6


def test_an_unknown_output_is_named(study):
    with pytest.raises(InputError, match="l3_read is no output; give one of l1_read"):
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
    assert np.allclose(l1, Result(MORE).l1_read.values, atol=1e-12)
