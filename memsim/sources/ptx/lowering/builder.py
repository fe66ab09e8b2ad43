"""Builds a table of micro-ops: gives rows to registers and constants, and collects what is lowered."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from memsim.sources.ptx.machine.codes import FIELDS, Micro
from memsim.sources.ptx.module import Immediate, Instruction, Not, Operand, Register, Symbol
from memsim.sources.ptx.text import type_bytes
from memsim.support.errors import InputError

Fields = dict[str, int]
COLUMNS = ("op", "dst", "a", "b", "c", "guard", "negated", "mask", "shift", "x", "y", "segment", "uses", "n_uses",
"list",
           "count")  # fmt: skip
SINK = 0  # the row whose value nobody reads
ZERO = 1  # the row of the constant 0
TRUE = 0  # the predicate that always holds
SPECIALS = ("%ctaid.x", "%ctaid.y", "%ctaid.z", "%cluster_ctarank")  # rows that change with the block

# Where the driver writes for cooperative groups where the grid's workspace is.
_HINTS = dict.fromkeys(
    ("%envreg1", "%envreg2"), ": it is for barriers of the whole grid; launch the kernel by cudaLaunchCooperativeKernel"
)


def signed64(value: int) -> int:
    """64 bits as the signed integer that they are in two's complement."""
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


def width_of(kind: str) -> int:
    """Bits of a type.

    >>> width_of("u32"), width_of("f16x2"), width_of("pred")
    (32, 32, 1)
    """
    return 1 if kind == "pred" else 8 * type_bytes(kind)


class Builder:
    """Micro-ops of one kernel.

    Args:
        where: what errors call the PTX.
        registers: types by name.
        fixed: values of special registers that are the same for all lanes of the launch.
        symbols: addresses of variables, as ``mov`` gives them.
    """

    def __init__(self, where: str, registers: dict[str, str], fixed: dict[str, int], symbols: dict[str, int]) -> None:
        self.where, self.types, self._fixed, self._symbols = where, registers, fixed, symbols
        self.code: list[list[int]] = []
        self.lists: list[int] = []
        self.use_lists: list[int] = []
        self.origin: list[Instruction] = []  # what each micro-op was lowered from
        self.rows: dict[str, int] = {}
        self.constants: dict[int, int] = {0: ZERO}
        self.predicates: dict[str, int] = {"#true": TRUE}
        self.n_rows, self.n_predicates = 2, 1
        self.labels: dict[str, int] = {}
        self._to_labels: list[tuple[int, int, str]] = []  # (micro-op or list entry, which of both, label)
        self.read: set[str] = set()  # registers that some instruction reads
        self.capability = 90  # compute capability that the code is for, without its point
        self.bank_rows: dict[tuple[int, int], int] = {}  # of machine code: rows of words in constant banks
        self.instruction: Instruction | None = None
        self._pending: Fields = {}

    # -- operands

    def error(self, problem: str) -> InputError:
        """An error at the present instruction: its line in the PTX and in the source."""
        one = self.instruction
        assert one is not None
        source = f" (from {one.position.file}:{one.position.line})" if one.position.line else ""
        return InputError(f"{self.where}:{one.line}", one.text, f"{problem}{source}")

    def row(self, name: str) -> int:
        """The row of a register, or of a special one."""
        if name == "_":
            return SINK
        if name in self._fixed:
            return self.constant(self._fixed[name])
        if name not in self.rows:
            if name not in self.types and name not in LANE_SPECIALS and name not in SPECIALS:
                raise self.error(f"uses {name}, which memsim does not support{_HINTS.get(name, '')}")
            self.rows[name] = self._new_row()
        return self.rows[name]

    def _new_row(self) -> int:
        self.n_rows += 1
        return self.n_rows - 1

    def temporary(self, number: int = 0) -> int:
        """A row for what one instruction needs on its way."""
        name = f"#temporary{number}"
        if name not in self.rows:
            self.rows[name] = self._new_row()
        return self.rows[name]

    def temporary_predicate(self) -> int:
        return self.predicate("#temporary")

    def constant(self, value: int) -> int:
        """The row of a constant."""
        value = signed64(value)
        if value not in self.constants:
            self.constants[value] = self._new_row()
        return self.constants[value]

    def value(self, operand: Operand, kind: str) -> int:
        """The row of an operand that is read as a type."""
        width = width_of(kind)
        if isinstance(operand, Register):
            if operand.name == "WARP_SZ":
                return self.constant(32)
            row = self.row(operand.name)
            declared = width_of(self.types.get(operand.name, "b32"))
            return self._cut(row, width) if declared > width and operand.name in self.types else row
        if isinstance(operand, Immediate):
            return self.constant(immediate_bits(operand, kind) & ((1 << width) - 1))
        if isinstance(operand, Symbol):
            return self.constant(self.symbol(operand))
        raise self.error("has an operand of a kind that it does not take")

    def _cut(self, row: int, width: int) -> int:
        """The low bits of a register that is wider than the instruction's type."""
        to = self.temporary(8 + len(self.code) % 4)
        self.emit(Micro.bit_and, dst=to, a=row, b=self.constant((1 << width) - 1), guard=-1)
        return to

    def symbol(self, symbol: Symbol) -> int:
        """The address of a variable."""
        if symbol.name not in self._symbols:
            raise self.error(f"uses {symbol.name}, which is not declared")
        return self._symbols[symbol.name] + symbol.offset

    def predicate(self, name: str) -> int:
        """The number of a predicate register."""
        if name == "_":
            name = "#nowhere"
        if name not in self.predicates:
            if name in self.types and self.types[name] != "pred":
                raise self.error(f"uses {name} as a predicate, which is a .{self.types[name]}")
            self.predicates[name] = self.n_predicates
            self.n_predicates += 1
        return self.predicates[name]

    # -- micro-ops

    def begin(self, one: Instruction, segment: int, uses: list[str]) -> None:
        """What is emitted from now on comes from an instruction; its first micro-op charges and waits."""
        self.instruction = one
        self._pending = {"segment": segment}
        if uses:
            self._pending |= {"uses": len(self.use_lists), "n_uses": len(uses)}
            self.use_lists += [self.row(name) for name in uses]

    def follow(self, code: int, kind: int) -> None:
        """Give what begins a control code of machine code: `codes.control_code`, BY_CODE or RESULT_BY_CODE."""
        self._pending |= {"uses": code, "n_uses": kind}

    def emit(self, op: Micro, **fields: int) -> None:
        """Add a micro-op; the instruction's guard goes with it unless ``guard`` is given."""
        assert self.instruction is not None
        row = dict.fromkeys(COLUMNS, 0) | {"op": int(op), "segment": -1, "guard": -1, "mask": -1}
        guard = self.instruction.guard
        if "guard" not in fields and guard is not None:
            name = guard.register.name if isinstance(guard, Not) else guard.name
            row |= {"guard": self.predicate(name), "negated": int(isinstance(guard, Not))}
        row |= {name: signed64(value) for name, value in fields.items()} | self._pending
        self._pending = {}
        if op < Micro.equal and row["dst"] in (row["a"], row["b"], row["c"]):
            row["count"] = 1
        self.code.append([row[name] for name in COLUMNS])
        self.origin.append(self.instruction)

    def flush(self) -> None:
        """If the instruction emitted nothing, let a micro-op that does nothing charge and wait for it."""
        if self._pending.get("segment", -1) >= 0 or self._pending.get("n_uses"):
            self.emit(Micro.nop, guard=-1)
        self._pending = {}

    def listed(self, rows: list[int]) -> int:
        """Put operands into the list; returns where they begin."""
        self.lists += rows
        return len(self.lists) - len(rows)

    def jump(self, label: str, **fields: int) -> None:
        """A branch to a label; ``fields`` may give its guard."""
        self.emit(Micro.branch, **fields)
        self._to_labels.append((len(self.code) - 1, 0, label))

    def jump_by(self, index: int, labels: list[str]) -> None:
        """A branch to one of several labels."""
        first = self.listed([0] * len(labels))
        self.emit(Micro.branch_table, a=index, list=first, count=len(labels))
        self._to_labels += [(first + i, 1, label) for i, label in enumerate(labels)]

    def finish(self) -> np.ndarray:
        """The table, i8 [n, FIELDS], with all labels known."""
        for at, of_list, label in self._to_labels:
            if label not in self.labels:
                raise InputError(self.where, label, "is a branch target but is not defined")
            if of_list:
                self.lists[at] = self.labels[label]
            else:
                self.code[at][COLUMNS.index("x")] = self.labels[label]
        return np.array(self.code, np.int64).reshape(-1, FIELDS)


LANE_SPECIALS = ("%tid.x", "%tid.y", "%tid.z", "%laneid", "%warpid", "%lanemask_eq", "%lanemask_lt", "%lanemask_le",
                 "%lanemask_gt", "%lanemask_ge", "%clock", "%clock64", "%globaltimer", "%clock_hi",
                 "%globaltimer_lo", "%globaltimer_hi")  # fmt: skip


def immediate_bits(constant: Immediate, kind: str) -> int:
    """A constant's bits as a type has them."""
    width = width_of(kind)
    if constant.float_bits in (0, width) or not re.match(r"b?f\d|b\d", kind):
        return constant.value
    wide = np.array([constant.value], np.uint64)
    number = wide.view(np.float64)[0] if constant.float_bits == 64 else wide.astype(np.uint32).view(np.float32)[0]
    return int(np.array([number], f"f{width // 8}").view(f"u{width // 8}")[0])


Lower = Callable[[Builder, Instruction], None]
