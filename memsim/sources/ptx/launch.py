"""A launch: PTX text, a kernel's name, extents and arguments, checked and laid out as the kernel's parameters."""

from __future__ import annotations

import ctypes
import hashlib
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from memsim.sources.ptx.module import Function, Module, PtxVariable
from memsim.sources.ptx.origin import Origin
from memsim.sources.ptx.text import parse
from memsim.sources.sass.declarations import carried_cubin
from memsim.sources.sass.kernel import SassKernel
from memsim.support.errors import InputError

MOST_THREADS = 1024  # of a block
MOST_BLOCKS = 2**31 - 1
MOST_SHARED = 1 << 24  # bytes of a block's shared memory
STACK_BYTES = 1024  # of a thread, unless a program sets another limit (cudaLimitStackSize)


@dataclass(frozen=True)
class PtxLaunch:
    """How a kernel is launched.

    Attributes:
        ptx: text of its module.
        kernel: its name there, or a part of it that only one kernel has.
        grid, block: extents (x, y, z).
        arguments: one value a parameter (addresses, numbers, or the parameter's bytes), or the bytes of all of them.
        shared_bytes: of dynamic shared memory.
        cluster: blocks of a cluster (x, y, z).
        source: what errors call the PTX.
        registers: of a thread, where a compiler reported them.
        sass: the kernel as machine code, which runs in the place of its PTX; None: PTX runs.
        parameters: what the trace was made from, shown with it.
        name: what the trace calls the kernel; empty: its name in PTX.
        origin: of the PTX, whose lines the trace quotes.
        cooperative: all blocks run at a time, as they may wait for each other.
        workspace: address of what cooperative groups keep of the grid: u32 bytes, u32 barrier.
        stack_bytes: of a thread, for kernels whose stack the compiler cannot bound.
    """

    ptx: str
    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arguments: Sequence[Any] | bytes = ()
    shared_bytes: int = 0
    cluster: tuple[int, int, int] = (1, 1, 1)
    source: str = "ptx"
    registers: int | None = None
    sass: SassKernel | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    name: str = ""
    origin: Origin = Origin()
    cooperative: bool = False
    workspace: int = 0
    stack_bytes: int = STACK_BYTES

    @property
    def team(self) -> int:
        """Blocks that run together: of a cluster, or of the whole grid."""
        return self.n_blocks if self.cooperative else prod(self.cluster)

    @property
    def module(self) -> Module:
        return parsed(self.ptx, self.source)

    def sources(self, name: str) -> Iterator[Path]:
        """Where a file may lie that the PTX names."""
        return self.origin.files(name, self.module.stamps.get(name))

    @property
    def function(self) -> Function:
        """The kernel.

        Raises:
            InputError: no kernel, or several, have the name.
        """
        kernels = [one for one in self.module.functions.values() if one.entry]
        named = [one for one in kernels if one.name == self.kernel] or [
            one for one in kernels if self.kernel in one.name
        ]
        if len(named) != 1:
            known = ", ".join(one.name for one in kernels) or "none"
            problem = "is not a kernel of it" if not named else "names several kernels"
            raise InputError(self.source, self.kernel, f"{problem}; kernels are: {known}")
        return named[0]

    @property
    def key(self) -> str:
        """Of the module: launches of one text share its variables."""
        return hashlib.sha256(self.ptx.encode()).hexdigest()

    @property
    def n_blocks(self) -> int:
        return prod(self.grid)

    @property
    def threads(self) -> int:
        return prod(self.block)

    def check(self) -> None:
        """Refuse extents that no GPU has.

        Raises:
            InputError: naming the extent.
        """
        for name in ("grid", "block", "cluster"):
            extents = getattr(self, name)
            if len(extents) != 3 or not all(isinstance(one, int | np.integer) and one >= 1 for one in extents):
                raise InputError(self.source, name, f"is {extents}; give three whole numbers of 1 or more")
        if self.threads > MOST_THREADS:
            raise InputError(self.source, "block", f"has {self.threads} threads; at most {MOST_THREADS}")
        if self.n_blocks > MOST_BLOCKS:
            raise InputError(self.source, "grid", f"has {self.n_blocks} blocks; at most {MOST_BLOCKS}")
        if not 0 <= self.shared_bytes <= MOST_SHARED:
            raise InputError(self.source, "shared_bytes", f"is {self.shared_bytes}; give 0 to {MOST_SHARED}")
        if any(extent % of_cluster for extent, of_cluster in zip(self.grid, self.cluster, strict=True)):
            raise InputError(
                self.source, "cluster", f"is {self.cluster}; the grid {self.grid} must be a multiple of it"
            )


def with_code(launch: PtxLaunch, sass: SassKernel | str) -> PtxLaunch:
    """A launch that runs as machine code, or as PTX for a reason; its trace says which.

    Raises:
        InputError: there is no PTX, and the machine code cannot run.
    """
    if prod(launch.cluster) > 1:
        sass = "clusters of blocks do not run as machine code"
    if isinstance(sass, str):
        if carried_cubin(launch.ptx) is not None:
            problem = f"cannot run as machine code ({sass}), and there is no PTX; give a program that has its PTX"
            raise InputError(launch.source, launch.kernel, problem)
        return replace(launch, parameters=launch.parameters | {"code": f"PTX, as {sass}"})
    code = f"machine code for sm_{sass.cubin.architecture}"
    return replace(launch, sass=sass, parameters=launch.parameters | {"code": code})


@lru_cache(maxsize=64)
def parsed(text: str, where: str) -> Module:
    """A module; texts that are launched again and again are parsed once."""
    return parse(text, where)


def parameter_offsets(parameters: Sequence[PtxVariable]) -> list[int]:
    """Where each parameter begins in the buffer of all (each aligned to its own alignment)."""
    found, at = [], 0
    for one in parameters:
        at = -(-at // one.align) * one.align
        found.append(at)
        at += one.bytes
    return found


def parameter_bytes(launch: PtxLaunch, function: Function) -> bytes:
    """The buffer of a kernel's parameters.

    Raises:
        InputError: too few or too many arguments, or one that does not fit its parameter.
    """
    starts = parameter_offsets(function.parameters)
    size = starts[-1] + function.parameters[-1].bytes if starts else 0
    if isinstance(launch.arguments, bytes | bytearray | memoryview):
        given = bytes(launch.arguments)
        if len(given) > size:
            raise InputError(launch.source, "arguments", f"are {len(given)} bytes; {launch.kernel} takes {size}")
        return given.ljust(size, b"\0")
    if len(launch.arguments) != len(function.parameters):
        counts = f"are {len(launch.arguments)}; {launch.kernel} takes {len(function.parameters)}"
        raise InputError(launch.source, "arguments", counts)
    buffer = bytearray(size)
    for number, (value, one, at) in enumerate(zip(launch.arguments, function.parameters, starts, strict=True)):
        data = _argument(launch, number, value, one)
        buffer[at : at + one.bytes] = data.ljust(one.bytes, b"\0")
    return bytes(buffer)


def _argument(launch: PtxLaunch, number: int, value: Any, parameter: PtxVariable) -> bytes:
    """The bytes of one argument in its parameter."""
    if isinstance(value, bytes | bytearray | memoryview):
        data = bytes(value)
    elif isinstance(value, np.generic | np.ndarray):
        data = value.tobytes()
    elif isinstance(value, ctypes._SimpleCData | ctypes.Structure):
        data = bytes(value)
    elif isinstance(value, int) and parameter.kind in ("f32", "f64"):
        data = struct.pack("<f" if parameter.kind == "f32" else "<d", value)
    elif isinstance(value, int):
        data = (int(value) & ((1 << 8 * parameter.bytes) - 1)).to_bytes(parameter.bytes, "little")
    elif isinstance(value, float) and parameter.bytes in (2, 4, 8):
        data = struct.pack({2: "<e", 4: "<f", 8: "<d"}[parameter.bytes], value)
    else:
        raise InputError(launch.source, f"argument {number}", f"is {type(value).__name__}; give a number or bytes")
    if len(data) > parameter.bytes:
        raise InputError(launch.source, f"argument {number}", f"has {len(data)} bytes; it takes {parameter.bytes}")
    return data
