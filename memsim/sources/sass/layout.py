"""Where the variables of a kernel of machine code lie."""

from __future__ import annotations

from memsim.sources.ptx.launch import PtxLaunch, parameter_bytes
from memsim.sources.ptx.layout import RESERVED_BYTES, KernelLayout, add_variables, lay_out
from memsim.sources.ptx.memory import DeviceMemory
from memsim.sources.ptx.module import Function
from memsim.sources.sass.constants import bank_0, first_indexed, reads_reserved
from memsim.sources.sass.kernel import SassKernel

_SECTIONS = (".nv.global", ".nv.global.init", ".nv.constant3")


def lay_out_sass(launch: PtxLaunch, function: Function, kernel: SassKernel, memory: DeviceMemory) -> KernelLayout:
    """Place all variables that a kernel's cubin has.

    Raises:
        InputError: as for PTX.
    """
    cubin = kernel.cubin
    variables = launch.module.variables
    names = [one.name for section in _SECTIONS for one in cubin.objects(section)]
    symbols: dict[str, int] = {}
    add_variables(launch, [variables[name] for name in names if name in variables], memory, symbols)
    stack_bytes = launch.stack_bytes if kernel.is_recursive else 0
    local_bytes = -(-max(cubin.local_bytes(kernel.name), stack_bytes) // 16) * 16
    constants = [
        (one.value, one.size, symbols[one.name]) for one in cubin.objects(".nv.constant3") if one.name in symbols
    ]
    static = cubin.size(f".nv.shared.{kernel.name}")
    system_bytes = cubin.system_bytes if static else 0
    shared, shared_bytes = _shared(launch, function, static, system_bytes, memory)
    reserved_bytes, reserved_at = (RESERVED_BYTES if reads_reserved(kernel) else 0), -(-shared_bytes // 16) * 16
    if reserved_bytes:
        shared.append(("reserved", reserved_at, reserved_bytes, 8))
    bank = bank_0(kernel, launch, parameter_bytes(launch, function), local_bytes, reserved_at)
    return KernelLayout(
        symbols, shared, shared_bytes, local_bytes, bank, reserved_bytes, cubin.first_parameter(kernel.name), constants,
        system_bytes, first_indexed(kernel),
    )  # fmt: skip


def _shared(
    launch: PtxLaunch, function: Function, static: int, first: int, memory: DeviceMemory
) -> tuple[list[tuple[str, int, int, int]], int]:
    """Arrays in shared memory, and bytes of a block, of which ``first`` are the system's.

    A cubin says how many bytes there are, and not where which array lies. Where the arrays that PTX declares take just
    as many, they lie in the same order.
    """
    declared = [one for one in lay_out(launch, function, memory).shared if one[0] != "reserved"]
    dynamic = launch.shared_bytes
    theirs = sum(nbytes for name, _, nbytes, _ in declared) - dynamic
    last = max((at + nbytes for _, at, nbytes, _ in declared), default=0) - dynamic
    total = static + dynamic
    if declared and abs(static - first - last) < 16 and theirs <= static:
        moved = [(name, first + at, nbytes, element) for name, at, nbytes, element in declared]
        if dynamic:
            name, _, nbytes, element = moved[-1]
            moved[-1] = (name, static, nbytes, element)
        return moved, total
    return ([("shared", first, total - first, 4)] if total > first else []), total
