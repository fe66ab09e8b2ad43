"""Imports what CUTracer wrote of one launch: its records, warp by warp, as lines of an Accel-Sim trace.

With ``opcode_only`` records every instruction is there: compute runs and waits follow from the registers in its text.
With accesses alone, nothing shows what depends on what, and every access waits for those before it in its warp.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from memsim.sources.imported.accelsim.convert import convert_text
from memsim.sources.imported.accelsim.header import MOST_THREADS
from memsim.sources.imported.cutracer.disassembled import registers_of
from memsim.sources.imported.cutracer.records import Metadata, Record, read_line
from memsim.sources.imported.sass import Does, decode
from memsim.sources.imported.steps import Step
from memsim.sources.imported.text import Progress, line_blocks, shown
from memsim.sources.outputs import trace_paths
from memsim.support.errors import InputError
from memsim.trace.reader import Trace
from memsim.trace.schema import Instructions

_ACCESS, _VALUES, _ISSUED = ("mem_addr_trace", "mem_trace"), "mem_value_trace", "opcode_only"
_PASSED_OVER = ("reg_trace",)


def import_cutracer(source: str | Path, out: str | Path | None = None, progress: Progress | None = None) -> list[Trace]:
    """Convert one launch's trace of CUTracer, ``.ndjson`` or ``.ndjson.zst``, to a trace file.

    Args:
        source: the file; its warps' lines are held in memory.
        out: a folder, or a file that ends with ``.h5``; None: the current folder.
        progress: called with the bytes of the file that are read, and all.

    Raises:
        InputError: anything in the file that is not as it must be, with its line; no access at all; a place that
            cannot be written.
        OSError: the system does not let the file be read.
    """
    source = Path(source)
    lines = chain.from_iterable(bytes(block).splitlines() for block in line_blocks(source, progress))
    first = next(lines, b"")
    metadata = read_line(Metadata, source, 1, first)
    warps = _Warps(source, metadata)
    for number, line in enumerate(lines, 2):
        if line.strip():
            warps.add(number, read_line(Record, source, number, line))
    name = source.name.removesuffix(".zst").removesuffix(".ndjson")
    (path,) = trace_paths(out, [name])
    known = Instructions.compiled if warps.has_all_instructions else Instructions.none
    return [convert_text(source, warps.text(), path, instructions=known)]


class _Warps:
    """What all warps did so far.

    Attributes:
        has_all_instructions: whether instructions that access no memory are among them.
    """

    def __init__(self, path: Path, metadata: Metadata) -> None:
        self._path, self._metadata = path, metadata
        x, y, z = metadata.block
        if not 1 <= x * y * z <= MOST_THREADS:
            problem = f"is {metadata.block}; a block has 1 to {MOST_THREADS} threads"
            raise InputError(path, "line 1: block", problem)
        self._per_block = -(-x * y * z // 32)
        self._steps: dict[tuple[int, int, int], list[list[Step]]] = {}
        self._at: dict[tuple[int, int, int, int], tuple[str, bool]] = {}  # where each warp is: PC, whether it accessed
        self._accesses = ""
        self.has_all_instructions = False

    def add(self, number: int, record: Record) -> None:
        """Take a record of the file's line `number`."""
        if record.type in _PASSED_OVER:
            return
        self._within(number, record)
        if record.type != _ISSUED:
            self._one_sort_of_access(number, record)
        self.has_all_instructions |= record.type == _ISSUED
        warp = record.warp % self._per_block
        blocks = self._steps.setdefault(record.cta, [[] for _ in range(self._per_block)])
        pc, accessed = self._at.get((*record.cta, warp), ("", False))
        issues = record.type == _ISSUED
        if issues and pc == record.pc and accessed:  # the record of an access that is there already
            self._at[(*record.cta, warp)] = ("", False)
            return
        if not issues and pc == record.pc and not accessed:
            blocks[warp].pop()
        blocks[warp].append(self._step(number, record))
        self._at[(*record.cta, warp)] = (record.pc, not issues)

    def _within(self, number: int, record: Record) -> None:
        if any(at >= extent for at, extent in zip(record.cta, self._metadata.grid, strict=True)):
            problem = f"is {record.cta}, outside of the grid {self._metadata.grid}; give the trace of one launch"
            raise InputError(self._path, f"line {number}: cta", problem)

    def _one_sort_of_access(self, number: int, record: Record) -> None:
        sort = _ACCESS[0] if record.type in _ACCESS else record.type
        if sort not in (_ACCESS[0], _VALUES) or record.addrs is None:
            problem = (
                f"is {shown(record.type.encode())!r}; memsim reads opcode_only and mem_addr_trace or mem_value_trace"
            )
            raise InputError(self._path, f"line {number}: type", problem)
        if self._accesses not in ("", sort):
            problem = (
                f"is {sort} after {self._accesses}; trace with only one of them, because every access would count twice"
            )
            raise InputError(self._path, f"line {number}: type", problem)
        self._accesses = sort

    def _step(self, number: int, record: Record) -> Step:
        static = self._metadata.instructions.get(str(record.opcode_id))
        sass = record.sass or (static.sass if static else "")
        try:
            opcode, written, read = registers_of(sass)
        except ValueError as error:
            problem = f"{shown(sass[:60].encode())!r} {error}; give a trace whose metadata has its instructions"
            raise InputError(self._path, f"line {number}: sass", problem) from None
        addresses = record.addrs or ()
        mask = sum(1 << lane for lane, address in enumerate(addresses) if address)
        if mask and decode(opcode).does is not Does.access:
            problem = f"{opcode} has addresses, but its effect on memory is unknown"
            raise InputError(self._path, f"line {number}: sass", problem)
        where = "".join(f" {address:x}" for address in addresses if address)
        access = f"4 0{where}" if mask else "0"
        lanes = mask if addresses else 0xFFFFFFFF
        return Step(record.pc[2:], lanes, opcode, written, read, access)

    def text(self) -> Iterator[bytearray]:
        """All of it, as an Accel-Sim trace, a block of threads at a time."""
        about = self._metadata
        if not self._accesses:
            problem = "has no records of accesses; trace with CUTRACER_INSTRUMENT=opcode_only,mem_addr_trace"
            raise InputError(self._path, "file", problem)
        header = {
            "kernel name": shown(about.mangled_name.encode()),
            "grid dim": "({},{},{})".format(*about.grid),
            "block dim": "({},{},{})".format(*about.block),
            "nregs": about.nregs,
            "shmem": about.shmem_static + about.shmem_dynamic,
            "accelsim tracer version": 3,
        }
        yield bytearray(("".join(f"-{key} = {value}\n" for key, value in header.items()) + "#\n").encode())
        for block, warps in self._steps.items():
            text = "#BEGIN_TB\nthread block = {},{},{}\n".format(*block)
            for warp, steps in enumerate(warps):
                lines = [step.line() for step in steps]
                if not self.has_all_instructions:
                    lines = [line for step in steps for line in step.waiting_for_all()]
                text += f"warp = {warp}\ninsts = {len(lines)}\n" + "".join(f"{line}\n" for line in lines)
            yield bytearray((text + "#END_TB\n").encode())
