"""Protocol Buffers on the wire (protobuf.dev, Encoding): the fields of a message, without its description."""

from __future__ import annotations

from collections.abc import Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5  # wire types; 3 and 4, groups, are no longer written
_VARINT_BYTES = 10  # of 64 bits, seven a byte

Value = int | memoryview


class WireError(ValueError):
    """The bytes are no message."""


def fields(message: memoryview) -> Iterator[tuple[int, Value]]:
    """Every field of a message: its number, and an integer (varint) or bytes (the other types).

    Raises:
        WireError: it ends within a field, or has a wire type that is none.

    >>> [(number, value) for number, value in fields(memoryview(bytes([0x08, 0xAC, 0x02])))]
    [(1, 300)]
    """
    at, end = 0, len(message)
    while at < end:
        key, at = _varint(message, at)
        kind = key & 7
        if kind == VARINT:
            value, at = _varint(message, at)
            yield key >> 3, value
            continue
        if kind == BYTES:
            size, at = _varint(message, at)
        elif kind in (FIXED64, FIXED32):
            size = 8 if kind == FIXED64 else 4
        else:
            raise WireError(f"field {key >> 3} has wire type {kind}")
        if size > end - at:
            raise WireError(f"field {key >> 3} ends behind its message")
        yield key >> 3, message[at : at + size]
        at += size


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    """The integer that begins at an offset, and the offset after it."""
    value = 0
    for shift, byte in enumerate(message[at : at + _VARINT_BYTES]):
        value |= (byte & 127) << (7 * shift)
        if byte < 128:
            return value, at + shift + 1
    raise WireError("an integer does not end")
