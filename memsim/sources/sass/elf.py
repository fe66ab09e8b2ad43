"""What a cubin says besides its instructions: constants, parameters, memory, symbols and relocations.

A cubin is an ELF file of 64 bits. Its sections ``.nv.info`` hold attributes as (format, number, size or value), whose
numbers NVIDIA's tools name EIATTR_* (``cuobjdump -elf`` prints them).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from memsim.support.errors import InputError

_WITH_SIZE = 4  # the format of an attribute that says how long its value is
_PARAM_CBANK, _FRAME_SIZE, _MIN_STACK_SIZE, _KPARAM_INFO, _REGCOUNT = 0x0A, 0x11, 0x12, 0x17, 0x2F
_REL, _RELA, _NOBITS = 9, 4, 8
_OBJECT = 1
_ENTRY = 0x10  # STO_CUDA_ENTRY


@dataclass(frozen=True)
class ElfSection:
    """A section: its bytes, or how many there are where the file has none."""

    name: str
    data: bytes
    size: int


@dataclass(frozen=True)
class ElfSymbol:
    """A symbol: the section it lies in, and where; whether it is a variable, or a kernel."""

    name: str
    section: str
    value: int
    size: int
    is_object: bool
    is_entry: bool = False


@dataclass(frozen=True)
class Relocation:
    """A place in a section that gets a symbol's address."""

    offset: int
    symbol: str
    kind: int
    added: int


@dataclass
class Cubin:
    """A cubin, read.

    Attributes:
        architecture: 80 for sm_80.
        sections: by name.
        symbols: by their numbers in the file.
        relocations: by the section they change.
    """

    architecture: int
    sections: dict[str, ElfSection] = field(default_factory=dict)
    symbols: list[ElfSymbol] = field(default_factory=list)
    relocations: dict[str, list[Relocation]] = field(default_factory=dict)

    def data(self, name: str) -> bytes:
        """The bytes of a section; none where it is not there."""
        return self.sections[name].data if name in self.sections else b""

    def size(self, name: str) -> int:
        """The bytes that a section takes in memory."""
        return self.sections[name].size if name in self.sections else 0

    def objects(self, section: str) -> list[ElfSymbol]:
        """The variables of a section, ascending."""
        found = [one for one in self.symbols if one.section == section and one.is_object]
        return sorted(found, key=lambda one: one.value)

    def parameters(self, kernel: str) -> tuple[int, int]:
        """Where a kernel's parameters begin in its constant bank, and how many bytes they have."""
        for number, value in self._attributes(f".nv.info.{kernel}"):
            if number == _PARAM_CBANK:
                return struct.unpack_from("<HH", value, 4)
        return self.size(f".nv.constant0.{kernel}"), 0

    def first_parameter(self, kernel: str) -> int:
        """Where a kernel's first parameter lies in its constant bank: behind a gap where it is aligned to more."""
        each = self.each_parameter(kernel)
        return self.parameters(kernel)[0] + (each[0][0] if each else 0)

    def each_parameter(self, kernel: str) -> list[tuple[int, int]]:
        """Offset and bytes of each parameter of a kernel, in their order."""
        found = {}
        for number, value in self._attributes(f".nv.info.{kernel}"):
            if number == _KPARAM_INFO:
                _, ordinal, offset, flags = struct.unpack("<IHHI", value)
                found[ordinal] = offset, flags >> 18
        return [found[ordinal] for ordinal in sorted(found)]

    @property
    def kernels(self) -> list[str]:
        """The kernels' names."""
        return [one.name for one in self.symbols if one.is_entry]

    def registers(self, kernel: str) -> int:
        """Registers per thread of a kernel; 0 where the file does not say."""
        for number, value in self._attributes(".nv.info"):
            if number == _REGCOUNT:
                symbol, count = struct.unpack("<II", value)
                if self.symbols[symbol].name == kernel:
                    return count
        return 0

    def static_shared(self, kernel: str) -> int:
        """Static shared memory of a block of a kernel, without the bytes that the system takes."""
        size = self.size(f".nv.shared.{kernel}")
        return size - self.system_bytes if size else 0

    @property
    def system_bytes(self) -> int:
        """Bytes that the system takes at the beginning of a block's shared memory, where there is any.

        The size of a section contains them; the GPU's own count of reserved bytes
        (``Architecture.reserved_shared_bytes``) are the same bytes.
        """
        return 1024 if self.architecture >= 90 else 0

    def local_bytes(self, kernel: str) -> int:
        """Local memory of a thread of a kernel, with that of all functions that it calls."""
        most = 0
        for number, value in self._attributes(".nv.info"):
            if number in (_FRAME_SIZE, _MIN_STACK_SIZE):
                symbol, size = struct.unpack("<II", value)
                if self.symbols[symbol].name == kernel:
                    most = max(most, size)
        return most

    def _attributes(self, section: str) -> list[tuple[int, bytes]]:
        data, at, found = self.data(section), 0, []
        while at + 4 <= len(data):
            kind, number, size = struct.unpack_from("<BBH", data, at)
            at += 4
            if kind == _WITH_SIZE:
                found.append((number, data[at : at + size]))
                at += size
            else:
                found.append((number, struct.pack("<H", size)))
        return found


def read_cubin(data: bytes, where: str = "cubin") -> Cubin:
    """Read a cubin.

    Raises:
        InputError: it is none, or damaged.
    """
    try:
        return _read(data)
    except (struct.error, IndexError, UnicodeDecodeError, ValueError) as error:
        raise InputError(where, "ELF", f"is damaged or no machine code of CUDA ({error})") from None


def _read(data: bytes) -> Cubin:
    if data[:5] != b"\x7fELF\x02":
        raise ValueError("no ELF file of 64 bits")
    offset, flags = struct.unpack_from("<QI", data, 0x28)
    count, names = struct.unpack_from("<HH", data, 0x3C)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, offset + 64 * k) for k in range(count)]
    strings = _bytes_of(data, headers[names])
    titles = [_text(strings, header[0]) for header in headers]
    low = flags & 0xFF  # of older cubins; in newer ones the architecture stands a byte higher
    cubin = Cubin(low if low >= 50 else flags >> 8 & 0xFF)
    tables = []
    for title, header in zip(titles, headers, strict=True):
        cubin.sections[title] = ElfSection(title, _bytes_of(data, header), header[5])
        if title == ".symtab":
            own = _bytes_of(data, headers[header[6]])
            cubin.symbols = [
                _symbol(one, own, titles) for one in struct.iter_unpack("<IBBHQQ", _bytes_of(data, header))
            ]
        if header[1] in (_REL, _RELA):
            tables.append(header)
    for header in tables:
        form = "<QQq" if header[1] == _RELA else "<QQ"
        for offset, info, *added in struct.iter_unpack(form, _bytes_of(data, header)):
            one = Relocation(offset, cubin.symbols[info >> 32].name, info & 0xFFFFFFFF, added[0] if added else 0)
            cubin.relocations.setdefault(titles[header[7]], []).append(one)
    return cubin


def _bytes_of(data: bytes, header: tuple[int, ...]) -> bytes:
    return b"" if header[1] == _NOBITS else data[header[4] : header[4] + header[5]]


def _text(strings: bytes, at: int) -> str:
    return strings[at : strings.index(b"\0", at)].decode()


def _symbol(one: tuple[int, ...], strings: bytes, titles: list[str]) -> ElfSymbol:
    name, info, other, section, value, size = one
    section_name = titles[section] if section < len(titles) else ""
    return ElfSymbol(_text(strings, name), section_name, value, size, info & 15 == _OBJECT, bool(other & _ENTRY))
