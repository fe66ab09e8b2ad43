"""``.tracez``, what Accel-Sim 2.0's post-processing writes: the text of a ``.traceg``, packed warp by warp.

A file is the header's text and a zero byte; the bytes of a dictionary and the instructions of a piece, u4 each; the
dictionary; of each warp its instructions and pieces, u4 each, and the pieces, zstd frames behind their length in u4; an
index of blocks and warps; and the place of the index, u8 (``tracez_format.h`` of the Accel-Sim framework). Numbers are
little-endian. It is unpacked to the lines that the same tool writes as text, so lines have the same numbers in both.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import zstandard

from memsim.sources.imported.text import BLOCK_BYTES, MOST_DICTIONARY, Progress, line_blocks
from memsim.support.errors import InputError

_LONGEST_HEADER, _LARGEST_DICTIONARY, _LONGEST_PIECE = 1 << 20, 1 << 20, 1 << 28
_COUNTS, _BLOCK, _WARP, _OFFSET = (struct.Struct(form) for form in ("<II", "<11I", "<IIQ", "<Q"))


def trace_blocks(
    path: str | Path, progress: Progress | None = None, block_bytes: int = BLOCK_BYTES
) -> Generator[bytearray, None, None]:
    """The text of a processed trace in blocks of whole lines; ``.tracez`` is known by its name, as by Accel-Sim.

    Raises:
        InputError: the file is damaged.
        OSError: the system does not let it be read.
    """
    path = Path(path)
    if path.suffix != ".tracez":
        return line_blocks(path, progress, block_bytes)
    return line_blocks(path, progress, block_bytes, lambda file: _Tracez(path, file))


@dataclass(frozen=True)
class _Warp:
    instructions: int
    pieces: int
    offset: int


class _Tracez(io.RawIOBase):
    """A ``.tracez`` file as a raw stream of the text that it stands for."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path, self._file = path, file
        self._size = path.stat().st_size
        self._text = self._all()
        self._ahead = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._ahead:
            piece = next(self._text, None)
            if piece is None:
                return 0
            self._ahead = memoryview(piece)
        count = min(len(buffer), len(self._ahead))
        buffer[:count] = self._ahead[:count]
        self._ahead = self._ahead[count:]
        return count

    def _all(self) -> Iterator[bytes]:
        header = self._header()
        yield header
        size, _ = self._read(_COUNTS)
        if size > _LARGEST_DICTIONARY:
            raise self._wrong("dictionary", f"has {size} bytes; there are at most {_LARGEST_DICTIONARY}")
        dictionary = zstandard.ZstdCompressionDict(self._bytes(size, "dictionary"))
        unpacker = zstandard.ZstdDecompressor(dictionary if size else None, max_window_size=MOST_DICTIONARY)
        for about, warps in self._index():
            x, y, z, *cluster = about
            yield b"\n#BEGIN_TB\n\nthread block = %d,%d,%d\n" % (x, y, z)
            yield b"cluster id = %d,%d,%d\ncluster cta = %d,%d,%d\ncluster rank = %d\n" % tuple(cluster)
            for number, warp in enumerate(warps):
                yield b"\nwarp = %d\ninsts = %d\n" % (number, warp.instructions)
                yield from self._pieces(warp, unpacker)
            yield b"\n#END_TB\n"

    def _header(self) -> bytes:
        text = self._file.read(_LONGEST_HEADER)
        end = text.find(b"\0")
        if end < 0:
            raise self._wrong(
                "header", "does not end with a zero byte; give a .tracez that post-traces-processing wrote"
            )
        self._file.seek(end + 1)
        return text[:end]

    def _index(self) -> Iterator[tuple[list[int], list[_Warp]]]:
        """Of every block its place in grid and cluster, and its warps."""
        self._seek(self._size - _OFFSET.size, "index")
        (offset,) = self._read(_OFFSET)
        self._seek(offset, "index")
        index = io.BytesIO(self._bytes(self._size - _OFFSET.size - offset, "index"))
        (blocks,) = struct.unpack("<I", self._exactly(index, 4, "index"))
        for _ in range(blocks):
            *about, n_warps = _BLOCK.unpack(self._exactly(index, _BLOCK.size, "index"))
            warps = []
            for _ in range(n_warps):
                warp = _Warp(*_WARP.unpack(self._exactly(index, _WARP.size, "index")))
                self._exactly(index, 4 * warp.pieces, "index")
                warps.append(warp)
            yield about, warps

    def _pieces(self, warp: _Warp, unpacker: zstandard.ZstdDecompressor) -> Iterator[bytes]:
        """A warp's lines."""
        self._seek(warp.offset, "warp")
        if self._read(_COUNTS) != (warp.instructions, warp.pieces):
            raise self._wrong("warp", f"at byte {warp.offset} is not the one in the index; give a complete file")
        for _ in range(warp.pieces):
            (size,) = struct.unpack("<I", self._bytes(4, "piece"))
            if size > _LONGEST_PIECE:
                raise self._wrong(
                    "piece", f"of a warp at byte {warp.offset} has {size} bytes; one has {_LONGEST_PIECE} at most"
                )
            with unpacker.stream_reader(self._bytes(size, "piece")) as text:
                while part := text.read(BLOCK_BYTES):
                    yield part
            yield b"\n"

    def _seek(self, offset: int, what: str) -> None:
        if not 0 <= offset < self._size:
            raise self._wrong(what, f"would be at byte {offset} of {self._size}; give a complete file")
        self._file.seek(offset)

    def _read(self, numbers: struct.Struct) -> tuple[int, ...]:
        return numbers.unpack(self._bytes(numbers.size, "file"))

    def _bytes(self, count: int, what: str) -> bytes:
        if count < 0 or self._file.tell() + count > self._size:
            raise self._wrong(what, "ends too early; give a complete file")
        return self._file.read(count)

    def _exactly(self, file: BinaryIO, count: int, what: str) -> bytes:
        data = file.read(count)
        if len(data) < count:
            raise self._wrong(what, "ends too early; give a complete file")
        return data

    def _wrong(self, what: str, problem: str) -> InputError:
        return InputError(self._path, what, problem)
