"""Tensor maps that a kernel makes (PTX ISA 9.0, "tensormap.replace" and "tensormap.cp_fenceproxy").

Their 16 words are those of cuTensorMapEncodeTiled (`capture/native/driver/tensor_maps.cpp`). What these instructions
access is not logged: some hundred bytes per map.
"""

from __future__ import annotations

from memsim.sources.ptx.lowering.builder import Builder
from memsim.sources.ptx.lowering.integers import mask_of
from memsim.sources.ptx.lowering.memory import address_of
from memsim.sources.ptx.machine import access, bulk
from memsim.sources.ptx.machine.codes import Micro
from memsim.sources.ptx.module import Immediate, Instruction

_WORD = 8  # bytes
_RANK_AT, _SWIZZLE_AT, _BOX_BITS, _FILL = 8, 16, 9, 14  # places in a map's words; _FILL is a word
_ELEMENT_BYTES = (1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4)  # by the number of an element's type
_SWIZZLES = (0, 3, 2, 1)  # none, 32, 64 or 128 bytes, as matrix descriptors number the patterns
_MAP_BYTES, _LANE_BYTES = 128, 4


def lower_tensormap(b: Builder, one: Instruction, _values: bool) -> None:
    """tensormap: what it writes are addresses and extents, so it is always computed."""
    if one.opcode[1] == "cp_fenceproxy":
        return _copy(b, one)
    space = "shared" if any(part.startswith("shared") for part in one.opcode) else "global"
    base, added = address_of(b, one.operands[0], space)
    _MapWords(b, base, added).replace(one)


def _copy(b: Builder, one: Instruction) -> None:
    """tensormap.cp_fenceproxy: the warp copies a map from shared to global memory, each lane a part."""
    to, to_added = address_of(b, one.operands[0], "global")
    of, added = address_of(b, one.operands[1], "shared")
    if not isinstance(one.operands[2], Immediate) or one.operands[2].value != _MAP_BYTES:
        raise b.error("copies another number of bytes than 128")
    offset, place, part = (b.temporary(k) for k in range(3))
    b.emit(Micro.multiply, dst=offset, a=b.row("%laneid"), b=b.constant(_LANE_BYTES))
    b.emit(Micro.add, dst=place, a=of, b=offset)
    fields = {"y": access.VALUES, "mask": _LANE_BYTES, "list": b.listed([part]), "count": 1}
    b.emit(Micro.load, a=place, x=added, shift=32, c=mask_of(32), **fields)
    b.emit(Micro.add, dst=place, a=to, b=offset)
    b.emit(Micro.store, a=place, x=to_added, **fields)


class _MapWords:
    """The words of a map in memory."""

    def __init__(self, b: Builder, base: int, added: int) -> None:
        self._b, self._base, self._added = b, base, added

    def replace(self, one: Instruction) -> None:
        """tensormap.replace: write one field."""
        b, field, value = self._b, one.opcode[3], one.operands[-1]
        number = one.operands[1].value if len(one.operands) > 2 and isinstance(one.operands[1], Immediate) else 0
        chosen = value.value if isinstance(value, Immediate) else -1
        match field:
            case "global_address":
                self._store(bulk.ADDRESS, b.value(value, "b64"))
            case "global_dim":
                self._store(bulk.DIMENSIONS + number, b.value(value, "u32"))
            case "global_stride":
                self._store(bulk.STRIDES + number, b.value(value, "b64"))
            case "box_dim":
                self._insert(bulk.BOX, b.value(value, "u32"), _BOX_BITS * number, _BOX_BITS)
            case "rank" if chosen >= 0:
                self._insert(bulk.SHAPE, b.constant(chosen + 1), _RANK_AT, 8)
            case "elemtype" if 0 <= chosen < len(_ELEMENT_BYTES):
                self._store(bulk.MAGIC_WORD, b.constant(bulk.MAGIC))
                self._insert(bulk.SHAPE, b.constant(_ELEMENT_BYTES[chosen]), 0, 8)
            case "swizzle_mode" if 0 <= chosen < len(_SWIZZLES):
                self._insert(bulk.SHAPE, b.constant(_SWIZZLES[chosen]), _SWIZZLE_AT, 8)
            case "fill_mode" if chosen >= 0:
                self._store(_FILL, b.constant(chosen))
            case "interleave_layout" if chosen == 0:
                b.emit(Micro.nop)
            case "element_stride":
                self._refuse_unless_one(b.value(value, "u32"))
            case _:
                raise b.error("gives a tensor map a value that memsim does not support")

    def _refuse_unless_one(self, value: int) -> None:
        """Change the word that says that this is a map unless the value is 1; a copy is then refused."""
        b, excess, word = self._b, self._b.temporary(1), self._load(bulk.MAGIC_WORD)
        b.emit(Micro.subtract, dst=excess, a=value, b=b.constant(1))
        b.emit(Micro.bit_xor, dst=word, a=word, b=excess)
        self._store(bulk.MAGIC_WORD, word)

    def _insert(self, number: int, value: int, at: int, bits: int) -> None:
        b, part, word = self._b, self._b.temporary(1), self._load(number)
        b.emit(Micro.bit_and, dst=part, a=value, b=b.constant(mask_of(bits)))
        b.emit(Micro.shift_left, dst=part, a=part, b=b.constant(at), x=64)
        b.emit(Micro.bit_and, dst=word, a=word, b=b.constant(~(mask_of(bits) << at)))
        b.emit(Micro.bit_or, dst=word, a=word, b=part)
        self._store(number, word)

    def _load(self, number: int) -> int:
        row = self._b.temporary(0)
        self._b.emit(Micro.load, shift=0, c=-1, **self._fields(number, row))
        return row

    def _store(self, number: int, row: int) -> None:
        self._b.emit(Micro.store, **self._fields(number, row))

    def _fields(self, number: int, row: int) -> dict[str, int]:
        at = self._added + _WORD * number
        listed = self._b.listed([row])
        return {"a": self._base, "x": at, "y": access.VALUES, "mask": _WORD, "list": listed, "count": 1}
