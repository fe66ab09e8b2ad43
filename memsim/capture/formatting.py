"""What printf makes of a format and its arguments (ISO C, 7.21.6.1), as kernels pass them to vprintf."""

from __future__ import annotations

import math
import re
import struct
from typing import Protocol

_SPECIFICATION = re.compile(rb"%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d*))?(hh|h|ll|l|j|z|t|L)?([diouxXeEfFgGaAcspn%])")
_BITS = {b"hh": 8, b"h": 16, b"": 32, b"l": 64, b"ll": 64, b"j": 64, b"z": 64, b"t": 64, b"L": 64}
MOST_WIDTH = 4096


class Reader(Protocol):
    """The memory of one thread."""

    def value(self, address: int, nbytes: int) -> bytes: ...
    def text(self, address: int) -> bytes: ...


class _Arguments:
    """The buffer of arguments: each aligned to its size, 4 or 8 bytes."""

    def __init__(self, reader: Reader, address: int) -> None:
        self._reader, self._start, self._at = reader, address, 0
        self.count = 0

    def take(self, nbytes: int) -> bytes:
        self._at = -(-self._at // nbytes) * nbytes
        self._at += nbytes
        self.count += 1
        return self._reader.value(self._start + self._at - nbytes, nbytes)

    def integer(self, nbytes: int) -> int:
        return int.from_bytes(self.take(nbytes), "little", signed=True)


def formatted(form: bytes, reader: Reader, arguments: int) -> tuple[bytes, int]:
    """The text, and how many arguments it took.

    Args:
        form: the format.
        reader: of the thread's memory.
        arguments: where they lie.
    """
    given = _Arguments(reader, arguments)
    text = _SPECIFICATION.sub(lambda found: _one(found, given, reader), form)
    return text, given.count


def _one(found: re.Match[bytes], given: _Arguments, reader: Reader) -> bytes:
    flags, kind = found[1].decode(), found[5].decode()
    if kind == "%":
        return b"%"
    width = given.integer(4) if found[2] == b"*" else int(found[2] or 0)
    if width < 0:
        flags, width = flags + "-", -width
    precision = None
    if found[3] is not None:
        precision = given.integer(4) if found[3] == b"*" else int(found[3] or 0)
        precision = None if precision < 0 else min(precision, MOST_WIDTH)
    width = min(width, MOST_WIDTH)
    if kind in "cs":
        text = reader.text(given.integer(8) & (1 << 64) - 1) if kind == "s" else bytes([given.integer(4) & 255])
        return _padded(text if precision is None or kind == "c" else text[:precision], flags, width)
    if kind == "p":
        value = given.integer(8) & (1 << 64) - 1
        return _padded(b"0x%x" % value if value else b"(nil)", flags, width)
    if kind == "n":
        given.take(8)
        return b""
    if kind in "diouxX":
        sign, digits = _integer(given, found[4] or b"", kind, flags, precision)
        zeros = "0" in flags and precision is None
    else:
        value = struct.unpack("<d", given.take(8))[0]
        sign, digits = _number(value, kind, flags, precision)
        zeros = "0" in flags and math.isfinite(value)
    if zeros and "-" not in flags:
        digits = digits.rjust(width - len(sign), "0")
    return _padded((sign + digits).encode(), flags, width)


def _padded(text: bytes, flags: str, width: int) -> bytes:
    return text.ljust(width) if "-" in flags else text.rjust(width)


def _sign(negative: bool, flags: str) -> str:
    return "-" if negative else "+" if "+" in flags else " " if " " in flags else ""


def _integer(given: _Arguments, length: bytes, kind: str, flags: str, precision: int | None) -> tuple[str, str]:
    """Sign or prefix, and digits."""
    bits = _BITS[length]
    value = given.integer(8 if bits == 64 else 4) & ((1 << bits) - 1)
    prefix = ""
    if kind in "di":
        if value >> (bits - 1):
            value -= 1 << bits
        prefix, digits = _sign(value < 0, flags), str(abs(value))
    else:
        digits = format(value, {"u": "d"}.get(kind, kind))
        if "#" in flags and kind in "xX" and value:
            prefix = f"0{kind}"
        if "#" in flags and kind == "o" and not digits.startswith("0"):
            digits = f"0{digits}"
    if precision is not None:
        digits = "" if precision == 0 and value == 0 else digits.rjust(precision, "0")
    return prefix, digits


def _number(value: float, kind: str, flags: str, precision: int | None) -> tuple[str, str]:
    negative = math.copysign(1.0, value) < 0
    sign, size = _sign(negative, flags), abs(value)
    if not math.isfinite(size):
        text = "nan" if math.isnan(size) else "inf"
        return sign, text.upper() if kind.isupper() else text
    if kind in "aA":
        text = _hexadecimal(size, precision)
        return sign, text.upper() if kind == "A" else text
    alternate = "#" if "#" in flags else ""
    return sign, f"%{alternate}.{6 if precision is None else precision}{kind}" % size


def _hexadecimal(size: float, precision: int | None) -> str:
    """%a: one digit before the point, as many after it as are needed or asked for."""
    if precision is None:
        head, exponent = size.hex().split("p")
        head = head.rstrip("0") if "." in head else head
        return f"{head.removesuffix('.')}p{exponent}"
    mantissa, exponent_value = math.frexp(size)
    if size:
        mantissa, exponent_value = mantissa * 2, exponent_value - 1
    scaled = round(mantissa * 16**precision)
    digits = f"{scaled:x}".rjust(precision + 1, "0")
    return (
        f"0x{digits[:-precision]}.{digits[-precision:]}p{exponent_value:+d}"
        if precision
        else f"0x{digits}p{exponent_value:+d}"
    )
