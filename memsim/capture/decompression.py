"""The two ways in which fat binaries are compressed: raw LZ4 blocks and Zstandard frames."""

from __future__ import annotations

import zstandard


class Corrupt(ValueError):
    """Compressed data that cannot be decompressed."""


def unpack_lz4(data: bytes, size: int) -> bytes:
    """Decompress a raw LZ4 block (LZ4 block format description, lz4.org).

    Args:
        data: the block.
        size: bytes of the result.

    Raises:
        Corrupt: the block does not have exactly this content.
    """
    out = bytearray()
    at = 0
    try:
        while True:
            token = data[at]
            at += 1
            literals, at = _length(data, at, token >> 4)
            if literals > len(data) - at:
                raise Corrupt("an LZ4 block is cut")
            out += data[at : at + literals]
            at += literals
            if at >= len(data) or len(out) >= size:
                break
            distance = data[at] | data[at + 1] << 8
            length, at = _length(data, at + 2, token & 15)
            _repeat(out, distance, length + 4)
    except IndexError:
        raise Corrupt("an LZ4 block is cut") from None
    if len(out) != size:
        raise Corrupt(f"an LZ4 block has {len(out)} bytes where {size} are expected")
    return bytes(out)


def _length(data: bytes, at: int, nibble: int) -> tuple[int, int]:
    """A length whose first part is in a token; returns it and the next position."""
    if nibble == 15:
        while True:
            more = data[at]
            at += 1
            nibble += more
            if more != 255:
                break
    return nibble, at


def _repeat(out: bytearray, distance: int, length: int) -> None:
    """Append bytes from a distance before the end; they may overlap what is appended."""
    start = len(out) - distance
    if distance == 0 or start < 0:
        raise Corrupt("an LZ4 block refers to bytes before its begin")
    if distance >= length:
        out += out[start : start + length]
    else:
        pattern = bytes(out[start:])
        out += (pattern * (length // distance + 1))[:length]


def unpack_zstd(data: bytes, size: int) -> bytes:
    """Decompress one Zstandard frame.

    Raises:
        Corrupt: the frame does not have exactly ``size`` bytes.
    """
    try:
        out = zstandard.ZstdDecompressor().decompress(data, max_output_size=size)
    except zstandard.ZstdError as error:
        raise Corrupt(str(error)) from None
    if len(out) != size:
        raise Corrupt(f"a Zstandard frame has {len(out)} bytes where {size} are expected")
    return out
