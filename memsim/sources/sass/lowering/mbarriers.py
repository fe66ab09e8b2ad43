"""mbarrier objects in shared memory.

Before sm_90 an object is two words that code of ptxas reads and writes itself; memsim.sources.ptx.machine.mbarriers
says what they hold. SYNCS of sm_90 works on objects that only it understands, as PTX does.
"""

from __future__ import annotations

from memsim.sources.ptx.lowering.builder import SINK
from memsim.sources.ptx.machine import access, mbarriers
from memsim.sources.ptx.machine.codes import SHARED_WINDOW, Micro
from memsim.sources.sass.builder import WORD, SassBuilder
from memsim.sources.sass.operands import Reg, SassOperand


def arrive(b: SassBuilder) -> None:
    """ATOMS.ARRIVE: each lane arrives at an mbarrier object; the object before goes to a pair of registers."""
    if not b.has("64") or len(b.operands) != 2:
        raise b.unknown()
    base, added = b.address(b.operand(1), SHARED_WINDOW)
    to = b.operand(0)
    result = SINK if to == Reg("R", -1) else b.temp()
    b.emit(
        Micro.mbarrier, a=base, x=added, b=b.constant(1), dst=result, list=1, y=mbarriers.ARRIVE_AT_WORDS,
    )  # fmt: skip
    if result != SINK:
        b.split(to, result)


def arrive_after_copies(b: SassBuilder) -> None:
    """ARRIVES: each lane arrives at an mbarrier object when its asynchronous copies are done."""
    if not b.has("LDGSTSBAR") or len(b.operands) != 1:
        raise b.unknown()
    what = mbarriers.ARRIVE_COPIES_AT_WORDS
    arrivals = 1
    if b.kernel.cubin.architecture >= 90:
        # TRANSCNT: the arrival was counted as a transaction by a SYNCS before, here a change without an effect
        what, arrivals = mbarriers.ARRIVE_COPIES, int(b.has("ARVCNT"))
    base, added = b.address(b.operand(0), SHARED_WINDOW)
    b.emit(Micro.mbarrier, a=base, x=added, b=b.constant(arrivals), dst=SINK, list=1, y=what)


def follow_test(b: SassBuilder) -> None:
    """After the test of a phase: record in the trace what was waited for, and let other warps run where it failed."""
    row = b.row("#tested")
    predicate = b.to_predicate(b.operand(0))
    b.emit(Micro.mbarrier, a=row, x=-4, dst=SINK, count=predicate, y=mbarriers.TESTED)


def note_tested(b: SassBuilder, base: int, added: int) -> int:
    """Before a load that a test follows: keep its address; the flag that the load gets."""
    b.emit(Micro.add, dst=b.row("#tested"), a=base, b=b.constant(added))
    return access.TESTS


# The last modifier of SYNCS.ARRIVE says whether there is one arrival, none, or as many as a register has (A1, A0, AR),
# and the bytes that are expected (T0, TR) or have come (TX). Without one it is A1TR.
_ARRIVALS = {"A1T0": mbarriers.ARRIVE, "ART0": mbarriers.ARRIVE, "A0TR": mbarriers.EXPECT, "A0TX": mbarriers.COMPLETE}


def synchronize(b: SassBuilder) -> None:
    """SYNCS: operations on mbarrier objects, from sm_90 on."""
    if b.has("EXCH"):
        return _initialize(b)
    if b.has("IVALL"):  # drops no object of the block's, whose memory ends with it
        return
    if b.has("CCTL"):
        base, added = b.address(b.operand(0), SHARED_WINDOW)
        return b.emit(
            Micro.mbarrier, a=base, x=added, b=b.constant(0), dst=SINK, list=1, y=mbarriers.INVALIDATE,
        )  # fmt: skip
    if b.has("PHASECHK"):
        return _check_phase(b)
    if b.has("ARRIVE"):
        return _arrive(b)
    raise b.unknown()


def _initialize(b: SassBuilder) -> None:
    """SYNCS.EXCH: a new object, whose words hold its arrivals; where they are 2^20 less the count, 11 bits higher."""
    if not b.has("64") or b.operand(0) != Reg("UR", -1) and b.operand(0) != Reg("R", -1):
        raise b.unknown()
    base, added = b.address(b.operand(1), SHARED_WINDOW)
    low = b.word(b.operand(2))
    half = b.op(Micro.shift_right, low, b.constant(1), x=64)
    count = b.op(Micro.bit_and, b.op(Micro.subtract, b.constant(1 << 20), half), b.constant((1 << 20) - 1))
    b.emit(Micro.mbarrier, a=base, x=added, b=count, dst=SINK, list=1, y=mbarriers.INIT)


def _check_phase(b: SassBuilder) -> None:
    """SYNCS.PHASECHK: whether a phase is over whose parity, or whose state from an arrival, is in bit 31."""
    base, added = b.address(b.operand(1), SHARED_WINDOW)
    parity = b.op(Micro.shift_right, b.word(b.operand(2)), b.constant(31), x=64)
    b.emit(
        Micro.mbarrier, a=base, x=added, b=parity, dst=SINK, list=1, y=mbarriers.TEST_PARITY,
        count=b.to_predicate(b.operand(0)),
    )  # fmt: skip


def _arrive(b: SassBuilder) -> None:
    """SYNCS.ARRIVE: arrivals, and bytes that are waited for; the object before goes to a pair of registers."""
    if b.has("TMASK") or not b.has("TRANS64"):
        raise b.unknown()
    if b.has("A0T1"):  # ARRIVES.TRANSCNT takes it back
        return
    base, added = b.address(b.operand(1), SHARED_WINDOW)
    given = b.word(b.operand(2))
    what = next((_ARRIVALS[one] for one in b.one.modifiers if one in _ARRIVALS), mbarriers.ARRIVE_EXPECT)
    fields = {"a": base, "x": added, "list": 1, "dst": SINK}
    if b.has("OPTOUT"):
        if what == mbarriers.ARRIVE_EXPECT:
            b.emit(Micro.mbarrier, b=given, y=mbarriers.EXPECT, **fields)
        elif not b.has("A1T0"):
            raise b.unknown()
        what, given = mbarriers.DROP, b.constant(1)
    elif b.has("A1T0"):
        given = b.constant(1)
    to = b.operand(0)
    if to != Reg("R", -1):
        fields["dst"] = b.temp()
    b.emit(Micro.mbarrier, b=given, y=what, **fields)
    if fields["dst"] != SINK:
        _save_state(b, to, fields["dst"])


def _save_state(b: SassBuilder, to: SassOperand, before: int) -> None:
    """The upper word of an object: less its pending arrivals in bits 11 to 30, its phase in bit 31."""
    pending = b.op(Micro.bit_and, b.op(Micro.subtract, b.constant(0), before), b.constant(mbarriers.FIELD))
    placed = b.op(Micro.shift_left, pending, b.constant(11), x=64)
    phase = b.op(Micro.bit_and, b.op(Micro.shift_right, before, b.constant(mbarriers.PHASE_AT), x=64), b.constant(1))
    b.emit(Micro.bit_or, dst=b.to(to, 1), a=placed, b=b.op(Micro.shift_left, phase, b.constant(31), x=64), mask=WORD)
    b.emit(Micro.copy, dst=b.to(to), a=b.constant(0))
