"""The paper's worked example from a trace to its last digit; the study's kernels execute what tables 4 and 5 print."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import memsim
from experiments.hong_kim2009 import kernels
from experiments.hong_kim2009.cases import COMPUTATION, LOADS, Case, applications, micro
from experiments.hong_kim2009.table_2 import PRINTED, SYSTEM, as_printed, estimated
from memsim.cli import app
from memsim.gpu.presets import load_gpu
from memsim.models.counts import count_instructions
from memsim.models.mwp_cwp import AnalyticKernel, AnalyticMachine

FX5600 = load_gpu("quadro-fx5600")


def test_table_2_from_a_trace():
    done = estimated()
    assert done.machine == AnalyticMachine(16, 1000, 80, 4, 420, 4, 10)
    assert done.kernel == AnalyticKernel(4, 80, 5, 27, 0, 6, uncoal_per_mw=32, synch_insts=6, load_bytes_per_warp=128)
    assert as_printed(done) == PRINTED
    assert done.prediction.cycles == pytest.approx(50738, rel=3e-4)  # unrounded: 50728


def test_the_command_says_so_too(tmp_path):
    """Table 2 rounds MWP to 2.28 before it continues; the command does not."""
    path = tmp_path / "example.h5"
    memsim.trace(kernels.table_2, out=path, blocks="all")
    settings = [word for field, value in SYSTEM.items() for word in ("--set", f"{field}={value}")]
    run = CliRunner().invoke(app, ["estimate", str(path), "--gpu", "quadro-fx5600", *settings, "--json"])
    said = json.loads(run.stdout)
    assert round(said["cycles"]) == 50728 and said["case"] == "memory" and said["mwp_cwp"]["mwp"] == 730 / 320


def per_thread(case: Case, **parameters: int) -> tuple[float, float]:
    """(computation, memory) instructions of a thread."""
    source = getattr(kernels, case.workload, case.workload)
    trace = memsim.trace(source, gpu=FX5600, blocks="0:1", **case.parameters, **parameters)
    counts = count_instructions(trace, FX5600)
    return counts.comp_insts / counts.warps, counts.mem_insts / counts.warps


def of_a_step(case: Case) -> tuple[float, float]:
    fewer, more = (per_thread(case, steps=steps) for steps in (2, 3))
    return more[0] - fewer[0], more[1] - fewer[1]


@pytest.mark.slow
def test_loops_are_those_of_table_4():
    assert LOADS == (0, 1, 1, 2, 2, 4, 6)
    assert [of_a_step(case) for case in micro(quick=False)] == [
        row for row in zip(COMPUTATION, LOADS, strict=True) for _ in range(2)
    ]


# Of a loop's step what table 5 prints for all of it, over its steps: 12043 and 4001 for 2000; 80 + 2000 / T (37 + 3 T)
# and 1 + 2000 / T x 2 for tiles of T; 10871 and 819 for 818 features.
@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("Sepia", (71, 6)), ("Linear", (111, 30)), ("Blackscholes", (137, 7)), ("SVM", (13, 1)),
        ("Mat. (naive)", (6, 2)), ("Mat. (tiled), 8", (61, 2)), ("Mat. (tiled), 16", (85, 2)),
    ],
)  # fmt: skip
def test_applications_are_those_of_table_5(name, printed):
    case = {case.name: case for case in applications(quick=False)}[name]
    assert (of_a_step(case) if case.steps else per_thread(case)) == printed


def test_tiles_cost_what_table_5_prints_at_ends():
    assert [80 + 2000 / side * (kernels.TILE + kernels.ELEMENT * side) for side in (20, 4)] == [9780, 24580]
