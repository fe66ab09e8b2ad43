"""Loops over pairs of loads as machine code, timed on one SM: what gpu-benches' gpu-strides and gpu-cache run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import memsim
from memsim.gpu.config import GPU
from memsim.sources.ptx import DeviceMemory, PtxLaunch, trace_launch
from memsim.sources.ptx.launch import with_code
from memsim.sources.sass.choice import kernel_for
from memsim.support.errors import InputError

BYTES = {"float": 4, "double": 8}
_LETTER = {"float": "f", "double": "d"}
TYPE = {"float": "f32", "double": "f64"}
WARP = 32
LOADS = 64, 320  # of a thread, about: the difference is without the first misses, the start and the end
QUIET = {f"stochastic.{name}": False for name in ("start_alignment", "warp_weights", "arbitration")}


@dataclass(frozen=True)
class Pattern:
    """What the threads of a block read, over and over.

    Attributes:
        type: of an element.
        pairs: elements from a thread's first one on that an iteration loads and multiplies.
        block: threads (x, y).
        first, column, row: a thread's first element is ``first + column * (x mod 64) + row * (y mod 32)``; x is not
            taken modulo 64 where ``wraps`` is off.
        unrolled: iterations of a turn of the loop.
        elements: that lie between the first and the last read, or more.
    """

    type: str
    pairs: Sequence[tuple[int, int]]
    block: tuple[int, int]
    first: int = 0
    column: int = 1
    row: int = 0
    wraps: bool = True
    unrolled: int = 1

    @property
    def elements(self) -> int:
        columns = min(self.block[0], 64) if self.wraps else self.block[0]
        most = self.first + self.column * (columns - 1) + self.row * (self.block[1] - 1)
        return most + max(max(pair) for pair in self.pairs) + 1


def cycles_a_load(pattern: Pattern, gpu: GPU) -> float:
    """SM cycles from one load instruction of a warp to the next, once all it reads is in L1."""
    of_a_turn = 2 * len(pattern.pairs) * pattern.unrolled
    few, many = (ceil(loads / of_a_turn) for loads in LOADS)
    warps = pattern.block[0] * pattern.block[1] // WARP
    took = _cycles(pattern, many, gpu) - _cycles(pattern, few, gpu)
    return took / ((many - few) * of_a_turn * warps)


def _cycles(pattern: Pattern, turns: int, gpu: GPU) -> float:
    memory = DeviceMemory()
    read = memory.add(np.zeros(pattern.elements, np.dtype(f"f{BYTES[pattern.type]}")), "read")
    written = memory.add(np.zeros(1, np.dtype(f"f{BYTES[pattern.type]}")), "written")
    numbers = [pattern.first, pattern.column, pattern.row, 63 if pattern.wraps else 1023, turns, 0]
    launch = PtxLaunch(_text(pattern), "read_pairs", (1, 1, 1), (*pattern.block, 1), [read, written, *numbers])
    with TemporaryDirectory(prefix="memsim-") as folder:
        trace = trace_launch(assembled(launch, gpu), memory, Path(folder, "loads.h5"), gpu, blocks="all")
        return memsim.simulate(trace, gpu=gpu, trials=1, seed=1, settings=QUIET).cycles.mean


def assembled(launch: PtxLaunch, gpu: GPU) -> PtxLaunch:
    """The launch as machine code: the order of loads and the registers that they wait for are ptxas's.

    Raises:
        InputError: ptxas or nvdisasm is missing, or knows no code for the GPU.
    """
    found = kernel_for(launch.ptx, launch.kernel, gpu)
    if isinstance(found, str):
        raise InputError("bandwidth", launch.kernel, f"must run as machine code: {found}")
    return with_code(replace(launch, registers=found.cubin.registers(launch.kernel)), found)


def _text(pattern: Pattern) -> str:
    """A sum of products of loaded elements, written if it is one that it never is; `zero` hides that nothing moves."""
    letter, of_type, size = _LETTER[pattern.type], TYPE[pattern.type], BYTES[pattern.type]
    loop = []
    for _ in range(pattern.unrolled):
        loop.append("add.s64 %at, %at, %zero;")
        for a, b in pattern.pairs:
            loop += [
                f"ld.global.{of_type} %a, [%at+{a * size}];",
                f"ld.global.{of_type} %b, [%at+{b * size}];",
                f"fma.rn.{of_type} %sum, %a, %b, %sum;",
            ]
    never, zero = ("0f42F60000", "0f00000000") if letter == "f" else ("0d405EC00000000000", "0d0000000000000000")
    body = "\n    ".join(loop)
    return f"""\
.version 7.8
.target sm_70
.address_size 64
.visible .entry read_pairs(.param .u64 read, .param .u64 written, .param .u32 first, .param .u32 column,
    .param .u32 row, .param .u32 wraps, .param .u32 turns, .param .u64 zero)
{{
    .reg .pred %p<2>;
    .reg .b32 %r<12>;
    .reg .b64 %at, %zero, %w, %offset;
    .reg .{of_type} %a, %b, %sum;
    ld.param.u64 %at, [read];
    ld.param.u64 %w, [written];
    ld.param.u32 %r1, [first];
    ld.param.u32 %r2, [column];
    ld.param.u32 %r3, [row];
    ld.param.u32 %r4, [wraps];
    ld.param.u32 %r5, [turns];
    ld.param.u64 %zero, [zero];
    mov.u32 %r6, %tid.x;
    and.b32 %r6, %r6, %r4;
    mad.lo.s32 %r1, %r6, %r2, %r1;
    mov.u32 %r7, %tid.y;
    and.b32 %r7, %r7, 31;
    mad.lo.s32 %r1, %r7, %r3, %r1;
    mul.wide.s32 %offset, %r1, {size};
    add.s64 %at, %at, %offset;
    mov.{of_type} %sum, {zero};
LOOP:
    .pragma "nounroll";
    {body}
    add.s32 %r5, %r5, -1;
    setp.ne.s32 %p0, %r5, 0;
    @%p0 bra LOOP;
    setp.neu.{of_type} %p1, %sum, {never};
    @%p1 bra END;
    st.global.{of_type} [%w], %sum;
END:
    ret;
}}
"""
