"""The opcodes that a file of text names: compiled code finds them, Python decodes each once."""

from __future__ import annotations

import numpy as np

from memsim.jit.compiled import loop
from memsim.sources.imported.sass import WIDTHS, RecordedOpcode, decode
from memsim.sources.imported.text import shown
from memsim.sources.imported.tokens import SPACE

MOST, _SLOTS = 1 << 11, 1 << 12
SLOT = np.dtype(
    [
        ("length", "<i4"),  # of its text; 0: the slot is free
        ("number", "<i4"),
        ("first", "<i8"),  # of its text in the pool
        ("does", "u1"),
        ("kind", "u1"),
        ("where", "u1"),
        ("width", "u1"),
        ("known", "u1"),
        ("commits", "u1"),
        ("unit", "u1"),
        ("tensor", "u1"),
        ("macs", "<u4"),
    ]
)
_FROM, _TO, _HASH, _FREE = range(4)  # of a spot, i8 [4]: where the opcode at hand stands, its hash, a slot for it
_A, _Z = ord("A"), ord("Z")


@loop
def read_opcode(text, at, spot):
    """Note where the opcode at `at` stands, up to white space; the position after it, or -1 when there is none."""
    if not _A <= text[at] <= _Z:
        return np.int64(-1)
    spot[_FROM] = at
    value = np.int64(0)
    while text[at] > SPACE:
        value = 31 * value + np.int64(text[at])
        at += 1
    spot[_TO] = at
    spot[_HASH] = value
    return at


@loop
def find_opcode(text, spot, slots, pool):
    """Slot of the opcode noted in `spot`, or -1 when it is new."""
    start = spot[_FROM]
    length = spot[_TO] - start
    slot = spot[_HASH] & (_SLOTS - 1)
    while slots[slot].length != 0:
        if slots[slot].length == length:
            first = slots[slot].first
            k = 0
            while k < length and pool[first + k] == text[start + k]:
                k += 1
            if k == length:
                return slot
        slot = (slot + 1) & (_SLOTS - 1)
    spot[_FREE] = slot
    return np.int64(-1)


class Opcodes:
    """The opcodes met so far.

    Attributes:
        spot: i8 [4], for the compiled functions.
        slots: SLOT, hashed by text.
        pool: u1, the texts, one after the other; a new array with every opcode.
    """

    def __init__(self) -> None:
        self._known: list[RecordedOpcode] = []
        self.spot = np.zeros(4, np.int64)
        self.slots = np.zeros(_SLOTS, SLOT)
        self.pool = np.zeros(0, np.uint8)

    def __getitem__(self, number: int) -> RecordedOpcode:
        return self._known[number]

    def enter(self, block: bytearray, binary_version: int) -> None:
        """Enter the opcode that :func:`find_opcode` missed.

        Raises:
            ValueError: it is one too many, or its accesses are too wide; says what is wrong with the opcode.
        """
        text = bytes(block[self.spot[_FROM] : self.spot[_TO]])
        if len(self._known) == MOST:
            raise ValueError(f"would be opcode number {MOST + 1}; memsim reads at most {MOST}")
        opcode = decode(shown(text), binary_version)
        if opcode.width not in WIDTHS:
            raise ValueError(f"accesses {opcode.width} bytes per lane; a trace holds accesses of 1, 2, 4, 8 or 16")
        row = self.slots[self.spot[_FREE]]
        row["length"], row["number"], row["first"] = len(text), len(self._known), len(self.pool)
        for name in ("does", "kind", "where", "width", "known", "commits", "unit", "tensor", "macs"):
            row[name] = getattr(opcode, name)
        self._known.append(opcode)
        self.pool = np.append(self.pool, np.frombuffer(text, np.uint8))
