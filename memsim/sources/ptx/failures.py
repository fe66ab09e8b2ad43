"""What a kernel did that it must not, as one line."""

from __future__ import annotations

from dataclasses import dataclass

from memsim.sources.ptx.launch import PtxLaunch
from memsim.sources.ptx.machine import tables
from memsim.sources.ptx.machine.codes import COUNT, LANES, MASK, NUMBER, Stop
from memsim.sources.ptx.machine.tables import MachineArrays
from memsim.sources.ptx.module import Instruction
from memsim.sources.ptx.program import LoweredKernel
from memsim.support.errors import InputError

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


@dataclass(frozen=True)
class Fault:
    """Where and how a kernel failed.

    Attributes:
        stop: what stopped the machine.
        instruction: that failed.
        block, thread: indices (x, y, z); the thread is the first of its warp where no lane is known.
        address: that was accessed, of stops that have one.
        bytes: of the access.
    """

    stop: Stop
    instruction: Instruction
    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    address: int
    bytes: int


class KernelFailure(InputError):
    """A kernel did what it must not."""

    def __init__(self, where: object, field: str, problem: str, fault: Fault | None = None) -> None:
        super().__init__(where, field, problem)
        self.fault = fault

    def __reduce__(self) -> tuple[type[InputError], tuple[str, str, str]]:
        return InputError, (self.where, self.field, self.problem)


def failure(stop: Stop, launch: PtxLaunch, program: LoweredKernel, machine: MachineArrays) -> KernelFailure:
    """The error for what stopped the machine: the line of the PTX, and of the source where it is known."""
    status = machine.status
    one = program.origin[int(status[tables.STOP_PC])]
    where = f"{launch.source}:{one.line}"
    source = f" (from {one.position.file}:{one.position.line})" if one.position.line else ""
    fault = _fault(stop, launch, one, machine)
    if stop in (Stop.outside, Stop.misaligned):
        lane = int(status[tables.STOP_LANE])
        what = "outside all arrays" if stop == Stop.outside else "which is not aligned"
        return KernelFailure(where, one.text, f"of lane {lane} accesses {hex(fault.address)}, {what}{source}", fault)
    return KernelFailure(where, one.text, f"{PROBLEMS[stop]}{source}", fault)


def _fault(stop: Stop, launch: PtxLaunch, one: Instruction, machine: MachineArrays) -> Fault:
    status = machine.status
    warp = int(status[tables.WARP_NOW]) % len(machine.records)
    block, lane = block_of_warp(machine, warp, launch), 0
    if stop in (Stop.outside, Stop.misaligned):
        lane = int(status[tables.STOP_LANE])
    row = machine.code[int(status[tables.STOP_PC])]
    thread = (warp % int(machine.grid[tables.WARPS])) * LANES + lane
    return Fault(
        stop, one, block, index_of(thread, launch.block), int(status[tables.STOP_ADDRESS]), int(row[MASK] * row[COUNT])
    )


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


__all__ = ["Fault", "KernelFailure", "failure", "index_of", "block_of_warp"]
