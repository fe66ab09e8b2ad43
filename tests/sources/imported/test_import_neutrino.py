"""Neutrino's files of clocks and addresses, written by hand from its header's declarations."""

import struct

import numpy as np
import pytest
from accelsim_text import lanes, whole
from budget import drawn
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from memsim.cli import app
from memsim.sources.imported.neutrino import Probe, import_neutrino
from memsim.support.errors import InputError
from memsim.trace.schema import NO_WAIT, Instructions, OpKind

A = 0x7F00_0000_0000
LOAD, STORE = Probe("load", 4), Probe("store", 8)


def file_of(*maps, grid=(2, 1, 1), block=(48, 1, 1), level=1):
    """A file of maps: of each, by thread of the whole grid, its records."""
    threads = int(np.prod(grid) * np.prod(block))
    out = struct.pack("<8I", *grid, *block, 64, len(maps))
    at = len(out) + 16 * len(maps)
    most = [max((len(records) for records in one.values()), default=0) for one in maps]
    for size in most:
        out += struct.pack("<IIQ", 16 * size, level, at)
        at += 16 * size * threads
    for one, size in zip(maps, most, strict=True):
        for thread in range(threads):
            records = one.get(thread, [])
            out += b"".join(struct.pack("<QQ", *record) for record in records) + bytes(16 * (size - len(records)))
    return out


# Warp 0 of block 0: loads by all lanes at clock 100, by lanes 0 and 1 at 300, by lane 2 at 250; a store at 200.
LOADS = {lane: [(100, A + 4 * lane)] for lane in range(32)}
LOADS[0], LOADS[1] = [*LOADS[0], (300, A + 512)], [*LOADS[1], (300, A + 640)]
LOADS[2] = [*LOADS[2], (250, A + 1024)]
STORES = {lane: [(200, A + 0x1000 + 8 * lane)] for lane in range(32)} | {80: [(7, A)]}  # and by warp 1 of block 1
GOOD = file_of(LOADS, STORES)


def write(folder, content=GOOD):
    path = folder / "1.25.bin"
    path.write_bytes(content)
    return path


def test_lanes_of_one_clock_are_one_access(tmp_path):
    (trace,) = import_neutrino(write(tmp_path), [LOAD, STORE], tmp_path)
    assert (trace.launch.grid, trace.launch.block, trace.launch.shared_bytes) == ((2, 1, 1), (48, 1, 1), 64)
    assert [(op.kind, op.width) for op in trace.ops] == [(OpKind.load, 4), (OpKind.store, 8)]
    (_, all_), (_, stored), (_, alone), (_, two), (_, last) = lanes(trace)
    assert all_ == {lane: A + 4 * lane for lane in range(32)}
    assert stored == {lane: A + 0x1000 + 8 * lane for lane in range(32)}
    assert (alone, two, last) == ({2: A + 1024}, {0: A + 512, 1: A + 640}, {0: A})
    chunk = whole(trace)
    assert chunk.first_instruction.tolist() == [0, 4, 4, 4, 5]
    assert trace.issue.instructions is Instructions.none
    assert chunk.wait_long.tolist() == [NO_WAIT, 0, NO_WAIT, 0, NO_WAIT]  # each waits for the loads before it


def test_the_command(tmp_path):
    path = write(tmp_path)
    command = ["import", "neutrino", str(path), "--probe", "load:4", "-p", "store:8", "-o", str(tmp_path / "a.h5")]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0 and (tmp_path / "a.h5").is_file(), done.output
    done = CliRunner().invoke(app, ["import", "neutrino", str(path), "--probe", "walk:4"])
    assert done.exit_code == 2 and "probe is 'walk:4'; give KIND:BYTES" in done.output


WRONG = {
    "empty": (b"", "file is shorter than a header"),
    "no grid": (file_of(LOADS, grid=(0, 1, 1)), "grid is (0, 1, 1)"),
    "huge block": (struct.pack("<8I", 1, 1, 1, 4096, 1, 1, 0, 1) + bytes(16), "block is (4096, 1, 1)"),
    "many maps": (struct.pack("<8I", 1, 1, 1, 32, 1, 1, 0, 2**32 - 1), "maps are 4294967295"),
    "cut": (GOOD[:-1], "map 1 ends too early"),
    "one map": (file_of(LOADS), "probes are 2, but the file has 1 maps"),
    "warps' records": (file_of(LOADS, STORES, level=32), "map 0 has one record per warp"),
    "no access": (file_of({0: [(1, 0)]}, {}), "file has no access"),
    "no address": (file_of({0: [(1, 2**64 - 1)]}, {}), "addresses have 57 bits at most"),
}


@pytest.mark.parametrize(("content", "message"), WRONG.values(), ids=WRONG)
def test_wrong_files(tmp_path, content, message):
    path = write(tmp_path, content)
    with pytest.raises(InputError) as error:
        import_neutrino(path, [LOAD, STORE], tmp_path)
    assert message in str(error.value) and "\n" not in str(error.value)
    assert [found.name for found in tmp_path.iterdir()] == [path.name]


@drawn(60)
@given(st.data())
def test_damaged_files_are_refused_or_read(tmp_path_factory, data):
    content = bytearray(GOOD)
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, 63))] = data.draw(st.integers(0, 255))
    path = write(tmp_path_factory.mktemp("neutrino"), bytes(content))
    try:
        import_neutrino(path, [LOAD, STORE], path.parent)
    except InputError as error:
        assert str(error).startswith(f"{path}: ") and str(error).isprintable()
