"""Large copies on Ada reach the rates of KernelBench's (level 1, problems 5 and 19).

The presets inherit the RTX 4090's write drains; these rates were seen before that was chosen, so they prove little.
"""

import pytest

import memsim

COPIES = {"l40s": 668, "l4": 234}  # GB/s, read and written
N = 64 << 20  # doubles: 512 MB each way


@pytest.mark.slow
@pytest.mark.parametrize("name", COPIES)
def test_large_copies_are_as_fast_as_measured(name):
    gpu = memsim.load_gpu(name)
    trace = memsim.trace("stream", gpu=gpu, n=N, variant="copy", block=256)
    found = memsim.simulate(trace, gpu, trials=1, settings={"stochastic.start_alignment": False})
    assert 16 * N / (1e6 * found.kernel_time.mean) == pytest.approx(COPIES[name], rel=0.12)
