"""What machine instructions charge between rows of the trace, and how their control codes reach the rows."""

from __future__ import annotations

from collections.abc import Sequence

from memsim.sources.imported.units import tensor_work
from memsim.sources.ptx.classes import CLASSES, TENSORS, Segment
from memsim.sources.ptx.lowering.builder import Builder
from memsim.sources.ptx.machine.access import LOGGED
from memsim.sources.ptx.machine.codes import BY_CODE, N_USES, OP, RESULT_BY_CODE, USES, Micro, Y, control_code
from memsim.sources.sass.disassembly import NO_SCOREBOARD, SassInstruction
from memsim.sources.sass.opcode_class import opcode_class
from memsim.trace.schema import LINKS, NO_WAIT, RESULT_CLASSES

# Micro-ops that make rows of accesses.
_ACCESSES = frozenset(
    [
        Micro.load, Micro.store, Micro.atomic, Micro.matrix_load, Micro.matrix_store, Micro.copy_async, Micro.bulk,
        Micro.tensor, Micro.texture, Micro.surface,
    ]
)  # fmt: skip
_BLOCK = ("BAR", "BARRIER")
# Behind these another instruction than the next one may run.
_TURNS = frozenset(
    ["BRA", "BRX", "BRXU", "JMP", "JMX", "JMXU", "CALL", "RET", "EXIT", "KILL", "BSYNC", "BREAK", "WARPSYNC"]
)
_RESOLVED = _TURNS - {"EXIT", "KILL", "WARPSYNC"}  # the warp waits until it is known which instruction is next
_REGISTERS = ("S2R", "S2UR", "B2R")


class ControlCodes:
    """Follows a kernel's instructions in their order, and gives its micro-ops what they charge and wait for.

    An instruction is charged with its class and its stall count before something makes a row: an access, a barrier, a
    wait for a scoreboard that may be set, or a result that sets one. Instructions whose predicate is off issue as
    others do, so they are charged as well.

    Attributes:
        segments: what is charged, by number.
    """

    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self._numbers: dict[Segment, int] = {}
        self._now = Segment()

    def before(self, one: SassInstruction) -> int:
        """The segment to charge before an instruction's first micro-op, -1 for none; of what turns, with itself."""
        if one.name in _TURNS or one.name in _BLOCK:
            self._now += charge_of(one)
            return self._take()
        return self._take() if one.waits or one.kind == "memory" or groups_left(one) != NO_WAIT else -1

    def at_label(self) -> int:
        """The segment to charge where another block of instructions begins."""
        return self._take()

    def follow(self, builder: Builder, one: SassInstruction) -> None:
        """Have an instruction, which begins, wait for its scoreboards, or for groups of products."""
        if one.waits or groups_left(one) != NO_WAIT:
            builder.follow(control_code(one.waits, NO_SCOREBOARD, 0, products=groups_left(one)), BY_CODE)

    def after(self, builder: Builder, one: SassInstruction, first: int) -> None:
        """Have an instruction set its scoreboard.

        Args:
            first: number of its first micro-op.
        """
        accesses = [row for row in builder.code[first:] if _makes_row(row)]
        for row in accesses:
            row[USES] = control_code(one.waits if row is builder.code[first] else 0, one.sets, one.stall)
            row[N_USES] = BY_CODE
        if accesses or one.name in _TURNS or one.name in _BLOCK:
            return
        sets = one.sets != NO_SCOREBOARD
        self._now += charge_of(one, 0 if sets else one.stall)
        if sets or "GMMA" in one.name:
            assert builder.instruction is not None
            builder.begin(builder.instruction, self._take(), [])
            result = RESULT_CLASSES.index(result_class(one)) + 1
            builder.follow(control_code(0, one.sets, one.stall if sets else 0, result), RESULT_BY_CODE)
            builder.flush()

    def _take(self) -> int:
        segment, self._now = self._now, Segment()
        if segment.compute_run == 0:
            return -1
        if segment not in self._numbers:
            self._numbers[segment] = len(self.segments)
            self.segments.append(segment)
        return self._numbers[segment]


def _makes_row(micro: Sequence[int]) -> bool:
    """Whether a micro-op logs an access; a load from the bank of parameters does not."""
    return micro[OP] in _ACCESSES and (micro[OP] != Micro.load or bool(micro[Y] & LOGGED))


def groups_left(one: SassInstruction) -> int:
    """How many groups of products may be unfinished when an instruction issues; NO_WAIT: any number.

    WARPGROUP.DEPBAR waits for products of the warp's group whose end HGMMA counts by ``gsb0``.
    """
    if not one.opcode.startswith("WARPGROUP.DEPBAR"):
        return NO_WAIT
    return int(one.operands.rpartition(",")[2], 0)


def charge_of(one: SassInstruction, stall: int | None = None) -> Segment:
    """What one instruction adds to a compute run.

    Args:
        stall: cycles until the next instruction; None: as its control code says.
    """
    counts, macs, tensors = [0] * len(CLASSES), [0] * len(TENSORS), 0
    if one.kind == "tensor" and (work := tensor_work(one.opcode))[1]:
        macs[work[0]], tensors = work[1], 1
    else:
        counts[CLASSES.index(one.kind if one.kind in CLASSES else "control")] = 1
    links = tuple(int(link == "resolve" and one.name in _RESOLVED) for link in LINKS)
    return Segment(tuple(counts), links, tensors, tuple(macs), stalls=one.stall if stall is None else stall)


def result_class(one: SassInstruction) -> str:
    """Which latency the result of an instruction has that is no access, one of RESULT_CLASSES."""
    if "GMMA" in one.name:
        return "group" if one.operands.endswith("gsb0") else "product"
    if one.name in _REGISTERS:
        return "register"
    if one.kind == "memory":
        return "constant"
    kind = opcode_class(one.name.removeprefix("U")) if one.kind == "uniform" else one.kind
    return kind if kind in RESULT_CLASSES else "integer" if kind == "multiply" else "control"
