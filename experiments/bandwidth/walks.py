"""Blocks that read a buffer in pairs of loads, as machine code: what gpu-benches' gpu-cache and gpu-l2-cache run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import memsim
from experiments.bandwidth.kernels import BYTES, TYPE, assembled
from memsim.gpu.config import GPU
from memsim.sources.ptx import DeviceMemory, PtxLaunch, trace_launch

UNROLLED = 32  # pairs of a loop's turn, as in the programs' source
_LOOPED = 64  # pairs: fewer stand one after the other, without a loop
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
        pairs: of a lap.
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
    arguments = [read, written, walk.parts, walk.part, walk.step, walk.pairs // UNROLLED, walk.laps, 0]
    launch = PtxLaunch(_text(walk), "read_parts", (walk.blocks, 1, 1), (walk.threads, 1, 1), arguments)
    return trace_launch(assembled(launch, gpu), memory, path, gpu, blocks="all")


def _text(walk: Walk) -> str:
    """A sum of products of loaded elements, written if it is one that it never is; `zero` hides that laps are equal."""
    of_type = TYPE[walk.type]
    never, zero = _NEVER_AND_ZERO[BYTES[walk.type]]
    turns = walk.pairs >= _LOOPED
    looped = (
        f"""\
    ld.param.u32 %r6, [turns];
TURN:
    .pragma "nounroll";
    {_pairs(walk, UNROLLED)}
    add.s32 %r6, %r6, -1;
    setp.ne.s32 %p0, %r6, 0;
    @%p0 bra TURN;"""
        if turns
        else ""
    )
    return f"""\
.version 7.8
.target sm_70
.address_size 64
.visible .entry read_parts(.param .u64 read, .param .u64 written, .param .u32 parts, .param .u32 part,
    .param .u32 step, .param .u32 turns, .param .u32 laps, .param .u64 zero)
{{
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .b64 %first, %at, %w, %zero, %offset;
    .reg .{of_type} %a, %b, %sum;
    ld.param.u64 %first, [read];
    ld.param.u64 %w, [written];
    ld.param.u32 %r1, [parts];
    ld.param.u32 %r2, [part];
    ld.param.u32 %r4, [step];
    ld.param.u32 %r5, [laps];
    ld.param.u64 %zero, [zero];
    mov.u32 %r3, %ctaid.x;
    rem.u32 %r3, %r3, %r1;
    mov.u32 %r7, %tid.x;
    mad.lo.s32 %r3, %r3, %r2, %r7;
    mul.wide.s32 %offset, %r3, {BYTES[walk.type]};
    add.s64 %first, %first, %offset;
    mov.{of_type} %sum, {zero};
LAP:
    .pragma "nounroll";
    add.s64 %first, %first, %zero;
    mov.u64 %at, %first;
{looped}
    {_pairs(walk, walk.pairs % UNROLLED if turns else walk.pairs)}
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


def _pairs(walk: Walk, count: int) -> str:
    """So many pairs of loads: one part's step is in the code, that of several is a value of the launch."""
    size, of_type = BYTES[walk.type], TYPE[walk.type]
    known = walk.parts == 1
    lines = []
    for k in range(count):
        at = k * walk.step * size if known else 0
        lines += [
            f"ld.global.nc.{of_type} %a, [%at+{at}];",
            f"ld.global.nc.{of_type} %b, [%at+{at + walk.apart * size}];",
            f"fma.rn.{of_type} %sum, %a, %b, %sum;",
        ]
        if not known:
            lines.append(f"mad.wide.s32 %at, %r4, {size}, %at;")
    if known:
        lines.append(f"add.s64 %at, %at, {count * walk.step * size};")
    return "\n    ".join(lines)
