"""The paper's microbenchmarks rediscover what a preset configures (Baghsorkhi et al., PPoPP 2012, section 2.1)."""

from __future__ import annotations

import numpy as np
import pytest

import memsim
from experiments.microbenchmarks import discover, study
from experiments.microbenchmarks.chase import QUIET, laps, within
from memsim.hierarchy.system import System
from memsim.presets import load_gpu, override
from memsim.trace.coalesce import coalesce


def differing(rows: list[study.Row]) -> dict[str, object]:
    """Found values that are not the configured ones."""
    return {parameter: found for parameter, configured, found in rows if found != configured}


@pytest.mark.parametrize("order", ["sequential", "random"])
@pytest.mark.parametrize("name", ["tesla-c2050", "tesla-v100"])
def test_the_walks_are_those_of_the_pointer_chase_kernel(name, order):
    """Cycles and counts agree but for the kernel's own instructions: its last store and the compute between links."""
    gpu = override(load_gpu(name), QUIET | {"sm.count": 1, "sm.instruction_cycles": 0})
    elements, stride = 200, gpu.l1.line_bytes
    trace = memsim.trace("pointer_chase", bytes=elements * stride, stride=stride, laps=3.0, order=order)
    trial = System(coalesce(trace, gpu), gpu, 1, np.random.SeedSequence(0)).run()
    links = next(i for i, op in enumerate(trace.ops) if trace.arrays[op.array].name == "links")
    path = np.arange(elements)
    if order == "random":
        path = np.concatenate([[0], 1 + np.random.default_rng(1).permutation(elements - 1)])
    base = next(array.base for array in trace.arrays if array.name == "links")
    walked = laps(gpu, base + path * stride)
    mean = trial.times[links]["sum"] / trial.times[links]["count"]
    assert trial.times[links]["count"] == 3 * elements
    assert mean == pytest.approx(np.mean([lap.mean for lap in walked]), rel=0.01)  # DRAM's clock may stand elsewhere


def test_the_c2050_is_found_as_the_paper_measured_it():
    gpu = load_gpu("tesla-c2050")
    assert differing(study.first_level(gpu) + study.second_level(gpu)) == {}
    rows = {parameter: found for parameter, _, found in study.inclusion(gpu)}
    assert rows["second reader of a list, cycles"] == 288 < rows["reader of its own list, cycles"]
    assert rows["L2 inclusive"] is True


def test_the_c2050_would_be_found_not_inclusive():
    gpu = override(load_gpu("tesla-c2050"), {"l2.inclusion": "non_inclusive"})
    assert not discover.back_invalidates(gpu, gpu.l2.size_bytes, 128)


def test_the_gtx480_is_found_but_for_its_hash():
    """Its hashed sets are not filled alike by an odd stride, so fewer lines fit and a line looks longer."""
    gpu = load_gpu("gtx480")
    assert list(differing(study.first_level(gpu) + study.second_level(gpu))) == ["L1 line, bytes"]


def test_the_v100_is_found_at_the_edges():
    """The quick form: sizes are confirmed, not searched for."""
    gpu = load_gpu("tesla-v100")
    hit = discover.hit_latency(gpu)
    assert hit == gpu.l1.hit_latency_cycles
    assert discover.fetch_bytes(gpu) == gpu.l1.sector_bytes
    lines = gpu.l1.size_bytes // 128
    assert discover.fits(gpu, np.arange(lines) * 128, hit) and not discover.fits(gpu, np.arange(lines + 1) * 128, hit)
    off = override(gpu, {"l1.enabled": False})
    assert discover.fetch_bytes(off) == gpu.l2.sector_bytes
    beyond_l1 = laps(gpu, np.arange(16 * lines) * 128, 2)[-1]
    assert beyond_l1.mean == gpu.l2.hit_latency_cycles and within(beyond_l1.slowest, gpu.l2.hit_latency_cycles)


@pytest.mark.slow
def test_the_v100_is_found():
    """L2's sets are hashed: lines that share one do not lie at one stride, and the walk does not find its ways."""
    gpu = load_gpu("tesla-v100")
    assert differing(study.first_level(gpu) + study.second_level(gpu)) == {"L2 ways": None}
    assert dict((row[0], row[2]) for row in study.inclusion(gpu))["L2 inclusive"] is False
