"""mbarrier objects, bulk and tensor copies, clusters (PTX ISA 9.0, sections 9.7.9.25 to 9.7.9.28 and 9.7.13)."""

from __future__ import annotations

from memsim.sources.ptx.effects import space_of
from memsim.sources.ptx.lowering.builder import SINK, ZERO, Builder, Lower
from memsim.sources.ptx.lowering.integers import destination, mask_of
from memsim.sources.ptx.lowering.memory import WINDOWS, address_of
from memsim.sources.ptx.machine import access, bulk, log, mbarriers
from memsim.sources.ptx.machine.codes import RANK_SHIFT, SHARED_WINDOW, Micro
from memsim.sources.ptx.module import Address, Instruction, Operand, Register


def lower_mbarrier(b: Builder, one: Instruction, _values: bool) -> None:
    """All operations on mbarrier objects."""
    operands = list(one.operands)
    result = None if isinstance(operands[0], Address) else operands.pop(0)
    space = "shared" if space_of(one) == "shared" else "global"
    kind = one.opcode[1]
    if kind == "pending_count":
        return b.emit(
            Micro.bit_and, dst=destination(b, one), a=b.value(one.operands[1], "b64"), b=b.constant(mask_of(20))
        )
    base, added = address_of(b, operands[0], space)
    value = b.value(operands[1], "b32") if len(operands) > 1 else b.constant(1)
    fields = {"a": base, "x": added, "b": value, "dst": SINK, "list": 1}
    if kind in ("test_wait", "try_wait"):
        assert isinstance(result, Register)
        if not one.has("parity"):
            fields["b"] = b.value(operands[1], "b64")
        what = mbarriers.TEST_PARITY if one.has("parity") else mbarriers.TEST
        return b.emit(Micro.mbarrier, y=what, count=b.predicate(result.name), **fields)
    names = {
        "init": mbarriers.INIT, "inval": mbarriers.INVALIDATE, "arrive": mbarriers.ARRIVE, "expect_tx":
        mbarriers.EXPECT, "complete_tx": mbarriers.COMPLETE, "arrive_drop": mbarriers.DROP,
    }  # fmt: skip
    if kind not in names:
        raise b.error("is an operation that memsim does not support")
    what = names[kind]
    if kind == "arrive_drop" and one.has("expect_tx"):
        b.emit(Micro.mbarrier, y=mbarriers.EXPECT, **fields)
        fields["b"] = b.constant(1)
    if kind == "arrive" and one.has("expect_tx"):
        what = mbarriers.ARRIVE_EXPECT
    if isinstance(result, Register) and result.name != "_":
        fields["dst"] = b.row(result.name)
    b.emit(Micro.mbarrier, y=what, **fields)


def lower_copy(b: Builder, one: Instruction, values: bool) -> None:
    """cp.async.bulk and cp.async.mbarrier.arrive; commits and waits of bulk groups are those of copies."""
    if one.has("mbarrier") and not one.has("bulk"):
        return _arrive(b, one)
    if one.has("commit_group"):
        return None
    if one.has("wait_group"):
        return None  # what they wait for was written when it was issued; no load of a warp waits for it
    if one.has("prefetch"):
        return None
    if one.has("tensor"):
        return _tensor(b, one, values)
    if one.has("reduce") or one.opcode[1] == "reduce" or len(one.operands) < 3:
        raise b.error("is a copy that memsim does not support")
    target, source = one.opcode[3].split("::")[0], one.opcode[4].split("::")[0]
    to, to_added = address_of(b, one.operands[0], target)
    of, added = address_of(b, one.operands[1], source)
    bits = access.VALUES * values | (log.STORES if target == "global" else 0)
    barrier = ZERO
    if len(one.operands) > 3 and isinstance(one.operands[3], Address):
        barrier = _row_of(b, one.operands[3])
        bits |= bulk.ARRIVES
    fields = {"c": b.value(one.operands[2], "u32"), "mask": to_added, "list": barrier}
    b.emit(Micro.bulk, a=of, x=added, b=to, y=bits, **fields)


def _row_of(b: Builder, operand: Operand, temporary: int = 6) -> int:
    """The row of a shared address, its offset added, which takes a temporary row."""
    base, added = address_of(b, operand, "shared")
    added -= SHARED_WINDOW
    if not added:
        return base
    row = b.temporary(temporary)
    b.emit(Micro.add, dst=row, a=base, b=b.constant(added))
    return row


def _arrive(b: Builder, one: Instruction) -> None:
    """cp.async.mbarrier.arrive: here copies are done when they are issued, so it arrives at once; in a trace, they do.

    Without .noinc the pending arrivals are one more as it is issued and one less as it arrives: no change is left.
    """
    generic = not any(part.startswith("shared") for part in one.opcode)
    base, added = address_of(b, one.operands[0], "global" if generic else "shared")
    arrivals = b.constant(int(one.has("noinc")))
    b.emit(Micro.mbarrier, a=base, x=added, b=arrivals, dst=SINK, list=1, y=mbarriers.ARRIVE_COPIES)


def _tensor(b: Builder, one: Instruction, values: bool) -> None:
    """cp.async.bulk.tensor: boxes of tensors of one to five dimensions, between global and shared memory."""
    rank = next((int(part[0]) for part in one.opcode if part in ("1d", "2d", "3d", "4d", "5d")), 0)
    if not rank or one.has("reduce", "im2col", "im2col_no_offs", "im2col::w", "tile::gather4", "tile::scatter4"):
        raise b.error("is a copy that memsim does not support")
    spaces = [part.split("::")[0] for part in one.opcode if part.split("::")[0] in ("shared", "global")]
    stores = spaces[0] == "global"
    box, shared = (one.operands[0], one.operands[1]) if stores else (one.operands[1], one.operands[0])
    if not isinstance(box, Address) or len(box.coordinates) != rank:
        raise b.error(f"needs {rank} coordinates")
    base, _ = address_of(b, box, "global")
    rows = [b.value(coordinate, "s32") for coordinate in box.coordinates]
    bits = access.VALUES * values | (log.STORES if stores else bulk.ARRIVES)
    blocks = ZERO
    if not stores:
        rows.append(_row_of(b, one.operands[2], temporary=5))
        if one.has("multicast::cluster"):
            blocks, bits = b.value(one.operands[3], "u16"), bits | bulk.MULTICAST
    fields = {"c": blocks, "list": b.listed(rows), "count": rank, "y": bits}
    b.emit(Micro.tensor, a=base, b=_row_of(b, shared), **fields)


def _mapa(b: Builder, one: Instruction) -> None:
    """mapa: the address of the same variable in another block of the cluster."""
    generic = one.type == "u64" and not one.has("shared::cluster")
    address, rank, to = b.value(one.operands[1], one.type), b.value(one.operands[2], "u32"), destination(b, one)
    offset, block = b.temporary(0), b.temporary(1)
    b.emit(Micro.bit_and, dst=offset, a=address, b=b.constant(mask_of(RANK_SHIFT)))
    b.emit(Micro.add, dst=block, a=rank, b=b.constant(1))
    b.emit(Micro.shift_left, dst=b.temporary(2), a=block, b=b.constant(RANK_SHIFT), x=64)
    b.emit(Micro.bit_or, dst=b.temporary(3), a=offset, b=b.temporary(2))
    b.emit(Micro.add, dst=to, a=b.temporary(3), b=b.constant(WINDOWS["shared"] if generic else 0))


def _rank_of(b: Builder, one: Instruction) -> None:
    """getctarank: of the block whose shared memory an address lies in."""
    shifted, rank = b.temporary(0), b.temporary(1)
    b.emit(Micro.shift_right, dst=shifted, a=b.value(one.operands[1], one.type), b=b.constant(RANK_SHIFT), x=64)
    b.emit(Micro.bit_and, dst=rank, a=shifted, b=b.constant(31))
    own = b.temporary_predicate()
    b.emit(Micro.equal, dst=own, a=rank, b=b.constant(0), x=0b1100, count=-1)
    b.emit(Micro.subtract, dst=b.temporary(2), a=rank, b=b.constant(1), mask=mask_of(32))
    b.emit(Micro.select, dst=destination(b, one), a=b.row("%cluster_ctarank"), b=b.temporary(2), x=own)


CLUSTERS: dict[str, Lower] = {"mapa": _mapa, "getctarank": _rank_of}
