"""The timeline of a profile: what its activities ask for, with the kernels' predicted times."""

from __future__ import annotations

import pytest

import memsim
from memsim.host.profiled import profiled_timeline

GPU = "tesla-v100"  # states its host figures


@pytest.fixture(scope="module")
def result():
    traces = [memsim.trace("saxpy", gpu=GPU, n=1 << 12, blocks="all") for _ in range(3)]
    activities = [
        ("to_gpu", 1, 1 << 20), ("wait_stream", 1, 0), ("launch", 3, 0), ("launch", 4, 1), ("launch", 3, 2),
        ("to_host", 3, 1 << 20), ("fill", 4, 1 << 20), ("wait_device", 1, 0),
    ]  # fmt: skip
    return memsim.profile_program(traces, GPU, quick=True, activities=activities)


def test_activities_become_spans_in_their_streams(result):
    timeline, rests_on = profiled_timeline(result)
    assert rests_on == ""
    (there,), (back,) = timeline.of("to_gpu"), timeline.of("to_host")
    kernels = timeline.of("kernel")
    assert [span.row for span in kernels] == ["stream 3", "stream 4", "stream 3", "stream 4"]
    assert [span.name for span in kernels][3] == "fill"
    assert all(span.start >= there.end for span in kernels)  # the host waited for the copy
    assert back.start >= kernels[2].end  # the order of a stream
    gpu = result.groups[0]
    assert kernels[2].end - kernels[2].start == pytest.approx(1000 * gpu.typical.active_time.mean, rel=0.01)


def test_a_profile_keeps_its_activities(result, tmp_path):
    from memsim.analysis.program import ProgramResult

    result.save(tmp_path / "p.h5")
    kept = ProgramResult.load(tmp_path / "p.h5")
    assert kept.about["activities"] == result.about["activities"]
    assert [row[2] for row in kept.about["activities"] if row[0] == "launch"] == [0, 0, 0]  # the group, not the place
