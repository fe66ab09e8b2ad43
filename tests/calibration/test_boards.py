"""Presets compared with the published latency curves that they were made from: plateaus of a walk in random order."""

from __future__ import annotations

import numpy as np
import pytest

from memsim.calibration.simulated import SimulatedDevice
from memsim.calibration.walks import laps
from memsim.gpu.presets import load_gpu, override

# An L2 of a few hundred KB stands for the board's: what share of L2 a list is, decides. Per plateau the list in shares
# of L2 (L1: in KB), and the measured ns: RRZE-HPC gpu-benches, gpu-latency, L40 at 2490 MHz; markdewing/AI_kernels
# d916a39, B200 at 1965 MHz, as the presets say. L1's cycles are whole ones of a clock 1.2 % higher than the L40's.
BOARDS = {
    "l40s": (48 * 2048 * 8, {"L1": (64, 34.3 / 2.49), "L2": (0.4, 273.6 / 2.49), "memory": (4.0, 623.5 / 2.49)}),
    "b200": (
        126 * 2048 * 4,
        {"L1": (64, 39.63 / 1.965), "near L2": (0.39, 294.1 / 1.965), "far L2": (0.69, 636.7 / 1.965),
         "memory": (12.0, 859.4 / 1.965)},
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", BOARDS)
def test_plateaus_are_those_that_were_measured(name):
    l2_bytes, plateaus = BOARDS[name]
    gpu = override(load_gpu(name), {"l2.size_bytes": l2_bytes, "translation.enabled": False})
    for plateau, (size, measured) in plateaus.items():
        lines = int(size * (1024 if plateau == "L1" else l2_bytes)) // 128
        path = np.append(0, 1 + np.random.default_rng(1).permutation(lines - 1)) * 128
        found = laps(SimulatedDevice(gpu), path, 2)[-1].mean * 1000 / gpu.sm.clock_mhz
        assert found == pytest.approx(measured, rel=0.025), plateau
