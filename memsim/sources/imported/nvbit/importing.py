"""Imports the text that NVBit's mem_trace tool prints: one trace a launch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from memsim.sources.imported.lane_rows import WARP_SIZE
from memsim.sources.imported.nvbit import scan
from memsim.sources.imported.nvbit.launches import NvbitLaunch, read_launch
from memsim.sources.imported.nvbit.runs import Runs
from memsim.sources.imported.nvbit.scan import KEY_BITS, LAUNCH_ROW, OPS_PER_OPCODE, RECORD, STATE
from memsim.sources.imported.opcodes import MOST, Opcodes
from memsim.sources.imported.ops import ImportedOps
from memsim.sources.imported.text import Progress, as_array, line_blocks
from memsim.sources.imported.warp_slices import index
from memsim.sources.outputs import trace_paths
from memsim.support.errors import InputError
from memsim.support.files import check_writable
from memsim.support.scratch import HIDDEN, Scratch
from memsim.trace.reader import Trace
from memsim.trace.schema import INSTRUCTION_COLUMNS, Chunk, Space
from memsim.trace.writer import TraceWriter

HELD_RECORDS, HELD_ADDRESSES, BATCH_RECORDS = 1 << 19, 1 << 22, 1 << 17  # before sorting to disk; of one write
_VOLTA = 70  # the text does not state the GPU; from Maxwell on opcodes mean the same


def import_nvbit(
    source: str | Path,
    out: str | Path | None = None,
    kernels: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> list[Trace]:
    """Convert the output of a program under mem_trace to trace files, one per launch that accesses memory.

    Args:
        source: the text, plain or packed by gzip, xz or zstd.
        out: a folder, or a file that ends with ``.h5`` for one launch; None: the current folder. In a folder, traces
            are called ``launch-0.h5`` and so on, by grid launch id.
        kernels: which launches: by id, or by a part of the kernel's name; None: all.
        progress: called with the bytes of the file that are read, and all.

    Raises:
        InputError: anything in the text that is not as it must be, with its line; no access at all; a place that
            cannot be written.
        OSError: the system does not let the file be read.
    """
    source = Path(source)
    folder = Path(out or ".")
    if not folder.is_dir():
        check_writable(folder)
        folder = folder.parent
    with Scratch(folder, HIDDEN) as temporary:
        log = _Log(source, Path(temporary))
        for block in line_blocks(source, progress):
            log.read(block)
        log.finish()
        numbers = _chosen(source, log, kernels)
        paths = trace_paths(out, [f"launch-{log.launches[number].id}" for number in numbers])
        return [_write(source, log, number, path) for number, path in zip(numbers, paths, strict=True)]


class _Log:
    """Feeds text to the compiled reader and collects records.

    Attributes:
        launches: in the order of their lines; a launch's number is its place here.
        opcodes: all of them.
        used: numbers of the launches that access memory.
    """

    def __init__(self, path: Path, folder: Path) -> None:
        self._path = path
        self.launches: list[NvbitLaunch] = []
        self.opcodes = Opcodes()
        self.used: set[int] = set()
        self.runs = Runs(folder, BATCH_RECORDS)
        self._table = np.zeros(0, LAUNCH_ROW)
        self._state = np.zeros(1, STATE)
        self._state["line"] = 1
        self._records, self._addresses = np.zeros(HELD_RECORDS, RECORD), np.zeros(HELD_ADDRESSES, np.uint32)
        self._cursor, self._lanes = np.zeros(2, np.int64), np.zeros(WARP_SIZE, np.int64)
        self._some = np.zeros((2, WARP_SIZE), np.int64)

    def read(self, block: bytearray) -> None:
        """Read whole lines."""
        text = as_array(block)
        self._state["at"] = 0
        while True:
            ended = scan.scan(
                text, self._state, self._table, self.opcodes.spot, self.opcodes.slots, self.opcodes.pool,
                self._lanes, self._some, self._records, self._addresses, self._cursor,
            )  # fmt: skip
            if ended == scan.TEXT_USED:
                return
            if ended == scan.ROWS_FULL:
                self._hand_over(last=False)
            elif ended == scan.NEW_OPCODE:
                try:
                    self.opcodes.enter(block, _VOLTA)
                except ValueError as error:
                    raise self._wrong(block, "opcode", str(error)) from None
            elif ended == scan.LAUNCH:
                self._enter_launch(block)
            else:
                raise self._wrong(block, *scan.PROBLEMS[ended])

    def finish(self) -> None:
        """Take note that the file has ended: no further record comes."""
        self._hand_over(last=True)
        if not self.used:
            problem = "has no access of NVBit's mem_trace ('MEMTRACE: CTX 0x... - grid_launch_id ...')"
            raise InputError(self._path, "file", f"{problem}; give the output of a program that ran with mem_trace.so")

    def _enter_launch(self, block: bytearray) -> None:
        at = int(self._state["at"][0])
        stop = block.find(b"\n", at)
        try:
            launch = read_launch(bytes(block[at:stop]))
        except ValueError as error:
            raise self._wrong(block, "LAUNCH", str(error)) from None
        if (self._table["id"] == launch.id).any():
            raise self._wrong(block, "grid launch id", f"{launch.id} appears twice; give the output of one run")
        shape = launch.shape
        row = np.array([(launch.id, shape.grid, shape.warps_per_block, shape.threads_per_block)], LAUNCH_ROW)
        self._table = np.concatenate([self._table, row])
        self.launches.append(launch)
        self._state["at"] = stop + 1
        self._state["line"] += 1

    def _hand_over(self, *, last: bool) -> None:
        records = self._records[: self._cursor[0]]
        self.used |= set(np.unique(records["key"] >> KEY_BITS).tolist())
        self.runs.add(records, self._addresses[: self._cursor[1]], last=last)
        self._cursor[:] = 0

    def _wrong(self, block: bytearray, field: str, problem: str) -> InputError:
        """The error of the line at hand, which it quotes."""
        at = int(self._state["at"][0])
        line = bytes(block[at : block.find(b"\n", at)][:90]).decode("ascii", "backslashreplace").strip()
        return InputError(self._path, f"line {self._state['line'][0]}: {field}", f"{problem} (the line is {line!r})")


def _chosen(source: Path, log: _Log, kernels: Sequence[str] | None) -> list[int]:
    """Choose launches by the kernels' names; returns the launches' numbers."""
    used = sorted(log.used)
    if not kernels:
        return used
    selected = set()
    for selector in kernels:
        found = {
            number
            for number in used
            if selector == str(log.launches[number].id)
            or (not selector.isdigit() and selector in log.launches[number].kernel)
        }
        if not found:
            names = ", ".join(f"{log.launches[number].id} {log.launches[number].kernel}" for number in used)
            raise InputError(source, f"kernel {selector}", f"does not exist; there are {names[:400]}")
        selected |= found
    return sorted(selected)


def _write(source: Path, log: _Log, number: int, path: Path) -> Trace:
    """Write the trace of one launch."""
    launch = log.launches[number]
    ops = ImportedOps()
    numbers = np.full(MOST * OPS_PER_OPCODE, -1)  # of the static instructions, by the records' ops
    about = {"launch": launch.id, "order": number}
    with TraceWriter(path, kernel=launch.kernel, source=source.name, parameters=about) as writer:
        warps = 0
        for records, addresses in log.runs.launch(number, launch.shape.warps_per_block):
            for code in np.unique(records["op"]).tolist():
                if numbers[code] < 0:
                    opcode, space = log.opcodes[code // OPS_PER_OPCODE], Space(code % OPS_PER_OPCODE)
                    numbers[code] = ops.add(opcode, space, 0, opcode.text, source.name)
            records["op"] = numbers[records["op"]]
            blocks, chunk = _chunk(records, addresses, launch.shape.warps_per_block, warps)
            writer.append(blocks, chunk)
            warps = chunk.warps.stop
        writer.finish(launch.shape, ops.ops, ops.arrays)
    return Trace.open(path)


def _chunk(records: np.ndarray, addresses: np.ndarray, per_block: int, first_warp: int) -> tuple[np.ndarray, Chunk]:
    """Blocks' numbers, and their records as a chunk; warps without records are empty."""
    warps = records["key"] & ((1 << KEY_BITS) - 1)
    blocks = np.unique(warps // per_block)
    every = (blocks[:, None] * per_block + np.arange(per_block)).ravel()
    start, end = (np.searchsorted(warps, every, side=side) for side in ("left", "right"))
    offsets = np.append(records["address"], len(addresses))
    chunk = Chunk(
        range(first_warp, first_warp + len(every)),
        index(start, end),
        index(offsets[start], offsets[end]),
        addresses=addresses,
        **{name: records[name] for name in INSTRUCTION_COLUMNS},
    )
    return blocks, chunk
