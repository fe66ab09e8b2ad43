"""Writes traces as Accel-Sim reads them: ``kernelslist.g`` and a processed trace (tracer version 3) per kernel.

Static instructions become SASS instructions of the same kind, space and width; compute runs become integer additions.
A sequence begins with a use of a register that the last load of the sequence before wrote, or, if that has no load,
after a ``DEPBAR``. An import of an export therefore has the same accesses, compute runs and sequences, except for what
follows. Names, source lines, and the dependences inside a compute run are lost.

A trace of machine code leaves with its own opcodes of accesses, and with one opcode for each class of other
instructions (export_code). A wait for a scoreboard becomes a use of the registers that its loads write.

- An access of no lane leaves as an integer addition of no lane: the trace does not state which access it is.
- Local accesses leave as global ones at the same addresses: Accel-Sim lays local memory out itself.
- A block sample leaves as a launch of just its blocks, because Accel-Sim runs every block of a grid.
"""

from __future__ import annotations

import lzma
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO

import numpy as np

from memsim.sources.imported.accelsim.export_access import address_text, opcode_of
from memsim.sources.imported.accelsim.export_code import CodeWriter, binary_version
from memsim.support.errors import InputError
from memsim.support.files import check_replaceable, replacing, writing
from memsim.trace.info import count
from memsim.trace.reader import Trace
from memsim.trace.schema import EXPLICIT, NO_OP, Chunk, Flag, Instructions, OpKind, Space, StaticInstruction

Progress = Callable[[int, int], None]  # warps written, warps in all

_SHARED_BASE, _LOCAL_BASE = 0x7F00_0000_0000, 0x7F00_0200_0000  # as of a Volta; no array of ours lies there
_BINARY_VERSION = 70  # the opcodes below are Volta's
_LIST = "kernelslist.g"
_WARP = 32
_MOST_COMPUTE = 10**9  # lines of non-memory instructions in one file

# Registers: nobody loads into those of addresses, values and counts, so their use waits for nothing.
_ADDRESS, _VALUE, _FIRST, _ZERO = 2, 3, 8, 255
_COUNT = "0000 {mask:08x} 1 R4 IADD3 3 R4 R4 R255 0 \n"
_BARRIER = "0010 {mask:08x} 0 BAR.SYNC 0 0 \n"
_WAIT = "0020 {mask:08x} 0 DEPBAR.LE 0 0 \n"
_EXIT = "0030 {mask:08x} 0 EXIT 0 0 \n"
FIRST_PC, PC_STEP = 0x100, 0x10  # of the static instructions


def export_accelsim(
    traces: Sequence[Trace], folder: str | Path, *, pack: bool = False, progress: Progress | None = None
) -> list[Path]:
    """Write traces to a folder as Accel-Sim's ``-trace`` option takes it.

    Args:
        traces: one per kernel, in the order of their launches.
        folder: made if it is not there.
        pack: write ``.traceg.xz``.
        progress: called with the warps of all traces that are written, and all.

    Returns:
        The files written, ``kernelslist.g`` last.

    Raises:
        InputError: a trace that the format cannot hold, or a folder that cannot be written.
    """
    folder = Path(folder)
    for trace in traces:
        _check(trace)
    names = [f"kernel-{number}.traceg{'.xz' if pack else ''}" for number in range(1, len(traces) + 1)]
    for name in (*names, _LIST):
        check_replaceable(folder / name)
    with writing(folder):
        folder.mkdir(exist_ok=True)
    done, total = 0, sum(trace.n_warps for trace in traces)
    commands, files = dict[str, None](), []
    for number, (name, trace) in enumerate(zip(names, traces, strict=True), 1):
        with writing(folder / name), replacing(folder / name) as temporary, _opened(temporary, pack) as file:
            file.write(_header(trace, number))
            for warps, text in _body(trace):
                file.write(text)
                if progress:
                    progress(done + warps, total)
        done += trace.n_warps
        arrays = [array for array in trace.arrays if array.space in (Space.global_, Space.texture) and array.bytes]
        commands |= {f"MemcpyHtoD,0x{array.base:016x},{array.bytes}": None for array in arrays}
        commands[name] = None
        files.append(folder / name)
    listed = folder / _LIST
    with writing(listed), replacing(listed) as temporary:
        temporary.write_text("".join(f"{command}\n" for command in commands))
    return [*files, listed]


def _opened(path: Path, pack: bool) -> IO[str]:
    return lzma.open(path, "wt", preset=1) if pack else open(path, "w")


def _check(trace: Trace) -> None:
    if trace.launch.warp_size != _WARP:
        raise InputError(trace.path, "warp_size", f"is {trace.launch.warp_size}; Accel-Sim's traces have warps of 32")
    for op in trace.ops:
        if op.space is Space.constant and op.kind is not OpKind.load:
            raise InputError(trace.path, "ops/kind", f"is {op.kind.name} of constant memory; it can only be loaded")
    non_memory = count(trace.chunks(), len(trace.ops)).compute_instructions
    if non_memory > _MOST_COMPUTE:
        problem = f"holds {non_memory} non-memory instructions of one line each; at most {_MOST_COMPUTE} are written"
        raise InputError(trace.path, "instructions/compute_run", problem)


def _header(trace: Trace, number: int) -> str:
    launch = trace.launch
    grid = launch.grid if _has_whole_grid(trace) else (trace.n_blocks, 1, 1)
    lines = {
        "kernel name": trace.kernel,
        "kernel id": number,
        "grid dim": "({},{},{})".format(*grid),
        "block dim": "({},{},{})".format(*launch.block),
        "shmem": launch.shared_bytes,
        "nregs": launch.registers,
        "binary version": binary_version(trace) if _of_machine_code(trace) else _BINARY_VERSION,
        "cuda stream id": 0,
        "shmem base_addr": f"0x{_SHARED_BASE:016x}",
        "local mem base_addr": f"0x{_LOCAL_BASE:016x}",
        "nvbit version": "none",
        "accelsim tracer version": 3,
    }
    columns = "PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses]"
    return "".join(f"-{key} = {value}\n" for key, value in lines.items()) + f"\n#traces format = {columns}\n"


def _of_machine_code(trace: Trace) -> bool:
    return trace.issue.instructions is Instructions.machine_code


def _has_whole_grid(trace: Trace) -> bool:
    """Whether all blocks of the grid are there, in order."""
    return bool(np.array_equal(trace.block_ids, np.arange(trace.launch.n_blocks)))


def _body(trace: Trace) -> Iterator[tuple[int, str]]:
    """The blocks' text, a warp at a time, with the number of warps so far."""
    whole_grid, per_block = _has_whole_grid(trace), trace.launch.warps_per_block
    writer = CodeWriter(trace) if _of_machine_code(trace) else _WarpWriter(trace)
    for chunk in trace.chunks():
        for k, warp in enumerate(chunk.warps):
            block, number = divmod(warp, per_block)
            lines = writer.lines(chunk, k, number)
            text = f"\nwarp = {number}\ninsts = {len(lines)}\n{''.join(lines)}"
            if number == 0:
                x, y, z = (
                    np.unravel_index(trace.block_ids[block], trace.launch.grid, "F") if whole_grid else (block, 0, 0)
                )
                text = f"\n#BEGIN_TB\n\nthread block = {x},{y},{z}\n{text}"
            if number == per_block - 1:
                text += "\n#END_TB\n"
            yield warp + 1, text


class _WarpWriter:
    """Makes the lines of a trace's warps."""

    def __init__(self, trace: Trace) -> None:
        self._threads = trace.launch.threads_per_block
        self._ops = trace.ops
        self._codes = [opcode_of(op) for op in trace.ops]
        self._pcs = [f"{FIRST_PC + PC_STEP * number:04x}" for number in range(len(trace.ops))]

    def lines(self, chunk: Chunk, warp: int, number: int) -> list[str]:
        """Lines of the chunk's warp `warp`, which is the `number`-th of its block."""
        all_lanes = (1 << min(_WARP, self._threads - _WARP * number)) - 1
        rows = slice(chunk.first_instruction[warp], chunk.first_instruction[warp + 1])
        columns = (chunk.op, chunk.flags, chunk.compute_run, chunk.mask, chunk.base, chunk.stride)
        address = int(chunk.first_address[warp])
        out: list[str] = []
        registers = _Registers()
        for op, flags, compute_run, mask, base, stride in zip(
            *(column[rows].tolist() for column in columns), strict=True
        ):
            out += [_COUNT.format(mask=all_lanes)] * compute_run
            if op == NO_OP:
                if flags & Flag.barrier:
                    out.append(_BARRIER.format(mask=mask or all_lanes))
                    registers = _Registers()
                elif flags & Flag.masked:
                    out.append(_COUNT.format(mask=0))
                continue
            lanes = mask.bit_count()
            offsets = b""
            if stride == EXPLICIT:
                offsets = chunk.addresses[address : address + lanes].tobytes()
                address += lanes
            static = self._ops[op]
            written, read, wait = registers.use(static, flags)
            if wait:
                out.append(_WAIT.format(mask=all_lanes))
            where = address_text(mask, base, stride, offsets)
            out.append(f"{self._pcs[op]} {mask:08x} {written}{self._codes[op]} {read} {static.width} {where} \n")
        return [*out, _EXIT.format(mask=all_lanes)]


class _Registers:
    """Chooses registers so that exactly the uses that wait in the trace depend on a load."""

    def __init__(self) -> None:
        self._next, self._loaded, self._begun = _FIRST, 0, False

    def use(self, op: StaticInstruction, flags: int) -> tuple[str, str, bool]:
        """Of an access: text of what it writes and reads, and whether a wait must come before it."""
        address, value, wait = _ADDRESS, _VALUE, False
        waits = flags & Flag.sequence or (flags & Flag.data and op.kind is OpKind.load)
        if waits and self._begun:
            wait = not self._loaded
            address = self._loaded or address
        elif flags & Flag.data and not waits:
            wait = not self._loaded
            value = self._loaded or value
        if waits or wait:
            self._next, self._loaded = _FIRST, 0
        self._begun = True
        written = "0 "
        if op.kind in (OpKind.load, OpKind.atomic):
            size = max(1, op.width // 4)
            register = self._next
            if register + size > _ZERO:  # none is left: a load goes nowhere, an atomic's register must be real
                wait |= op.kind is OpKind.atomic
                register = _FIRST if wait else _ZERO
            if register != _ZERO:
                self._next, self._loaded = register + size, register
            written = f"1 R{register} "
        return written, f"1 R{address}" if op.kind is OpKind.load else f"2 R{address} R{value}", wait
