"""L2's bandwidth for all SMs, compared with published streams (RRZE-HPC gpu-benches 1038c5d, gpu-l2-cache)."""

import numpy as np
import pytest

import memsim
from memsim import Launch, Thread, workload

STREAMS = {"a100": 5400, "h200": 9750}  # GB/s of lists of 7 to 28 MB
PAST_L1 = {"l1.enabled": False, "stochastic.start_alignment": False}
THREADS, EACH = 1024, 8


def laps(t: Thread, x, out, apart, count):
    total = t.var(0.0)
    for _ in t.range(count):
        for k in t.range(EACH):
            total += x[t.global_id + k * apart]
    out[t.global_id] = total


@workload
def again(count: int = 3, resident: int = 216) -> Launch:
    """64 KB a block, read so many times by blocks that are all resident."""
    apart = resident * THREADS
    x, out = np.zeros(EACH * apart), np.zeros(apart)
    return Launch(laps, resident, THREADS, dict(x=x, out=out, apart=apart, count=count))


@pytest.mark.slow
@pytest.mark.parametrize("name", STREAMS)
def test_streams_from_l2_are_as_fast_as_measured(name):
    gpu = memsim.load_gpu(name)
    blocks = 2 * gpu.sm.count
    traces = [memsim.trace(again, gpu=gpu, blocks="all", count=count, resident=blocks) for count in (3, 6)]
    cycles = [memsim.simulate(trace, gpu, trials=1, settings=PAST_L1).cycles for trace in traces]
    took = (cycles[1].mean - cycles[0].mean) / gpu.sm.clock_mhz * 1e-6  # seconds of three laps
    assert 3 * 8 * EACH * blocks * THREADS / took == pytest.approx(STREAMS[name] * 1e9, rel=0.05)
