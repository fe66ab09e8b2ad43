"""The blocks of the default block sample: Baghsorkhi 2012, section 3.1."""

import math

import pytest

from memsim.gpu.presets import load_gpu
from memsim.sources import traced_blocks
from memsim.sources.record import record
from memsim.support.errors import InputError
from memsim.trace.schema import LaunchShape

GPU = load_gpu("tesla-c2050")
MANY = LaunchShape((100_000, 1, 1), (256, 1, 1), registers=20)


def test_four_times_resident_threads_match_papers_spmv_rows():
    blocks = traced_blocks.default_blocks(MANY, GPU, 4, 0)
    assert len(blocks) * 256 == 4 * GPU.sm.count * GPU.sm.max_threads == 86016


def test_without_default_snapshot_turns_over_l2():
    wave = traced_blocks.wave_blocks(MANY, GPU)
    for bytes_per_block in (1, 1000, 10**5, 10**9):
        blocks = traced_blocks.default_blocks(MANY, GPU, None, bytes_per_block)
        assert blocks.start == 0
        if len(blocks) < MANY.n_blocks:
            assert len(blocks) % wave == 0
            assert len(blocks) * bytes_per_block >= traced_blocks.TURNOVERS * GPU.l2.size_bytes
            fewer = len(blocks) - wave
            enough = fewer * bytes_per_block >= traced_blocks.TURNOVERS * GPU.l2.size_bytes
            assert len(blocks) == traced_blocks.LEAST_WAVES * wave or not enough


def test_occupancy_counts_registers_and_shared_memory():
    def resident(**changes):
        return traced_blocks.wave_blocks(LaunchShape((9999, 1, 1), (256, 1, 1), **changes), GPU) // GPU.sm.count

    assert resident(registers=20) == 6  # 1536 threads
    assert resident(registers=32) == 4  # 32768 registers
    assert resident(registers=20, shared_bytes=20 * 1024) == 2  # 48 KB of shared memory


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("all", 100_000),
        ("3:5", 2),
        (":7", 7),
        ("99990:", 10),
        (":", 100_000),
        ("0.5x", 42),
        ("2x", 168),
        ("10000x", 100_000),
    ],
)
def test_blocks_can_be_given(text, blocks):
    assert len(traced_blocks.given_blocks(text, MANY, GPU)) == blocks


@pytest.mark.parametrize("text", ["5", "x", "4:4", "0:100001", "-1:3", "", "1:2:3", "infx"])
def test_blocks_that_are_not_there_are_refused(text):
    with pytest.raises(InputError, match="^--blocks: "):
        traced_blocks.given_blocks(text, MANY, GPU)


def test_infinity_is_the_whole_grid():
    assert traced_blocks.default_blocks(MANY, GPU, math.inf, 1) == range(100_000)


def test_record_traces_the_chosen_blocks(tmp_path):
    steps = []
    trace = record(
        "saxpy", {"n": 4096}, GPU, "3:9", tmp_path / "t.h5", progress=lambda done, total: steps.append((done, total))
    )
    assert trace.block_ids.tolist() == [3, 4, 5, 6, 7, 8]
    assert steps == [(1, 6), (6, 6)]
    assert record("saxpy", {"n": 4096}, GPU, None, tmp_path / "u.h5").n_blocks == 16
