"""Finds the PTX or the machine code of a module's image: fat binaries, PTX texts, cubins."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memsim.capture.decompression import Corrupt, unpack_lz4, unpack_zstd
from memsim.sources.sass.elf import read_cubin
from memsim.support.errors import InputError

PTX_SECTION = ".memsim_ptx"  # the `ptxas` wrapper for Python packages adds it to cubins
FLAGS = (
    "build it with PTX and the shared runtime: nvcc -cudart shared -gencode arch=compute_89,code=compute_89; "
    "CMake: -DCMAKE_CUDA_RUNTIME_LIBRARY=Shared -DCMAKE_CUDA_ARCHITECTURES=89-virtual"
)
LINKED = b"MEMSIMLK"  # u32 count, then each image as u64 bytes and its content
_MAGIC, _WRAPPER_MAGIC = 0xBA55ED50, 0x466243B1
_FILE = struct.Struct("<IHHQ")  # magic, version, bytes of this header, bytes of all entries
_ENTRY = struct.Struct("<HHIQIIHHIIIQQQ")
_PTX, _ELF = 1, 2
_LZ4, _ZSTD = 0x2000, 0x8000
_TARGET = re.compile(r"^\s*\.target\s+(?:sm|compute)_(\d+)([af]?)\b", re.MULTILINE)


class ImageError(Exception):
    """An image that memsim cannot run; the message says why, and what to do."""


class OnlyMachineCode(ImageError):
    """An image without PTX."""


@dataclass(frozen=True)
class PtxText:
    """One PTX module of an image.

    Attributes:
        unit: what the compiler called its source; several of one image are linked together.
        architecture: 89 for compute_89.
        suffix: ``a`` or ``f`` where the PTX is for that architecture or family only, else empty.
    """

    text: str
    unit: str
    architecture: int
    suffix: str

    def runs_on(self, gpu: int) -> bool:
        """Whether a GPU can run it (CUDA C++ Programming Guide, "Family-Specific and Architecture-Specific Features").

        >>> PtxText("", "", 80, "").runs_on(90), PtxText("", "", 90, "a").runs_on(100)
        (True, False)
        >>> PtxText("", "", 90, "a").runs_on(90)
        True
        """
        if self.suffix == "a":
            return gpu == self.architecture
        if self.suffix == "f":
            return gpu // 10 == self.architecture // 10 and gpu >= self.architecture
        return gpu >= self.architecture


def ptx_of(image: bytes, gpu: int) -> list[str]:
    """The PTX modules of an image that a GPU runs; more than one are to be linked.

    Args:
        image: one or several fat binaries, a PTX text, a cubin with a section of PTX, or a list of those.
        gpu: number of its architecture, 89 for compute capability 8.9.

    Raises:
        ImageError: there is none, or the image is damaged.
    """
    taken: list[str] = []
    for one in linked_images(image):
        found = _texts(one)
        taken += [text.text for text in chosen(found, gpu)]
        if not found and any(one[16:]):  # the device linker leaves empty fat binaries
            raise OnlyMachineCode(f"the program has no PTX, and no machine code for sm_{gpu}; {FLAGS}")
    return taken


def cubins_of(image: bytes, gpu: int) -> list[bytes]:
    """The machine code with kernels that a GPU runs: of the architectures in an image, the newest that it can run.

    Machine code runs on GPUs of the same major compute capability (CUDA C++ Programming Guide, "Binary
    Compatibility").

    Raises:
        ImageError: the image is damaged.
    """
    found: dict[int, list[bytes]] = {}
    for data in (data for one in linked_images(image) for data in _cubins(one)):
        try:
            cubin = read_cubin(data)
        except InputError as error:
            raise ImageError(str(error)) from None
        if cubin.kernels and cubin.architecture // 10 == gpu // 10 and cubin.architecture <= gpu:
            found.setdefault(cubin.architecture, []).append(data)
    return found[max(found)] if found else []


def _cubins(image: bytes) -> list[bytes]:
    if image[:4] == b"\x7fELF":
        return [image]
    return [one.data for one in _entries_of(image) if one.kind == _ELF]


def chosen(found: Sequence[PtxText], gpu: int) -> list[PtxText]:
    """Of each compiled unit, the PTX that fits a GPU best: the highest architecture that it can run.

    Where none is low enough, the lowest is taken: only features of the architecture would show the difference, and
    those have their own messages.
    """
    units: dict[str, list[PtxText]] = {}
    for one in found:
        units.setdefault(one.unit, []).append(one)
    taken: list[PtxText] = []
    for alternatives in units.values():
        newest = _newest_that_runs(
            [one.architecture * 4 + "fa".find(one.suffix or "?") + 1 for one in alternatives], alternatives, gpu
        )
        taken += [one for one in alternatives if (one.architecture, one.suffix) == (newest.architecture, newest.suffix)]
    return taken


def _newest_that_runs(ranks: Sequence[int], alternatives: Sequence[PtxText], gpu: int) -> PtxText:
    running = [(rank, k) for k, (rank, one) in enumerate(zip(ranks, alternatives, strict=True)) if one.runs_on(gpu)]
    if running:
        return alternatives[max(running)[1]]
    return min(alternatives, key=lambda one: (bool(one.suffix), one.architecture))


def linked_images(image: bytes) -> list[bytes]:
    """The images that are to be linked into one module; an image of another form is alone.

    Raises:
        ImageError: the list is cut.
    """
    if not image.startswith(LINKED):
        return [image]
    found, at = [], len(LINKED) + 4
    for _ in range(int.from_bytes(image[len(LINKED) : at], "little")):
        size = int.from_bytes(image[at : at + 8], "little")
        found.append(image[at + 8 : at + 8 + size])
        at += 8 + size
        if at > len(image):
            raise ImageError("the list of linked images is cut")
    return found


def _texts(image: bytes) -> list[PtxText]:
    magic = int.from_bytes(image[:4], "little")
    if magic == _MAGIC:
        return [text for one in _entries_of(image) for text in _texts_of_entry(one)]
    if magic == _WRAPPER_MAGIC:
        raise ImageError("the image is the wrapper of a fat binary, not its content")
    if image[:4] == b"\x7fELF":
        return _of_cubin(image)
    text = image.rstrip(b"\0")
    if b".version" in text[: 1 << 16] and b".target" in text[: 1 << 16]:
        return [_ptx(text, "")]
    raise ImageError("the image is not a fat binary, PTX or a cubin")


@dataclass(frozen=True)
class _Entry:
    """One entry of a fat binary: PTX or machine code, and what the compiler called its source."""

    kind: int
    content: bytes
    unit: str
    flags: int
    packed: int
    unpacked: int

    @property
    def data(self) -> bytes:
        """The content, unpacked."""
        return _unpacked(self.content, self.flags, self.packed, self.unpacked)


def _texts_of_entry(one: _Entry) -> list[PtxText]:
    if one.kind == _PTX:
        return [_ptx(one.data, one.unit)]
    return _of_cubin(one.content) if one.kind == _ELF and PTX_SECTION.encode() in one.content else []


def _entries_of(image: bytes) -> Iterator[_Entry]:
    """The entries of fat binaries that stand one after another, each aligned to 8 bytes."""
    at = 0
    while at + _FILE.size <= len(image):
        magic, _, header, size = _FILE.unpack_from(image, at)
        if magic != _MAGIC:
            if any(image[at:]):
                raise ImageError(f"the fat binary is damaged at byte {at}")
            return
        if header < _FILE.size or at + header + size > len(image):
            raise ImageError("the fat binary is cut")
        yield from _entries_of_one(image[at + header : at + header + size])
        at += header + size + (-(header + size) % 8)


def _entries_of_one(data: bytes) -> Iterator[_Entry]:
    at = 0
    while at + _ENTRY.size <= len(data):
        fields = _ENTRY.unpack_from(data, at)
        kind, header, size, packed, name_at, name_bytes = *(fields[k] for k in (0, 2, 3, 4)), *fields[9:11]
        flags, unpacked = fields[11], fields[13]
        if header < _ENTRY.size or at + header + size > len(data):
            raise ImageError("an entry of the fat binary is cut")
        content = data[at + header : at + header + size]
        unit = data[at + name_at : at + name_at + name_bytes].decode("utf-8", "replace") if name_bytes else ""
        yield _Entry(kind, content, unit, flags, packed, unpacked)
        at += header + size


def _unpacked(content: bytes, flags: int, packed: int, size: int) -> bytes:
    try:
        if flags & _ZSTD:
            return unpack_zstd(content[:packed], size)
        if flags & _LZ4:
            return unpack_lz4(content[:packed], size)
    except Corrupt as error:
        raise ImageError(f"the fat binary is damaged: {error}") from None
    return content


def _ptx(data: bytes, unit: str) -> PtxText:
    text = data.rstrip(b"\0").decode("latin-1")
    target = _TARGET.search(text)
    if target is None:
        raise ImageError("the PTX has no .target")
    return PtxText(text, unit, int(target[1]), target[2])


def _of_cubin(image: bytes) -> list[PtxText]:
    found = section(image, PTX_SECTION)
    return [] if found is None else [_ptx(found, "")]


def section(elf: bytes, name: str) -> bytes | None:
    """The content of a section of a 64-bit ELF file; None where it has none of this name.

    Raises:
        ImageError: the file is cut.
    """
    for found, offset, length in _sections(elf):
        if found == name:
            return elf[offset : offset + length]
    return None


def _sections(elf: bytes) -> list[tuple[str, int, int]]:
    """Name, offset and bytes of each section."""
    try:
        (table,) = struct.unpack_from("<Q", elf, 0x28)
        size, count, names = struct.unpack_from("<HHH", elf, 0x3A)
        headers = [struct.unpack_from("<IIQQQQ", elf, table + k * size) for k in range(count)]
        strings = headers[names][4] if headers else 0
        found = []
        for first, _, _, _, offset, length in headers:
            end = elf.index(b"\0", strings + first)
            found.append((elf[strings + first : end].decode("latin-1"), offset, length))
    except (struct.error, IndexError, ValueError):
        raise ImageError("a cubin is cut") from None
    return found
