"""The MI300X: latencies of a pointer chase against mt4g's, figures of AMD's white paper, and described kernels."""

from __future__ import annotations

import machines
import numpy as np
import pytest
from engines import reference
from typer.testing import CliRunner

import memsim
from memsim.analysis.result import RunResult
from memsim.cli import app
from memsim.exploration.prune import driver_of
from memsim.gpu.config import GPU
from memsim.gpu.presets import load_gpu, override
from memsim.reference.model import ReferenceModel
from memsim.report.text import tables
from memsim.support.errors import InputError
from memsim.why.explain import explain

MI300X = load_gpu("mi300x")
KIB = 1024
LINE = 128
CERTAIN = {"stochastic.arbitration": False, "stochastic.start_alignment": False}
# mt4g, sample_results: medians, cycles at 2100 MHz; the Infinity Cache of the MI300A, the others of the MI300X VF
MEASURED = {"L1": 116, "L2": 288, "Infinity Cache": 492, "memory": 876}


def _small() -> GPU:
    """The MI300X with caches of 4 KB, of 16 KB in each XCD, and of 64 KB, so that short walks leave them."""
    smaller = {"l1.size_bytes": 4 * KIB, "l2.size_bytes": 8 * 16 * KIB, "memory_side.size_bytes": [64 * KIB]}
    return override(MI300X, smaller | {"l2.slices": 16, "memory_side.slices": [4], "sm.count": 8} | CERTAIN)


def _walk(gpu: GPU, blocks: list[list[int]], rest: int = 0) -> ReferenceModel:
    """A warp per block, on an SM each, that loads line after line; later blocks start `rest` instructions later."""
    warps = [
        [[machines.instruction([(line, 15)], compute_run=rest * number * (k == 0)) for k, line in enumerate(lines)]]
        for number, lines in enumerate(blocks)
    ]
    return reference(machines.trace(warps), gpu, 1, 0)


@pytest.mark.parametrize(
    ("kilobytes", "level"),
    [(2, "L1"), (4, "L1"), (8, "L2"), (16, "L2"), (32, "Infinity Cache"), (64, "Infinity Cache"), (160, "memory")],
)
def test_pointer_chase_finds_latency_of_each_level(kilobytes, level):
    lines = list(range(kilobytes * KIB // LINE))
    latencies = _walk(_small(), [lines * 2]).statistics.latencies[0][len(lines) :]
    assert np.median(latencies) == pytest.approx(MEASURED[level], abs=4 if level == "memory" else 0)


def test_other_xcds_find_lines_in_the_infinity_cache():
    """Compute units 0 and 8 are of one XCD, compute unit 1 is of the next."""
    lines = list(range(16))
    model = _walk(override(MI300X, CERTAIN | {"sm.count": 9}), [lines] * 9, rest=40_000)
    latencies = model.statistics.latencies[0]
    assert set(latencies[16:128]) == {MEASURED["Infinity Cache"]} and set(latencies[128:]) == {MEASURED["L2"]}


def test_capacities_and_rates_are_those_of_white_paper():
    """AMD CDNA 3 white paper: 8 XCDs with 4 MB, 2 KB per clock each; 256 MB at 17.2 TB/s; 5.3 TB/s from HBM3."""
    l2, infinity, dram = MI300X.l2, MI300X.memory_side.each[0], MI300X.dram
    assert l2.size_bytes == l2.instances * 4 * 2**20 and l2.one_instance.slices * 32 * l2.read_sectors == 2048
    assert infinity.size_bytes == 256 * 2**20
    hertz = MI300X.sm.clock_mhz * 1e6
    assert infinity.slices * infinity.slice_bytes_per_cycle * hertz / 1e12 == pytest.approx(17.2, abs=0.05)
    assert dram.channels * 32 / dram.timing.burst * dram.clock_mhz * 1e6 / 1e12 == pytest.approx(5.3, abs=0.05)
    assert MI300X.sm.count * MI300X.l1.bytes_per_cycle * hertz / 1e12 == pytest.approx(81.7, abs=0.1)  # of L1s


def test_described_kernel_runs_with_wavefronts(tmp_path):
    """64 lanes of float32 are two lines; all of a copy's loads miss, and its sectors are those of the arrays."""
    trace = memsim.trace("saxpy", n=2048, gpu="mi300x", blocks="all", out=tmp_path / "t.h5")
    assert trace.launch.warp_size == 64
    result = memsim.simulate(trace, "mi300x", trials=1, seed=1, engine="reference")
    counts = result.components["memory_side"]
    assert counts["l3_reads"] == counts["l3_misses"] == 2 * 2048 * 4 // 32
    assert result.trials.transactions[0] == 3 * 2048 * 4 // LINE


def test_a_time_without_comparison_has_no_interval(tmp_path):
    """The errors known are of NVIDIA's GPUs; the same trials, as if of one, have an interval."""
    trace = memsim.trace("saxpy", n=512, gpu="mi300x", blocks="all", out=tmp_path / "t.h5")
    result = memsim.simulate(trace, "mi300x", trials=1, seed=1, engine="reference")
    result.trials.about["trace"]["instructions"] = "estimated"
    assert result.prediction_interval is None and "prediction interval" not in tables(result)
    result.trials.about["gpu"]["compute_capability"] = "9.0"
    assert RunResult(result.trials).prediction_interval is not None


def test_triton_cannot_compile_for_it():
    with pytest.raises(InputError, match="gfx942, a processor of AMD"):
        driver_of(MI300X)


def test_findings_of_result_need_no_replay(tmp_path):
    trace = memsim.trace("saxpy", n=2048, gpu="mi300x", blocks="all", out=tmp_path / "t.h5")
    result = memsim.simulate(trace, "mi300x", trials=1, seed=1, engine="reference")
    found = explain(result, trace)
    assert found.bottlenecks and all(one.gain is None for one in found.bottlenecks)
    assert "no speed-ups were estimated: mi300x: l2.instances is 8, which only the reference model has" in found.note


def test_what_cannot_run_on_it_is_refused(tmp_path):
    def refused(*arguments: object) -> str:
        done = CliRunner().invoke(app, [str(one) for one in arguments])
        assert done.exit_code == 2 and "Traceback" not in done.output
        return done.output

    memsim.trace("saxpy", n=256, out=tmp_path / "32.h5")
    memsim.trace("saxpy", n=256, gpu="mi300x", out=tmp_path / "64.h5")
    assert "warp_size is 32; mi300x has warps of 64" in refused(
        "run", tmp_path / "32.h5", "--gpu", "mi300x", "--engine", "reference"
    )
    said = refused("run", tmp_path / "64.h5", "--gpu", "mi300x")
    assert "l2.instances is 8, which only the reference model has; give --engine reference" in said
