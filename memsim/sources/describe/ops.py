"""Static instructions: from the position of an indexing expression in the source to its number in the trace."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice
from types import CodeType, FrameType

from memsim.sources.describe.arrays import DeviceArray
from memsim.trace.schema import NO_OP, LoadClass, OpKind, StaticInstruction


@dataclass(frozen=True)
class ExpressionPosition:
    """Where an expression stands: lines from 1, columns from 0 in bytes, as Python counts them."""

    filename: str
    line: int
    end_line: int
    column: int
    end_column: int

    @property
    def text(self) -> str:
        """The expression, runs of white space as one blank."""
        lines = [linecache.getline(self.filename, n).encode() for n in range(self.line, self.end_line + 1)]
        lines[-1] = lines[-1][: self.end_column]
        lines[0] = lines[0][self.column :]
        return " ".join(b"".join(lines).decode().split())


def position(code: CodeType, instruction: int) -> ExpressionPosition:
    """Where the expression of a bytecode instruction stands (``instruction``: offset in bytes)."""
    line, end_line, column, end_column = next(islice(code.co_positions(), instruction // 2, None))
    first = line or code.co_firstlineno
    return ExpressionPosition(code.co_filename, first, end_line or first, column or 0, end_column or 0)


class ExpressionOps:
    """The static instructions of a description, one per indexing expression and array, added when first executed.

    Args:
        shown: gives the file's name as the trace shows it.
    """

    def __init__(self, shown: Callable[[str], str]) -> None:
        self._shown = shown
        # Two caches, as one expression has several bytecode offsets once the interpreter specializes it.
        self._numbers: dict[tuple[CodeType, int, int, OpKind, int], int] = {}
        self._by_position: dict[tuple[ExpressionPosition, int, OpKind, int], int] = {}
        self._ops: list[StaticInstruction] = []
        self._used: set[int] = set()
        self._by_data: set[int] = set()

    def at(
        self,
        frame: FrameType,
        array: DeviceArray,
        kind: OpKind,
        width: int,
        *,
        bypass: bool = False,
        copy: bool = False,
    ) -> int:
        """The number of the op at the expression that ``frame`` executes now."""
        site = (frame.f_code, frame.f_lasti, array.number, kind, width)
        number = self._numbers.get(site)
        if number is None:
            where = position(frame.f_code, frame.f_lasti)
            key = (where, array.number, kind, width)
            if key not in self._by_position:
                self._by_position[key] = self._new(where, array, kind, width, bypass, copy)
            number = self._numbers[site] = self._by_position[key]
        return number

    def _new(
        self, where: ExpressionPosition, array: DeviceArray, kind: OpKind, width: int, bypass: bool, copy: bool
    ) -> int:
        if len(self._ops) >= NO_OP:
            raise RuntimeError(f"the kernel has more than {NO_OP} memory instructions")
        shown, column = self._shown(where.filename), where.column + 1
        op = StaticInstruction(
            kind, array.space, width, array.number, where.line, column, shown, where.text, bypass, copy
        )
        self._ops.append(op)
        return len(self._ops) - 1

    def load_class(self, number: int) -> LoadClass | None:
        """Among which loads an op answers in order; None for a store."""
        return self._ops[number].load_class

    def use(self, number: int) -> None:
        """Note that the kernel looks at the old value of an atomic."""
        self._used.add(number)

    def point(self, number: int) -> None:
        """Note that an index of the op comes from loaded data."""
        self._by_data.add(number)

    def table(self) -> list[StaticInstruction]:
        """The ops by number; atomics whose old values nobody used are reductions."""
        unused = (op.kind is OpKind.atomic and number not in self._used for number, op in enumerate(self._ops))
        return [
            replace(op, kind=OpKind.reduction if is_unused else op.kind, by_data=number in self._by_data)
            for number, (op, is_unused) in enumerate(zip(self._ops, unused, strict=True))
        ]
