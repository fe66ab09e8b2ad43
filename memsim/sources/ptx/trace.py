"""Runs a launch: for its trace, or for its results alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from memsim.gpu.config import GPU
from memsim.jit.compiled import loading_loops
from memsim.sources import traced_blocks
from memsim.sources.batch_log import BatchLog
from memsim.sources.ptx.co_resident import CoResident, may_wait_for_blocks, team_blocks, waits_for_host
from memsim.sources.ptx.device import KernelMachine
from memsim.sources.ptx.failures import accesses_beyond, failure
from memsim.sources.ptx.inline import PRINTF, flattened
from memsim.sources.ptx.launch import PtxLaunch
from memsim.sources.ptx.layout import KernelLayout, lay_out
from memsim.sources.ptx.machine import lazily_compiled_ops, tables
from memsim.sources.ptx.machine.codes import MIX, OP, SEGMENT, Micro, Stop, X
from memsim.sources.ptx.machine.run import ROOM, run
from memsim.sources.ptx.memory import DeviceMemory
from memsim.sources.ptx.mixes import LaunchMixes
from memsim.sources.ptx.ops import static_instructions
from memsim.sources.ptx.program import LoweredKernel, build
from memsim.sources.ptx.ptxas import DEFAULT_REGISTERS
from memsim.sources.ptx.text import type_bytes
from memsim.sources.ptx.wmma import without_wmma
from memsim.sources.sass.layout import lay_out_sass
from memsim.sources.sass.program import build_sass
from memsim.support.interrupts import raise_heard
from memsim.support.one_behind import OneBehind
from memsim.trace import source_text, target_gpu
from memsim.trace.info import lane_bytes
from memsim.trace.reader import Trace
from memsim.trace.schema import ArrayInfo, Chunk, Instructions, Issue, KnownWaits, LaunchShape
from memsim.trace.writer import TraceWriter

Progress = Callable[[int, int], None]  # blocks done, blocks in all
HostCalls = Callable[[KernelMachine], None]  # carries out the function of the device runtime that a warp stopped at
HostWaits = Callable[[], bool]  # gives the host time while a kernel waits for it; false: it has waited too long
BATCH_BYTES = 64 << 20  # of the log: then its rows are written
MOST_BATCH = 1 << 12  # blocks of one call
FIRST_BATCH, QUICK_SECONDS = 64, 0.2  # batches grow while calls are quick, so that progress is seen


class KernelRun:
    """A kernel that is ready to run, in batches of blocks.

    Args:
        check: compute all values; else only those that addresses and branches depend on.
        separate: without `check`, assume of machine code that it loads such values from other arrays than those that
            it stores to; `has_assumed_wrongly` then reports whether the blocks that have run did.

    Attributes:
        executed: micro-ops of warps so far.
        accesses: of lanes to global memory so far.
        sectors: of 32 bytes that warps' accesses to global memory touched so far, each access counted.
    """

    def __init__(
        self,
        launch: PtxLaunch,
        memory: DeviceMemory,
        *,
        check: bool,
        tracing: bool,
        host_calls: HostCalls | None = None,
        separate: bool = False,
    ) -> None:
        launch.check()
        self.launch, self._tracing = launch, tracing
        self.layout, self.program = _prepared(launch, memory, check, tracing, separate)
        self.mixes = LaunchMixes(self.program.segments)
        batch = _batch(launch)
        self.device = KernelMachine(launch, self.program, self.layout, memory, self.mixes, batch, tracing)
        self.device.grow_log(2 * ROOM, 64 * ROOM)
        self.batch = batch * launch.team
        self.executed = self.accesses = self.sectors = 0
        self._has_loops = False
        self.host_calls = host_calls
        self.host_waits: HostWaits | None = None

    def blocks(self, ids: np.ndarray) -> np.ndarray:
        """Run blocks with consecutive numbers; their rows are in the log afterwards.

        Returns:
            The numbers of the blocks that have run. If a block waits for later ones, these have run with it.

        Raises:
            InputError: the kernel does what it must not; one line that names the PTX's line and the source's.
            KeyboardInterrupt: a signal that Python dropped while loops were loaded.
        """
        raise_heard()
        device, status = self.device, self.device.machine.status
        device.log.clear()
        device.machine.ids[: len(ids)] = ids
        status[:] = 0
        status[tables.LAST_TEAM] = len(ids) // device.team
        device.grow_mixes()
        co_resident: CoResident | None = None
        try:
            stop = self._first_stop()
            while stop != Stop.done:
                raise_heard()
                if may_wait_for_blocks(device, stop):
                    together = team_blocks(device, int(ids[status[tables.TEAM_NUMBER]]))
                    co_resident, ids = CoResident(device, together), np.arange(ids[0], together[-1] + 1)
                elif self.host_waits is None or not waits_for_host(device, stop) or not self.host_waits():
                    self._attend(stop)
                stop = Stop(run(device.machine))
        finally:
            if co_resident is not None:
                co_resident.end()
        if status[tables.ANY_BEYOND]:
            device.memory.beyond += accesses_beyond(self.launch, self.program, device.machine)
        self.executed += int(status[tables.EXECUTED])
        self.accesses += int(status[tables.ACCESSES])
        self.sectors += int(status[tables.SECTORS])
        return ids

    def _first_stop(self) -> Stop:
        """Run the machine until its loop returns for the first time; loads what it calls at a kernel's first blocks."""
        if self._has_loops:
            return Stop(run(self.device.machine))
        with loading_loops():
            lazily_compiled_ops.load(self.device.machine)
            self._has_loops = True
            return Stop(run(self.device.machine))

    @property
    def has_assumed_wrongly(self) -> bool:
        """Whether a block loaded a value from an array to which one stored without computing values."""
        machine = self.device.machine
        pcs, arrays = machine.made[: int(machine.n_made[0])].T
        stored = arrays[np.isin(pcs, self.program.skipped)]
        return bool(np.isin(arrays[np.isin(pcs, self.program.loads)], stored).any())

    def all_blocks(self, ids: range, progress: Progress | None = None) -> int:
        """Run blocks with consecutive numbers, as many at a time as the machine takes; whole teams.

        Returns:
            The number of the first block that has not run, more than ``ids.stop`` if a block waited for later ones.
        """
        team, first = self.device.team, ids.start
        step = max(1, FIRST_BATCH // team) * team
        while first < ids.stop:
            last, begun = min(first + min(step, self.batch), ids.stop), time.monotonic()
            last = int(self.blocks(np.arange(first, last))[-1]) + 1
            if time.monotonic() - begun < QUICK_SECONDS:
                step *= 4
            first = last
            if progress:
                progress(last, self.launch.n_blocks)
        return first

    def relaunch(self, launch: PtxLaunch, parameters: bytes, memory: DeviceMemory, changed: bool) -> None:
        """Make ready for another launch of the same kernel with the same extents, for its results alone.

        Args:
            changed: whether the memory's regions are others than at the last launch.
        """
        assert not self._tracing
        self.launch, self.executed, self.accesses, self.sectors = launch, 0, 0, 0
        self.device.relaunch(launch, np.frombuffer(parameters, np.uint8), memory, changed)

    def retrace(self, launch: PtxLaunch, parameters: bytes, memory: DeviceMemory) -> None:
        """Make ready to trace another launch of the same kernel.

        Args:
            launch: its grid may be another one, unless the kernel reads the grid's extents, which are constants of the
                program; so are the arrays that its arguments share.
        """
        assert self._tracing
        self.launch, self.executed, self.accesses, self.sectors = launch, 0, 0, 0
        self.device.retrace(launch, np.frombuffer(parameters, np.uint8), memory, _batch(launch))
        self.batch = _batch(launch) * launch.team

    def cut_loop(self, branch: int, iterations: int) -> None:
        """Leave a loop early in the next blocks.

        Args:
            branch: the micro-op that repeats it; -1: no loop is cut.
            iterations: that a warp executes at most each time that it comes to the loop, 1 or more.
        """
        self.device.machine.grid[[tables.CUT_BRANCH, tables.CUT_TURNS]] = branch, iterations

    def repeating_branch(self, op: int) -> int | None:
        """The micro-op that repeats the innermost loop around a static instruction of the blocks that have run.

        None if there is no loop, or if its end is no direct branch.
        """
        at, code = int(self.device.machine.made[op, 0]), self.program.code
        behind = code[at:]
        ends = at + np.flatnonzero((behind[:, OP] == Micro.branch) & (behind[:, X] <= at))
        return int(ends[0]) if len(ends) else None

    def _attend(self, stop: Stop) -> None:
        """See to what stopped the loop."""
        device = self.device
        if stop == Stop.log_full:
            device.grow_log(2 * len(device.log.rows), 2 * len(device.log.addresses))
        elif stop == Stop.new_mix:
            status = device.machine.status
            mix = int(device.machine.records[status[tables.WARP_NOW], MIX])
            self.mixes.learn(mix, int(device.machine.code[status[tables.STOP_PC], SEGMENT]))
            device.grow_mixes()
        elif stop == Stop.host_call and (self.host_calls is not None or self._prints()):
            if self.host_calls is not None:
                self.host_calls(device)
            device.machine.status[tables.CALL_DONE] = 1
        elif stop != Stop.paused:
            raise failure(stop, self.launch, self.program, device.machine)

    def _prints(self) -> bool:
        """Whether the call that the machine stopped at prints: nobody shows it here."""
        machine = self.device.machine
        return bool(machine.code[machine.status[tables.STOP_PC], X] == PRINTF)

    def chunk(self, n_blocks: int, first_warp: int) -> Chunk:
        """The rows of the blocks that ran last."""
        return self.device.log.sorted_by_warp(n_blocks * self.device.warps, first_warp)

    def shape(self, registers: int | None) -> LaunchShape:
        launch = self.launch
        known = registers or DEFAULT_REGISTERS
        return LaunchShape(launch.grid, launch.block, 32, known, self.layout.requested_bytes)


def _prepared(
    launch: PtxLaunch, memory: DeviceMemory, check: bool, tracing: bool, separate: bool
) -> tuple[KernelLayout, LoweredKernel]:
    """The layout and the program of a launch: of its machine code where that is given, else of its PTX."""
    if launch.sass is not None:
        layout = lay_out_sass(launch, launch.function, launch.sass, memory)
        return layout, build_sass(launch, launch.sass, layout, check=check, tracing=tracing, separate=separate)
    function = without_wmma(flattened(launch.module, launch.function), launch.source)
    layout = lay_out(launch, function, memory)
    return layout, build(launch, function, layout, memory, check=check, tracing=tracing)


def _batch(launch: PtxLaunch) -> int:
    """Teams of blocks that one call of the loop runs at most."""
    return max(1, min(MOST_BATCH, launch.n_blocks) // launch.team)


def execute(launch: PtxLaunch, memory: DeviceMemory, progress: Progress | None = None) -> None:
    """Run all blocks of a launch, with all values, for what they leave in memory.

    Raises:
        InputError: the PTX is not understood, or the kernel does what it must not.
    """
    KernelRun(launch, memory, check=True, tracing=False).all_blocks(range(launch.n_blocks), progress)


def trace_launch(
    launch: PtxLaunch,
    memory: DeviceMemory,
    out: str | Path,
    gpu: GPU,
    blocks: str | None = None,
    check: bool = False,
    progress: Progress | None = None,
) -> Trace:
    """Run a launch's block sample and write what its warps access.

    Args:
        launch: what is launched; ``registers`` of it, where known, count for occupancy.
        memory: where its arrays lie; what the kernel stores that feeds no address is not computed without ``check``.
        out: the trace file.
        gpu: whose occupancy and L2 size choose the block sample.
        blocks: ``FIRST:LAST``, ``4x`` (times the resident threads) or ``all``; None: as section 3.1 of Baghsorkhi 2012.
        check: compute all values, those of tensor cores too.
        progress: called with the blocks done and all, after every batch.

    Raises:
        InputError: an instruction that memsim does not support, an access outside all arrays, a kernel that never ends,
            blocks outside the grid, a file that cannot be written. Nothing is left behind.
    """
    ready = KernelRun(launch, memory, check=check, tracing=True)
    shape = ready.shape(launch.registers)
    with begin_trace(ready, out, gpu) as writer:
        for _, total, done in write_blocks(ready, writer, shape, gpu, blocks):
            if progress:
                progress(done, total)
        finish_trace(ready, writer, shape)
    return Trace.open(out)


def begin_trace(ready: KernelRun, out: str | Path, gpu: GPU) -> TraceWriter:
    """The writer of a launch's trace."""
    launch = ready.launch
    return TraceWriter(
        out, kernel=launch.name or launch.kernel, source=launch.source, parameters=launch.parameters,
        gpu=target_gpu.gpu_label(gpu),
    )  # fmt: skip


def finish_trace(ready: KernelRun, writer: TraceWriter, shape: LaunchShape) -> None:
    """Complete a trace with its static instructions, arrays and mixes."""
    issue = Issue(KnownWaits.scoreboard, Instructions.estimated, ready.mixes.table())
    if ready.program.facts is not None:
        issue = replace(issue, dependence=KnownWaits.control_code, instructions=Instructions.machine_code)
    ops = static_instructions(ready.launch, ready.device, ready.program)
    writer.finish(
        shape,
        ops,
        _with_elements(ready, ready.device.arrays),
        issue,
        source_text.of_compiled(ops, ready.launch.sources),
    )


def _with_elements(ready: KernelRun, arrays: Sequence[ArrayInfo]) -> list[ArrayInfo]:
    """Arrays whose elements nobody knows have the narrowest ones that instructions access them by."""
    machine = ready.device.machine
    least: dict[int, int] = {}
    for number, array in machine.made[: int(machine.n_made[0])].tolist():
        one = ready.program.origin[number]
        if ready.program.facts is not None:
            least[array] = min(ready.program.facts.width(one), least.get(array, 4))
            continue
        size = type_bytes(one.type) if one.name in ("ld", "st", "atom", "red") else 0
        if size:
            least[array] = min(size, least.get(array, size))
    return [one if one.element_bytes else replace(one, element_bytes=least.get(k, 1)) for k, one in enumerate(arrays)]


def write_blocks(
    ready: KernelRun,
    writer: TraceWriter,
    shape: LaunchShape,
    gpu: GPU,
    blocks: str | None,
    most_executed: int | None = None,
) -> Iterator[tuple[np.ndarray, int, int]]:
    """Write the block sample; the first team's accesses decide on how many blocks it has.

    While blocks run, another thread writes the rows of those before: both leave Python's lock free nearly all the time.

    Args:
        most_executed: micro-ops of warps, as the first team's show; None: any number. Without effect where
            ``blocks`` are given.

    Yields:
        The numbers of blocks that have run; how many run in all, and how many have run.
    """
    team, warps = ready.device.team, ready.device.warps
    selected = traced_blocks.given_blocks(blocks, shape, gpu) if blocks is not None else None
    start = 0 if selected is None else selected.start // team * team
    ids = ready.blocks(np.arange(start, start + team))
    chunk = ready.chunk(len(ids), 0)
    if selected is None:
        accessed = lane_bytes(chunk, static_instructions(ready.launch, ready.device, ready.program)) / len(ids)
        selected = traced_blocks.default_blocks(shape, gpu, None, accessed)
        if most_executed is not None:
            selected = selected[: max(most_executed * len(ids) // max(ready.executed, 1), len(ids))]
    stop = -(-selected.stop // team) * team
    writer.append(ids, chunk)
    yield ids, stop - start, len(ids)

    def write(ids: np.ndarray, log: BatchLog) -> None:
        writer.append(ids, log.sorted_by_warp(len(ids) * warps, (int(ids[0]) - start) * warps))

    done, step = start + len(ids), team
    with OneBehind("memsim-writer") as written:
        while done < stop:
            ids = ready.blocks(np.arange(done, min(done + step, stop)))
            written.wait()  # its log is used again
            log = ready.device.take_log()
            written.start(write, ids, log)
            done += len(ids)
            yield ids, stop - start, done - start
            step = max(team, min(ready.batch, BATCH_BYTES * len(ids) // max(log.n_bytes, 1)) // team * team)
        written.wait()
