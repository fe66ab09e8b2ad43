"""The PTX of fat binaries in all the forms in which compilers write them."""

from __future__ import annotations

import struct

import pytest
import zstandard
from sass_launches import needs_machine_code

from memsim.capture.decompression import Corrupt, unpack_lz4
from memsim.capture.fatbin import ImageError, OnlyMachineCode, cubins_of, ptx_of
from memsim.sources.sass.assemble import assemble
from memsim.sources.sass.elf import read_cubin


def ptx(target: str, comment: str = "") -> bytes:
    return f".version 8.0\n.target {target}\n.address_size 64\n// {comment}\n.visible .entry k() {{ ret; }}\n".encode()


def entry(content: bytes, *, kind: int = 1, unit: bytes = b"a.cu\0", flags: int = 0x11, size: int = 0) -> bytes:
    packed, content = len(content), content + bytes(-len(content) % 8)
    name = unit + bytes(-len(unit) % 8)
    return struct.pack(
        "<HHIQIIHHIIIQQQ", kind, 0x101, 64 + len(name), len(content), packed, 0, 0, 9, 80, 64, len(unit), flags, 0, size
    ) + name + content  # fmt: skip


def fat(*entries: bytes) -> bytes:
    content = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(content)) + content


def lz4(data: bytes) -> bytes:
    """An LZ4 block of literals alone."""
    out, rest = bytearray([0xF0]), len(data) - 15
    while rest >= 255:
        out.append(255)
        rest -= 255
    return bytes(out) + bytes([rest]) + data


@pytest.mark.parametrize(
    ("form", "flags"), [(bytes, 0x11), (lz4, 0x2011), (zstandard.ZstdCompressor().compress, 0x8011)]
)
def test_compressed_ptx_is_unpacked(form, flags):
    text = ptx("sm_80")
    assert ptx_of(fat(entry(form(text), flags=flags, size=len(text))), 89) == [text.decode()]


def test_the_highest_architecture_that_runs_is_chosen():
    image = fat(*(entry(ptx(one)) for one in ("sm_75", "sm_80", "sm_90", "sm_90a", "sm_100a")))
    assert [".target sm_80\n" in ptx_of(image, gpu)[0] for gpu in (80, 89)] == [True, True]
    assert ".target sm_90a\n" in ptx_of(image, 90)[0]
    assert ".target sm_90\n" in ptx_of(image, 120)[0]
    assert ".target sm_75\n" in ptx_of(image, 70)[0]


def test_family_ptx_runs_in_its_family_only():
    image = fat(entry(ptx("sm_100f")), entry(ptx("sm_90")))
    assert ".target sm_100f\n" in ptx_of(image, 103)[0]
    assert ".target sm_90\n" in ptx_of(image, 120)[0]


def test_units_of_several_binaries_are_all_returned():
    image = fat(entry(ptx("sm_80", "first"))) + fat(entry(ptx("sm_80", "second"), unit=b"b.cu\0"))
    assert [one.split("// ")[1].split()[0] for one in ptx_of(image, 89)] == ["first", "second"]


def test_machine_code_alone_names_the_flags():
    with pytest.raises(OnlyMachineCode, match="-cudart shared.*CMAKE_CUDA_ARCHITECTURES=89-virtual"):
        ptx_of(fat(entry(b"\x7fELF" + bytes(100), kind=2)), 89)


@needs_machine_code
def test_newest_machine_code_of_the_generation_is_chosen():
    image = fat(*(entry(assemble(ptx("sm_75").decode(), one).cubin, kind=2) for one in (75, 80, 86, 90)))
    assert [[read_cubin(one).architecture for one in cubins_of(image, gpu)] for gpu in (75, 80, 89, 90, 100)] == [
        [75], [80], [86], [90], []
    ]  # fmt: skip


def test_damaged_machine_code_matters_only_without_ptx():
    damaged = entry(b"\x7fELF" + bytes(100), kind=2, flags=0x8011, size=500)
    assert ptx_of(fat(damaged, entry(ptx("sm_80"))), 89)
    with pytest.raises(ImageError, match="damaged"):
        cubins_of(fat(damaged), 89)


@pytest.mark.parametrize("length", [3, 17, 40, 90, 120])
def test_cut_images_are_refused(length):
    image = fat(entry(ptx("sm_80")))
    with pytest.raises(ImageError):
        ptx_of(image[:length], 89)


def test_lz4_matches_may_overlap_and_must_fit():
    assert unpack_lz4(bytes([0x14, ord("a"), 1, 0, 0x10, ord("b")]), 10) == b"a" * 9 + b"b"
    with pytest.raises(Corrupt):
        unpack_lz4(bytes([0x14, ord("a"), 9, 0, 0x10, ord("b")]), 10)
    with pytest.raises(Corrupt):
        unpack_lz4(bytes([0x14, ord("a"), 1]), 10)


def test_ptx_text_and_its_zero_byte():
    assert ptx_of(ptx("sm_80") + b"\0", 89) == [ptx("sm_80").decode()]
