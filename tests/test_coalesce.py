"""Coalescing: the programming guides' figures, and an oracle that goes lane by lane and byte by byte."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import coalesce as oracle

from memsim.errors import InputError
from memsim.presets import load_gpu, override
from memsim.trace import coalesce as driver
from memsim.trace import coalesce_loop, line_numbers
from memsim.trace.coalesce import coalesce
from memsim.trace.columns import FileColumn
from memsim.trace.schema import EXPLICIT, NO_OP, Chunk, Flag, Kind, LaunchShape, Space, StaticOp
from memsim.trace.transactions import Transactions

ALL = 0xFFFFFFFF


def machine(capability: str, l1: bool = True, line: int = 128, sector: int | None = None):
    """A GPU for the coalescer; its other numbers do not matter here."""
    major = int(capability[0])
    sector = sector or (32 if major >= 5 else line)
    fields = {"l1.enabled": l1 and major > 1, "l1.line_bytes": line, "l1.sector_bytes": sector, "l2.line_bytes": 32}
    return override(load_gpu("tesla-c2050"), {"compute_capability": capability, **fields})


@dataclass
class FakeTrace:
    """A trace in memory: one warp of instructions (op, mask, addresses by active lane)."""

    ops: list[StaticOp]
    instructions: list[tuple[int, int, list[int]]]
    strided: dict[int, tuple[int, int]] = field(default_factory=dict)  # row -> (base, stride)
    launch: LaunchShape = LaunchShape((1, 1, 1), (32, 1, 1))
    path: Path = Path("fake.h5")

    @property
    def first_instruction(self):
        return np.array([0, len(self.instructions)])

    first_warp = np.array([0, 1])

    def chunks(self, max_instructions):
        for start in range(0, len(self.instructions), max_instructions):
            rows = range(start, min(start + max_instructions, len(self.instructions)))
            op, mask, base, stride, offsets = [], [], [], [], []
            for row in rows:
                number, active, addresses = self.instructions[row]
                op.append(number)
                mask.append(active)
                if row in self.strided:
                    low, step = self.strided[row]
                    base.append(low)
                    stride.append(step)
                else:
                    base.append(min(addresses, default=0))
                    stride.append(int(EXPLICIT))
                    offsets += [address - base[-1] for address in addresses]
            n = len(op)
            columns = (np.array(op, "u2"), np.full(n, int(Flag.sequence), "u1"), np.array(rows, "u4"),
                       np.array(mask, "u4"), np.array(base, "u8"), np.array(stride, "i4"))  # fmt: skip
            ends = np.array([0, n]), np.array([0, len(offsets)])
            yield Chunk(range(0, 1), *ends, *columns, np.array(offsets, "u4"))


def static_op(width: int, kind: Kind = Kind.load, space: Space = Space.global_) -> StaticOp:
    return StaticOp(kind, space, width, 0, 1, 1, "kernel.py", "a[i]")


def one(gpu, addresses: list[int], width: int = 4, kind: Kind = Kind.load, mask: int = ALL, space=Space.global_):
    """Coalesce one instruction: (its transactions as {(first byte, bytes): count}, its slots)."""
    result = coalesce(FakeTrace([static_op(width, kind, space)], [(0, mask, addresses)]), gpu)
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
    assert one(machine("2.0"), SHIFTED, kind=Kind.store)[0] == {(128, 128): 1, (256, 32): 1}
    assert one(machine("2.0", l1=False), [128, 160], kind=Kind.store, mask=3)[0] == {(128, 64): 1}


def test_atomics_on_one_address_are_serialized():
    """CUDA C Programming Guide 4.2, section 4.1."""
    assert one(machine("2.0"), [128] * 32, kind=Kind.atomic)[0] == {(128, 32): 32}
    assert one(machine("7.0"), SEQUENTIAL, kind=Kind.reduction)[0] == SECTORS
    assert one(machine("7.0"), [128, 132, 128, 160], kind=Kind.atomic, mask=15)[0] == {(128, 32): 2, (160, 32): 1}


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
        ("2.0", list(range(32)), 1, 1),  # bytes of the same word are no conflict
        ("2.0", [8 * lane for lane in range(32)], 8, 2),  # a pass a half-warp
        ("7.0", [16 * lane for lane in range(32)], 16, 4),  # a pass a quarter-warp
    ],
)
def test_shared_memory_passes(capability, addresses, width, passes):
    assert one(machine(capability), addresses, width, space=Space.shared) == ({}, passes)


def test_constant_memory_takes_a_pass_a_distinct_address():
    assert one(machine("2.0"), [64, 68] * 16, space=Space.constant) == ({}, 2)
    assert one(machine("1.3"), [64] * 32, space=Space.constant) == ({}, 2)


CAPABILITIES = ["1.0", "1.1", "1.2", "1.3", "2.0", "2.1", "3.0", "3.5", "5.2", "6.0", "7.0", "8.6", "9.0"]
LANE_SETS = st.integers(1, ALL)


@st.composite
def accesses(draw):
    """(width, kind, space, mask, addresses): patterns between scattered and aligned, also misaligned."""
    width = draw(st.sampled_from([1, 2, 4, 8, 16]))
    mask = draw(LANE_SETS)
    n = mask.bit_count()
    base = draw(st.integers(0, 2048))
    shape = draw(st.sampled_from(["in order", "few", "scattered"]))
    if shape == "in order":
        active = [lane for lane in range(32) if mask >> lane & 1]
        addresses = [base // (16 * width) * 16 * width + width * lane for lane in active]
    else:
        spread = 20 if shape == "few" else 3000
        scale = draw(st.sampled_from([1, width]))
        addresses = [base + scale * k for k in draw(st.lists(st.integers(0, spread), min_size=n, max_size=n))]
    kind = draw(st.sampled_from(list(Kind)))
    space = draw(st.sampled_from([Space.global_, Space.global_, Space.local, Space.shared, Space.constant]))
    return width, kind, space, mask, addresses


@st.composite
def machines(draw):
    capability = draw(st.sampled_from(CAPABILITIES))
    line = draw(st.sampled_from([128, 256] if capability[0] == "1" else [32, 64, 128, 256]))
    sector = draw(st.sampled_from([size for size in (32, 64, 128, 256) if size <= line]))
    return machine(capability, draw(st.booleans()), line, sector)


def oracle_machine(gpu) -> oracle.Machine:
    major, minor = gpu.compute_capability.split(".")
    return oracle.Machine((int(major), int(minor)), gpu.l1.line_bytes, gpu.l1.sector_bytes, gpu.l1.enabled)


def check_against_oracle(instructions, gpu, result: Transactions) -> None:
    model = oracle_machine(gpu)
    for record, (width, kind, space, mask, addresses) in zip(result.instructions, instructions, strict=True):
        lanes = dict(zip([lane for lane in range(32) if mask >> lane & 1], addresses, strict=True))
        span = slice(int(record["first"]), int(record["first"]) + int(record["count"]))
        got = list(zip(result.line_address[result.lines[span]].tolist(), result.masks[span].tolist(), strict=True))
        slots = 0
        expected: list[tuple[int, int]] = []
        if space == Space.shared:
            slots = oracle.shared_passes(lanes, width, kind, model.capability)
        elif space == Space.constant:
            slots = oracle.constant_passes(lanes, model.capability)
        else:
            expected = oracle.transactions(lanes, width, kind, model)
        atomic = kind in (Kind.atomic, Kind.reduction)  # the order among serialized ones is free
        assert (sorted(got) if atomic else got) == (sorted(expected) if atomic else expected)
        assert record["slots"] == slots and record["kind"] == kind


def trace_of(instructions) -> FakeTrace:
    ops = [static_op(width, kind, space) for width, kind, space, _, _ in instructions]
    return FakeTrace(ops, [(i, mask, addresses) for i, (_, _, _, mask, addresses) in enumerate(instructions)])


@settings(max_examples=300, deadline=None)
@given(st.lists(accesses(), min_size=1, max_size=6), machines())
def test_against_the_oracle(instructions, gpu):
    check_against_oracle(instructions, gpu, coalesce(trace_of(instructions), gpu))


def equal(a: Transactions, b: Transactions) -> bool:
    return a.n_ops == b.n_ops and all(
        np.array_equal(getattr(a, name), getattr(b, name))
        for name in ("instructions", "lines", "masks", "line_address", "first_instruction", "first_warp")
    )


def random_trace(rng, n=60) -> FakeTrace:
    ops = [static_op(w, k, s) for w in (1, 4, 16) for k in Kind for s in (Space.global_, Space.shared, Space.constant)]
    rows = []
    for _ in range(n):
        mask = int(rng.integers(1, ALL))
        addresses = rng.integers(0, 40_000, mask.bit_count()).tolist()
        rows.append((int(rng.integers(len(ops))), mask, addresses))
    rows[n // 2] = (NO_OP, 0, [])
    return FakeTrace(ops, rows, strided={3: (4096, 4), 4: (100_000, -128)})


@pytest.mark.parametrize("capability", ["1.1", "1.3", "2.0", "7.0"])
def test_compiled_and_plain_python_agree(capability, monkeypatch):
    trace, gpu = random_trace(np.random.default_rng(1)), machine(capability)
    compiled = coalesce(trace, gpu)
    for module in (coalesce_loop, line_numbers):
        for name, function in list(vars(module).items()):
            if hasattr(function, "py_func"):
                monkeypatch.setattr(module, name, function.py_func)
    zeros = np.zeros
    monkeypatch.setattr(  # plain Python reads record fields as attributes of record arrays only
        driver.np, "zeros", lambda n, d=float: zeros(n, d).view(np.recarray) if np.dtype(d).names else zeros(n, d)
    )
    make_rules = driver.make_rules
    monkeypatch.setattr(driver, "make_rules", lambda ops, gpu: make_rules(ops, gpu).view(np.recarray))
    assert equal(coalesce(trace, gpu), compiled)


@pytest.mark.parametrize("chunk", [1, 7])
def test_chunks_and_buffers_do_not_matter(chunk, monkeypatch):
    trace, gpu = random_trace(np.random.default_rng(2), 200), machine("2.0")
    whole = coalesce(trace, gpu)
    monkeypatch.setattr(driver, "CHUNK_INSTRUCTIONS", chunk)
    monkeypatch.setattr(driver, "_BUFFER", coalesce_loop.MOST_TRANSACTIONS)
    done = []
    assert equal(coalesce(trace, gpu, progress=done.append), whole)
    assert sum(done) == 200


def test_files_hold_the_same_and_map_read_only(tmp_path):
    trace, gpu = random_trace(np.random.default_rng(3)), machine("7.0")
    written = coalesce(trace, gpu, tmp_path)
    assert equal(written, coalesce(trace, gpu)) and equal(Transactions.load(tmp_path), written)
    assert isinstance(written.lines, np.memmap) and not written.lines.flags.writeable
    assert not list(tmp_path.glob("*.part"))


def test_lines_are_numbered_by_first_use():
    result = coalesce(random_trace(np.random.default_rng(4)), machine("2.0"))
    _, first = np.unique(result.lines, return_index=True)
    assert np.array_equal(np.sort(first), first) and len(first) == len(result.line_address)
    assert len(np.unique(result.line_address)) == len(result.line_address)


def test_long_runs_of_lines_do_not_meet_in_the_hash_table():
    """Two arrays' runs that shared slots would make every probe walk a whole run."""
    size, run = 1 << 17, 16_000
    lines = np.concatenate([np.arange(start, start + run) for start in (2_099_843, 2_236_926)])
    home = line_numbers.first_slot.py_func(lines, size - 1)
    taken = np.zeros(size, bool)
    probes = 0
    for slot in home.tolist():
        while taken[slot]:
            slot = (slot + 1) % size
            probes += 1
        taken[slot] = True
    assert probes < 4 * len(lines)


def test_a_failure_leaves_nothing(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(FileColumn, "append", full)
    with pytest.raises(InputError, match="coalesced trace cannot be written: No space left on device"):
        coalesce(random_trace(np.random.default_rng(5)), machine("2.0"), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_strided_and_explicit_encodings_agree():
    rows = [(0, 0b1110_1000, [1000 + 12 * k for k in (0, 2, 3, 4)])]
    gpu = machine("7.0")
    explicit = coalesce(FakeTrace([static_op(4)], rows), gpu)
    assert equal(coalesce(FakeTrace([static_op(4)], rows, strided={0: (1000, 12)}), gpu), explicit)


def test_bad_traces_are_named():
    gpu = machine("2.0")
    with pytest.raises(InputError, match=r"^fake.h5: warp_size is 16; .* warps of 32"):
        coalesce(FakeTrace([], [], launch=LaunchShape((1, 1, 1), (32, 1, 1), 16)), gpu)
    with pytest.raises(InputError, match="^fake.h5: ops/width holds 12; "):
        coalesce(FakeTrace([static_op(12)], []), gpu)
    with pytest.raises(InputError, match="^fake.h5: instructions/base of row 0 leads to a negative address"):
        coalesce(FakeTrace([static_op(4)], [(0, ALL, [0] * 32)], strided={0: (64, -4)}), gpu)


def test_a_directory_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(InputError, match="coalesced trace cannot be written: No such file"):
        coalesce(FakeTrace([static_op(4)], [(0, ALL, SEQUENTIAL)]), machine("2.0"), tmp_path / "absent")
