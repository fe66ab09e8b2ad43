"""Messages about kernels that fail, for users and programs, in the manner of compute-sanitizer."""

from __future__ import annotations

from memsim.capture.arena import ProcessMemory
from memsim.capture.device_runtime import AssertFailed
from memsim.capture.protocol import ReplyStatus
from memsim.sources.ptx.failures import KernelFailure
from memsim.sources.ptx.machine.codes import Stop
from memsim.support.errors import InputError

_STATUS = {
    Stop.outside: ReplyStatus.illegal_address,
    Stop.misaligned: ReplyStatus.misaligned_address,
    Stop.endless: ReplyStatus.launch_timeout,
    Stop.spinning: ReplyStatus.launch_timeout,
    Stop.deadlock: ReplyStatus.launch_timeout,
    Stop.trapped: ReplyStatus.launch_failed,
}


def status_of(error: InputError) -> int:
    """The CUDA error of a launch that failed."""
    if isinstance(error, AssertFailed):
        return ReplyStatus.assert_failed
    if isinstance(error, KernelFailure) and error.fault is not None:
        return _STATUS.get(error.fault.stop, ReplyStatus.launch_failed)
    return ReplyStatus.launch_failed


def explained(error: InputError, kernel: str, memory: ProcessMemory, program: str) -> InputError:
    """The error with its kernel; of an access out of bounds, with the allocation next to it."""
    if isinstance(error, AssertFailed):
        return error
    if not isinstance(error, KernelFailure) or error.fault is None:
        line = str(error.where).removeprefix(f"{program}:")
        place = f"PTX line {line}" if line.isdigit() else error.where
        return InputError(program, f"kernel {kernel}", f"cannot run: {place}: {error.field} {error.problem}")
    fault = error.fault
    near = memory.describe(fault.address) if fault.stop == Stop.outside else ""
    where = error.where if fault.position.line else program
    return InputError(where, error.field, fault.problem + (near and f": {near}"))
