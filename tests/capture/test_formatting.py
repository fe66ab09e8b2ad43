"""printf's formats, as kernels use them, against the C library's."""

from __future__ import annotations

import ctypes
import struct

import pytest

from memsim.capture.formatting import formatted

INTEGERS = [0, 1, -1, 42, -(1 << 31), (1 << 31) - 1]
NUMBERS = [0.0, -0.0, 1.0, -2.5, 3.14159265, 1e100, -1e-7, float("inf"), float("-inf"), 123456789.0]


class Bytes:
    """One buffer of arguments at 0."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def value(self, address: int, nbytes: int) -> bytes:
        return self._data[address : address + nbytes]

    def text(self, address: int) -> bytes:
        return b"text"


def by_c(form: bytes, *arguments) -> bytes:
    room = ctypes.create_string_buffer(8192)
    ctypes.CDLL(None).snprintf(room, ctypes.c_size_t(8192), form, *arguments)
    return room.value


@pytest.mark.parametrize("value", INTEGERS)
@pytest.mark.parametrize(
    "form", [b"%d", b"%5d|", b"%-7d|", b"%+.3d", b"%08d", b"%x", b"%#X", b"%#o", b"%u", b"%hhd", b"% d", b"%.0d"]
)
def test_integers_are_as_in_c(form, value):
    assert formatted(form, Bytes(struct.pack("<i", value)), 0) == (by_c(form, ctypes.c_int(value)), 1)


@pytest.mark.parametrize("value", NUMBERS)
@pytest.mark.parametrize(
    "form", [b"%f", b"%.3e", b"%g", b"%G", b"%010.2f", b"%-12.1f|", b"%+g", b"%a", b"%#.0f", b"%.0f"]
)
def test_numbers_are_as_in_c(form, value):
    assert formatted(form, Bytes(struct.pack("<d", value)), 0)[0] == by_c(form, ctypes.c_double(value))


def test_arguments_are_aligned_to_their_sizes():
    data = struct.pack("<i4xqi4xdi", 1, 2, 3, 4.5, ord("z"))
    assert formatted(b"%d %lld %i%% %.1f %c\n", Bytes(data), 0) == (b"1 2 3% 4.5 z\n", 5)


def test_widths_are_arguments_and_strings_are_cut():
    data = struct.pack("<iiqi", -6, 2, 1 << 40, 3)
    assert formatted(b"%*.*s|%d", Bytes(data), 0)[0] == b"te    |3"
