"""What Hong and Kim's model and CuMAPz choose among versions of a program (experiments/cumapz2011, figure 11)."""

from __future__ import annotations

import pytest

import memsim
from experiments.cumapz2011.choices import choices, claims
from experiments.cumapz2011.described import described
from experiments.cumapz2011.programs import ORIGINALS, PROGRAMS, UNBUFFERED
from experiments.cumapz2011.simulated import GPU, VersionTime
from memsim.models.cumapz import estimate


def loads(version: str, static: bool) -> float:
    """Global memory instructions per warp of a block of Laplace that lies inside."""
    trace = memsim.trace(described, gpu=GPU, blocks="all", program="Laplace", version=version, size=64, static=static)
    counts = memsim.estimate(trace, GPU).counts
    return counts.mem_insts / counts.warps


def test_count_of_code_keeps_partly_served_loads():
    """Nine neighbours and a store: a buffer replaces one load by the load that fills it, but for warps at a border."""
    assert loads(UNBUFFERED, static=True) == loads(UNBUFFERED, static=False)
    assert loads("[+0][+1]", static=True) == pytest.approx(loads(UNBUFFERED, static=True), abs=0.2)
    assert loads("[+0][+1]", static=False) < 8.5


def test_versions_of_equal_estimates_go_to_the_fastest():
    gpu = memsim.load_gpu(GPU)
    factors = {("Transpose", name): estimate(one, gpu) for name, one in PROGRAMS["Transpose"](256).items()}
    times = {key: VersionTime(4.0 + k, 1.0 + 0.001 * k, 1.0) for k, key in enumerate(factors)}
    times |= {(program, original): VersionTime(9.0, 8.0, 8.0) for program, original in ORIGINALS.items()}
    others = {(program, original): factors["Transpose", "padded"] for program, original in ORIGINALS.items()}
    others.pop(("Transpose", UNBUFFERED))
    found = {one.program: one for one in choices(factors | others, times)}
    transpose = found["Transpose"]
    assert transpose.by_mwp_cwp == transpose.by_executed == "shared"
    assert transpose.by_mpe == max(factors, key=lambda one: factors[one].mpe)[1]
    assert [claim.ours for claim in claims(list(found.values()))][0] == 3  # the others have no version with a buffer
