"""Builds micro-ops of machine instructions: rows of registers, constant banks and temporary values."""

from __future__ import annotations

from memsim.sources.ptx.lowering.builder import SINK, TRUE, ZERO, Builder
from memsim.sources.ptx.machine.codes import CONSTANT_WINDOW, PARAMETER_WINDOW, Micro
from memsim.sources.ptx.module import Not, Register
from memsim.sources.sass import constants
from memsim.sources.sass.disassembly import SassInstruction
from memsim.sources.sass.kernel import SassKernel, UnknownMachineCode
from memsim.sources.sass.operands import Bank, Imm, LabelOperand, Mem, Reg, SassOperand, Special, parse_operands
from memsim.sources.sass.origin import SassOrigin

WORD = 0xFFFFFFFF
SIGN_32, SIGN_64 = 1 << 31, 1 << 63
FIRST_ONLY, BOTH, EITHER, DIFFERENT, NEITHER = 0b1100, 0b1000, 0b1110, 0b0110, 0b0011
FILES = {"R": 255, "UR": 255, "P": 7, "UP": 7, "B": 16, "SB": 6}


class SassBuilder(Builder):
    """Micro-ops of one kernel of machine code.

    Args:
        where: what errors call the kernel.
        kernel: with its constants.
        symbols: addresses of the module's variables.

    Attributes:
        bank_rows: rows that hold words of constant banks 0 and 3, by (bank, offset); filled before a launch.
        one: the present instruction.
        operands: its operands.
    """

    def __init__(self, where: str, kernel: SassKernel, symbols: dict[str, int]) -> None:
        types = {f"{file}{k}": "b32" for file, count in FILES.items() for k in range(count)}
        types |= {"#counted": "b32", "#tested": "b64", "#members": "b32"}
        types |= {name: "pred" for name in types if name.lstrip("U").startswith("P")}
        super().__init__(where, types, {}, symbols)
        self.kernel = kernel
        self.capability = kernel.cubin.architecture
        self.one: SassInstruction
        self.operands: tuple[SassOperand, ...] = ()
        self._used = self._used_predicates = 0

    # -- instructions

    def start(self, one: SassInstruction, origin: SassOrigin, segment: int, uses: list[str]) -> None:
        """What is emitted from now on comes from an instruction."""
        self.one = one
        self.operands = parse_operands(one.operands, one.word)
        self._used = self._used_predicates = 0
        self.begin(origin, segment, uses)  # type: ignore[arg-type]

    def has(self, *modifiers: str) -> bool:
        """Whether the opcode has any of these modifiers."""
        return any(one in self.one.modifiers for one in modifiers)

    def unknown(self, what: str = "has a form") -> UnknownMachineCode:
        """What stops an instruction that cannot be run."""
        return UnknownMachineCode(f"{self.one.opcode} {self.one.operands} {what} that memsim does not support")

    # -- values

    def temp(self) -> int:
        """A row that nothing else of this instruction uses."""
        self._used += 1
        return self.temporary(self._used)

    def temp_predicate(self) -> int:
        """A predicate that nothing else of this instruction uses."""
        self._used_predicates += 1
        return self.predicate(f"#temporary{self._used_predicates}")

    def operand(self, k: int) -> SassOperand:
        """An operand of the instruction.

        Raises:
            UnknownMachineCode: it has fewer.
        """
        if k >= len(self.operands):
            raise self.unknown("has fewer operands than the form")
        return self.operands[k]

    def to(self, operand: SassOperand, more: int = 0) -> int:
        """The row of a register that gets a result; ``more`` registers behind it."""
        if not isinstance(operand, Reg) or operand.file not in ("R", "UR"):
            raise self.unknown()
        return SINK if operand.number < 0 else self.row(f"{operand.file}{operand.number + more}")

    def raw(self, operand: SassOperand, more: int = 0) -> int:
        """The row of 32 bits as they stand in a register, a constant bank or the instruction."""
        if isinstance(operand, Reg) and operand.file in ("R", "UR"):
            return ZERO if operand.number < 0 else self.row(f"{operand.file}{operand.number + more}")
        if isinstance(operand, Imm):
            return self.constant(operand.value >> 32 * more & WORD)
        if isinstance(operand, Bank):
            return self.bank(operand, more)
        raise self.unknown()

    def bank(self, operand: Bank, more: int = 0) -> int:
        """The row of a word in a constant bank."""
        if operand.base is not None:
            raise self.unknown("indexes a bank in a way")
        offset = operand.offset + 4 * more
        if operand.number == constants.CODE_BANK:
            return self.constant(constants.literal(self.kernel, offset))
        if operand.number == constants.ADDRESSES_BANK:
            name, added = constants.address_symbol(self.kernel, offset)
            return self.constant(self.address_of_symbol(name, added) >> (offset & 4) * 8 & WORD)
        if operand.number not in (0, constants.VARIABLES_BANK):
            raise self.unknown("reads a bank")
        if operand.number == 0:
            constants.check_bank_0(self.kernel, offset, 4)
        if (operand.number, offset) not in self.bank_rows:
            self.bank_rows[operand.number, offset] = self._new_row()
        return self.bank_rows[operand.number, offset]

    def address_of_symbol(self, name: str, added: int = 0) -> int:
        """Where a variable lies, or what stands for a function of the device runtime."""
        if name in (functions := constants.functions_called(self.kernel)):
            return functions[name]
        if name not in self._symbols:
            raise self.unknown(f"takes the address of {name}, a symbol")
        return self._symbols[name] + added

    def word(self, operand: SassOperand, more: int = 0) -> int:
        """The row of a 32-bit whole number, with what is done to it."""
        row = self.raw(operand, more)
        if isinstance(operand, Reg | Bank):
            if operand.modifiers and operand.modifiers not in (("64",), ("U32",)):
                raise self.unknown("has an operand")
            row = self.changed(row, operand)
        return row

    def changed(self, row: int, operand: Reg | Bank) -> int:
        """A 32-bit whole number that is negated, complemented or made positive as its operand says."""
        if operand.absolute:
            raise self.unknown("has an operand")
        if operand.inverted:
            return self.op(Micro.bit_not, row, mask=WORD)
        if operand.negative:
            return self.op(Micro.subtract, ZERO, row, mask=WORD)
        return row

    def wide(self, operand: SassOperand) -> int:
        """The row of the 64 bits of a pair of registers, of two words in a bank, or of a constant."""
        if isinstance(operand, Reg) and operand.number < 0:
            return ZERO
        if isinstance(operand, Imm) and not operand.is_float:
            return self.constant(operand.value)
        if isinstance(operand, Bank | Reg):
            return self.op(Micro.pair, self.raw(operand), self.raw(operand, 1))
        raise self.unknown()

    def signed_wide(self, operand: SassOperand) -> int:
        """The same with what is done to a register's value."""
        row = self.wide(operand)
        if isinstance(operand, Reg | Bank):
            if operand.absolute or operand.inverted:
                raise self.unknown("has an operand")
            row = self.op(Micro.subtract, ZERO, row) if operand.negative else row
        return row

    def op(self, micro: Micro, a: int, b: int = ZERO, **more: int) -> int:
        """Emit a micro-op whose result goes to a temporary row; returns that."""
        row = self.temp()
        self.emit(micro, dst=row, a=a, b=b, **more)
        return row

    def split(self, operand: SassOperand, wide: int) -> None:
        """Write 64 bits to a pair of registers."""
        low, high = self.to(operand), self.to(operand, 1)
        if low != SINK:
            self.emit(Micro.bit_and, dst=low, a=wide, b=self.constant(WORD))
            self.emit(Micro.shift_right, dst=high, a=wide, b=self.constant(32), x=64)

    # -- predicates

    def is_predicate(self, k: int) -> bool:
        """Whether an operand is a predicate."""
        operand = self.operands[k] if k < len(self.operands) else None
        return isinstance(operand, Reg) and operand.file in ("P", "UP")

    def to_predicate(self, operand: SassOperand) -> int:
        """The number of a predicate that gets a result."""
        if not isinstance(operand, Reg) or operand.file not in ("P", "UP"):
            raise self.unknown()
        return self.predicate("_" if operand.number < 0 else operand.name)

    def source_predicate(self, operand: SassOperand) -> tuple[int, bool]:
        """The number of a predicate, and whether its complement is meant."""
        if not isinstance(operand, Reg) or operand.file not in ("P", "UP"):
            raise self.unknown()
        return (TRUE if operand.number < 0 else self.predicate(operand.name)), operand.inverted

    def plain_predicate(self, operand: SassOperand) -> int:
        """The number of a predicate that holds an operand, complemented if that is meant."""
        number, inverted = self.source_predicate(operand)
        if not inverted:
            return number
        to = self.temp_predicate()
        self.emit(Micro.predicate, dst=to, a=number, b=number, x=NEITHER, guard=-1)
        return to

    def select(self, predicate: SassOperand, yes: int, no: int, to: int | None = None) -> int:
        """Choose between two rows by a predicate operand."""
        number, inverted = self.source_predicate(predicate)
        row = self.temp() if to is None else to
        self.emit(Micro.select, dst=row, a=no if inverted else yes, b=yes if inverted else no, x=number)
        return row

    def set_predicate(self, to: int, micro: Micro, a: int, b: int, shift: int = 32) -> None:
        """A comparison's result in a predicate."""
        self.emit(micro, dst=to, a=a, b=b, shift=shift, x=FIRST_ONLY, count=-1)

    # -- addresses and control

    def address(self, operand: SassOperand, window: int) -> tuple[int, int]:
        """The row of an address's base, and what is added to it.

        Args:
            window: 0 for addresses of 64 bits, else where the space of 32-bit addresses begins.
        """
        if not isinstance(operand, Mem):
            raise self.unknown()
        row = ZERO
        for one in operand.registers:
            part = self._address_part(one, operand, window)
            row = part if row == ZERO else self.op(Micro.add, row, part, mask=-1)
        if window and (len(operand.registers) > 1 or any(one.modifiers for one in operand.registers)):
            return self.op(Micro.bit_and, row, self.constant(WORD)), operand.offset + window
        return row, operand.offset + window

    def _address_part(self, one: Reg, operand: Mem, window: int) -> int:
        if one.negative or one.absolute or one.inverted:
            raise self.unknown("has an address")
        scales = [part for part in one.modifiers if part.startswith("X") and part[1:].isdigit()]
        others = [part for part in one.modifiers if part not in scales]
        if others not in ([], ["64"], ["U32"], ["S32"]):
            raise self.unknown("has an address")
        if window:
            row = self.raw(one)
        elif "64" in others or not others and not scales:
            row = self.wide(one)
        elif "U32" in others:
            row = self.raw(one)
        else:
            row = self.op(Micro.extend, self.raw(one), shift=32)
        return self.op(Micro.multiply, row, self.constant(int(scales[0][1:]))) if scales else row

    def label(self, operand: SassOperand) -> str:
        """The name of a place in the code."""
        if not isinstance(operand, LabelOperand):
            raise self.unknown()
        return operand.name.strip("()")

    def special(self, k: int) -> str:
        """The name of a special register."""
        operand = self.operand(k)
        if not isinstance(operand, Special):
            raise self.unknown()
        return operand.name


def guard_of(one: SassInstruction) -> Register | Not | None:
    """The predicate that an instruction runs under; None for always, or for never where it is !PT."""
    text = one.predicate.lstrip("@")
    inverted, name = text.startswith("!"), text.lstrip("!")
    if name in ("", "PT", "UPT") and not inverted:
        return None
    register = Register("#true" if name in ("PT", "UPT") else name)
    return Not(register) if inverted else register


BANK_WINDOWS = {0: PARAMETER_WINDOW, constants.VARIABLES_BANK: CONSTANT_WINDOW}
