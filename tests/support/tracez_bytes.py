"""Small ``.tracez`` files for tests, packed as ``tracez_format.h`` of the Accel-Sim framework says."""

from __future__ import annotations

import struct

import zstandard


def u4(*numbers: int) -> bytes:
    """Numbers of four bytes each."""
    return struct.pack(f"<{len(numbers)}I", *numbers)


def tracez(header: str, blocks: dict[tuple[int, int, int], list[list[str]]], piece: int = 2, dictionary=None) -> bytes:
    """A file of blocks, by their place in the grid: the lines of each warp, so many to a piece."""
    trained = dictionary.as_bytes() if dictionary else b""
    out = header.encode() + b"\0" + u4(len(trained), piece) + trained
    packer = zstandard.ZstdCompressor(dict_data=dictionary) if dictionary else zstandard.ZstdCompressor()
    index = u4(len(blocks))
    for place, warps in blocks.items():
        index += u4(*place, 0, 0, 0, 0, 0, 0, 0, len(warps))
        for lines in warps:
            pieces = [lines[at : at + piece] for at in range(0, len(lines), piece)]
            index += u4(len(lines), len(pieces)) + struct.pack("<Q", len(out)) + u4(*map(len, pieces))
            out += u4(len(lines), len(pieces))
            for part in pieces:
                packed = packer.compress("\n".join(part).encode())
                out += u4(len(packed)) + packed
    return out + index + struct.pack("<Q", len(out))
