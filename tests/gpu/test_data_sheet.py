"""GPUs described by their data sheets: bandwidths and sizes are the published ones, the rest is the family's."""

from __future__ import annotations

from functools import partial

import pytest
from typer.testing import CliRunner

from memsim.cli import app
from memsim.gpu.data_sheet import DataSheet, described
from memsim.gpu.presets import load_gpu, provenance
from memsim.support.errors import InputError

run = partial(CliRunner().invoke, app)
# Name: SMs, L2 in MB, memory bandwidth in GB/s, dense TFLOPS of f16 with 32-bit sums at boost clock where published.
PUBLISHED = {
    "rtx3060": (28, 3, 360, None),
    "rtx3070": (46, 4, 448, 40.6),
    "rtx3090": (82, 6, 936, 71),
    "rtx4060-laptop": (24, 32, 256, None),
    "rtx4070": (46, 36, 504, 58.3),
    "rtx4080": (76, 64, 716.8, 97.5),
    "rtx5080": (84, 64, 960, 112.6),
    "l4": (58, 48, 300, 121),
    "l20": (92, 96, 864, 119.5),
    "t4": (40, 4, 320, 65),
    "a10": (72, 6, 600, 125),
    "a10g": (80, 6, 600, 140),
    "a30": (56, 24, 933, 165),
    "h20": (78, 60, 4000, 148),
    "h100-pcie": (114, 50, 2039, 756),
    "orin": (16, 4, 204.8, None),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_data_sheet_presets_have_published_rates(name):
    sms, l2_mb, bandwidth, tflops = PUBLISHED[name]
    gpu = load_gpu(name)
    assert (gpu.sm.count, gpu.l2.size_bytes) == (sms, l2_mb << 20)
    sectors_per_us = gpu.dram.channels * gpu.dram.clock_mhz / gpu.dram.timing.burst
    assert sectors_per_us * 32 / 1000 == pytest.approx(bandwidth, rel=1e-3)
    if tflops is not None:
        flops_per_us = (
            2 * (gpu.sm.pipes.tensor_group_f16_macs or gpu.sm.pipes.tensor_f16_macs) * gpu.sm.count * gpu.sm.clock_mhz
        )
        assert flops_per_us / 1e6 == pytest.approx(tflops, rel=0.1)


@pytest.mark.parametrize("name", PUBLISHED)
def test_scaled_numbers_are_marked_assumed(name):
    known = provenance(name)
    assert known["l2.slices"].status == "assumed"
    assert known["dram.channels"].status == "documented"


def test_a_measured_board_of_the_family_is_reproduced():
    """The L40S, which has a preset from its own measurements, from an RTX 4090 and the L40S data sheet."""
    found = described(DataSheet("mine", "rtx4090", 142, 2520, 96 << 20, 384, 864, "GDDR6"))
    known = provenance("l40s")
    same = ("sm.count", "sm.clock_mhz", "l2.size_bytes", "l2.slices", "dram.kind", "dram.channels", "dram.clock_mhz")
    assert {field: found[field].value for field in same} == {field: known[field].value for field in same}


def test_memory_keeps_its_nanoseconds_in_another_gpu():
    found = described(DataSheet("mine", "h100", 114, 1755, 50 << 20, 5120, 2039, memory_like="a100"))
    a100 = load_gpu("a100")
    latency = found["dram.latency_cycles"]
    assert latency.at(1755).value / 1755 == pytest.approx(a100.dram.latency_cycles / a100.sm.clock_mhz, rel=0.01)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"memory_bits": 100}, "memory bits"),
        ({"memory_bits": 8}, "memory bits"),
        ({"like": "no-such-gpu"}, "no-such-gpu"),
        ({"sms": 0}, "sm.count"),
        ({"l2_bytes": 1000}, "l2"),
    ],
)
def test_impossible_numbers_are_refused_by_name(changed, problem):
    numbers = dict(like="a40", sms=72, clock_mhz=1695, l2_bytes=6 << 20, memory_bits=384, memory_gb_per_s=600)
    with pytest.raises(InputError, match=problem):
        described(DataSheet("mine", **(numbers | changed)))


def test_the_command_writes_a_file_for_gpu(tmp_path):
    file = tmp_path / "mine.toml"
    numbers = ["--sms", "46", "--clock", "2475", "--l2", "36", "--bus", "192", "--bandwidth", "504"]
    command = ["gpus", "new", "mine", "--like", "rtx4090", *numbers, "-o", str(file)]
    assert run(command).exit_code == 0
    assert load_gpu(file).l2.size_bytes == 36 << 20
    again = run(command)
    assert again.exit_code == 2 and "exists" in again.output
    outside = run([one if one != "mine" else "../mine" for one in command])
    assert outside.exit_code == 2 and "NAME is '../mine'; give a name" in outside.output
