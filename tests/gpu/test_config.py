"""GPU configurations: what is valid round-trips, what is impossible is refused in one line."""

from __future__ import annotations

import json

import pytest
from budget import drawn
from hypothesis import given
from hypothesis import strategies as st

from memsim.gpu import config
from memsim.gpu.config import GPU, gpu_from_dict
from memsim.gpu.occupancy import resident_blocks
from memsim.gpu.presets import load_gpu, names, override, parse_settings
from memsim.support.errors import InputError


@pytest.fixture(scope="module")
def c2050() -> GPU:
    return load_gpu("tesla-c2050")


@pytest.mark.parametrize("name", names())
def test_json_round_trip(name):
    gpu = load_gpu(name)
    assert gpu_from_dict(json.loads(json.dumps(gpu.model_dump(mode="json"))), "result.h5") == gpu


# field, impossible value, what the message says is right
IMPOSSIBLE = [
    ("l1.ways", 0, "greater than or equal to 1"),
    ("l1.ways", 4.5, "valid integer"),
    ("l1.ways", "four", "valid integer"),
    ("l1.ways", True, "valid integer"),
    ("l1.enabled", 1, "valid boolean"),
    ("l1.line_bytes", 96, "power of two"),
    ("l1.line_bytes", 512, "less than or equal to 256"),
    ("l1.sector_bytes", 256, "at most the line's 128 bytes"),
    ("l1.size_bytes", 16000, "a multiple of ways x line_bytes = 8192"),
    ("l1.size_bytes", 4096, "a multiple of ways x line_bytes = 8192"),
    ("l1.size_bytes", 1 << 40, "less than or equal to"),
    ("l1.replacement", "plru", "'lru', 'fifo', 'random', 'tree_plru', 'srrip' or 'brrip'"),
    ("l1.set_hash", "fermi_l1", "needs 128-byte lines and 32 or 64 sets"),
    ("l1.tags_per_cycle", 3, "a power of two up to 32"),
    ("l1.banks", 24, "a power of two up to 128"),
    ("l1.bytes_per_cycle", 0, "greater than or equal to 1"),
    ("l2.slices", 7, "a divisor of size_bytes = 786432"),
    ("l2.slices", 0, "greater than or equal to 1"),
    ("l2.line_bytes", 256, "at most l1.line_bytes = 128"),
    ("l2.slice_interleave_bytes", 64, "a multiple of l1.line_bytes = 128"),
    ("l2.slice_interleave_bytes", 192, "a multiple of l1.line_bytes = 128"),
    ("l2.slice_hash", "xor_fold", "a power-of-two number of slices"),
    ("l2.slice_hash", "polynomial", "a power-of-two number of slices"),
    ("l2.slice_hash", "fermi_l1", "give modulo or xor_fold"),
    ("l2.hit_latency_cycles", 100, "more than L1's 104"),
    ("dram.channels", 0, "greater than or equal to 1"),
    ("dram.interleave_bytes", 64, "a multiple of l1.line_bytes = 128"),
    ("dram.row_bytes", 2000, "a multiple of l1.line_bytes = 128"),
    ("dram.channel_hash", "xor_fold", "a power-of-two number"),
    ("dram.write_low", 56, "less than write_high = 56"),
    ("dram.write_high", 65, "at most write_queue = 64"),
    ("dram.clock_mhz", 0.0, "greater than or equal to 1"),
    ("dram.clock_mhz", 1e-308, "greater than or equal to 1"),
    ("sm.clock_mhz", 1e308, "less than or equal to 100000"),
    ("mwp_cwp.issue_cycles", 1e-308, "greater than or equal to 0.001"),
    ("l2.clock_mhz", 1e5, "1/64 to 64 times sm.clock_mhz = 1150"),
    ("l2.clock_mhz", 17.9, "1/64 to 64 times sm.clock_mhz = 1150"),
    ("dram.clock_mhz", 1e5, "1/64 to 64 times sm.clock_mhz = 1150"),
    ("dram.clock_mhz", 1.0, "1/64 to 64 times sm.clock_mhz = 1150"),
    ("host.copy_us", 1e-308, "greater than or equal to"),
    ("dram.clock_mhz", float("nan"), "finite number"),
    ("dram.timing.rcd", 0, "greater than or equal to 1"),
    ("dram.timing.refi", 3900, "give both, or neither"),
    ("dram.timing.ccd_l", 4, "given without bank groups"),
    ("dram.bank_groups", 3, "a divisor of banks = 16"),
    ("sm.max_threads", 2048, "48 warps of 32 hold at most 1536"),
    ("sm.warp_size", 65, "less than or equal to 64"),
    ("compute_capability", "gfx90a", "give 1.0 to 1.3, 2.x, 3.x, 5.0 and later, or gfx942"),
    ("stochastic.page_bytes", 5000, "a power of two"),
    ("compute_capability", "4.0", "1.0 to 1.3, 2.x, 3.x, 5.0 and later, or gfx942"),
    ("compute_capability", "sm_20", "pattern"),
    ("compute_capability", "1.3", "compute capability 1.x has no L1"),
]


@pytest.mark.parametrize(("field", "value", "right"), IMPOSSIBLE)
def test_impossible_values_are_named(c2050, field, value, right):
    with pytest.raises(InputError) as caught:
        override(c2050, {field: value}, "gpu.toml")
    message = str(caught.value)
    named = "l1.enabled" if value == "1.3" else field
    assert message.startswith(f"gpu.toml: {named} ") and right in message and "\n" not in message


@pytest.mark.parametrize("ways", [48, 128])
def test_tree_plru_needs_a_small_power_of_two(c2050, ways):
    with pytest.raises(InputError, match="l1.ways is .*; tree_plru needs a power of two up to 64"):
        override(c2050, {"l1.replacement": "tree_plru", "l1.ways": ways, "l1.size_bytes": ways * 128})


@pytest.mark.parametrize("name", ["tesla-v100", "quadro-gv100"])
def test_sectors_may_exceed_texture_request_size(name):
    gpu = load_gpu(name)
    assert gpu.l1.texture_bytes == 32
    assert override(gpu, {"l1.sector_bytes": 64}).l1.sector_bytes == 64


def test_writes_join_reads_only_with_open_rows_first(c2050):
    with pytest.raises(InputError, match="dram.write_turns is with_reads with policy = fcfs; give alone, or policy"):
        override(c2050, {"dram.policy": "fcfs", "dram.write_turns": "with_reads"})


def test_refreshes_leave_time_to_use_row(c2050):
    t = c2050.dram.timing
    least = 700 - t.rp - t.faw - t.rcd
    with pytest.raises(InputError, match=f"dram.timing.rfc is {least}; give less than refi - rp - faw - rcd = {least}"):
        override(c2050, {"dram.timing.refi": 700, "dram.timing.rfc": least})
    assert override(c2050, {"dram.timing.refi": 700, "dram.timing.rfc": least - 1}).dram.timing.rfc == least - 1


def test_unknown_field_suggests_the_nearest(c2050):
    with pytest.raises(InputError, match=r"^--set: l2.associativty is unknown; did you mean l2\.\w+\?$"):
        override(c2050, {"l2.associativty": 4})
    with pytest.raises(InputError, match="did you mean dram.timing.rcd?"):
        override(c2050, {"dram.timing.trcd": 4})
    with pytest.raises(InputError, match="l1.waze is unknown"):
        gpu_from_dict(override_raw(c2050, "l1", {"waze": 4}), "result.h5")


def override_raw(gpu: GPU, section: str, values: dict) -> dict:
    data = gpu.model_dump(mode="json")
    data[section] |= values
    return data


@pytest.mark.parametrize("data", [None, 3, "gpu", [], {}, {"sm": 3}, {"name": "x" * 10_000}, {"l1": {"ways": [[]]}}])
def test_anything_but_gpu_is_refused_in_one_line(data):
    with pytest.raises(InputError) as caught:
        gpu_from_dict(data, "result.h5")
    assert str(caught.value).startswith("result.h5: ") and len(str(caught.value)) < 300


@drawn(200)
@given(
    field=st.sampled_from(sorted(config.fields())),
    value=st.one_of(st.integers(-2, 2**70), st.floats(), st.text(max_size=8), st.booleans(), st.just([None])),
)
def test_one_changed_field_is_valid_or_refused(field, value):
    try:
        gpu = override(load_gpu("tesla-v100"), {field: value})
    except InputError as error:
        assert str(error).startswith("--set: ")
    else:
        assert gpu_from_dict(gpu.model_dump(mode="json"), "") == gpu


def test_gpus_are_immutable(c2050):
    with pytest.raises(ValueError, match="frozen"):
        c2050.l1.ways = 4


def test_settings_are_toml_or_words():
    text = ["l1.ways=4", "l1.enabled = false", "l2.hit_latency_ns=200.5", "l1.replacement=fifo", "name=My GPU", "name="]
    assert list(parse_settings(text[:4]).values()) == [4, False, 200.5, "fifo"]
    assert parse_settings(text[4:5]) == {"name": "My GPU"} and parse_settings(text[5:]) == {"name": ""}
    with pytest.raises(InputError, match="l1.ways is not understood; give field=value"):
        parse_settings(["l1.ways"])


def test_override_takes_nanoseconds(c2050):
    assert override(c2050, {"l2.hit_latency_ns": 200}).l2.hit_latency_cycles == 230  # at 1150 MHz


# NVIDIA's occupancy calculator, compute capability 2.0; tests/gpu/test_occupancy.py has the others.
@pytest.mark.parametrize(
    ("threads", "registers", "shared", "blocks"),
    [
        (256, 0, 0, 6),  # warps
        (192, 0, 0, 8),  # blocks
        (1024, 0, 0, 1),
        (33, 0, 0, 8),
        (256, 32, 0, 4),  # registers
        (512, 63, 0, 1),
        (128, 16, 12288, 4),  # shared memory
        (100, 32, 0, 8),  # a part of a warp counts as one
    ],
)
def test_resident_blocks(c2050, threads, registers, shared, blocks):
    assert resident_blocks(c2050, threads, registers, shared) == blocks


@pytest.mark.parametrize(
    ("need", "message"),
    [
        ((2048, 0, 0), "needs 2048 threads; give a block that needs at most 1536"),
        ((1024, 64, 0), "needs 65536 registers; give a block that needs at most 32768"),
        ((32, 0, 50_000), "needs 50048 shared bytes; give a block that needs at most 49152"),
    ],
)
def test_a_block_that_fits_no_sm(c2050, need, message):
    with pytest.raises(InputError, match=f"^tesla-c2050: block {message}$"):
        resident_blocks(c2050, *need)
