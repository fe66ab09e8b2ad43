"""Arithmetic of experiments/silicon/cuda/mechanisms.cu against counters of an H100 SXM (Nsight Compute 2025.3)."""

from __future__ import annotations

from pathlib import Path

import pytest
from compilers import needs_nvcc

import memsim
from memsim.trace.schema import INSTRUCTION_CLASSES

SOURCE = Path(__file__).parents[2] / "experiments" / "silicon" / "cuda" / "mechanisms.cu"
EMPTY = 350  # active cycles of an SM in a launch that does nothing
# Kernel: active cycles of an SM; warp instructions of each warp on the ALU, the FMA pipe, its heavy half, and the XU.
MEASURED = {
    "op_iadd<4>": (4997, (521, 551, 551, 0)),
    "op_vote<4>": (33844, (4135, 40, 40, 0)),
    "op_convert<1>": (12506, (535, 18, 18, 512)),
    "op_shuffle<1>": (14034, (22, 21, 21, 0)),
}


@needs_nvcc
@pytest.mark.slow
@pytest.mark.parametrize("kernel", MEASURED)
def test_arithmetic_takes_pipes_and_time_of_h100(kernel):
    cycles, instructions = MEASURED[kernel]
    trace = memsim.capture([SOURCE], arguments=["pipes"], kernel=kernel, gpu="h100").trace
    counts = dict.fromkeys(INSTRUCTION_CLASSES, 0)
    for chunk in trace.chunks():
        for name in counts:
            counts[name] += int(trace.issue.mixes[f"count_{name}"][chunk.instruction_mix].sum())
    multiply, xu = counts["multiply"], counts["special"] + counts["conversion"]
    found = (counts["integer"], multiply + counts["fp32"], multiply, xu)
    assert [number // trace.n_warps for number in found] == list(instructions)
    result = memsim.simulate(trace, "h100", trials=1)
    assert result.cycles.mean == pytest.approx(cycles - EMPTY, rel=0.06)
