"""Copies one behind the other take as long as gpu-small-kernels measured, where starting their blocks decides."""

from __future__ import annotations

import pytest

from experiments.streaming import repeated
from memsim.gpu.presets import load_gpu, override


def _row(gpu: str, block: int, megabytes: int) -> dict[str, str]:
    rows = [row for row in repeated.rows(quick=False) if (row["gpu"], int(row["block"])) == (gpu, block)]
    return min(rows, key=lambda row: abs(16 * int(row["doubles"]) - (megabytes << 20)))


@pytest.mark.parametrize("gpu", ["a100", "a40", "l40", "h200"])
def test_small_blocks_start_one_by_one(gpu: str) -> None:
    """Rates were measured with blocks of 32 threads and fewer; these have 64, and 4 MB of them."""
    assert abs(repeated.simulated(_row(gpu, 64, 4)).error) < 0.12


def test_without_block_starts_copies_are_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mechanism decides: an A100 would take two thirds of the time."""
    together = override(load_gpu("a100"), {"launch.block_cycles": 0.0})
    monkeypatch.setattr(repeated, "load_gpu", lambda name: together)
    assert repeated.simulated(_row("a100", 64, 4)).error < -0.25


def test_stores_reach_half_the_rate_of_loads() -> None:
    """Stores into an A100's L2 reach 2590 GB/s, loads 5450 (gpu-l2-stream, gpu-l2-cache)."""
    l2 = load_gpu("a100").l2
    stores = l2.slices * 32 / l2.sector_cycles * l2.clock_mhz / 1e3
    assert stores == pytest.approx(2590, rel=0.06)
    assert stores * l2.read_sectors == pytest.approx(5450, rel=0.06)
