"""Text files as blocks of whole lines, plain or compressed, in bounded memory whatever they unpack to."""

from __future__ import annotations

import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np
import zstandard

from memsim.support.errors import InputError
from memsim.support.text import printable

BLOCK_BYTES = 1 << 22  # also the longest line
MOST_DICTIONARY = 1 << 28  # bytes that unpacking may ask for: twice what `xz -9` and `zstd --ultra` do
_MAGIC = {b"\x1f\x8b": "gz", b"\xfd7zXZ\0": "xz", b"\x28\xb5\x2f\xfd": "zst"}

Progress = Callable[[int, int], None]  # bytes of the file read, bytes in all


class _Xz(io.RawIOBase):
    """An .xz file as a raw stream. The standard library's has no limit on the memory that a file may demand."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._unpacker = file, self._new()

    @staticmethod
    def _new() -> lzma.LZMADecompressor:
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MOST_DICTIONARY)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while True:
            packed = b""
            if self._unpacker.eof:  # streams may follow each other, padded with zeros
                packed = self._unpacker.unused_data.lstrip(b"\0") or self._file.read(1 << 16).lstrip(b"\0")
                if not packed:
                    return 0
                self._unpacker = self._new()
            elif self._unpacker.needs_input:
                packed = self._file.read(1 << 16)
                if not packed:
                    raise EOFError("it ends too early")
            data = self._unpacker.decompress(packed, len(buffer))
            if data:
                buffer[: len(data)] = data
                return len(data)


def _unpacked(file: BinaryIO) -> BinaryIO:
    """The text in a file, whose format is recognized by its first bytes, not by its name."""
    start = file.read(6)
    file.seek(0)
    packing = next((packing for magic, packing in _MAGIC.items() if start.startswith(magic)), None)
    if packing == "gz":
        return gzip.GzipFile(fileobj=file)  # type: ignore[return-value]
    if packing == "xz":
        return _Xz(file)  # type: ignore[return-value]
    if packing == "zst":
        unpacker = zstandard.ZstdDecompressor(max_window_size=MOST_DICTIONARY)
        return unpacker.stream_reader(file, read_across_frames=True)
    return file


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile, zstandard.ZstdError) as error:
        raise InputError(path, "file", f"is truncated or damaged ({error}); give a complete one") from error


def line_blocks(
    path: str | Path,
    progress: Progress | None = None,
    block_bytes: int = BLOCK_BYTES,
    unpack: Callable[[BinaryIO], BinaryIO | io.RawIOBase] | None = None,
) -> Generator[bytearray, None, None]:
    """Yield the text of a file in blocks that end with a line feed, the next one read while the caller works.

    Files packed by gzip, xz or zstd are unpacked on the way; they are known by their content. A format that packs text
    in its own way says how: ``unpack`` makes the stream of text of an open file.

    Raises:
        InputError: the file is damaged, or a line is longer than ``block_bytes``.
        OSError: the system does not let it be read.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.txt.gz"
    >>> _ = file.write_bytes(gzip.compress(b"one\\ntwo"))
    >>> list(line_blocks(file))
    [bytearray(b'one\\ntwo\\n')]
    """
    blocks = _line_blocks(Path(path), progress, block_bytes, unpack or _unpacked)
    reader = ThreadPoolExecutor(1)  # unpacking and compiled parsing both leave Python's lock
    try:
        ahead = reader.submit(next, blocks, None)
        while (block := ahead.result()) is not None:
            ahead = reader.submit(next, blocks, None)
            yield block
    finally:
        # Nobody waits: the garbage collector may close what an error left behind, in the middle of a thread's start,
        # whose locks the end of this thread would wait for.
        reader.shutdown(wait=False)


def _line_blocks(
    path: Path, progress: Progress | None, block_bytes: int, unpack: Callable[[BinaryIO], BinaryIO | io.RawIOBase]
) -> Generator[bytearray, None, None]:
    rest, line = b"", 1
    with open(path, "rb") as file, _reading(path):
        size = path.stat().st_size
        text = unpack(file)
        while True:
            block = bytearray(block_bytes)
            block[: len(rest)] = rest
            filled = _fill(text, block, len(rest))
            if progress:
                progress(min(file.tell(), size), size)
            if filled < block_bytes:  # the end
                del block[filled:]
                if block:
                    yield block if block.endswith(b"\n") else block + b"\n"
                return
            cut = block.rfind(b"\n") + 1
            if cut == 0:
                problem = f"has more than {block_bytes} bytes without a line feed; give a text file"
                raise InputError(path, f"line {line}", problem)
            rest = bytes(block[cut:])
            del block[cut:]
            line += block.count(b"\n")
            yield block


def _fill(text: io.RawIOBase | BinaryIO, block: bytearray, filled: int) -> int:
    """Fill a block as far as the text goes; returns the bytes in it."""
    with memoryview(block) as view:
        while filled < len(block):
            count = text.readinto(view[filled:])  # type: ignore[union-attr]
            if not count:
                break
            filled += count
    return filled


def shown(text: bytes) -> str:
    """Bytes of an untrusted file as text that can be stored and shown.

    >>> shown(b"csr\\x00\\xff")
    'csr\\\\x00\ufffd'
    """
    return printable(text.decode("utf-8", "replace"))


def as_array(block: bytearray) -> np.ndarray:
    """A block as u1 for compiled loops, without a copy."""
    return np.frombuffer(block, np.uint8)
