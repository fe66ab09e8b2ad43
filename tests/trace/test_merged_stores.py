"""Partial stores of a warp that follow each other leave L1 once."""

from __future__ import annotations

from budget import drawn
from fake_trace import ALL, FakeTrace, machine, static_instruction
from hypothesis import given
from hypothesis import strategies as st

from memsim.gpu.presets import override
from memsim.trace.coalesce import coalesce
from memsim.trace.schema import OpKind
from memsim.trace.transactions import Transactions

OPS = [
    static_instruction(4, OpKind.store),
    static_instruction(8, OpKind.store),
    static_instruction(4, OpKind.load),
    static_instruction(1, OpKind.store),
]
STORES = (0, 1, 3)
MERGING = override(machine("8.0"), {"l1.merges_stores": True})
Row = tuple[int, int, list[int]]


def part(k: int) -> Row:
    """A warp's store of the k-th word of 32 structures of 16 bytes."""
    return 0, ALL, [16 * lane + 4 * k for lane in range(32)]


def sent(tx: Transactions) -> list[dict[tuple[int, int], bool]]:
    """Of each instruction, {(line address, sector): covered in part} of what leaves L1."""
    found: list[dict[tuple[int, int], bool]] = []
    for row in tx.instructions:
        here: dict[tuple[int, int], bool] = {}
        for k in range(int(row["first"]), int(row["first"]) + int(row["count"])):
            merged = int(tx.merged[k]) if len(tx.merged) else 0
            for s in range(8):
                if int(tx.masks[k]) & ~merged & 255 & 1 << s:
                    here[int(tx.line_address[tx.lines[k]]), s] = bool(int(tx.partial[k]) >> s & 1)
        found.append(here)
    return found


def by_definition(rows: list[Row]) -> list[dict[tuple[int, int], bool]]:
    """The same, from the bytes that each store writes."""
    written: list[dict[tuple[int, int], set[int]]] = []
    for op, _, addresses in rows:
        here: dict[tuple[int, int], set[int]] = {}
        for address in addresses:
            for byte in range(address, address + OPS[op].width):
                here.setdefault((byte // 128, byte % 128 // 32), set()).add(byte % 32)
        written.append(here)
    for i, (op, *_) in enumerate(rows[:-1]):
        if op not in STORES or rows[i + 1][0] not in STORES:
            continue
        for place, bytes_ in list(written[i].items()):
            after = written[i + 1].get(place, set())
            if len(bytes_) < 32 and 0 < len(rows_bytes(rows[i + 1], place)) < 32:
                after |= bytes_
                del written[i][place]
    return [{place: len(bytes_) < 32 and op in STORES for place, bytes_ in here.items()}
            for (op, *_), here in zip(rows, written, strict=True)]  # fmt: skip


def rows_bytes(row: Row, place: tuple[int, int]) -> set[int]:
    """Bytes that one row alone writes of a sector."""
    low = place[0] * 128 + place[1] * 32
    bytes_ = {byte for address in row[2] for byte in range(address, address + OPS[row[0]].width)}
    return {byte for byte in bytes_ if low <= byte < low + 32}


def test_structure_stored_by_its_parts_is_sent_once():
    rows = [part(k) for k in range(4)]
    tx = coalesce(FakeTrace(OPS, rows), MERGING)
    leaves = sent(tx)
    assert leaves[:3] == [{}, {}, {}]
    assert leaves[3] == {(line, s): False for line in range(4) for s in range(4)}
    assert [int(row["count"]) for row in tx.instructions] == [4] * 4  # each is looked up in L1
    assert all(len(here) == 16 for here in sent(coalesce(FakeTrace(OPS, rows), machine("8.0"))))


def test_load_between_stores_keeps_them_apart():
    load = 2, 1, [1 << 16]
    leaves = sent(coalesce(FakeTrace(OPS, [part(0), load, part(1)]), MERGING))
    assert len(leaves[0]) == len(leaves[2]) == 16 and all(leaves[0].values())


ROW = st.tuples(st.sampled_from([0, 0, 1, 2, 3]), st.integers(0, 3), st.sampled_from([1, 4, 8, 16]), st.integers(0, 40))


@drawn(60, quick=10)
@given(st.lists(ROW, min_size=1, max_size=8), st.integers(1, ALL))
def test_merging_follows_its_definition(drawn_rows, mask):
    active = [lane for lane in range(32) if mask >> lane & 1]
    rows = [(op, mask, [4 * k + step * lane + odd for lane in active]) for op, k, step, odd in drawn_rows]
    expected = by_definition(rows)
    found = sent(coalesce(FakeTrace(OPS, rows), MERGING))
    for (op, *_), ours, theirs in zip(rows, found, expected, strict=True):
        assert op not in STORES or ours == theirs
