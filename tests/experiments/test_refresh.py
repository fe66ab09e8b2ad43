"""Why no preset refreshes all banks at once: boards write at more of their peak than that would leave."""

from __future__ import annotations

import csv

import pytest

from experiments.dram.ramulator2.memories import GDDR6, HBM2
from experiments.streaming.study import MEASURED
from memsim.gpu.presets import load_gpu


@pytest.mark.parametrize(("name", "timing"), [("tesla-v100", HBM2), ("a40", GDDR6), ("l40", GDDR6)])
def test_no_gpu_writes_faster_than_refreshes_allow(name, timing):
    with MEASURED.open(encoding="utf-8", newline="") as file:
        fastest = max(float(row["init"]) for row in csv.DictReader(file) if row["gpu"] == name)
    dram = load_gpu(name).dram
    peak = dram.channels * 32 / dram.timing.burst * dram.clock_mhz / 1e3  # GB/s
    assert 1 - timing["rfc"] / timing["refi"] + 0.03 < fastest / peak <= 1
    assert dram.timing.refi is None
