"""The time predicted from a snapshot is that of the whole grid."""

from __future__ import annotations

import pytest

import memsim


@pytest.mark.slow
def test_two_waves_tell_the_time_of_six():
    def predicted(blocks):
        trace = memsim.trace("saxpy", blocks=blocks, gpu="tesla-v100")
        return memsim.simulate(trace, gpu="tesla-v100", trials=3, seed=1)

    snapshot, whole = predicted("2x"), predicted("all")
    assert snapshot.waves > 3 and whole.waves == 1
    # What two waves store stays in L2, so the snapshot never turns the memory's bus: 6 % of the whole's time.
    assert snapshot.kernel_time.mean == pytest.approx(whole.kernel_time.mean, rel=0.07)
