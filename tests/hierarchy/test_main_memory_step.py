"""The main-memory step: what it times must be what the replay itself waits for, where both can be compared."""

import numpy as np
import pytest

import memsim
from memsim.gpu.presets import load_gpu, override
from memsim.hierarchy.main_memory import memory_step
from memsim.hierarchy.system import System
from memsim.montecarlo.load_loops import one_load


@pytest.mark.parametrize("name", ["tesla-c2050", "tesla-v100"])
def test_lone_request_waits_as_long_as_its_load(name):
    gpu = override(load_gpu(name), {"l2.fetch_bytes": 32, "translation.enabled": False})  # single sectors, DRAM alone
    system = System(one_load(), gpu, 1, np.random.SeedSequence(0))
    replayed = system.run()
    step = memory_step(system.machine, gpu, system.memory_log, system.machine.log_run, np.random.default_rng(0))
    assert (len(step), replayed.latency_count.sum()) == (1, 1)
    clock = gpu.sm.clock_mhz / gpu.dram.clock_mhz  # the replay's request meets DRAM's clock somewhere in its cycle
    assert abs(step.sum() - replayed.latency_sum.sum()) <= 2 * clock


def test_lone_requests_meet_refresh_in_its_time_share():
    """It waits for what is left of one, rfc / 2 in a share rfc / refi of all cases. One that comes less than rcd before
    finds its bank closed and opens the row, but has not read it when the refresh is due: that closes it again (ras
    after the activate at the soonest, for rp), and all of it passes before the row is opened anew."""
    plain = load_gpu("tesla-v100")
    refi, rfc, times = 1000, 250, 4000

    def mean(gpu) -> float:
        system = System(one_load(), gpu, 1, np.random.SeedSequence(0))
        system.run()
        step = memory_step(system.machine, gpu, np.ones(times, np.int64), 1, np.random.default_rng(0))
        assert len(step) == times
        return step.mean()

    refreshed = override(plain, {"dram.timing.refi": refi, "dram.timing.rfc": rfc})
    clock = plain.sm.clock_mhz / plain.dram.clock_mhz
    t = plain.dram.timing
    assert t.rcd <= t.ras
    expected = (rfc**2 / 2 + t.rcd * (t.ras + t.rp + rfc)) / refi * clock
    error = (rfc**3 / (3 * refi)) ** 0.5 * clock / times**0.5  # of a mean
    assert mean(refreshed) - mean(plain) == pytest.approx(expected, abs=4 * error)


def test_trace_with_few_accesses_still_has_memory_latency():
    trace = memsim.trace("saxpy", n=2048)  # fewer requests than a group for every SM
    result = memsim.simulate(trace, gpu="tesla-v100", trials=2)
    assert result.memory_latency.mean > 400
    assert np.isfinite([load.x.values for load in result.loads]).all()
