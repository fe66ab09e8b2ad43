"""What a trace says of accesses of machine code: kind, width, cache operator, whether their addresses are data."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from memsim.sources.ptx.machine.access import LOGGED
from memsim.sources.ptx.machine.codes import COUNT, DST, LIST, OP, A, B, C, Float, Micro, X, Y
from memsim.sources.ptx.machine.textures import STORE_SURFACE
from memsim.sources.ptx.textures import FETCHES, space_of_array
from memsim.sources.sass.lowering.memory import atomic_width, width_of
from memsim.sources.sass.origin import SassOrigin
from memsim.trace.schema import OpKind, Space

_LISTED = (Micro.load, Micro.matrix_load)
_TEXTURES = (Micro.texture, Micro.surface)
_ACCESSES = (*_LISTED, Micro.store, Micro.atomic, Micro.matrix_store, Micro.copy_async, *_TEXTURES)
_BULK = ("UBLKCP", "UTMALDG", "UTMASTG")  # their rows are pieces of 16 bytes
_TO_PREDICATE = (Float.compare, Float.test)
_COMBINING = (
    *range(Micro.copy, Micro.equal), Micro.integer, Micro.convert, Micro.floating, Micro.shuffle, Micro.reduce,
)  # fmt: skip


class SassFacts:
    """Facts of a program's accesses.

    Args:
        code: the micro-ops.
        lists: their lists of operands.
    """

    def __init__(self, code: np.ndarray, lists: list[int]) -> None:
        self._by_data = _addressed_by_data(code.tolist(), lists)

    def kind(self, one: SassOrigin) -> OpKind:
        """What an access does."""
        if one.name.startswith("ATOM"):
            return OpKind.atomic
        if one.name.startswith("RED"):
            return OpKind.reduction
        stores = one.name.startswith(("ST", "SUST")) or one.name == "UTMASTG" or one.text.startswith("UBLKCP.G")
        return OpKind.store if stores else OpKind.load

    def space(self, one: SassOrigin, space: Space) -> Space:
        """The space of an access to an array; loads through the read-only path count as textures'."""
        read_only = space is Space.global_ and "CONSTANT" in one.one.modifiers
        return space_of_array(space, one.name in FETCHES or read_only)

    def width(self, one: SassOrigin) -> int:
        """Bytes of a lane's access."""
        if one.name in ("LDSM", "STSM", *_BULK):
            return 16
        return atomic_width(one.one.modifiers) if one.name.startswith(("ATOM", "RED")) else width_of(one.one.modifiers)

    def bypasses(self, one: SassOrigin) -> bool:
        """Whether L1 is passed by."""
        modifiers = one.one.modifiers
        strong = one.name in ("LD", "LDG") and "STRONG" in modifiers
        return "BYPASS" in modifiers or strong or one.name in _BULK

    def is_copy(self, one: SassOrigin) -> bool:
        """Whether an access is an asynchronous copy to shared memory."""
        return one.name == "LDGSTS" or one.name in _BULK and self.kind(one) is OpKind.load

    def is_by_data(self, number: int) -> bool:
        """Whether loaded data leads to the address of a micro-op's access."""
        return number in self._by_data


def _addressed_by_data(code: list[list[int]], lists: list[int]) -> set[int]:
    """The accesses whose addresses are made from what global or shared memory held, as control flow has it."""
    known = [0] * (len(code) + 1)  # rows that hold loaded data before a micro-op, a bit each
    found: set[int] = set()
    met = [False] * (len(code) + 1)
    todo = [0]
    while todo:
        at = todo.pop()
        if at >= len(code):
            continue
        row, here = code[at], known[at]
        met[at] = True
        if row[OP] in _ACCESSES and any(here >> k & 1 for k in _addressing(row, lists)):
            found.add(at)
        behind = _after(row, here, lists)
        for following in _following(at, row, lists):
            merged = known[following] | behind
            if merged != known[following] or not met[following]:
                known[following] = merged
                todo.append(following)
    return found


def _addressing(row: list[int], lists: list[int]) -> list[int]:
    """The rows that an access's addresses come from."""
    coordinates = lists[row[LIST] : row[LIST] + row[X]] if row[OP] in _TEXTURES else []
    return [row[A], *coordinates]


def _after(row: list[int], here: int, lists: list[int]) -> int:
    """The rows with loaded data behind a micro-op."""
    op = row[OP]
    if op in _LISTED:
        for k in range(row[LIST], row[LIST] + row[COUNT]):
            here = here | 1 << lists[k] if row[Y] & LOGGED else here & ~(1 << lists[k])
    elif op == Micro.texture or op == Micro.surface and row[DST] != STORE_SURFACE:
        for k in range(row[LIST] + row[X], row[LIST] + row[X] + row[COUNT]):
            here |= 1 << lists[k]
    elif op == Micro.atomic:
        here |= 1 << row[DST]
    elif op in _COMBINING and not (op == Micro.floating and row[Y] in _TO_PREDICATE):
        loaded = (here >> row[A] | here >> row[B] | here >> row[C]) & 1
        here = here | 1 << row[DST] if loaded else here & ~(1 << row[DST])
    return here & ~1  # row 0 is nobody's


def _following(at: int, row: list[int], lists: list[int]) -> Iterator[int]:
    if row[OP] == Micro.branch_table:
        yield from lists[row[LIST] : row[LIST] + row[COUNT]]
        return
    if row[OP] == Micro.branch:
        yield row[X]
    yield at + 1
