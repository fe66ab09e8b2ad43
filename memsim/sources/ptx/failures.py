"""What a kernel did that it must not, as one line."""

from __future__ import annotations

import numpy as np

from memsim.sources.ptx.launch import Launch
from memsim.sources.ptx.machine import tables
from memsim.sources.ptx.machine.codes import Stop
from memsim.sources.ptx.program import Program
from memsim.support.errors import InputError

_PROBLEMS = {
    Stop.endless: "goes on without end: a warp has carried out 2 ** 28 instructions",
    Stop.spinning: "waits for another block to change this; blocks run one after another, so that cannot be run",
    Stop.deadlock: "waits for what no thread of its block will do",
    Stop.parted: "is met by some lanes of a warp while the others are elsewhere; all must meet it together",
    Stop.host_call: "calls a function of CUDA's device runtime that memsim does not have here",
    Stop.trapped: "was reached: the kernel ends itself here",
    Stop.too_many_ops: "is one static op too many; a trace has at most 65535",
    Stop.copies: "has too many groups of asynchronous copies under way",
    Stop.unknown_tensor: "has a tensor map that was not made for this memory",
}


def failure(stop: Stop, launch: Launch, program: Program, status: np.ndarray) -> InputError:
    """The error for what stopped the machine: the line of the PTX, and of the source where it is known."""
    one = program.origin[int(status[tables.STOP_PC])]
    where = f"{launch.source}:{one.line}"
    source = f" (from {one.position.file}:{one.position.line})" if one.position.line else ""
    if stop in (Stop.outside, Stop.misaligned):
        lane, address = int(status[tables.STOP_LANE]), int(status[tables.STOP_ADDRESS])
        what = "outside all arrays" if stop == Stop.outside else "which is not aligned"
        return InputError(where, one.text, f"of lane {lane} accesses {hex(address)}, {what}{source}")
    return InputError(where, one.text, f"{_PROBLEMS[stop]}{source}")
