"""SpMV on the Tesla C2050 shows what the paper reports of it (Baghsorkhi 2012, sections 5.3 and 6.2)."""

import numpy as np
import pytest

import memsim


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    """One residency of rows (the paper takes four), which is enough for the shape of the result."""
    path = tmp_path_factory.mktemp("spmv") / "spmv.h5"
    memsim.trace("spmv", rows=21504, nnz_per_row=32, blocks="all", out=path)
    return memsim.simulate(path, gpu="tesla-c2050", trials=32, seed=1, jobs=2)


@pytest.mark.slow
def test_hit_ratios_are_steady(result):
    """The sd of the L2 read hit ratio is at most 0.02, and after 20 trials it has settled."""
    assert 0 < result.l2_read.sd <= 0.02
    assert 0 < result.l1_read.sd <= 0.02
    trials, sd = result.l2_read.convergence()
    late = sd[np.asarray(trials) >= 20]
    assert np.all(np.abs(late - result.l2_read.sd) <= 0.5 * result.l2_read.sd)


@pytest.mark.slow
def test_streams_are_slower_than_the_gather(result):
    """`val` and `indices`, read in order by each thread, are far slower than the gather from `y`."""
    latency = {load.text: load.latency.mean for load in result.loads}
    expected = {load.text: load.x.mean for load in result.loads}
    for stream in ("val[j]", "indices[j]"):
        assert latency[stream] > 1.3 * latency["y[ind]"]
        assert expected[stream] > 1.3 * expected["y[ind]"]
