"""Where lines live, against arithmetic on single addresses; and the draws inside the loops."""

from __future__ import annotations

import machines
import numpy as np
import pytest
from budget import drawn
from hypothesis import given
from hypothesis import strategies as st

from memsim.gpu.choices import IndexHash
from memsim.gpu.presets import load_gpu, override
from memsim.hierarchy.hashed_draws import hash32
from memsim.hierarchy.mapping import index, layout, placed
from memsim.reference import address_map as reference

addresses = st.lists(st.integers(0, (1 << 31) - 1), min_size=1, max_size=20, unique=True)


def assert_placed(gpu, line_addresses) -> None:
    tx = machines.trace([], line_addresses)
    found = layout(tx, gpu)
    per = gpu.l1.line_bytes // gpu.l2.line_bytes
    sets_per_slice = gpu.l2.size_bytes // gpu.l2.slices // gpu.l2.line_bytes // gpu.l2.ways
    for i, line in enumerate(line_addresses):
        address, place = line * gpu.l1.line_bytes, found.mapping[i]
        assert place["l1_set"] == reference.l1_set(address, gpu)
        assert place["slice"] == reference.slice_of(address, gpu.l2)
        assert (place["channel"], place["bank"], place["row"]) == reference.channel_bank_row(address, gpu)
        for k in range(per):
            within = reference.set_within_slice(address + k * gpu.l2.line_bytes, gpu.l2)
            assert found.sets[i * per + k] == place["slice"] * sets_per_slice + within


@drawn(60)
@given(machines.machines(), addresses)
def test_every_line_lives_where_the_reference_model_says(gpu, line_addresses):
    assert_placed(gpu, line_addresses)


@pytest.mark.parametrize("name", ["tesla-c2050", "gtx480", "tesla-v100"])
def test_presets_place_lines_as_in_the_reference_model(name):
    rng = np.random.default_rng(0)
    assert_placed(load_gpu(name), sorted({int(a) for a in rng.integers(0, 1 << 26, 200)}))


@pytest.mark.parametrize(("name", "level"), [("tesla-c2050", "l1"), ("gtx480", "l1"), ("tesla-v100", "l2")])
def test_consecutive_lines_fill_every_set_alike(name, level):
    gpu = override(load_gpu(name), {"translation.enabled": False})  # no page tables behind them
    cache = gpu.l1 if level == "l1" else gpu.l2
    lines = cache.size_bytes // gpu.l1.line_bytes
    found = layout(machines.trace([], range(lines)), gpu)
    sets = found.mapping["l1_set"] if level == "l1" else found.sets
    _, lines_of = np.unique(sets, return_counts=True)
    assert (lines_of == cache.ways).all()


@pytest.mark.parametrize("count", [2, 8, 64, 256, 512])
@pytest.mark.parametrize("stride", [1, 2, 64, 128, 4096])
def test_lines_power_of_two_apart_fill_sets_evenly(count, stride):
    """Rau, ISCA 1991: what an irreducible polynomial maps has no stride of a power of two that camps."""
    lines = stride * np.arange(3 * count)
    assert (np.bincount(index(lines, count, IndexHash.polynomial), minlength=count) == 3).all()


def test_pages_keep_offsets_and_get_own_frames():
    address = np.arange(0, 64 * 4096, 512, dtype=np.int64)
    moved = placed(address, 4096, np.random.default_rng(3))
    assert (moved % 4096 == address % 4096).all()
    frames = (moved // 4096).reshape(64, -1)
    assert (frames == frames[:, :1]).all() and len(set(frames[:, 0].tolist())) == 64
    assert (placed(address, 4096, np.random.default_rng(3)) == moved).all()
    assert (placed(address, 4096, np.random.default_rng(4)) != moved).any()


# Worked out on paper from the definition: two rounds of (x ^ x >> 16) * 0x45d9f3b mod 2**32, then x ^ x >> 16.
@pytest.mark.parametrize("x", [0, 1, 2, 0xFFFF, 0x10000, 0xDEADBEEF, 0xFFFFFFFF, 1 << 40, (1 << 62) + 12345])
def test_hash_is_same_compiled_and_in_whole_numbers(x):
    y = x % 2**32
    for _ in range(2):
        y = ((y ^ y >> 16) * 0x45D9F3B) % 2**32
    y ^= y >> 16
    assert hash32(x) == hash32.py_func(x) == y


def test_the_hash_spreads_consecutive_numbers():
    drawn = np.array([hash32(i) for i in range(1 << 14)])
    assert len(np.unique(drawn)) == len(drawn)
    ones = ((drawn[:, None] >> np.arange(32)) & 1).mean(axis=0)
    assert np.abs(ones - 0.5).max() < 5 * 0.5 / np.sqrt(len(drawn))
