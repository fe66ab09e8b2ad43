"""Writes traces as NVBit's mem_trace prints them: one log, with a line for every launch and every access.

The text has addresses only: no instructions between accesses, no barriers and no dependences. Accesses of no lane are
left out, as a tool that counts lanes never sees them. Local accesses leave as global ones at the same addresses, and a
block sample as a launch of its blocks, as for Accel-Sim.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from memsim.sources.imported.accelsim.export_access import opcode_of
from memsim.sources.imported.accelsim.export_code import own_opcode
from memsim.support.errors import InputError
from memsim.support.files import check_replaceable, replacing, writing
from memsim.trace.reader import Trace
from memsim.trace.schema import EXPLICIT, NO_OP, Chunk, Instructions

Progress = Callable[[int, int], None]  # warps written, warps in all

_WARP = 32
_CONTEXT = "MEMTRACE: CTX 0x0000000000000000 -"


def export_nvbit(traces: Sequence[Trace], path: str | Path, *, progress: Progress | None = None) -> None:
    """Write traces as one log of mem_trace.

    Args:
        traces: one per kernel, in the order of their launches.
        path: the log.
        progress: called with the warps of all traces that are written, and all.

    Raises:
        InputError: a trace that the format cannot hold, or a file that cannot be written.
    """
    path = Path(path)
    for trace in traces:
        if trace.launch.warp_size != _WARP:
            raise InputError(trace.path, "warp_size", f"is {trace.launch.warp_size}; mem_trace's warps have 32 lanes")
    check_replaceable(path)
    done, total = 0, sum(trace.n_warps for trace in traces)
    with writing(path), replacing(path) as temporary, open(temporary, "w") as file:
        for number, trace in enumerate(traces):
            file.write(_launch(trace, number))
            for warps, text in _warps(trace, number):
                file.write(text)
                if progress:
                    progress(done + warps, total)
            done += trace.n_warps


def _whole(trace: Trace) -> bool:
    return bool(np.array_equal(trace.block_ids, np.arange(trace.launch.n_blocks)))


def _launch(trace: Trace, number: int) -> str:
    launch = trace.launch
    grid, block = (
        ",".join(map(str, size)) for size in (launch.grid if _whole(trace) else (trace.n_blocks, 1, 1), launch.block)
    )
    return (
        f"{_CONTEXT} LAUNCH - Kernel pc 0x0000000000000000 - Kernel name {trace.kernel} - grid launch id {number} - "
        f"grid size {grid} - block size {block} - nregs {launch.registers} - shmem {launch.shared_bytes} - "
        "cuda stream id 0\n"
    )


def _warps(trace: Trace, number: int) -> Iterator[tuple[int, str]]:
    """The accesses of each warp, with the number of warps so far."""
    code = own_opcode if trace.issue.instructions is Instructions.machine_code else opcode_of
    opcodes, whole, per_block = [code(op) for op in trace.ops], _whole(trace), trace.launch.warps_per_block
    for chunk in trace.chunks():
        for k, warp in enumerate(chunk.warps):
            block, place = divmod(warp, per_block)
            at = np.unravel_index(trace.block_ids[block], trace.launch.grid, "F") if whole else (block, 0, 0)
            begin = f"{_CONTEXT} grid_launch_id {number} - CTA {','.join(map(str, at))} - warp {place} - "
            lines = (f"{begin}{opcodes[op]} - {addresses} \n" for op, addresses in _accesses(chunk, k))
            yield warp + 1, "".join(lines)


def _accesses(chunk: Chunk, warp: int) -> Iterator[tuple[int, str]]:
    """Static instruction and 32 addresses of each access of a chunk's warp; 0x0 for an inactive lane."""
    listed = int(chunk.first_address[warp])
    for row in range(int(chunk.first_instruction[warp]), int(chunk.first_instruction[warp + 1])):
        op, mask, stride = int(chunk.op[row]), int(chunk.mask[row]), int(chunk.stride[row])
        if op == NO_OP:
            continue
        lanes = [lane for lane in range(_WARP) if mask >> lane & 1]
        offsets = [stride * (lane - lanes[0]) for lane in lanes]
        if stride == EXPLICIT:
            offsets = chunk.addresses[listed : listed + len(lanes)].tolist()
            listed += len(lanes)
        at = dict(zip(lanes, offsets, strict=True))
        base = int(chunk.base[row])
        yield op, " ".join(f"0x{base + at[lane]:016x}" if lane in at else f"0x{0:016x}" for lane in range(_WARP))
