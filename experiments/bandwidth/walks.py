"""Blocks that read a buffer in pairs of loads, in PTX: what gpu-benches' gpu-cache and gpu-l2-cache run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import memsim
from experiments.bandwidth.kernels import BYTES, TYPE
from memsim.gpu.config import GPU
from memsim.sources.ptx import DeviceMemory, PtxLaunch, trace_launch

UNROLLED = 8  # pairs: nvcc 13.0 unrolls more, and has 15 loads under way by its registers
_REGISTERS = 32  # of a thread: what nvcc 13.0 takes for both kernels
_NEVER_AND_ZERO = {4: ("0f42F60000", "0f00000000"), 8: ("0d405EC00000000000", "0d0000000000000000")}


@dataclass(frozen=True)
class Walk:
    """What the blocks of a launch read.

    Attributes:
        type: of an element.
        threads: of a block, which read neighbours.
        blocks: of the launch; block ``b`` begins ``part * (b mod parts)`` elements into the buffer.
        parts, part: see there.
        apart: elements between the two loads of a pair.
        step: elements from pair to pair.
        pairs: of a lap, in whole turns of the unrolled loop if there are more than one turn has.
        laps: how often all is read.
    """

    type: str
    threads: int
    blocks: int
    parts: int
    part: int
    apart: int
    step: int
    pairs: int
    laps: int = 1

    @property
    def elements(self) -> int:
        """Of the buffer."""
        return self.part * (self.parts - 1) + self.step * (self.pairs - 1) + self.apart + self.threads

    @property
    def bytes_read(self) -> int:
        """By all loads."""
        return 2 * self.pairs * self.laps * self.threads * self.blocks * BYTES[self.type]


def gb_per_second(few: Walk, many: Walk, gpu: GPU, apart: bool) -> float:
    """Of what `many` reads beyond `few`, so without the start, what that brings into the caches, and the end.

    Args:
        apart: the first blocks begin at random phases, as in the middle of a launch of many waves; else together.
    """
    took = _seconds(many, gpu, apart) - _seconds(few, gpu, apart)
    return (many.bytes_read - few.bytes_read) / (1e9 * took)


def _seconds(walk: Walk, gpu: GPU, apart: bool) -> float:
    with TemporaryDirectory(prefix="memsim-") as folder:
        trace = traced(walk, gpu, Path(folder, "walk.h5"))
        begin = {"stochastic.start_alignment": apart}
        cycles = memsim.simulate(trace, gpu=gpu, trials=1, seed=1, settings=begin).cycles.mean
    return cycles / (gpu.sm.clock_mhz * 1e6)


def traced(walk: Walk, gpu: GPU, path: Path) -> memsim.Trace:
    """The trace of all blocks, at `path`."""
    memory = DeviceMemory()
    read = memory.add(np.zeros(walk.elements, np.dtype(f"f{BYTES[walk.type]}")), "read")
    written = memory.add(np.zeros(1, np.dtype(f"f{BYTES[walk.type]}")), "written")
    unrolled = min(UNROLLED, walk.pairs)
    numbers = [walk.parts, walk.part, walk.step * BYTES[walk.type], walk.pairs // unrolled, walk.laps]
    launch = PtxLaunch(
        _text(walk, unrolled), "read_parts", (walk.blocks, 1, 1), (walk.threads, 1, 1),
        [read, written, *numbers], registers=_REGISTERS,
    )  # fmt: skip
    return trace_launch(launch, memory, path, gpu, blocks="all")


def _text(walk: Walk, unrolled: int) -> str:
    """A sum of products of loaded elements, written if it is one that it never is."""
    size, of_type = BYTES[walk.type], TYPE[walk.type]
    never, zero = _NEVER_AND_ZERO[size]
    pairs = []
    for k in range(unrolled):
        pairs += [
            f"ld.global.{of_type} %a{k}, [%at];",
            f"ld.global.{of_type} %b{k}, [%at+{walk.apart * size}];",
            f"fma.rn.{of_type} %sum, %a{k}, %b{k}, %sum;",
            "add.s64 %at, %at, %step;",
        ]
    body = "\n    ".join(pairs)
    return f"""\
.version 7.0
.target sm_70
.address_size 64
.visible .entry read_parts(.param .u64 read, .param .u64 written, .param .u32 parts, .param .u32 part,
    .param .u64 step, .param .u32 turns, .param .u32 laps)
{{
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .b64 %first, %at, %w, %step, %offset;
    .reg .{of_type} %a<{unrolled}>, %b<{unrolled}>, %sum;
    ld.param.u64 %first, [read];
    ld.param.u64 %w, [written];
    ld.param.u32 %r1, [parts];
    ld.param.u32 %r2, [part];
    ld.param.u64 %step, [step];
    ld.param.u32 %r5, [laps];
    mov.u32 %r3, %ctaid.x;
    rem.u32 %r3, %r3, %r1;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r3, %r3, %r2, %r4;
    mul.wide.s32 %offset, %r3, {size};
    add.s64 %first, %first, %offset;
    mov.{of_type} %sum, {zero};
LAP:
    mov.u64 %at, %first;
    ld.param.u32 %r6, [turns];
TURN:
    {body}
    add.s32 %r6, %r6, -1;
    setp.ne.s32 %p0, %r6, 0;
    @%p0 bra TURN;
    add.s32 %r5, %r5, -1;
    setp.ne.s32 %p1, %r5, 0;
    @%p1 bra LAP;
    setp.neu.{of_type} %p2, %sum, {never};
    @%p2 bra END;
    st.global.{of_type} [%w], %sum;
END:
    ret;
}}
"""
