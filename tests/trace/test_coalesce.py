"""Coalescing: the programming guides' figures and procedures."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from fake_trace import ALL, FakeTrace, machine, static_instruction

from memsim.gpu.presets import load_gpu, override
from memsim.trace.coalesce import coalesce
from memsim.trace.schema import ArrayInfo, OpKind, Space
from memsim.trace.transactions import BYPASS_FLAG, Transactions


def one(gpu, addresses: list[int], width: int = 4, kind: OpKind = OpKind.load, mask: int = ALL, space=Space.global_):
    """Coalesce one instruction: (its transactions as {(first byte, bytes): count}, its slots)."""
    result = coalesce(FakeTrace([static_instruction(width, kind, space)], [(0, mask, addresses)]), gpu)
    return as_bytes(result, gpu), int(result.instructions["slots"][0])


def as_bytes(result: Transactions, gpu) -> Counter:
    found: Counter = Counter()
    for line, mask in zip(result.lines, result.masks, strict=True):
        sectors = [s for s in range(8) if mask >> s & 1]
        assert len(sectors) == sectors[-1] - sectors[0] + 1, "these examples ask for runs of sectors"
        start = int(result.line_address[line]) * gpu.l1.line_bytes + 32 * sectors[0]
        found[(start, 32 * len(sectors))] += 1
    return found


SEQUENTIAL = list(range(128, 256, 4))
PERMUTED = [128 + 4 * (lane ^ 3) for lane in range(32)]
SHIFTED = list(range(132, 260, 4))
SECTORS = {(start, 32): 1 for start in range(128, 256, 32)}
HALVES = {(128, 64): 1, (192, 64): 1}


# CUDA C Programming Guide 3.0 to 4.2, appendix on compute capabilities: the figure of a warp's accesses, 4-byte words.
@pytest.mark.parametrize(
    ("capability", "l1", "addresses", "expected"),
    [
        ("1.0", False, SEQUENTIAL, HALVES),
        ("1.1", False, PERMUTED, {start: 8 for start in SECTORS}),
        ("1.1", False, SHIFTED, {(128, 32): 7, (160, 32): 8, (192, 32): 8, (224, 32): 8, (256, 32): 1}),
        ("1.2", False, SEQUENTIAL, HALVES),
        ("1.3", False, PERMUTED, HALVES),
        ("1.3", False, SHIFTED, {(128, 128): 1, (192, 64): 1, (256, 32): 1}),
        ("2.0", False, SEQUENTIAL, SECTORS),
        ("2.0", False, PERMUTED, SECTORS),
        ("2.1", False, SHIFTED, SECTORS | {(256, 32): 1}),
        ("2.0", True, SEQUENTIAL, {(128, 128): 1}),
        ("2.0", True, PERMUTED, {(128, 128): 1}),
        ("2.1", True, SHIFTED, {(128, 128): 1, (256, 128): 1}),
        ("3.5", False, SHIFTED, SECTORS | {(256, 32): 1}),
        ("5.2", True, SHIFTED, {(128, 128): 1, (256, 32): 1}),
        ("7.0", True, SEQUENTIAL, {(128, 128): 1}),
        ("9.0", True, SHIFTED, {(128, 128): 1, (256, 32): 1}),
    ],
)
def test_figure_of_the_guide(capability, l1, addresses, expected):
    assert one(machine(capability, l1), addresses)[0] == expected


HALF = 0x0000FFFF


# CUDA Programming Guide 2.3, section 5.1.2.1: figures 5-1 to 5-4, one half-warp.
@pytest.mark.parametrize(
    ("capability", "addresses", "mask", "width", "expected"),
    [
        ("1.0", [128 + 4 * k for k in range(16)], HALF, 4, {(128, 64): 1}),
        ("1.0", [128 + 4 * k for k in range(16) if k % 4], HALF & ~0x1111, 4, {(128, 64): 1}),
        ("1.0", [132 + 4 * k for k in range(16)], HALF, 4, {(128, 32): 7, (160, 32): 8, (192, 32): 1}),
        ("1.0", [128 + 12 * k for k in range(16)], HALF, 4, None),  # float3: 16 transactions
        ("1.0", [128 + 2 * k for k in range(16)], HALF, 2, None),  # 2-byte words never coalesce
        ("1.0", [128 + 8 * k for k in range(16)], HALF, 8, {(128, 128): 1}),
        ("1.0", [128 + 16 * k for k in range(16)], HALF, 16, {(128, 128): 1, (256, 128): 1}),
        ("1.2", [128 + 4 * (k * 7 % 16) for k in range(16)], HALF, 4, {(128, 64): 1}),
        ("1.2", [160 + 4 * k for k in range(16)], HALF, 4, {(128, 128): 1}),
        ("1.2", [208 + 4 * k for k in range(16)], HALF, 4, {(192, 64): 1, (256, 32): 1}),
        ("1.2", [128 + k for k in range(16)], HALF, 1, {(128, 32): 1}),
        ("1.2", [128 + 2 * k for k in range(16)], HALF, 2, {(128, 32): 1}),
        ("1.2", [144 + 2 * k for k in range(16)], HALF, 2, {(128, 64): 1}),
    ],
)
def test_half_warps(capability, addresses, mask, width, expected):
    found = one(machine(capability), addresses, width, mask=mask)[0]
    if expected is None:
        assert found.total() == 16 and {size for _, size in found} == {32}
    else:
        assert found == expected


# Micikevicius, "Memory bandwidth limited kernels" / "Local memory and register spilling" (GTC 2011): bytes moved.
@pytest.mark.parametrize(
    ("addresses", "cached", "uncached"),
    [
        (SEQUENTIAL, 128, 128),
        (SHIFTED, 256, 160),
        ([512] * 32, 128, 32),
        ([4096 * lane for lane in range(32)], 32 * 128, 32 * 32),
    ],
)
def test_bytes_moved_on_fermi(addresses, cached, uncached):
    for l1, moved in ((True, cached), (False, uncached)):
        assert sum(size * n for (_, size), n in one(machine("2.0", l1), addresses)[0].items()) == moved


def test_wide_accesses_are_issued_in_parts_before_5x():
    """2.x: 8-byte accesses by half-warp, 16-byte by quarter-warp, so a line shared between parts is asked for twice."""
    assert one(machine("2.0"), [128] * 32, 8)[0] == {(128, 128): 2}
    assert one(machine("2.0"), [128] * 32, 16)[0] == {(128, 128): 4}
    assert one(machine("7.0"), [128] * 32, 16)[0] == {(128, 32): 1}


def test_stores_carry_the_sectors_they_touch():
    assert one(machine("2.0"), SHIFTED, kind=OpKind.store)[0] == {(128, 128): 1, (256, 32): 1}
    assert one(machine("2.0", l1=False), [128, 160], kind=OpKind.store, mask=3)[0] == {(128, 64): 1}


@pytest.mark.parametrize(
    ("width", "addresses", "masks", "partial"),
    [
        (4, SEQUENTIAL, [0b1111], [0]),
        (4, SHIFTED, [0b1111, 0b0001], [0b0001, 0b0001]),  # 28 bytes of the first sector, 4 of the last
        (4, [1024 * lane for lane in range(32)], [1] * 32, [1] * 32),
        (1, list(range(128, 160)), [1], [0]),
        (1, [128 + lane // 2 for lane in range(32)], [1], [1]),
        (8, [256 * (lane // 4) + 8 * (lane % 4) for lane in range(32)], [1] * 8, [0] * 8),
    ],
)
def test_stores_say_which_sectors_they_cover_in_part(width, addresses, masks, partial):
    for kind in OpKind:
        result = coalesce(FakeTrace([static_instruction(width, kind)], [(0, ALL, addresses)]), machine("7.0"))
        expected = (masks, partial) if kind is OpKind.store else (result.masks.tolist(), [0] * len(result.masks))
        assert (result.masks.tolist(), result.partial.tolist()) == expected


def test_atomics_on_one_address_are_serialized():
    """CUDA C Programming Guide 4.2, section 4.1."""
    assert one(machine("2.0"), [128] * 32, kind=OpKind.atomic)[0] == {(128, 32): 32}
    assert one(machine("7.0"), SEQUENTIAL, kind=OpKind.reduction)[0] == SECTORS
    assert one(machine("7.0"), [128, 132, 128, 160], kind=OpKind.atomic, mask=15)[0] == {(128, 32): 2, (160, 32): 1}


# CUDA C Programming Guide 4.2, appendix on compute capabilities: shared memory of 1.x and 2.x.
@pytest.mark.parametrize(
    ("capability", "addresses", "width", "passes"),
    [
        ("1.3", [4 * lane for lane in range(32)], 4, 2),  # a pass a half-warp
        ("1.3", [8 * lane for lane in range(32)], 4, 4),  # stride of two words: 2-way conflicts
        ("1.3", [12 * lane for lane in range(32)], 4, 2),  # three: none
        ("1.3", [32 * lane for lane in range(32)], 4, 16),  # eight: 8-way
        ("1.3", [20] * 32, 4, 2),  # broadcast
        ("1.3", [8 * lane for lane in range(32)], 8, 4),  # doubles: 2-way
        ("1.3", list(range(32)), 1, 8),  # bytes: 1.x broadcasts one word a pass
        ("2.0", [4 * lane for lane in range(32)], 4, 1),
        ("2.0", [8 * lane for lane in range(32)], 4, 2),
        ("2.0", [12 * lane for lane in range(32)], 4, 1),
        ("2.0", [128 * lane for lane in range(32)], 4, 32),
        ("2.0", [4 * (lane * 13 % 32) for lane in range(32)], 4, 1),
        ("2.0", [20] * 32, 4, 1),
        ("2.0", [0, 128] * 16, 4, 2),  # two words of one bank, by turns
        ("2.0", list(range(32)), 1, 1),  # bytes of the same word are no conflict
        ("2.0", [8 * lane for lane in range(32)], 8, 2),  # a pass a half-warp
        ("7.0", [16 * lane for lane in range(32)], 16, 4),  # a pass a quarter-warp
        # NVIDIA Developer Forums, topic 77228: lanes that share addresses in pairs need half the passes, and no less.
        ("7.0", [48] * 32, 16, 2),
        ("7.0", [16 * (lane // 2) for lane in range(32)], 16, 2),
        ("7.0", [16 * (lane & 1 | lane // 4 * 2) for lane in range(32)], 16, 2),
        ("7.0", [16 * (lane & 3) for lane in range(32)], 16, 4),
        ("7.0", [8 * (lane // 2) for lane in range(32)], 8, 1),
        ("6.1", [48] * 32, 16, 4),
        # The same, topic 373160: wavefronts that the profiler counted on an A10 and an H100.
        ("8.6", [32 * (lane & 15) for lane in range(32)], 16, 8),
        ("9.0", [32 * (lane >> 4) for lane in range(32)], 16, 2),
    ],
)
def test_shared_memory_passes(capability, addresses, width, passes):
    assert one(machine(capability), addresses, width, space=Space.shared) == ({}, passes)


def test_constant_memory_takes_a_pass_a_distinct_address():
    assert one(machine("2.0"), [64, 68] * 16, space=Space.constant) == ({}, 2)
    assert one(machine("1.3"), [64] * 32, space=Space.constant) == ({}, 2)


@pytest.mark.parametrize(("capability", "masks"), [("6.1", [0b0001, 0b0010, 0b0100, 0b1000]), ("7.0", [0b1111])])
def test_loads_past_l1_are_coalesced_without_it(capability, masks):
    """One transaction a sector, from 7.0 on a line, marked for the SM; L1's sectors stay those of the others."""
    gpu = machine(capability, sector=64)
    usual = static_instruction(4)
    ops = [usual, replace(usual, bypass_l1=True)]
    result = coalesce(FakeTrace(ops, [(0, ALL, SEQUENTIAL), (1, ALL, SEQUENTIAL)]), gpu)
    assert result.instructions["count"].tolist() == [1, len(masks)]
    assert (result.instructions["flags"] & BYPASS_FLAG != 0).tolist() == [False, True]
    assert result.masks.tolist() == [0b1111, *masks]


# RRZE-HPC gpu-benches, gpu-strides on an A100, where the tag stage has no part: l1tex__data_pipe_lsu_wavefronts a load.
@pytest.mark.parametrize(
    ("width", "stride", "wavefronts"),
    [(4, 0, 1), (4, 1, 1), (4, 2, 2), (4, 3, 1), (4, 4, 4), (4, 6, 2), (4, 8, 8), (4, 24, 8), (4, 32, 32), (4, 36, 4)]
    + [(8, 0, 2), (8, 1, 2), (8, 2, 4), (8, 3, 2), (8, 4, 8), (8, 16, 32), (8, 39, 2), (8, 40, 16), (8, 48, 32)],
)
def test_wavefronts_of_the_data_stage(width, stride, wavefronts):
    gpu = override(machine("8.0"), {"l1.banks": 32, "l1.tags_per_cycle": 32, "l1.bytes_per_cycle": 128})
    rows = [(0, ALL, [width * (stride * lane + 4) for lane in range(32)])]
    (record,) = coalesce(FakeTrace([static_instruction(width)], rows), gpu).instructions
    assert max(record["wavefronts"], wavefronts) == wavefronts or record["count"] > 8


def test_lines_with_equal_folded_numbers_are_looked_up():
    """Lines 0, 5, 10, 15 are 0 in pairs of bits: of a row of sixteen, each bank of four has four."""
    gpu = override(machine("8.0", sector=32), {"l1.tags_per_cycle": 4})
    for lines, wavefronts in (([0, 5, 10, 15], 4), ([0, 1, 2, 3], 1), ([4 * k for k in range(4)], 1), (range(16), 4)):
        rows = [(0, (1 << len(lines)) - 1, [128 * line for line in lines])]
        (record,) = coalesce(FakeTrace([static_instruction(4)], rows), gpu).instructions
        assert record["wavefronts"] == wavefronts


def test_asynchronous_copy_takes_data_stage_by_its_bytes():
    """512 bytes on their way into shared memory, past L1 or not, take the unit of shared memory 4 cycles of 128."""
    gpu = load_gpu("h100")
    copy = replace(static_instruction(16), async_copy=True)
    rows = [(op, ALL, [4096 + 16 * lane for lane in range(32)]) for op in range(2)]
    made = coalesce(FakeTrace([copy, replace(copy, bypass_l1=True)], rows), gpu).instructions
    assert made["wavefronts"].tolist() == [4, 4] and made["count"].tolist() == [4, 4]


def test_what_leaves_l1_in_cycle_bounds_loads_alone():
    gpu = override(machine("8.6"), {"l1.banks": 32, "l1.bytes_per_cycle": 64})
    for kind, wavefronts in ((OpKind.load, 2), (OpKind.store, 1)):
        (record,) = coalesce(FakeTrace([static_instruction(4, kind)], [(0, ALL, [128] * 32)]), gpu).instructions
        assert record["wavefronts"] == wavefronts


def test_texture_units_ask_for_a_line_in_pieces():
    """Of an array bound to a texture; loads of read-only data (``ld.global.nc``) are as other loads from 5.x on."""
    gpu, op = (
        override(machine("7.0"), {"l1.sector_bytes": 32, "l1.texture_bytes": 32}),
        static_instruction(4, space=Space.texture),
    )
    wide = override(gpu, {"l1.sector_bytes": 64})  # a piece has at least a sector
    trace = FakeTrace([op], [(0, ALL, SEQUENTIAL)], arrays=[ArrayInfo("t", Space.texture, 0, 4096, 4)])
    assert as_bytes(coalesce(trace, wide), wide) == {(128, 64): 1, (192, 64): 1}
    for space, expected in ((Space.texture, SECTORS), (Space.global_, {(128, 128): 1})):
        trace = FakeTrace([op], [(0, ALL, SEQUENTIAL)], arrays=[ArrayInfo("t", space, 0, 4096, 4)])
        assert as_bytes(coalesce(trace, gpu), gpu) == expected
