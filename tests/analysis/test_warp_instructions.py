"""The warp instructions of a trace: those of its rows, counted by hand."""

import numpy as np
from trace_programs import ARRAYS, OPS, chunk

import memsim
from memsim.analysis.profiler import metrics
from memsim.analysis.result import RunResult
from memsim.analysis.utilization import warp_instructions
from memsim.trace.schema import NO_OP, Flag, LaunchShape
from memsim.trace.writer import TraceWriter


def result_of(warp, path) -> RunResult:
    with TraceWriter(path, kernel="k", source="k.cu", parameters={}) as writer:
        writer.append(np.array([0]), chunk([warp]))
        writer.finish(LaunchShape((1, 1, 1), (32, 1, 1), shared_bytes=256), OPS, ARRAYS)
    return memsim.simulate(path, "tesla-v100", trials=1)


def test_an_access_of_no_lane_is_one(tmp_path):
    """A load behind three instructions, two accesses of no lane behind one each, a barrier."""
    off = (NO_OP, int(Flag.masked), 1, 0, 0, 0, 0, [])
    barrier = (NO_OP, int(Flag.barrier | Flag.sequence), 0, 2**32 - 1, 0, 0, 0, [])
    result = result_of([(0, int(Flag.sequence), 3, 1, 512, 4, 0, []), off, off, barrier], tmp_path / "t.h5")
    assert warp_instructions(result.trials) == 4 + 2 * 2
    assert metrics(result)["smsp__inst_executed.sum"].values.mean == 4 + 2 * 2 + 1
