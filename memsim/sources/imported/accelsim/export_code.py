"""Lines of traces of machine code, as Accel-Sim reads them.

Accesses have their own opcodes. What lies between them is known by class, so one opcode stands for each class. Which
registers the code used is not in the trace: each result that sets a scoreboard gets registers of its own here, and an
instruction that waits for the scoreboard reads them, so that Accel-Sim's scoreboard holds it back for the same results.
"""

from __future__ import annotations

import re

import numpy as np

from memsim.sources.imported.accelsim.export_access import address_text, opcode_of
from memsim.sources.imported.sass import Where, decode
from memsim.trace.reader import Trace
from memsim.trace.schema import (
    EXPLICIT,
    INSTRUCTION_CLASSES,
    NO_OP,
    NO_SCOREBOARD,
    NO_WAIT,
    PRODUCT,
    RESULT_CLASSES,
    SCOREBOARDS,
    Chunk,
    Flag,
    OpKind,
    Space,
    StaticInstruction,
)

_WARP = 32
_MOST_READ = 3  # registers of one instruction
_FIRST_REGISTER, _END_REGISTER = 8, 240  # of results; addresses and values are in others, which nobody writes
_ADDRESS, _VALUE = 2, 3
FIRST_PC, PC_STEP = 0x1000, 0x10  # of static instructions; below them those of classes
OPCODES = {
    "integer": "IADD3", "fp32": "FFMA", "half": "HFMA2", "fp64": "DFMA", "special": "MUFU.RCP", "conversion": "I2F",
    "control": "NOP", "shuffle": "SHFL.IDX", "tensor": "HMMA.16816.F32", "constant": "LDC", "register": "S2R",
    "multiply": "IMAD", "uniform": "UIADD3",
}  # fmt: skip
_PCS = {name: f"{PC_STEP * number:04x}" for number, name in enumerate(OPCODES)}
_BARRIER, _WAIT, _EXIT = (f"{0x800 + PC_STEP * k:04x} {{mask:08x}} 0 {name} 0 0 \n" for k, name in enumerate(
    ("BAR.SYNC", "DEPBAR.LE", "EXIT")
))  # fmt: skip


def binary_version(trace: Trace) -> int:
    """Ten times the compute capability that the code is for; 80 where the trace does not say."""
    found = re.fullmatch(r"sm_(\d+)[a-z]?", str(trace.parameters.get("compiled_for", "")))
    return int(found[1]) if found else 80


class CodeWriter:
    """Makes the lines of a trace's warps."""

    def __init__(self, trace: Trace) -> None:
        self._threads = trace.launch.threads_per_block
        self._ops = trace.ops
        self._mixes = [_opcodes(mix) for mix in trace.issue.mixes]

    def lines(self, chunk: Chunk, warp: int, number: int) -> list[str]:
        """Lines of the chunk's warp `warp`, which is the `number`-th of its block."""
        all_lanes = (1 << min(_WARP, self._threads - _WARP * number)) - 1
        code = _WarpCode(all_lanes)
        address = int(chunk.first_address[warp])
        rows = range(chunk.first_instruction[warp], chunk.first_instruction[warp + 1])
        for row in rows:
            flags, mask, op = int(chunk.flags[row]), int(chunk.mask[row]), int(chunk.op[row])
            if chunk.wait_copies[row] != NO_WAIT:
                code.out.append(_WAIT.format(mask=all_lanes))
            code.wait(int(chunk.scoreboard_wait[row]))
            issued = list(self._mixes[chunk.instruction_mix[row]])
            ends = flags & Flag.barrier or row == rows[-1]
            if ends and "control" in issued:  # the barrier or the EXIT itself, which have lines of their own
                issued.remove("control")
            result = int(chunk.result[row])
            kind = RESULT_CLASSES[result - 1] if result else ""
            last = {"constant": "control", "register": "control"}.get(kind, "tensor" if result >= PRODUCT else kind)
            if last in issued:
                issued.remove(last)
            for name in issued:
                code.instruction(name)
            if result:
                code.instruction("tensor" if result >= PRODUCT else kind, sets=int(chunk.scoreboard_set[row]))
            if flags & Flag.barrier:
                code.out.append(_BARRIER.format(mask=mask or all_lanes))
            elif flags & Flag.masked:
                code.out.append(f"{_PCS['integer']} {0:08x} 0 {OPCODES['integer']} 0 0 \n")
            if op == NO_OP:
                continue
            offsets, stride = b"", int(chunk.stride[row])
            if stride == EXPLICIT:
                offsets = chunk.addresses[address : address + mask.bit_count()].tobytes()
                address += mask.bit_count()
            where = address_text(mask, int(chunk.base[row]), stride, offsets)
            code.access(op, self._ops[op], mask, int(chunk.scoreboard_set[row]), where)
        return [*code.out, _EXIT.format(mask=all_lanes)]


def _opcodes(mix: np.ndarray) -> list[str]:
    """The classes of a compute run's instructions, one for each of them."""
    counts = {name: int(mix[f"count_{name}"]) for name in (*INSTRUCTION_CLASSES, "tensor")}
    return [name for name, count in counts.items() for _ in range(count)]


def own_opcode(op: StaticInstruction) -> str:
    """The code's own opcode, where its addresses are those of the trace; else one that does the same there."""
    opcode = op.text.split()[0]
    where = decode(opcode).where
    as_traced = {Space.global_: (Where.global_, Where.generic, Where.both), Space.shared: (Where.shared,),
                 Space.texture: (Where.global_,), Space.constant: (Where.constant,)}  # fmt: skip
    return opcode if where in as_traced.get(op.space, ()) else opcode_of(op)


class _WarpCode:
    """Lines of one warp, and the registers that its scoreboards stand for."""

    def __init__(self, all_lanes: int) -> None:
        self.out: list[str] = []
        self._all_lanes = all_lanes
        self._next = _FIRST_REGISTER
        self._set: list[list[int]] = [[] for _ in range(SCOREBOARDS)]
        self._unread: list[int] = []  # what the next instructions have to read

    def wait(self, mask: int) -> None:
        """Have the next instructions read what some scoreboards stand for."""
        for number in range(SCOREBOARDS):
            if mask >> number & 1:
                self._unread += self._set[number]
                self._set[number] = []

    def instruction(self, name: str, sets: int = NO_SCOREBOARD) -> None:
        """An instruction of a class, of all lanes; of one with a result, the scoreboard that it sets."""
        written = self._written(1, sets)
        read = self._read([])
        self.out.append(f"{_PCS[name]} {self._all_lanes:08x} {written}{OPCODES[name]} {read} 0 \n")

    def access(self, number: int, op: StaticInstruction, mask: int, sets: int, where: str) -> None:
        """An access by its own opcode."""
        while len(self._unread) > 1:
            self.instruction("control")  # more results than the access has room for
        read = self._read([_ADDRESS] if op.kind is OpKind.load else [_ADDRESS, _VALUE])
        loads = op.kind in (OpKind.load, OpKind.atomic) and not op.async_copy
        written = self._written(max(1, op.width // 4), sets) if loads else "0 "
        opcode = own_opcode(op)
        self.out.append(f"{FIRST_PC + PC_STEP * number:04x} {mask:08x} {written}{opcode} {read} {op.width} {where} \n")

    def _written(self, registers: int, sets: int) -> str:
        if sets == NO_SCOREBOARD:
            return "0 "
        if self._next + registers > _END_REGISTER:
            self._next = _FIRST_REGISTER
        self._set[sets].append(self._next)
        self._next += registers
        return f"1 R{self._set[sets][-1]} "

    def _read(self, own: list[int]) -> str:
        taken, self._unread = self._unread[: _MOST_READ - len(own)], self._unread[_MOST_READ - len(own) :]
        registers = [*own, *taken]
        return " ".join([str(len(registers)), *(f"R{register}" for register in registers)])
