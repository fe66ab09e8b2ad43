"""The static instructions and arrays of an imported trace, as they are met in it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from memsim.sources.imported.sass import Does, RecordedOpcode
from memsim.trace import local_memory
from memsim.trace.schema import ArrayInfo, OpKind, Space, StaticInstruction


@dataclass(frozen=True)
class CopiedRange:
    """A range of device memory that the program filled: as near to an array as such a trace shows."""

    base: int
    bytes: int


class ImportedOps:
    """The static instructions of an imported trace, in order of first use, each with the array of its first access.

    Args:
        copies: ranges that name arrays ``copy1``, ``copy2`` ...; what lies in none is in an array ``global``.
    """

    def __init__(self, copies: Sequence[CopiedRange] = ()) -> None:
        self._copies = sorted(copies, key=lambda copy: copy.base)
        self._bases = [copy.base for copy in self._copies]
        self._numbers = {copy: number for number, copy in enumerate(copies, 1)}
        self._arrays: dict[tuple[Space, CopiedRange | None], ArrayInfo] = {}
        self.ops: list[StaticInstruction] = []

    @property
    def arrays(self) -> list[ArrayInfo]:
        return list(self._arrays.values())

    def add(
        self,
        opcode: RecordedOpcode,
        space: Space,
        address: int,
        text: str,
        file: str,
        *,
        line: int = 0,
        unread: bool = False,
    ) -> int:
        """Number of a new static instruction.

        Args:
            opcode: what it does.
            space: which memory it accesses.
            address: of the first active lane of its first access.
            text, file, line: the place in the source, as far as known.
            unread: of an atomic, that nobody reads the old value.
        """
        kind = OpKind.reduction if unread else opcode.kind
        if opcode.text.startswith("LDGSTS") and space is Space.shared:
            kind = OpKind.store  # its other half
        array = self._array(space, address, opcode.width)
        bypass = opcode.bypass_l1 and space is Space.global_
        copy = opcode.text.startswith("LDGSTS") and space is not Space.shared
        copy |= opcode.does is Does.bulk and kind is OpKind.load
        self.ops.append(StaticInstruction(kind, space, opcode.width, array, line, 0, file, text, bypass, copy))
        return len(self.ops) - 1

    def _array(self, space: Space, address: int, width: int) -> int:
        copy = self._copy(address) if space is Space.global_ else None
        if (space, copy) not in self._arrays:
            name = f"copy{self._numbers[copy]}" if copy else space.name.rstrip("_")
            base = copy.base if copy else local_memory.START if space is Space.local else 0
            self._arrays[space, copy] = ArrayInfo(name, space, base, copy.bytes if copy else 0, width)
        return list(self._arrays).index((space, copy))

    def _copy(self, address: int) -> CopiedRange | None:
        """The copy that holds an address; of several, the one that begins last."""
        for at in range(bisect_right(self._bases, address) - 1, -1, -1):
            copy = self._copies[at]
            if address < copy.base + copy.bytes:
                return copy
        return None
