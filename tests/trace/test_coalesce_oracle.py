"""Coalescing: an oracle that goes lane by lane and byte by byte; chunks, files, numbering, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from budget import drawn
from fake_trace import ALL, FakeTrace, machine, static_instruction
from hypothesis import given
from hypothesis import strategies as st

from memsim.gpu.choices import L1Serves
from memsim.gpu.presets import override
from memsim.jit.plain_python import Records
from memsim.support.errors import InputError
from memsim.trace import coalesce as driver
from memsim.trace import coalesce_loop, line_numbers
from memsim.trace.coalesce import coalesce
from memsim.trace.columns import FileColumn
from memsim.trace.schema import NO_OP, ArrayInfo, LaunchShape, OpKind, Space
from memsim.trace.transactions import Transactions
from tests.oracles import coalesce as oracle

CAPABILITIES = ["1.0", "1.1", "1.2", "1.3", "2.0", "2.1", "3.0", "3.5", "5.2", "6.0", "7.0", "8.6", "9.0"]
LANE_SETS = st.integers(1, ALL)
MOVES = st.integers(-600, 600)


@st.composite
def accesses(draw):
    """(width, kind, space, mask, addresses): patterns between scattered and aligned, also misaligned."""
    width = draw(st.sampled_from([1, 2, 4, 8, 16]))
    mask = draw(LANE_SETS)
    n = mask.bit_count()
    base = draw(st.integers(0, 2048))
    shape = draw(st.sampled_from(["in order", "in pairs", "few", "scattered"]))
    active = [lane for lane in range(32) if mask >> lane & 1]
    if shape == "in pairs":
        bit = draw(st.sampled_from([1, 2]))
        addresses = [base // width * width + width * (lane & ~bit) for lane in active]
    elif shape == "in order":
        addresses = [base // (16 * width) * 16 * width + width * lane for lane in active]
    else:
        spread = 20 if shape == "few" else 3000
        scale = draw(st.sampled_from([1, width, 128]))
        addresses = [base + scale * k for k in draw(st.lists(st.integers(0, spread), min_size=n, max_size=n))]
    kind = draw(st.sampled_from(list(OpKind)))
    spaces = [Space.global_, Space.global_, Space.local, Space.shared, Space.constant, Space.texture]
    space = draw(st.sampled_from(spaces))
    return width, kind, space, mask, addresses


@st.composite
def machines(draw):
    capability = draw(st.sampled_from(CAPABILITIES))
    line = draw(st.sampled_from([128, 256] if capability[0] == "1" else [32, 64, 128, 256]))
    sector = draw(st.sampled_from([size for size in (32, 64, 128, 256) if size <= line]))
    stages = {
        "l1.serves": draw(st.sampled_from(L1Serves)),
        "l1.tags_per_cycle": draw(st.sampled_from([1, 2, 4, 8])),
        "l1.banks": draw(st.sampled_from([None, 8, 32, 128])),
        "l1.bytes_per_cycle": draw(st.sampled_from([None, 24, 64])),
        "l1.texture_bytes": draw(st.sampled_from([None, *(size for size in (32, 64, 128) if size <= line)])),
    }
    return override(machine(capability, draw(st.booleans()), line, sector), stages)


TEXTURE = ArrayInfo("t", Space.texture, 0, 4096, 4)  # what all ops of the tests access


def oracle_machine(gpu, space) -> oracle.Machine:
    major, minor = gpu.compute_capability.split(".")
    serves = gpu.l1.enabled and (gpu.l1.serves == "all" or space == Space.texture)
    l1 = gpu.l1
    stages = l1.tags_per_cycle, l1.banks, l1.bytes_per_cycle
    piece = max(l1.texture_bytes, l1.sector_bytes) if l1.texture_bytes and space == Space.texture else None
    return oracle.Machine((int(major), int(minor)), l1.line_bytes, l1.sector_bytes, serves, *stages, piece)


def check_against_oracle(instructions, gpu, result: Transactions) -> None:
    for record, (width, kind, space, mask, addresses) in zip(result.instructions, instructions, strict=True):
        model = oracle_machine(gpu, space)
        lanes = dict(zip([lane for lane in range(32) if mask >> lane & 1], addresses, strict=True))
        span = slice(int(record["first"]), int(record["first"]) + int(record["count"]))
        got = list(zip(result.line_address[result.lines[span]].tolist(), result.masks[span].tolist(), strict=True))
        slots = wavefronts = 0
        expected: list[tuple[int, int]] = []
        if space == Space.shared:
            slots = oracle.shared_passes(lanes, width, kind, model.capability)
        elif space == Space.constant:
            slots = oracle.constant_passes(lanes, model.capability)
        else:
            expected = oracle.transactions(lanes, width, kind, model)
            wavefronts = oracle.wavefronts(lanes, width, kind, [line for line, _ in expected], model)
        atomic = kind in (OpKind.atomic, OpKind.reduction)  # the order among serialized ones is free
        assert (sorted(got) if atomic else got) == (sorted(expected) if atomic else expected)
        parts = (
            oracle.partial(lanes, width, expected, model) if kind == OpKind.store and expected else [0] * len(expected)
        )
        assert result.partial[span].tolist() == parts
        assert record["wavefronts"] == wavefronts
        assert record["slots"] == slots and record["kind"] == kind


def trace_of(instructions) -> FakeTrace:
    ops = [static_instruction(width, kind, space) for width, kind, space, _, _ in instructions]
    rows = [(i, mask, addresses) for i, (_, _, _, mask, addresses) in enumerate(instructions)]
    return FakeTrace(ops, rows, arrays=[TEXTURE])


@drawn(300)
@given(st.lists(accesses(), min_size=1, max_size=6), machines())
def test_against_the_oracle(instructions, gpu):
    check_against_oracle(instructions, gpu, coalesce(trace_of(instructions), gpu))


@drawn(200)
@given(st.lists(accesses(), min_size=1, max_size=2), st.lists(MOVES, max_size=8), machines(), st.data())
def test_an_op_that_repeats_moved_against_the_oracle(shapes, moves, gpu, data):
    """What is taken from an op's last instruction: the same lanes, moved by any distance, between others."""
    scale = data.draw(st.sampled_from([1, 4, 32, 128, 256]))
    instructions, numbers = [], []
    for move in [0, *moves]:
        number = data.draw(st.integers(0, len(shapes) - 1))
        width, kind, space, mask, addresses = shapes[number]
        moved = [address + max(move * scale, -min(addresses)) for address in addresses]
        instructions.append((width, kind, space, mask, moved))
        numbers.append(number)
    ops = [static_instruction(width, kind, space) for width, kind, space, _, _ in shapes]
    rows = [(number, mask, moved) for number, (_, _, _, mask, moved) in zip(numbers, instructions, strict=True)]
    check_against_oracle(instructions, gpu, coalesce(FakeTrace(ops, rows, arrays=[TEXTURE]), gpu))


def equal(a: Transactions, b: Transactions) -> bool:
    return a.n_ops == b.n_ops and all(
        np.array_equal(getattr(a, name), getattr(b, name))
        for name in ("instructions", "lines", "masks", "partial", "line_address", "first_instruction", "first_warp")
    )


def random_trace(rng, n=60) -> FakeTrace:
    ops = [
        static_instruction(w, k, s)
        for w in (1, 4, 16)
        for k in OpKind
        for s in (Space.global_, Space.shared, Space.constant)
    ]
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
    compiled, rules = coalesce(trace, gpu), driver.make_rules(trace.ops, gpu)
    for module in (coalesce_loop, line_numbers):
        for name, function in list(vars(module).items()):
            if hasattr(function, "py_func"):
                monkeypatch.setattr(module, name, function.py_func)
    zeros = np.zeros
    monkeypatch.setattr(  # plain Python reads record fields as attributes of such views only
        driver.np, "zeros", lambda n, d=float: zeros(n, d).view(Records) if np.dtype(d).names else zeros(n, d)
    )
    monkeypatch.setattr(driver, "make_rules", lambda *_: rules.view(Records))
    assert equal(coalesce(trace, gpu), compiled)


@pytest.mark.parametrize("chunk", [1, 7])
def test_chunks_and_buffers_do_not_matter(chunk, monkeypatch):
    trace, gpu = random_trace(np.random.default_rng(2), 200), machine("2.0")
    whole = coalesce(trace, gpu)
    monkeypatch.setattr(driver, "CHUNK_INSTRUCTIONS", chunk)
    monkeypatch.setattr(driver, "_BUFFER", coalesce_loop.MOST_TRANSACTIONS)
    done = []
    assert equal(coalesce(trace, gpu, progress=done.append), whole)
    assert set(done) == {200}  # instructions until the end of the chunk's last warp; there is one warp


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


def test_long_runs_of_lines_do_not_collide():
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
    explicit = coalesce(FakeTrace([static_instruction(4)], rows), gpu)
    assert equal(coalesce(FakeTrace([static_instruction(4)], rows, strided={0: (1000, 12)}), gpu), explicit)


def test_bad_traces_are_named():
    gpu = machine("2.0")
    with pytest.raises(InputError, match=r"^fake.h5: warp_size is 16; .* warps of 32"):
        coalesce(FakeTrace([], [], launch=LaunchShape((1, 1, 1), (32, 1, 1), 16)), gpu)
    with pytest.raises(InputError, match="^fake.h5: ops/width holds 12; "):
        coalesce(FakeTrace([static_instruction(12)], []), gpu)
    with pytest.raises(InputError, match="^fake.h5: instructions/base of row 0 leads to a negative address"):
        coalesce(FakeTrace([static_instruction(4)], [(0, ALL, [0] * 32)], strided={0: (64, -4)}), gpu)


def test_a_directory_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(InputError, match="coalesced trace cannot be written: No such file"):
        coalesce(FakeTrace([static_instruction(4)], [(0, ALL, [0] * 32)]), machine("2.0"), tmp_path / "absent")
