"""Accel-Sim 2.0: its packed .tracez is the text that it stands for, and the lines that its tracer added."""

import numpy as np
import pytest
import zstandard
from accelsim_text import block, header, imported, lanes, whole
from budget import drawn
from hypothesis import given
from hypothesis import strategies as st
from tracez_bytes import tracez, u4

from memsim.sources.imported.accelsim import import_accelsim
from memsim.support.errors import InputError
from memsim.trace.schema import NO_OP, NO_WAIT, OpKind, Space

HEAD = header(accelsim_tracer_version=6)
LINES = [
    "0000 ffffffff 1 R1 LDC 2 R255 UR4 4 1 0x28 0 0 NoVal",
    "0010 ffffffff 1 R4 LDG.E 2 R2 UR4 4 1 0x7f0000000000 4 0 0 NoVal",
    "0020 ffffffff 2 P0 R5 IADD3 2 R4 R4 0 1 0 NoVal",
    "0030 ffffffff 0 STG.E 3 R2 R5 UR4 4 1 0x7f0000001000 4 0 0 NoVal",
    "0040 ffffffff 0 EXIT 0 0 0 0 NoVal",
]
BLOCKS = {(0, 0, 0): [LINES, LINES[3:]], (1, 0, 0): [LINES[:3], []]}
TEXT = HEAD + "".join(block(*warps, at=",".join(map(str, at))) for at, warps in BLOCKS.items())


def columns(trace):
    chunk = whole(trace)
    return {
        name: getattr(chunk, name).tolist()
        for name in ("op", "compute_run", "mask", "base", "wait_long", "first_address")
    }


@pytest.mark.parametrize("trained", [False, True])
def test_the_packed_trace_is_the_text(tmp_path, trained):
    samples = [f"{LINES[k % 5]} {k}".encode() for k in range(1000)]
    dictionary = zstandard.train_dictionary(4096, samples) if trained else None
    (tmp_path / "kernel-1.tracez").write_bytes(tracez(HEAD, BLOCKS, dictionary=dictionary))
    (tmp_path / "kernelslist.g").write_text("MemcpyHtoD,0x7f0000000000,4096\nkernel-1.tracez\n")
    (packed,) = import_accelsim(tmp_path / "kernelslist.g", tmp_path / "packed")
    text = imported(tmp_path, TEXT)
    assert packed.path.name == "kernel-1.h5" and packed.block_ids.tolist() == [0, 1]
    assert columns(packed) == columns(text)
    assert packed.issue.mixes.tolist() == text.issue.mixes.tolist()
    assert [array.name for array in packed.arrays] == ["constant", "copy1", "global"]
    (_, constant), (_, loaded), (_, stored), *_ = lanes(packed)
    assert set(constant.values()) == {0x28}
    assert [loaded[3], stored[31]] == [0x7F000000000C, 0x7F000000107C]


def test_text_of_the_new_tracer_names_clusters(tmp_path):
    text = HEAD + block(LINES).replace("\nwarp", "cluster id = 0,0,0\ncluster cta = 0,0,0\ncluster rank = 0\n\nwarp")
    assert len(lanes(imported(tmp_path, text))) == 3


def test_what_ends_group_of_products_is_no_width(tmp_path):
    """HGMMA has a number more from version 6 on; Accel-Sim's marks of replayed regions are no instructions."""
    product = "0010 ffffffff 1 R24 HGMMA.64x128x16.F32 2 R24 UR4 {}0"
    lines = [product.format("1 "), "0018 ffffffff 0 REPLAY_START 0 0", LINES[1]]
    row = whole(imported(tmp_path, HEAD + block(lines)))
    assert row.compute_run.tolist() == [1]
    assert (
        whole(
            imported(tmp_path, header(accelsim_tracer_version=5) + block([product.format(""), LINES[1]]))
        ).compute_run[0]
        == 1
    )


TILE = "0010 00000001 0 UTMALDG.2D 2 UR8 UR4 64 {barrier} 0 256 0 4 0x7f0000000000 4 256 256 1024 0 0 NoVal"
TRY = "0020 ffffffff 0 SYNCS.PHASECHK.TRANS64.TRYWAIT 2 R2 UR4 8 1 {barrier} 0 0 0 NoVal"
MOVE = "0018 ffffffff 1 R8 MOV 1 R9 0 0 0 NoVal"


@pytest.mark.parametrize("deltas", [(256, 256, 1024), (-256, 512, -1024)])
def test_a_tensor_copy_becomes_rows_of_16_bytes(tmp_path, deltas):
    """Four transfers of 64 bytes, by hand: 16 pieces; nothing goes through L1, and the warp does not wait."""
    copy = TILE.format(barrier="0x8000").replace("256 256 1024", " ".join(map(str, deltas)))
    trace = imported(tmp_path, HEAD + block([copy, MOVE, LINES[4]]))
    (op,) = trace.ops
    assert (op.kind, op.space, op.width, op.bypass_l1, op.async_copy) == (OpKind.load, Space.global_, 16, True, True)
    ((_, found),) = lanes(trace)
    starts = np.cumsum([0, *deltas])
    assert [found[k] - 0x7F0000000000 for k in range(16)] == (starts[:, None] + 16 * np.arange(4)).ravel().tolist()


def test_large_box_is_several_rows_of_one_copy(tmp_path):
    listed = " ".join(f"{0x7F0000000000 + 512 * k:#x}" for k in range(40))
    trace = imported(tmp_path, HEAD + block([f"0010 1 0 UTMALDG.2D 2 UR8 UR4 32 0x8000 1 0xf 1280 0 3 40 {listed} 0"]))
    chunk = whole(trace)
    assert [bin(mask).count("1") for mask in chunk.mask.tolist()] == [32, 32, 16]


@pytest.mark.parametrize(
    ("opcode", "kind"),
    [
        ("UTMASTG.2D", OpKind.store),
        ("UBLKCP.S.G", OpKind.load),
        ("UBLKCP.G.S", OpKind.store),
        ("UTMAREDG.ADD", OpKind.reduction),
    ],
)
def test_kinds_of_bulk_copies(tmp_path, opcode, kind):
    (op,) = imported(tmp_path, HEAD + block([f"0010 1 0 {opcode} 1 UR8 128 0x0 0 128 0 3 1 0x7f0000000000 0"])).ops
    assert (op.kind, op.async_copy) == (kind, kind is OpKind.load)


def test_trying_barrier_waits_for_its_copies(tmp_path):
    lines = [TILE.format(barrier="0x8000"), TILE.format(barrier="0x8008"), MOVE, TRY.format(barrier="0x8000"), LINES[1]]
    chunk = whole(imported(tmp_path, HEAD + block(lines)))
    assert chunk.op.tolist() == [0, 0, NO_OP, 1]
    assert chunk.wait_copies.tolist() == [NO_WAIT, NO_WAIT, NO_WAIT, 1]  # the second copy may be on its way
    assert chunk.compute_run.tolist() == [0, 0, 1, 1]
    other = [*lines[:3], TRY.format(barrier="0x9000"), LINES[1]]
    assert set(whole(imported(tmp_path, HEAD + block(other))).wait_copies.tolist()) == {NO_WAIT}


BAD = {
    "no mode": "0010 1 0 UTMALDG.2D 0 64 0x8000 0 256 0 2 0x100",
    "an address too few": "0010 1 0 UTMALDG.2D 0 64 0x8000 0 256 0 3 2 0x100",
    "a delta too few": "0010 1 0 UTMALDG.2D 0 64 0x8000 0 256 0 4 0x100 3 16",
    "too many": "0010 1 0 UTMALDG.2D 0 64 0x8000 0 256 0 4 0x100 999999999999999 16",
    "too wide": "0010 1 0 UTMALDG.2D 0 999999999999999999 0x8000 0 256 0 4 0x100 1",
    "cut": "0010 1 0 UTMALDG.2D 0 64",
}


@pytest.mark.parametrize("line", BAD.values(), ids=BAD)
def test_wrong_copies(tmp_path, line):
    with pytest.raises(InputError, match="line 22: transfers must be a bulk copy's mbarrier"):
        imported(tmp_path, HEAD + block([line]))


def test_wrong_files(tmp_path):
    good = tracez(HEAD, BLOCKS)
    wrong = {
        "header does not end with a zero byte": HEAD.encode(),
        "index would be at byte": good[:-8] + b"\xff" * 8,
        "dictionary has 4294967295 bytes": HEAD.encode() + b"\0" + u4(2**32 - 1, 0),
        "index ends too early": good[:-40] + good[-8:],
    }
    for message, content in wrong.items():
        with pytest.raises(InputError, match=message) as error:
            imported(tmp_path, content, "kernel-1.tracez")
        assert "\n" not in str(error.value)
        assert [path.name for path in tmp_path.iterdir()] == ["kernel-1.tracez"]


@drawn(100)
@given(st.data())
def test_damaged_files_are_refused_or_read(tmp_path_factory, data):
    content = bytearray(tracez(HEAD, BLOCKS))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at] = data.draw(st.integers(0, 255))
    folder = tmp_path_factory.mktemp("tracez")
    try:
        list(imported(folder, bytes(content), "kernel-1.tracez").chunks())
    except InputError as error:
        assert str(error).startswith(f"{folder}/kernel-1.tracez: ") and str(error).isprintable()
        assert len(list(folder.iterdir())) == 1
