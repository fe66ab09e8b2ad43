"""The paper's microbenchmarks rediscover what a preset configures (Baghsorkhi et al., PPoPP 2012, section 2.1)."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from budget import drawn
from cache_pairs import two_caches
from hypothesis import given, reject
from hypothesis import strategies as st

import memsim
from experiments.baghsorkhi2012 import machine
from experiments.microbenchmarks import study
from memsim.calibration import discover
from memsim.calibration.simulated import QUIET, SimulatedDevice
from memsim.calibration.walks import laps
from memsim.gpu.choices import Inclusion
from memsim.gpu.presets import load_gpu, override
from memsim.hierarchy.system import System
from memsim.trace.coalesce import coalesce


@pytest.mark.parametrize("order", ["sequential", "random"])
@pytest.mark.parametrize("name", ["tesla-c2050", "tesla-v100"])
def test_walks_are_those_of_pointer_chase_kernel(name, order):
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
    walked = laps(SimulatedDevice(gpu), base + path * stride)
    mean = trial.latency_sum[links] / trial.latency_count[links]
    assert trial.latency_count[links] == 3 * elements
    assert mean == pytest.approx(np.mean([lap.mean for lap in walked]), rel=0.01)  # DRAM's clock may stand elsewhere


UNTRANSLATED = {"translation.enabled": False}


@cache
def l2_of(name):
    """A preset's L2 as walks find it without an L1: whatever that is, and whether L2 includes it."""
    return discover.nearest_cache(SimulatedDevice(override(load_gpu(name), UNTRANSLATED)).without_l1())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tesla-c2050", "gtx480", "tesla-k80"])
def test_the_walks_find_every_parameter_of_a_preset(name):
    """The V100's are found by the same walks in `tests/calibration/test_calibrate.py`."""
    gpu = override(load_gpu(name), {"l1.serves": "all"})  # the K80's serves textures alone
    rows = study.table(gpu, l2=l2_of(name))
    found = {parameter: value for parameter, _, value in rows}
    assert study.differing(rows) == {}
    if name == machine.GPU:  # published walks of this one
        assert {claim.verdict for claim in machine.walk_claims(rows)} == {"met"}
    assert found["second reader of a list, cycles"] < found["reader of a list of its own, cycles"]
    assert found["the same with L1 off, cycles"] <= found["L2 hit latency, cycles"]
    lost = discover.ROUNDS if gpu.l2.inclusion is Inclusion.inclusive else 0
    assert found["lines that L1 loses with L2"] == f"{lost} of {discover.ROUNDS}"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tesla-c2050", "gtx480"])
def test_fermi_would_be_found_not_inclusive(name):
    """Though the C2050's lines that share a set of L2 overfill a set of its L1, and the GTX 480's L1 is random."""
    device = SimulatedDevice(override(load_gpu(name), {"l2.inclusion": "non_inclusive"}))
    assert discover.back_invalidated(device, l2_of(name).rivals, discover.hit_latency(device)) == 0


@pytest.mark.slow
def test_the_48_kb_of_fermi_are_found():
    """The other option of its L1: 64 sets, whose hash differs (Nugteren et al., HPCA 2014)."""
    device = SimulatedDevice(override(load_gpu("gtx480"), {"l1.size_bytes": 49152, "l1.ways": 6}))
    l1 = discover.included_cache(device, l2_of("gtx480"))
    assert (l1.line_bytes, l1.ways, l1.size_bytes) == (128, 6, 49152)


@pytest.mark.slow
@drawn(20, quick=2)
@given(two_caches(), st.integers(0, 99))
def test_the_walks_find_any_two_caches(gpu, seed):
    try:
        rows = study.table(gpu, seed)
    except RuntimeError:  # no list fills a set of L1 but not one of L2
        assert gpu.l2.inclusion is Inclusion.inclusive
        reject()
    assert study.differing(rows) == {}
