"""Where variables lie: shared and local ones in their windows, module variables and parameters in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memsim.sources.ptx.launch import MOST_SHARED, PtxLaunch, parameter_bytes, parameter_offsets
from memsim.sources.ptx.mangled import variable_name
from memsim.sources.ptx.memory import DeviceMemory
from memsim.sources.ptx.module import (
    Address,
    Function,
    Instruction,
    Operand,
    PtxVariable,
    Register,
    Symbol,
    Vector,
    function_address,
)
from memsim.support.errors import InputError

RESERVED_REGISTER = "%reserved_smem_offset_"
RESERVED_BYTES = 1024  # of shared memory per block, since compute capability 8.0
MOST_LOCAL = 1 << 19  # bytes of a thread, on every GPU (CUDA C++ Programming Guide, technical specifications)


@dataclass(frozen=True)
class KernelLayout:
    """Where a launch's variables lie.

    Attributes:
        symbols: addresses by name; those of shared, local and parameter space count from their windows' start.
        shared: arrays in shared memory: (name, first byte, bytes, bytes of an element), ascending.
        shared_bytes, local_bytes: of a block, of a thread.
        system_bytes: the part of ``shared_bytes`` that the system takes, before the kernel's own arrays.
        reserved_bytes: of shared memory after the block's, which cooperative groups use.
        parameters: the buffer of the kernel's parameters; of machine code all of its constant bank 0.
        parameters_at: where they begin in it.
        indexed_at: where the part of it begins that instructions may index.
        constants: of machine code, variables in constant memory: (offset in their bank, bytes, address).
    """

    symbols: dict[str, int]
    shared: list[tuple[str, int, int, int]]
    shared_bytes: int
    local_bytes: int
    parameters: np.ndarray
    reserved_bytes: int = 0
    parameters_at: int = 0
    constants: Sequence[tuple[int, int, int]] = ()
    system_bytes: int = 0
    indexed_at: int = 0

    @property
    def requested_bytes(self) -> int:
        """Shared memory that a block asks for, static and dynamic."""
        return self.shared_bytes - self.system_bytes

    @property
    def reserved_offset(self) -> int:
        """Where the reserved part of shared memory begins."""
        return -(-self.shared_bytes // 16) * 16

    @property
    def block_bytes(self) -> int:
        """Shared memory of a block, and what is reserved after it."""
        return self.reserved_offset + self.reserved_bytes if self.reserved_bytes else self.shared_bytes


def lay_out(launch: PtxLaunch, function: Function, memory: DeviceMemory) -> KernelLayout:
    """Place all variables that a kernel uses; of a module's others nothing is known afterwards.

    Raises:
        InputError: shared or local memory that no GPU has, arguments that do not fit.
    """
    buffer = parameter_bytes(launch, function)
    names = [one.name for one in function.parameters]
    symbols = dict(zip(names, parameter_offsets(function.parameters), strict=True))
    variables = [*_used(launch.module.variables, function), *function.variables.values()]
    symbols |= {name: function_address(name) for name, one in launch.module.functions.items() if not one.entry}
    shared, shared_bytes = _shared(launch, variables, symbols)
    reserved_bytes = RESERVED_BYTES if _reads_reserved(function) else 0
    if reserved_bytes:
        shared.append(("reserved", -(-shared_bytes // 16) * 16, reserved_bytes, 8))
    local_bytes = 0
    for one in variables:
        if one.space in ("local", "param"):
            local_bytes = -(-local_bytes // one.align) * one.align
            symbols[one.name] = local_bytes
            local_bytes += one.bytes
    if local_bytes > MOST_LOCAL:
        raise InputError(
            launch.source, launch.kernel, f"takes {local_bytes} bytes of local memory; at most {MOST_LOCAL}"
        )
    add_variables(launch, [one for one in variables if one.space in ("global", "const")], memory, symbols)
    parameters = np.frombuffer(buffer.ljust(16, b"\0"), np.uint8)
    return KernelLayout(symbols, shared, shared_bytes, -(-local_bytes // 16) * 16, parameters, reserved_bytes)


def _reads_reserved(function: Function) -> bool:
    """Whether a kernel asks where the reserved part of shared memory is."""
    return any(
        isinstance(operand, Register) and operand.name.startswith(RESERVED_REGISTER)
        for one in function.body
        if isinstance(one, Instruction)
        for operand in one.operands
    )


def _used(variables: Mapping[str, PtxVariable], function: Function) -> list[PtxVariable]:
    """Of a module's variables, those that a kernel names, and those whose addresses they hold, and so on.

    Compilers leave constants of their headers in every module; a trace lists the arrays that its kernel has.
    """
    todo = [name for one in function.body if isinstance(one, Instruction) for name in _named(one.operands)]
    used: set[str] = set()
    while todo:
        name = todo.pop()
        if name in variables and name not in used:
            used.add(name)
            todo += [other for _, other, _ in variables[name].addresses]
    return [one for name, one in variables.items() if name in used]


def _named(operands: Iterable[Operand]) -> Iterator[str]:
    """The symbols in operands."""
    for one in operands:
        if isinstance(one, Symbol):
            yield one.name
        elif isinstance(one, Address):
            yield from _named((one.base,))
        elif isinstance(one, Vector):
            yield from _named(one.elements)


def _shared(
    launch: PtxLaunch, variables: Iterable[PtxVariable], symbols: dict[str, int]
) -> tuple[list[tuple[str, int, int, int]], int]:
    """Static arrays one after another, then the dynamic ones, which all begin at the same place."""
    found, at = [], 0  # ptxas aligns arrays so that it may join loads of them (join.py)
    ours = [one for one in variables if one.space == "shared"]
    for one in ours:
        if not one.extern:
            align = max(one.align, 16) if one.bytes >= 16 else one.align
            at = -(-at // align) * align
            symbols[one.name] = at
            found.append((variable_name(one.name), at, one.bytes, _element_bytes(one)))
            at += one.bytes
    dynamic = [one for one in ours if one.extern]
    if dynamic:
        align = max(one.align for one in dynamic)
        at = -(-at // align) * align
        symbols |= {one.name: at for one in dynamic}
        found.append((variable_name(dynamic[0].name), at, launch.shared_bytes, _element_bytes(dynamic[0])))
        at += launch.shared_bytes
    if at > MOST_SHARED:
        raise InputError(launch.source, launch.kernel, f"takes {at} bytes of shared memory; at most {MOST_SHARED}")
    return found, at


def _element_bytes(one: PtxVariable) -> int:
    """Of an array in shared memory, which compilers declare as bytes, aligned as its elements are."""
    return min(one.align, 16) if one.element_bytes == 1 else one.element_bytes


def add_variables(
    launch: PtxLaunch, ours: Sequence[PtxVariable], memory: DeviceMemory, symbols: dict[str, int]
) -> None:
    """Give module variables memory, then fill in the addresses that they hold of each other."""
    fresh = [one for one in ours if not memory.is_allocated((launch.key, one.name))]
    for one in ours:
        data = np.zeros(one.bytes, np.uint8)
        data[: len(one.values)] = one.values[: one.bytes]
        symbols[one.name] = memory.variable((launch.key, one.name), data, one.element_bytes, one.space)
    for one in fresh:
        for offset, name, added in one.addresses:
            if name in symbols:
                value = np.array([symbols[name] + added], np.uint64).view(np.uint8)
                memory.array_at(symbols[one.name] + offset, 8)[:] = value
