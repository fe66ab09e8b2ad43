"""Opcode and addresses of an access as Accel-Sim's processed traces have them."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np

from memsim.trace.schema import ADDRESS_DTYPE, OpKind, Space, StaticInstruction

_WARP = 32
_LONGEST_STRIDE = 2**31 - 1
_MNEMONICS = {
    (OpKind.load, Space.global_): "LDG.E",
    (OpKind.store, Space.global_): "STG.E",
    (OpKind.atomic, Space.global_): "ATOMG.E.ADD",
    (OpKind.reduction, Space.global_): "RED.E.ADD",
    (OpKind.load, Space.shared): "LDS",
    (OpKind.store, Space.shared): "STS",
    (OpKind.atomic, Space.shared): "ATOMS.ADD",
    (OpKind.reduction, Space.shared): "ATOMS.ADD",
    (OpKind.load, Space.constant): "LDC",
}
_SUFFIXES = {1: ".U8", 2: ".U16", 4: "", 8: ".64", 16: ".128"}


def opcode_of(op: StaticInstruction) -> str:
    """An opcode of Volta that does the same; local accesses leave as global ones."""
    space = Space.global_ if op.space in (Space.local, Space.texture) else op.space
    atomic = op.kind in (OpKind.atomic, OpKind.reduction) and space is Space.global_
    bypass = ".STRONG.GPU" if atomic or op.bypass_l1 else ""
    return _MNEMONICS[op.kind, space] + _SUFFIXES[op.width] + bypass


def address_text(mask: int, base: int, stride: int, offsets: bytes) -> str:
    """Address mode and addresses: base and stride for a run of lanes, else base and deltas, as the tracer does."""
    mode, first, rest = _from_base(mask, stride, offsets)
    return f"{mode} 0x{base + first:x}{rest}"


@lru_cache(1 << 14)  # kernels access the same few patterns again and again
def _from_base(mask: int, stride: int, offsets: bytes) -> tuple[int, int, str]:
    """The mode, what to add to the base, and the text of what follows it.

    Args:
        offsets: of the active lanes, u4; empty where they lie `stride` apart.
    """
    lanes = [lane for lane in range(_WARP) if mask >> lane & 1]
    run = len(lanes) > 1 and lanes[-1] - lanes[0] == len(lanes) - 1
    if not offsets:
        if run:
            return 1, 0, f" {stride}"
        return 2, 0, "".join(f" {stride * (after - before)}" for before, after in pairwise(lanes))
    listed = np.frombuffer(offsets, ADDRESS_DTYPE).tolist()
    deltas = [after - before for before, after in pairwise(listed)]
    if run and len(set(deltas)) == 1 and abs(deltas[0]) <= _LONGEST_STRIDE:
        return 1, listed[0], f" {deltas[0]}"
    return 2, listed[0], "".join(f" {delta}" for delta in deltas)
