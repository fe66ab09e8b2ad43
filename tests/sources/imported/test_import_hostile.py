"""Files that were cut, changed or made to harm: one line that names file and line, and nothing half-written."""

import io
import lzma
import subprocess
import sys
import threading
import time

import pytest
import zstandard
from accelsim_text import block, header, imported
from budget import drawn
from hypothesis import given
from hypothesis import strategies as st
from nvbit_text import LOG
from typer.testing import CliRunner

from memsim.cli import app
from memsim.sources.imported import text
from memsim.sources.imported.nvbit import import_nvbit
from memsim.support.errors import InputError

GOOD = [
    "0000 ffffffff 1 R1 IMAD.MOV.U32 2 R255 R255 0",
    "0010 ffffffff 1 R4 LDG.E.SYS 1 R2 4 1 0x7f0000000000 4",
    "0020 00000007 1 R8 LDG.E.64.SYS 1 R4 8 2 0x7f0000001000 8 -8",
    "0030 00000007 1 R10 LD.E.SYS 1 R4 8 0 0x7f0000001000 0x7f0000001004 0x7f0000001018",
    "0040 00000001 0 STL 2 R1 R10 4 2 0xfffdc0",
    "0050 ffffffff 0 BAR.SYNC 0 0",
    "0060 ffffffff 1 R4 ATOMG.E.ADD.STRONG.GPU 3 R4 R2 R3 4 1 0x7f0000000000 -4",
    "0070 ffffffff 0 EXIT 0 0",
]
TRACE = header() + block(GOOD, []) + block(GOOD[:2], GOOD[1:4], at="1,0,0", numbers=[1, 0])
HEAD = header().count("\n")  # lines before the first block


def one(line):
    return header() + block([line])


# What is wrong -> the file, and what the message must say after the file's name.
WRONG = {
    "a picture": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "line 1 is b'\\x89PNG'"),
    "empty": ("", "line 1 the header does not end"),
    "no key": (header().replace("-grid", "grid"), "line 3 is b'grid dim = (4,2,1)'"),
    "no grid": (header(grid_dim=None) + block(GOOD), "-grid dim is missing in the header"),
    "no block": (header(block_dim=None) + block(GOOD), "-block dim is missing in the header"),
    "grid of text": (header(grid_dim="(a,b)") + block(GOOD), "line 3: -grid dim is '(a,b)'; it must be"),
    "grid of nothing": (header(grid_dim="(0,1,1)") + block(GOOD), "line 3: -grid dim is '(0,1,1)'"),
    "huge grid": (header(grid_dim="(9999999999,9999999999,1)") + block(GOOD), "line 3: -grid dim is"),
    "huge block": (header(block_dim="(1024,1024,64)") + block(GOOD), "line 4: -block dim is '(1024,1024,64)'"),
    "huge registers": (header(nregs=10**30) + block(GOOD), "line 6: -nregs is"),
    "huge window": (header(shmem_base_addr="0x" + "f" * 16) + block(GOOD), "line 9: -shmem base_addr is"),
    "no blocks": (header(), "file has no thread blocks"),
    "raw trace": (header() + "0 0 0 0 0010 1 0 EXIT 0 0\n", f"line {HEAD + 1}: text is outside of thread blocks"),
    "nested": (header() + block(GOOD).replace("warp = 0", "#BEGIN_TB"), ": #BEGIN_TB is inside a thread block"),
    "end alone": (header() + "#END_TB\n", ": text is outside"),
    "no name": (header() + "#BEGIN_TB\nwarp = 0\n", f"line {HEAD + 2}: thread block is not named"),
    "outside the grid": (header() + block(GOOD, at="4,0,0"), ": thread block must be"),
    "negative block": (header() + block(GOOD, at="-1,0,0"), ": thread block must be"),
    "named twice": (
        header() + block(GOOD).replace("warp = 0", "thread block = 1,0,0"),
        ": thread block is named twice; begin the next one with #BEGIN_TB",
    ),
    "block twice": (header() + block(GOOD) + block(GOOD), ": thread block appears twice"),
    "warp beyond": (header() + block(GOOD, numbers=[2]), ": warp must be 'warp = n'"),
    "warp twice": (header() + block(GOOD, GOOD, numbers=[1, 1]), ": warp appears twice"),
    "no insts": (header() + block(GOOD).replace("insts", "#"), ": text is none of"),
    "too few": (header() + block(GOOD).replace("insts = 8", "insts = 9"), ": insts is more than the number"),
    "too many": (header() + block(GOOD).replace("insts = 8", "insts = 7"), ": insts is less than the number"),
    "huge count": (header() + block(GOOD).replace("insts = 8", "insts = 999999999999999"), ": insts is more than"),
    "absurd count": (header() + block(GOOD).replace("insts = 8", "insts = " + "9" * 40), ": insts must be"),
    "PC": (one("zz ffffffff 0 EXIT 0 0"), ": PC must be"),
    "huge PC": (one("ffffffffffff ffffffff 0 EXIT 0 0"), ": PC must be"),
    "mask of 33 bits": (one("0000 1ffffffff 0 EXIT 0 0"), ": mask must be a hexadecimal number of at most 32 bits"),
    "mask with a hole": (one("0000 5 1 R4 LDG.E 1 R2 4 1 0x7f0000000000 4"), ": mask must be one run of lanes"),
    "many registers": (one("0000 1 99999999 R1 MOV 0 0"), ": registers must be a count"),
    "few registers": (one("0000 1 2 R1 MOV 0 0"), ": "),
    "register 256": (one("0000 1 1 R256 MOV 0 0"), ": registers must be"),
    "opcode": (one("0000 1 0 0x12 0 0"), ": opcode must begin with a capital letter"),
    "unknown access": (one("0000 1 0 WARPSPEED.X 1 R2 4 2 0x100"), ": opcode has addresses"),
    "wide access": (one("0000 1 1 R4 LDG.E.256 1 R2 32 2 0x100"), ": opcode accesses 32 bytes per lane"),
    "mem_width": (one("0000 1 1 R4 LDG.E 1 R2 -4 2 0x100"), ": mem_width must be"),
    "mode 3": (one("0000 1 1 R4 LDG.E 1 R2 4 3 0x100"), ": address mode must be"),
    "no addresses": (one("0000 3 1 R4 LDG.E 1 R2 4 0"), ": addresses must"),
    "an address too few": (one("0000 3 1 R4 LDG.E 1 R2 4 0 0x100"), ": addresses must"),
    "a delta too few": (one("0000 7 1 R4 LDG.E 1 R2 4 2 0x100 4"), ": addresses must"),
    "overflow": (one("0000 3 1 R4 LDG.E 1 R2 4 0 0x100 0xfffffffffffffff0"), ": addresses must"),
    "stride overflow": (one("0000 ffffffff 1 R4 LDG.E 1 R2 4 1 0x100 144115188075855871"), ": addresses must"),
    "below zero": (one("0000 ffffffff 1 R4 LDG.E 1 R2 4 1 0x10 -4"), ": addresses must"),
    "delta below zero": (one("0000 3 1 R4 LDG.E 1 R2 4 2 0x10 -99999999999999"), ": addresses must"),
    "local": (one("0000 1 1 R4 LDL 1 R2 4 2 0x7f0000000000"), ": addresses of local memory must"),
    "word": (header() + block(GOOD).replace("warp = 0", "wrap = 0"), ": text is none of"),
    "many ops": (
        header() + block([f"{n * 16:x} 1 1 R4 LDG.E 1 R2 4 2 0x100" for n in range(65535)]),
        ": PC would be memory instruction number 65535",
    ),
    "many opcodes": (
        header() + block([f"0 1 0 A{n} 0 0" for n in range(2049)]),
        ": opcode would be opcode number 2049",
    ),
    "no line feeds": (header() + "#" * (1 << 22), " has more than 4194304 bytes without a line feed"),
}


@pytest.mark.parametrize(("content", "message"), WRONG.values(), ids=WRONG)
def test_wrong_files(tmp_path, content, message):
    with pytest.raises(InputError) as error:
        imported(tmp_path, content)
    shown = str(error.value)
    assert shown.startswith(f"{tmp_path}/kernel-1.traceg: ") and message in shown and "\n" not in shown
    assert len(shown) < 400 and [path.name for path in tmp_path.iterdir()] == ["kernel-1.traceg"]


def test_the_command_says_it_in_one_line(tmp_path):
    (tmp_path / "kernel-1.traceg").write_text(WRONG["mode 3"][0])
    done = CliRunner().invoke(app, ["import", "accelsim", str(tmp_path / "kernel-1.traceg"), "-o", str(tmp_path)])
    line = f"memsim: {tmp_path}/kernel-1.traceg: line {HEAD + 7}: address mode must be 0 (list), 1 (base and stride)"
    assert done.exit_code == 2 and done.output.startswith(line) and done.output.count("\n") == 1


def test_trace_cut_anywhere_is_refused_or_ends_early(tmp_path):
    content = TRACE.encode()
    ends = [content.index(b"#END_TB") + 7, content.rindex(b"#END_TB") + 7]
    for size in range(0, len(content), 7):
        try:
            trace = imported(tmp_path, content[:size])
        except InputError as error:
            assert str(error).startswith(f"{tmp_path}/kernel-1.traceg: ")
        else:
            assert trace.n_blocks == sum(size >= end for end in ends) > 0


PIECES = [b"", b"0", b"-1", b"9" * 20, b"f" * 16, b"0x", b"\0", b"\n", b" ", b"#", b"R", b"\xff", b"#END_TB\n", b"="]


def mutated(draw, content: bytes) -> bytes:
    """A few bytes, tokens or lines of a file replaced, repeated, removed or moved."""
    for _ in range(draw(st.integers(1, 4))):
        separator = draw(st.sampled_from([b"", b" ", b"\n", b",", b" - "]))
        parts = content.split(separator) if separator else [content[i : i + 1] for i in range(len(content))]
        at, to = (draw(st.integers(0, len(parts) - 1)) for _ in range(2)) if parts else (0, 0)
        change = draw(st.integers(0, 4))
        if change == 0:
            parts[at : at + 1] = [draw(st.sampled_from(PIECES) | st.binary(max_size=3))]
        elif change == 1:
            parts[at : at + draw(st.integers(1, 3))] = []
        elif change == 2:
            parts[to:to] = parts[at : at + 1]
        elif change == 3:
            parts[at:at] = [draw(st.sampled_from(PIECES))]
        else:
            parts = parts[:at]
        content = separator.join(parts)
    return content


@drawn(100)
@given(st.data())
def test_changed_traces_are_refused_by_line_or_read(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("trace")
    try:
        list(imported(folder, mutated(data.draw, TRACE.encode())).chunks())
    except InputError as error:
        assert str(error).startswith(f"{folder}/kernel-1.traceg: ") and str(error).isprintable()
        assert len(list(folder.iterdir())) == 1


@drawn(100)
@given(st.data())
def test_changed_logs_are_refused_by_line_or_read(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("log")
    path = folder / "mem_trace.log"
    path.write_bytes(mutated(data.draw, LOG.encode()))
    try:
        for trace in import_nvbit(path, folder):
            list(trace.chunks())
    except InputError as error:
        assert str(error).startswith(f"{path}: ") and str(error).isprintable()
        assert len(list(folder.iterdir())) == 1


@pytest.mark.parametrize("pack", [lzma.compress, zstandard.compress], ids=["xz", "zst"])
@pytest.mark.parametrize("damage", ["cut", "changed"])
def test_damaged_packed_files(tmp_path, pack, damage):
    packed = bytearray(pack((TRACE + "\n" * 5000).encode()))
    if damage == "cut":
        del packed[len(packed) // 2 :]
    else:
        packed[len(packed) // 2] ^= 0xFF
    with pytest.raises(InputError, match=f"^{tmp_path}/kernel-1.traceg: "):
        imported(tmp_path, bytes(packed))


BOMB = """
import resource, sys
from pathlib import Path
from memsim.support.errors import InputError
from memsim.sources.imported.text import line_blocks
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    print(sum(len(block) for block in line_blocks(Path(sys.argv[1]))))
except InputError as error:
    print(error)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024, "MiB")
"""


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"\n", b"\0"], ids=["lines", "zeros"])
@pytest.mark.parametrize("pack", ["xz", "zst"])
def test_bombs_unpack_in_little_memory(tmp_path, pack, content):
    """From a few kilobytes; line feeds are read to the end, a line without end is refused."""
    path, chunk = tmp_path / "bomb", content * (1 << 24)
    compressor = lzma.LZMACompressor(preset=0) if pack == "xz" else zstandard.ZstdCompressor().compressobj()
    with path.open("wb") as file:
        for _ in range(4 if content == b"\0" or pack == "xz" else 16):
            file.write(compressor.compress(chunk))
        file.write(compressor.flush())
    done = subprocess.run([sys.executable, "-c", BOMB, path], capture_output=True, text=True, check=True)
    said, used = done.stdout.splitlines()
    assert said.isdigit() or "bytes without a line feed" in said
    assert int(used.split()[0]) < 150


def test_file_may_not_ask_for_huge_dictionary(tmp_path):
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 29}]
    compressor = lzma.LZMACompressor(filters=filters)
    path = tmp_path / "big.xz"
    path.write_bytes(compressor.compress(b"a\n") + compressor.flush())
    with pytest.raises(InputError, match="is truncated or damaged"):
        list(text.line_blocks(path))


def test_reader_that_stops_does_not_wait_for_readahead(tmp_path):
    """The garbage collector may be the one who stops, and must not wait for a thread."""
    (path := tmp_path / "a.txt").write_bytes(b"one\ntwo\n" * 8)
    more, asked = threading.Event(), threading.Event()

    class Slow(io.BytesIO):
        def readinto(self, buffer):
            if self.tell():
                asked.set()
                more.wait(60)
            return super().readinto(buffer)

    blocks = text.line_blocks(path, block_bytes=8, unpack=lambda file: Slow(file.read()))
    assert next(blocks) == b"one\ntwo\n" and asked.wait(60)
    begin = time.monotonic()
    blocks.close()
    assert time.monotonic() - begin < 30
    more.set()
