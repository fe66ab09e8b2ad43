"""Constant banks: what the driver puts into bank 0, and what the cubin has for the others.

Where bank 0 holds a launch's extents and the windows of generic addresses was found by assembling kernels that read
them (``tests/sources/sass/test_constants.py`` does it again). Parameters begin where the cubin says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from memsim.sources.ptx.inline import HOST_CALLS
from memsim.sources.ptx.launch import PtxLaunch, parameter_offsets
from memsim.sources.ptx.machine.codes import CONSTANT_WINDOW, LOCAL_WINDOW, PARAMETER_WINDOW, SHARED_WINDOW
from memsim.sources.ptx.module import Function, function_address
from memsim.sources.sass.kernel import SassKernel, UnknownMachineCode

_IN_BANK_0 = re.compile(r"c\[0x0\]\[(?:U?R\d+\+)?(0x[0-9a-f]+)\]")
CODE_BANK, VARIABLES_BANK, ADDRESSES_BANK = 2, 3, 4


@dataclass(frozen=True)
class BankPlaces:
    """Offsets in bank 0; -1 where an architecture has the value elsewhere.

    Attributes:
        block, grid: three words each.
        shared, local, constant: two words each, addresses of the windows.
        stack: the word behind a thread's local memory.
        dynamic: the bytes of dynamic shared memory.
        workspace: two words, the upper and the lower half of the address of a cooperative grid's workspace; from 10.0
            on for launches without clusters, for which SR_CgaSize is 0.
        reserved: where the part of shared memory begins that the system reserves for cooperative groups.
        parameters: two words, the address of the parameters, for instructions that do not read the bank.
        descriptor: two words that accesses of global memory name, without effect on their addresses.
    """

    block: int
    grid: int
    shared: int
    local: int
    stack: int
    constant: int
    descriptor: int
    dynamic: int
    workspace: int
    reserved: int
    parameters: int = -1


_OFFSETS = (
    (100, BankPlaces(0x360, 0x370, -1, 0x2F8, 0x37C, 0x120, 0x358, -1, 0x254, -1)),
    (90, BankPlaces(0x0, 0xC, -1, 0x20, 0x28, 0xD0, 0x208, 0x2C, 0x44, 0x6C, 0x198)),
    (70, BankPlaces(0x0, 0xC, 0x18, 0x20, 0x28, 0x50, 0x118, 0x2C, 0x8C, 0x124)),
)


def bank_offsets(architecture: int) -> BankPlaces:
    """Where bank 0 of an architecture holds what the driver puts there."""
    return next(offsets for least, offsets in _OFFSETS if architecture >= least)


def bank_0(kernel: SassKernel, launch: PtxLaunch, parameters: bytes, local_bytes: int, reserved_at: int) -> np.ndarray:
    """Bank 0 of a launch, u1.

    Args:
        reserved_at: where the reserved part of shared memory begins.
    """
    begin, size = kernel.cubin.parameters(kernel.name)
    bank = np.zeros(-(-(begin + size) // 8) * 8 + 16, np.uint8)
    offsets = bank_offsets(kernel.cubin.architecture)
    put_launch(bank, kernel, launch, parameters)
    _put(bank, offsets.stack, [local_bytes], "<u4")
    for at, window in (
        (offsets.shared, SHARED_WINDOW),
        (offsets.local, LOCAL_WINDOW),
        (offsets.constant, CONSTANT_WINDOW),
    ):
        if at >= 0:
            _put(bank, at, [window], "<u8")
    if offsets.dynamic >= 0:
        _put(bank, offsets.dynamic, [launch.shared_bytes], "<u4")
    if offsets.reserved >= 0:
        _put(bank, offsets.reserved, [reserved_at], "<u4")
    if offsets.workspace >= 0:
        _put(bank, offsets.workspace, [launch.workspace >> 32, launch.workspace & 0xFFFFFFFF], "<u4")
    if offsets.parameters >= 0:
        _put(bank, offsets.parameters, [PARAMETER_WINDOW + begin], "<u8")
    return bank


def _placed(kernel: SassKernel, function: Function, parameters: bytes) -> Iterator[tuple[int, bytes]]:
    """Each parameter, and where it lies in bank 0.

    The assembler aligns a parameter's place in the bank, PTX its place among the parameters. The two differ behind a
    parameter with an alignment that the bank's first place does not have, for example a tensor map's 64 bytes.
    """
    begin, _ = kernel.cubin.parameters(kernel.name)
    places, starts = kernel.cubin.each_parameter(kernel.name), parameter_offsets(function.parameters)
    if len(places) != len(starts):  # a cubin that does not list them
        yield begin + (places[0][0] if places else 0), parameters
        return
    for (offset, _), start, one in zip(places, starts, function.parameters, strict=True):
        yield begin + offset, parameters[start : start + one.bytes]


def put_launch(bank: np.ndarray, kernel: SassKernel, launch: PtxLaunch, parameters: bytes) -> None:
    """Write a launch's extents and parameters into bank 0."""
    offsets = bank_offsets(kernel.cubin.architecture)
    _put(bank, offsets.block, launch.block, "<u4")
    _put(bank, offsets.grid, launch.grid, "<u4")
    for at, data in _placed(kernel, launch.function, parameters):
        bank[at : at + len(data)] = np.frombuffer(data, np.uint8)


def _put(bank: np.ndarray, at: int, values: object, kind: str) -> None:
    data = np.array(values, kind).view(np.uint8)
    bank[at : at + len(data)] = data


def reads_workspace(kernel: SassKernel) -> bool:
    """Whether a kernel reads where the workspace of a cooperative grid lies, which other launches do not have."""
    at = bank_offsets(kernel.cubin.architecture).workspace
    return at >= 0 and bool({at, at + 4} & _read(kernel))


def first_indexed(kernel: SassKernel) -> int:
    """Where in bank 0 the part begins that instructions index: the parameters, or before them a grid's workspace."""
    first = kernel.cubin.first_parameter(kernel.name)
    return min(first, bank_offsets(kernel.cubin.architecture).workspace) if reads_workspace(kernel) else first


def reads_reserved(kernel: SassKernel) -> bool:
    """Whether a kernel asks where the reserved part of shared memory begins."""
    return bank_offsets(kernel.cubin.architecture).reserved in _read(kernel)


def _read(kernel: SassKernel) -> set[int]:
    return {int(found, 16) for one in kernel.code for found in _IN_BANK_0.findall(one.operands)}


def check_bank_0(kernel: SassKernel, offset: int, nbytes: int) -> None:
    """Refuse to read what the driver puts into bank 0, unless memsim supports it.

    Raises:
        UnknownMachineCode: naming the place.
    """
    begin, size = kernel.cubin.parameters(kernel.name)
    offsets = bank_offsets(kernel.cubin.architecture)
    known = [(begin, size), (offsets.block, 12), (offsets.grid, 12), (offsets.stack, 4), (offsets.descriptor, 8)]
    known += [(offsets.dynamic, 4)] if offsets.dynamic >= 0 else []
    known += [(offsets.reserved, 4)] if offsets.reserved >= 0 else []
    known += [(offsets.parameters, 8)] if offsets.parameters >= 0 else []
    known += [(offsets.workspace, 8)] if offsets.workspace >= 0 else []
    known += [(at, 8) for at in (offsets.shared, offsets.local, offsets.constant) if at >= 0]
    if not any(at <= offset and offset + nbytes <= at + length for at, length in known):
        raise UnknownMachineCode(f"reads c[0x0][{offset:#x}], which memsim does not support")


def literal(kernel: SassKernel, offset: int) -> int:
    """A word of bank 2, where the assembler keeps a kernel's literals."""
    data = kernel.cubin.data(f".nv.constant{CODE_BANK}.{kernel.name}")
    if offset < 0 or offset + 4 > len(data):
        raise UnknownMachineCode(f"reads c[0x2][{offset:#x}], which the cubin does not have")
    return int.from_bytes(data[offset : offset + 4], "little")


def address_symbol(kernel: SassKernel, offset: int) -> tuple[str, int]:
    """Of bank 4, which holds addresses of variables: the symbol at an offset, and what is added to it."""
    for one in kernel.cubin.relocations.get(".nv.constant4", ()):
        if one.offset <= offset < one.offset + 8:
            return one.symbol, one.added
    raise UnknownMachineCode(f"reads c[0x4][{offset:#x}], which the cubin does not have")


def functions_called(kernel: SassKernel) -> dict[str, int]:
    """Of bank 4: the device runtime's functions that code may call, and the addresses that stand for them.

    Raises:
        UnknownMachineCode: naming one that memsim does not have.
    """
    names = [one.symbol for one in kernel.cubin.relocations.get(".nv.constant4", ())]
    offsets = {one.name: one.section for one in kernel.cubin.symbols}
    called = [name for name in names if not offsets.get(name)]
    for name in called:
        if name not in HOST_CALLS:
            raise UnknownMachineCode(f"calls {name}, which memsim does not have")
    return {name: function_address(name) for name in called}


def addresses(kernel: SassKernel) -> dict[int, tuple[str, int]]:
    """Bank 4 by offset: the symbol, and what is added to it."""
    return {one.offset: (one.symbol, one.added) for one in kernel.cubin.relocations.get(".nv.constant4", ())}
