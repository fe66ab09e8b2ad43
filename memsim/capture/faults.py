"""Messages about kernels that fail, for users and programs, in the manner of compute-sanitizer."""

from __future__ import annotations

from memsim.capture.arena import ProcessMemory, describe
from memsim.capture.device_runtime import AssertFailed
from memsim.capture.protocol import ReplyStatus
from memsim.sources.ptx.failures import PROBLEMS, Fault, KernelFailure
from memsim.sources.ptx.machine.codes import Stop
from memsim.sources.ptx.ops import kind_of
from memsim.support.errors import InputError
from memsim.trace.schema import OpKind

_STATUS = {
    Stop.outside: ReplyStatus.illegal_address,
    Stop.misaligned: ReplyStatus.misaligned_address,
    Stop.endless: ReplyStatus.launch_timeout,
    Stop.trapped: ReplyStatus.launch_failed,
}
_ACCESS = {OpKind.load: "read", OpKind.store: "write", OpKind.atomic: "atomic", OpKind.reduction: "atomic"}


def status_of(error: InputError) -> int:
    """The CUDA error of a launch that failed."""
    if isinstance(error, AssertFailed):
        return ReplyStatus.assert_failed
    if isinstance(error, KernelFailure) and error.fault is not None:
        return _STATUS.get(error.fault.stop, ReplyStatus.launch_failed)
    return ReplyStatus.launch_failed


def explained(error: InputError, kernel: str, memory: ProcessMemory, program: str) -> InputError:
    """The error with kernel, source line, block, thread and the nearest allocation, where they are known."""
    fault = error.fault if isinstance(error, KernelFailure) else None
    if fault is None:
        return (
            error
            if isinstance(error, AssertFailed)
            else InputError(program, f"kernel {kernel}", f"cannot run: {error}")
        )
    position = fault.instruction.position
    where = f"{position.file}:{position.line}" if position.line else program
    by = f"by thread {_index(fault.thread)} of block {_index(fault.block)}"
    if fault.stop == Stop.outside:
        problem = f"{_access(fault)} at {hex(fault.address)} {by} is out of bounds{_nearest(fault, memory)}"
    elif fault.stop == Stop.misaligned:
        problem = f"{_access(fault)} at {hex(fault.address)} {by} is misaligned"
    else:
        problem = f"{fault.instruction.text} {PROBLEMS[fault.stop]} (block {_index(fault.block)})"
    return InputError(where, f"kernel {kernel}:", problem)


def _access(fault: Fault) -> str:
    return f"{_ACCESS[kind_of(fault.instruction)]} of {fault.bytes} bytes"


def _nearest(fault: Fault, memory: ProcessMemory) -> str:
    near = memory.nearest(fault.address)
    return f": {describe(near, fault.address)}" if near is not None and 0 < fault.address < 1 << 57 else ""


def _index(index: tuple[int, int, int]) -> str:
    return f"({index[0]},{index[1]},{index[2]})"
