"""Sobol indices against those known in closed form: Ishigami's function, and a hierarchy whose time is a sum."""

from __future__ import annotations

import json
from math import pi

import numpy as np
import pytest
from scipy.stats import sobol_indices
from typer.testing import CliRunner

import memsim
from memsim import Launch, Thread, workload
from memsim.analysis.sobol import indices
from memsim.cli import app
from memsim.gpu.presets import load_gpu, override
from memsim.studies.design import sampled
from memsim.studies.ranges import made
from memsim.studies.result import StudyCase, StudyTrials
from memsim.studies.sobol import is_saltelli, of_study
from memsim.studies.sources import by_source
from memsim.support.errors import InputError

NAMES = ("x1", "x2", "x3")


@pytest.mark.slow
def test_ishigami():
    """Ishigami and Homma 1990; indices by the formulas in Saltelli et al., Global Sensitivity Analysis (2008)."""
    vary = {name: made({"from": -pi, "to": pi}) for name in NAMES}
    n = 1 << 12
    x = np.array([[point[name] for name in NAMES] for point in sampled("saltelli", vary, n, seed=1)])
    y = np.sin(x[:, 0]) + 7 * np.sin(x[:, 1]) ** 2 + 0.1 * x[:, 2] ** 4 * np.sin(x[:, 0])
    a, b, *ab = y.reshape(5, n)
    found = indices("y", NAMES, a, b, np.array(ab))
    assert [one.first for one in found.inputs] == pytest.approx([0.3139, 0.4424, 0.0], abs=0.02)
    assert [one.total for one in found.inputs] == pytest.approx([0.5576, 0.4424, 0.2437], abs=0.02)
    for one, first, total in zip(found.inputs, (0.3139, 0.4424, 0.0), (0.5576, 0.4424, 0.2437), strict=True):
        assert one.first_interval.low < first < one.first_interval.high
        assert one.total_interval.low < total < one.total_interval.high
    assert [one.name for one in found.ranked] == ["x1", "x2", "x3"]


def test_indices_are_scipys_and_repeat_exactly():
    a, b, ab = np.split(np.random.default_rng(1).random((5, 64)), [1, 2])
    found = indices("y", NAMES, a[0], b[0], ab)
    expected = sobol_indices(func={"f_A": a, "f_B": b, "f_AB": ab[:, None]}, n=64)
    assert [one.first for one in found.inputs] == pytest.approx(expected.first_order)
    assert [one.total for one in found.inputs] == pytest.approx(expected.total_order)
    assert indices("y", NAMES, a[0], b[0], ab) == found


def _walk(t: Thread, a, out, laps, lines):
    at = 0.0
    for _lap in t.range(laps):
        for line in t.range(lines):
            at = at + a[t.lane_id + 32 * line]
    out[t.lane_id] = at


@workload
def walk(lines: int = 12, laps: int = 3) -> Launch:
    arguments = dict(a=np.ones(32 * lines, np.float32), out=np.zeros(32, np.float32), laps=laps, lines=lines)
    return Launch(_walk, grid=1, block=32, arguments=arguments)


@pytest.mark.slow
def test_a_hierarchy_whose_latency_is_a_sum(tmp_path):
    """One warp with one load under way at a time: mean latency = h1 t1 + (1 - h1) t2 for an L2 that holds all."""
    trace = memsim.trace(walk, out=tmp_path / "t.h5")
    vary = {
        "l1.hit_latency_cycles": made({"from": 20, "to": 120}),
        "l2.hit_latency_cycles": made({"from": 200, "to": 400}),
    }
    points = sampled("saltelli", vary, 32, seed=2)
    gpu = override(load_gpu("tesla-c2050"), {"stochastic.start_alignment": False})
    done = {}
    for number, point in enumerate(points):
        done[number, 0] = memsim.simulate(trace, gpu, trials=1, settings=point, warm=True).trials
    latency = np.array([done[k, 0].latency_sum.sum() / done[k, 0].latency_count.sum() for k in range(len(points))])
    h1 = memsim.simulate(trace, gpu, trials=1, warm=True).l1_read.mean
    expected = np.array([h1 * p["l1.hit_latency_cycles"] + (1 - h1) * p["l2.hit_latency_cycles"] for p in points])
    assert h1 > 0 and latency == pytest.approx(expected, rel=0.02)
    study = StudyTrials(points, [StudyCase("walk", "tesla-c2050")], done)
    found = {one.name: one for one in of_study(study, "cycles").inputs}
    terms = {"l1.hit_latency_cycles": h1 * 100, "l2.hit_latency_cycles": (1 - h1) * 200}
    for name, term in terms.items():
        share = term**2 / sum(each**2 for each in terms.values())
        assert found[name].first == pytest.approx(share, abs=0.08)
        assert found[name].total == pytest.approx(share, abs=0.08)


def test_other_designs_and_unfinished_ones_are_refused():
    vary = {"l1.mshrs": made([1, 2, 4]), "l2.mshrs": made([8, 16])}
    points = sampled("saltelli", vary, 4, seed=0)
    complete = StudyTrials(points, [StudyCase("k")], {})
    assert is_saltelli(complete)
    with pytest.raises(InputError, match="16 points .* --resume"):
        of_study(complete, "cycles")
    for other in (sampled("random", vary, 16, seed=0), points[:-1], []):
        with pytest.raises(InputError, match="saltelli"):
            of_study(StudyTrials(other, [StudyCase("k")], {}), "cycles")


@pytest.mark.slow
def test_a_studys_file_gives_its_indices(tmp_path):
    ranges = {"dram.latency_cycles": {"from": 200, "to": 600}, "sm.barrier_cycles": {"from": 1, "to": 9}}
    kernel = {"workload": "saxpy", "parameters": {"n": 1 << 12}, "blocks": "all"}
    design = {"method": "saltelli", "points": 32}
    path = tmp_path / "study.h5"
    memsim.Study(kernels={"saxpy": kernel}, design=design, vary=ranges, trials=1).run(path)
    done = CliRunner().invoke(app, ["sensitivity", str(path), "--json", "-o", str(tmp_path / "s.png")])
    assert done.exit_code == 0, done.output
    (outputs,) = json.loads(done.stdout)["cases"].values()
    latency, barrier = outputs["cycles"]["inputs"]
    assert latency["name"] == "dram.latency_cycles" and latency["total"] > 0.5
    assert barrier["total"] == 0  # the kernel has none
    assert (tmp_path / "s.png").exists()
    refused = CliRunner().invoke(app, ["sensitivity", str(path), "--uncertain"])
    assert refused.exit_code == 2 and "is a study" in refused.stderr


@pytest.mark.slow
def test_the_sources_of_a_spread():
    """Nothing but the main-memory step draws its groups; only starts and arbitration move the replay here."""
    trace = memsim.trace("spmv", rows=2048, nnz_per_row=8)
    gpu = load_gpu("tesla-c2050")
    found = by_source(trace, gpu, points=16)
    assert found.trials == 16 * (len(found.sources) + 2)
    cycles = {one.name: one for one in found.outputs["cycles"].inputs}
    assert cycles["dram_grouping"].total == 0 == cycles["dram_grouping"].total_interval.width
    assert cycles["start_alignment"].total > 0.5 > cycles["arbitration"].total
    tm = {one.name: one.total for one in found.outputs["tm"].inputs}
    assert tm["dram_grouping"] > 0.05
    plain = memsim.simulate(trace, gpu, trials=32)
    assert found.outputs["cycles"].sd == pytest.approx(plain.cycles.sd)  # A and B are the trials of a plain run
    fixed = override(gpu, {f"stochastic.{name}": False for name in found.sources})
    with pytest.raises(InputError, match="nothing|no spread"):
        by_source(trace, fixed, points=16)
    with pytest.raises(InputError, match="power of two"):
        by_source(trace, gpu, points=12)
