"""What a kernel did that it must not, as one line."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memsim.sources.ptx.launch import PtxLaunch
from memsim.sources.ptx.machine import tables
from memsim.sources.ptx.machine.codes import (
    CONSTANT_WINDOW,
    LANES,
    LOCAL_WINDOW,
    NUMBER,
    PARAMETER_WINDOW,
    SHARED_WINDOW,
    Stop,
)
from memsim.sources.ptx.machine.tables import MachineArrays
from memsim.sources.ptx.module import Instruction, SourcePosition
from memsim.sources.ptx.ops import Frames, kind_and_width
from memsim.sources.ptx.program import LoweredKernel
from memsim.support.errors import InputError
from memsim.trace.schema import OpKind

PROBLEMS = {
    Stop.endless: "does not end: a warp has executed 2 ** 28 instructions",
    Stop.spinning: "waits for a change that no other block makes; memsim cannot run kernels that wait for the host",
    Stop.deadlock: "waits for something that no thread of its block will do",
    Stop.divergent_barrier: (
        "is reached by some lanes of a warp while others wait at another barrier; all must reach the same one"
    ),
    Stop.host_call: "calls a function of CUDA's device runtime that memsim does not have here",
    Stop.trapped: "was reached: the kernel ends itself here",
    Stop.too_many_ops: "is one memory instruction too many; a trace has at most 65535",
    Stop.copies: "has too many outstanding groups of asynchronous copies",
    Stop.unknown_tensor: "has a tensor map that was not made for this memory",
}


_ACCESSES = {OpKind.load: "read", OpKind.store: "write", OpKind.atomic: "atomic", OpKind.reduction: "atomic"}
_WINDOWS = {"local": LOCAL_WINDOW, "shared": SHARED_WINDOW, "parameter": PARAMETER_WINDOW, "constant": CONSTANT_WINDOW}


@dataclass(frozen=True)
class Fault:
    """Where and how a kernel failed.

    Attributes:
        stop: what stopped the machine.
        opcode: of the instruction that failed.
        position: of it in the source: the user's frame, where lines are known.
        block, thread: indices (x, y, z); the thread is the first of its warp where no lane is known.
        access: kind and bytes of the access: ``write of 4 bytes``.
        address: that was accessed, of stops that have one.
        stack_bytes: of a thread, of an access outside the stack of functions that call themselves; else 0.
    """

    stop: Stop
    opcode: str
    position: SourcePosition
    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    access: str
    address: int
    stack_bytes: int = 0

    @property
    def problem(self) -> str:
        """The fault as a predicate of its kernel, in the manner of compute-sanitizer."""
        if self.stop not in (Stop.outside, Stop.misaligned):
            return f"{self.opcode} {PROBLEMS[self.stop]} (block {_shown(self.block)})"
        how = "out of bounds" if self.stop == Stop.outside else "misaligned"
        by = f"by thread {_shown(self.thread)} of block {_shown(self.block)}"
        stack = f"; the stack has {self.stack_bytes} bytes (cudaLimitStackSize)" if self.stack_bytes else ""
        return f"{self.access} at {_shown_address(self.address)} {by} is {how}{stack}"


class KernelFailure(InputError):
    """A kernel did what it must not."""

    def __init__(self, where: object, field: str, problem: str, fault: Fault | None = None) -> None:
        super().__init__(where, field, problem)
        self.fault = fault

    def __reduce__(self) -> tuple[type[InputError], tuple[str, str, str]]:
        return InputError, (self.where, self.field, self.problem)


def failure(stop: Stop, launch: PtxLaunch, program: LoweredKernel, machine: MachineArrays) -> KernelFailure:
    """The error for what stopped the machine, at the line of the source, else of the PTX."""
    one = program.origin[int(machine.status[tables.STOP_PC])]
    warp = int(machine.status[tables.WARP_NOW]) % len(machine.records)
    number, lane = int(machine.records[warp, NUMBER]), int(machine.status[tables.STOP_LANE])
    fault = _fault(stop, launch, program, one, number, lane, int(machine.status[tables.STOP_ADDRESS]))
    return _failure(fault, launch, one)


@dataclass(frozen=True)
class AccessesBeyond:
    """Accesses of a kernel's line that are out of bounds, but in mapped memory, so that the kernel continues.

    Attributes:
        first: as the error that ends kernels elsewhere.
        count: of lanes' accesses.
    """

    first: KernelFailure
    count: int


def accesses_beyond(launch: PtxLaunch, program: LoweredKernel, machine: MachineArrays) -> list[AccessesBeyond]:
    """The accesses to mapped memory behind an array since the last call, by instruction."""
    found = []
    for pc in np.flatnonzero(machine.beyond[:, tables.BEYOND_COUNT]).tolist():
        count, number, lane, address = machine.beyond[pc].tolist()
        fault = _fault(Stop.outside, launch, program, program.origin[pc], number, lane, address)
        found.append(AccessesBeyond(_failure(fault, launch, program.origin[pc]), count))
    machine.beyond[:] = 0
    return found


def _failure(fault: Fault, launch: PtxLaunch, one: Instruction) -> KernelFailure:
    position = fault.position
    where = f"{position.file}:{position.line}" if position.line else f"{launch.source}:{one.line}"
    return KernelFailure(where, f"kernel {launch.name or launch.kernel}:", fault.problem, fault)


def _fault(
    stop: Stop, launch: PtxLaunch, program: LoweredKernel, one: Instruction, number: int, lane: int, address: int
) -> Fault:
    """The fault of an instruction; `number` is its warp's in the grid."""
    access, warps = "", -(-launch.threads // LANES)
    if stop in (Stop.outside, Stop.misaligned):
        kind, width = kind_and_width(program, one)
        access = f"{_ACCESSES[kind]} of {width} bytes"
    else:
        lane = 0
    thread = index_of(number % warps * LANES + lane, launch.block)
    position = Frames(launch).own(one.position)[0]
    block = index_of(number // warps, launch.grid)
    overflows = _is_in(address, LOCAL_WINDOW) and launch.sass is not None and launch.sass.is_recursive
    stack_bytes = launch.stack_bytes if overflows else 0
    return Fault(stop, one.text, position, block, thread, access, address, stack_bytes)


def _shown(index: tuple[int, int, int]) -> str:
    return f"({index[0]},{index[1]},{index[2]})"


def _is_in(address: int, window: int) -> bool:
    return 0 <= address - window < 1 << 33


def _shown_address(address: int) -> str:
    """An address as programs see it: offsets in shared and local memory are not shown in memsim's windows.

    >>> _shown_address(SHARED_WINDOW + 0x180), _shown_address(0x7F00)
    ('0x180 of shared memory', '0x7f00')
    """
    for space, window in _WINDOWS.items():
        if _is_in(address, window):
            return f"{hex(address - window & 0xFFFFFFFF)} of {space} memory"
    return hex(address)


def block_of_warp(machine: MachineArrays, warp: int, launch: PtxLaunch) -> tuple[int, int, int]:
    """The block of a warp of the team, as its index in the grid."""
    number = int(machine.records[warp, NUMBER]) // int(machine.grid[tables.WARPS])
    return index_of(number, launch.grid)


def index_of(number: int, extents: tuple[int, int, int]) -> tuple[int, int, int]:
    """The index (x, y, z) of a number that counts x fastest.

    >>> index_of(7, (4, 2, 1))
    (3, 1, 0)
    """
    x, y, _ = extents
    return number % x, number // x % y, number // (x * y)


__all__ = ["AccessesBeyond", "Fault", "KernelFailure", "accesses_beyond", "failure", "index_of", "block_of_warp"]
