"""The time predicted from a block sample is that of the whole grid."""

from __future__ import annotations

import pytest

import memsim


# What two waves store stays in L2, so the sample never turns the memory's bus: with drains as short as the preset's,
# that is 6 % of the whole's time (ARCHITECTURE, deviations).
@pytest.mark.slow
@pytest.mark.parametrize(("entry_sectors", "within"), [(8, 0.05), (1, 0.07)])
def test_two_waves_tell_the_time_of_six(entry_sectors, within):
    def predicted(blocks):
        trace = memsim.trace("saxpy", blocks=blocks, gpu="tesla-v100")
        settings = {"dram.entry_sectors": entry_sectors}
        return memsim.simulate(trace, gpu="tesla-v100", trials=3, seed=1, settings=settings)

    sampled, full = predicted("2x"), predicted("all")
    assert sampled.waves > 3 and full.waves == 1
    assert sampled.kernel_time.mean == pytest.approx(full.kernel_time.mean, rel=within)
