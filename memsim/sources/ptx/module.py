"""What a PTX module is made of, as data: its functions, their instructions with operands, registers and variables."""

from __future__ import annotations

from dataclasses import dataclass, field
from zlib import crc32


@dataclass(frozen=True, slots=True)
class Register:
    """A register, special registers (``%tid.x``) and predicates too; unique in its function."""

    name: str


@dataclass(frozen=True, slots=True)
class Immediate:
    """A constant: an integer, or the bits of a floating-point number with so many bits (0: an integer)."""

    value: int
    float_bits: int = 0


@dataclass(frozen=True, slots=True)
class Symbol:
    """The address of a variable, plus an offset; or a label, or a function."""

    name: str
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Address:
    """``[base + offset]``, for tensors with coordinates: ``[base, {x, y}]``."""

    base: Register | Symbol | Immediate
    offset: int = 0
    coordinates: tuple[Operand, ...] = ()


@dataclass(frozen=True, slots=True)
class Vector:
    """``{a, b}``, also the lists of a call; and ``a|b``, whose second result is a predicate."""

    elements: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """``!%p``, a predicate turned round."""

    register: Register


Operand = Register | Immediate | Symbol | Address | Vector | Not


@dataclass(frozen=True, slots=True)
class SourcePosition:
    """Where in the source: file, line and column from 1, 0 for not known; `caller`: where this function is inlined."""

    file: str = ""
    line: int = 0
    column: int = 0
    caller: SourcePosition | None = field(default=None, compare=False, repr=False)

    @property
    def frames(self) -> list[SourcePosition]:
        """This position and those of its callers, the innermost first."""
        found: list[SourcePosition] = []
        frame: SourcePosition | None = self
        while frame is not None:
            found.append(frame)
            frame = frame.caller
        return found


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction.

    Attributes:
        opcode: name and modifiers: ``ld.global.v4.b32`` is ``("ld", "global", "v4", "b32")``.
        operands: in the order of the text.
        guard: the predicate it runs under, None for always.
        line: in the PTX text.
        position: in the source.
    """

    opcode: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: Register | Not | None
    line: int
    position: SourcePosition

    @property
    def name(self) -> str:
        return self.opcode[0]

    @property
    def text(self) -> str:
        """The opcode with its modifiers."""
        return ".".join(self.opcode)

    @property
    def type(self) -> str:
        """The last modifier, of most instructions their type."""
        return self.opcode[-1]

    def has(self, *modifiers: str) -> bool:
        """Whether the opcode has any of these modifiers."""
        return any(one in self.opcode for one in modifiers)


@dataclass(frozen=True, slots=True)
class Label:
    """A place to branch to."""

    name: str


@dataclass(frozen=True)
class PtxVariable:
    """A variable: of a module or a function, or a parameter.

    Attributes:
        space: ``global``, ``const``, ``shared``, ``local`` or ``param``.
        align, bytes: of the whole.
        values: its first bytes, the rest are 0; addresses of other variables as (offset, name, added).
        kind: the type of its elements.
    """

    name: str
    space: str
    align: int
    bytes: int
    element_bytes: int
    values: tuple[int, ...] = ()
    addresses: tuple[tuple[int, str, int], ...] = ()
    extern: bool = False
    kind: str = "b8"


@dataclass
class Function:
    """A kernel (``entry``) or a function with its body; without one it is declared only."""

    name: str
    entry: bool
    line: int
    results: list[PtxVariable] = field(default_factory=list)
    parameters: list[PtxVariable] = field(default_factory=list)
    registers: dict[str, str] = field(default_factory=dict)  # name -> type
    variables: dict[str, PtxVariable] = field(default_factory=dict)
    body: list[Instruction | Label] = field(default_factory=list)
    tables: dict[str, list[str]] = field(default_factory=dict)  # of .branchtargets, by label
    block: tuple[int, int, int] | None = None  # .reqntid
    cluster: tuple[int, int, int] | None = None  # .reqnctapercluster
    declared_only: bool = False


Stamp = tuple[int, int]  # of a file: time of its last change, POSIX seconds, and bytes


@dataclass
class Module:
    """A PTX text, parsed.

    Attributes:
        files: names of sources by number.
        stamps: by name, where PTX has them (PTX ISA 9.0, .file).
    """

    where: str
    target: str = ""
    functions: dict[str, Function] = field(default_factory=dict)
    variables: dict[str, PtxVariable] = field(default_factory=dict)
    files: dict[int, str] = field(default_factory=dict)
    stamps: dict[str, Stamp] = field(default_factory=dict)


def function_address(name: str) -> int:
    """What a pointer to a device function holds: memsim's choice, where no memory lies."""
    return (1 << 58) + 16 * crc32(name.encode())
