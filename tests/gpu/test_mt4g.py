"""Reports of mt4g become GPUs: the board's own figures, each with its source, and one line for what cannot be."""

import copy
import json
from functools import partial

import pytest
from budget import drawn
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from memsim.cli import app
from memsim.gpu import mt4g
from memsim.gpu.presets import load_gpu, provenance
from memsim.support.errors import InputError

# The figures of mt4g's sample of a V100 that are taken over (Tesla V100-PCIE-16GB; sizes in bytes, clocks in kHz).
REPORT = {
    "general": {"name": "Tesla V100-PCIE-16GB", "vendor": "NVIDIA", "clockRate": {"value": 1380000},
                "computeCapability": {"major": 7, "minor": 0}},
    "compute": {"multiProcessorCount": 80, "maxThreadsPerMultiProcessor": 2048, "maxBlocksPerMultiProcessor": 32,
                "regsPerMultiProcessor": 65536, "warpSize": 32},
    "memory": {
        "shared": {"sharedMemPerMultiProcessor": {"value": 98304}, "latency": {"p50": 51.0}},
        "l1": {"size": {"size": 117760}, "lineSize": {"size": 128}, "fetchGranularity": {"size": 32},
               "latency": {"p50": 60.0}},
        "l2": {"size": {"value": 6291456}, "lineSize": {"size": 128}, "latency": {"p50": 214.0}},
        "main": {"memoryBusWidth": {"value": 4096}, "memoryClockRate": {"value": 877000}, "latency": {"p50": 600.0}},
    },
    "meta": {"timestamp": "2025-08-10T00:16:04Z"},
}  # fmt: skip


def changed(place, value):
    """The report with another value at a place; None: without it."""
    report = copy.deepcopy(REPORT)
    *path, last = place.split(".")
    part = report
    for name in path:
        part = part[name]
    if value is None:
        del part[last]
    else:
        part[last] = value
    return report


def written(tmp_path, report):
    (tmp_path / "board.json").write_text(json.dumps(report))
    return tmp_path / "board.json"


def imported(tmp_path, report, *options):
    out = tmp_path / "mine.toml"
    given = ["gpus", "import", str(written(tmp_path, report)), "-o", str(out), *options]
    return CliRunner().invoke(app, given), out


def test_own_figures_are_taken_and_others_inherited(tmp_path):
    answer, out = imported(tmp_path, REPORT, "--base", "tesla-v100")
    assert answer.exit_code == 0, answer.output
    gpu, preset = load_gpu(out), load_gpu("tesla-v100")
    assert gpu.name == "tesla-v100-pcie-16gb"
    assert (gpu.sm.count, gpu.sm.clock_mhz, gpu.sm.max_warps, gpu.sm.shared_latency_cycles) == (80, 1380, 64, 51)
    assert gpu.l1.size_bytes - gpu.l1.reserved_bytes == 117760 and gpu.l1.hit_latency_cycles == 60
    assert (gpu.l2.size_bytes, gpu.l2.hit_latency_cycles) == (6291456, 214)
    assert (gpu.dram.channels, gpu.dram.clock_mhz) == (64, 877)  # 898 GB/s, as the preset has it from the same report
    assert gpu.l1.ways == preset.l1.ways and gpu.dram.timing == preset.dram.timing
    known = provenance(out)
    assert known["l2.hit_latency_cycles"].source == "mt4g, Tesla V100-PCIE-16GB, 2025-08-10: memory.l2.latency, median"
    assert known["l2.hit_latency_cycles"].status == "measured" and known["sm.count"].status == "documented"


def test_the_nearest_older_preset_tells_the_rest(tmp_path):
    newer = changed("general.computeCapability", {"major": 9, "minor": 5})
    assert mt4g.read(written(tmp_path, newer)).base == "gh200"  # of Hopper the one with the fewest assumptions
    assert mt4g.read(written(tmp_path, newer), "a100").base == "a100"


@pytest.mark.parametrize(
    ("place", "value", "complaint"),
    [
        ("general.vendor", "AMD", "general.vendor is 'AMD'; give a report of an NVIDIA GPU"),
        ("general.name", 7, "general.name is 7; a report of mt4g has text there"),
        ("compute.multiProcessorCount", None, "compute.multiProcessorCount is None; a report of mt4g has a whole"),
        ("compute.multiProcessorCount", 1.5, "compute.multiProcessorCount is 1.5"),
        ("compute.multiProcessorCount", 1 << 30, "sm.count is 1073741824"),
        ("memory.main.memoryBusWidth.value", 352, "is 352, which does not make channels of tesla-v100's HBM2"),
        ("memory.l2", [], "memory.l2.size.value is None"),
    ],
)
def test_what_cannot_be_is_one_line(tmp_path, place, value, complaint):
    answer, out = imported(tmp_path, changed(place, value))
    assert answer.exit_code == 2 and complaint in answer.output and answer.output.count("\n") == 1, answer.output
    assert not out.exists()


@pytest.mark.parametrize("text", ["", "[1, 2]", "{", "[" * 100_000, "\xff\xfe"])
def test_what_is_no_report_is_one_line(tmp_path, text):
    (tmp_path / "board.json").write_text(text, encoding="latin-1")
    with pytest.raises(InputError):
        mt4g.read(tmp_path / "board.json")


@pytest.mark.parametrize("place", ["memory.l1.size", "memory.l1.latency", "memory.main", "memory.l2.lineSize", "meta"])
def test_what_a_version_does_not_measure_is_inherited(tmp_path, place):
    found = mt4g.read(written(tmp_path, changed(place, None)), "tesla-v100")
    assert len(found.values) < len(mt4g.read(written(tmp_path, REPORT), "tesla-v100").values) or place == "meta"


def test_an_existing_file_stays(tmp_path):
    assert imported(tmp_path, REPORT)[0].exit_code == 0
    answer, out = imported(tmp_path, changed("compute.multiProcessorCount", 79))
    assert answer.exit_code == 2 and "exists" in answer.output and load_gpu(out).sm.count == 80
    assert imported(tmp_path, changed("compute.multiProcessorCount", 79), "--force")[0].exit_code == 0
    assert load_gpu(out).sm.count == 79


def test_names_of_gpus_are_shown_as_before():
    run = partial(CliRunner().invoke, app)
    assert "tesla-c2050" in run(["gpus"]).output
    assert run(["gpus", "a100", "--toml"]).output == run(["gpus", "--toml", "a100"]).output
    assert "is not in the library" in run(["gpus", "impotr"]).output


_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["size", "value", "p50"]), inner),
    max_leaves=4,
)
_PLACES = [f"{a}.{b}" for a, parts in REPORT.items() for b in parts] + [
    f"memory.{level}.{part}" for level, parts in REPORT["memory"].items() for part in parts
]


@drawn(60)
@given(place=st.sampled_from(_PLACES), value=_ANY)
def test_value_is_taken_or_refused_in_one_line(tmp_path_factory, place, value):
    path = written(tmp_path_factory.mktemp("mt4g"), changed(place, value))
    try:
        mt4g.read(path, "tesla-v100")
    except InputError as error:
        assert "\n" not in str(error)
