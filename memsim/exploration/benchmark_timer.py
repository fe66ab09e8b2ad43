"""Times the launches of a program's benchmarks by simulating samples of their blocks.

A tuner or a benchmark launches a kernel hundreds of times with dozens of shapes. So a launch is simulated once for each
kernel and shape, a large one by a sample (:mod:`memsim.exploration.launch_sample`). After many shapes, large ones are
scaled from similar ones (:mod:`memsim.exploration.loop_times`), and simulated once they are timed again: those that a
tuner chose. Only a launch's addresses are computed: what a timed launch stores is not.
"""

from __future__ import annotations

import sys
import time
import zlib
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from memsim.analysis.launch_time import launch_time
from memsim.capture.arena import ProcessMemory
from memsim.exploration.l2_flush import fill_l2, own_dirty_sectors, with_buffer
from memsim.exploration.launch_sample import MOST_ROWS, WAVES, LaunchSample, choose_sample, trace_sample
from memsim.exploration.loop_times import LoopTimes, SampleTime, most_similar
from memsim.exploration.shorter_loops import MainLoop
from memsim.gpu.config import GPU
from memsim.hierarchy.execution import Execution
from memsim.hierarchy.l2.parameters import max_dirty
from memsim.hierarchy.mapping import layout
from memsim.hierarchy.sm.parameters import pipe_cycles
from memsim.hierarchy.system import System
from memsim.montecarlo.run import tables
from memsim.montecarlo.trials import Trials
from memsim.sources.ptx.launch import PtxLaunch, parameter_bytes, parameter_offsets
from memsim.sources.ptx.trace import HostCalls, KernelRun
from memsim.sources.traced_blocks import wave_blocks
from memsim.support.errors import InputError
from memsim.support.scratch import Scratch
from memsim.trace.coalesce import coalesce
from memsim.trace.reader import Trace
from memsim.trace.schema import LaunchShape

MANY_SIMULATIONS = 24  # of one kernel, after which a sample should have only a quarter as many
MOST_RUNS = 64  # kernels that stay ready for their next shape
REPORT_SECONDS = 15.0  # between lines that report progress
_POINTER = 8


def print_progress(line: str) -> None:
    """Print a line on stderr."""
    print(f"memsim: {line}", file=sys.stderr, flush=True)


@dataclass
class BenchmarkTimer:
    """Times launches between the begin and the end of a benchmark.

    Args:
        gpu: that they are simulated on.
        report: gets a line about progress now and then.

    Attributes:
        timed: launches by kernel.
        observed: those that were executed as well.
        simulated: those among them that were neither known from an earlier launch of the same shape nor scaled.
        scaled: those whose time follows from a similar launch of the same kernel.
        cut: those among the simulated ones of which a few iterations of a loop were.
        least_share: of a launch's blocks that were simulated.
    """

    gpu: GPU
    report: Callable[[str], None] = print_progress
    timed: Counter[str] = field(default_factory=Counter)
    observed: Counter[str] = field(default_factory=Counter)
    simulated: int = 0
    scaled: int = 0
    cut: int = 0
    least_share: float = 1.0
    _simulations: Counter[str] = field(default_factory=Counter)
    _known: dict[Any, float] = field(default_factory=dict)
    _ready: OrderedDict[Any, KernelRun] = field(default_factory=OrderedDict)
    _scaled: set[Any] = field(default_factory=set)
    _latest: Any = None
    _loops: dict[Any, list[LoopTimes]] = field(default_factory=dict)
    _entangled: set[tuple[str, str]] = field(default_factory=set)  # kernels that load what they store, by PTX and name
    _last_report: float = field(default_factory=time.monotonic)

    def milliseconds(
        self, launch: PtxLaunch, memory: ProcessMemory, host_calls: HostCalls, flushed: bool, runs: bool = False
    ) -> float:
        """The simulated time of a launch.

        Args:
            flushed: whether L2 is full of another kernel's dirty lines.
            runs: whether the launch is executed as well, for a profiler in the program asks for its time.

        Raises:
            InputError: the PTX is not understood, or the kernel does what it must not.
        """
        (self.observed if runs else self.timed)[launch.name] += 1
        run = self._run(launch, memory, host_calls)
        key = self._key(run, launch, memory, flushed)
        found, again = self._known.get(key), self._is_asked_again(key)
        if found is None or again:
            rows, scaled = self._most_rows(launch.name), self.scaled
            try:
                found = self.simulate(run, flushed, rows, not again)
            except InputError:
                if not run.has_assumed_wrongly:
                    raise
            if found is None or run.has_assumed_wrongly:
                self._entangled.add((launch.ptx, launch.kernel))
                found = self.simulate(self._run(launch, memory, host_calls), flushed, rows, not again)
            self._known[key] = found
            if self.scaled > scaled:
                self._scaled.add(key)
            else:
                self.simulated += not runs
                self.scaled -= again
                self._scaled.discard(key)
        self._latest = key
        if time.monotonic() - self._last_report > REPORT_SECONDS:
            self._last_report = time.monotonic()
            total = self.timed.total()
            self.report(f"timed launches: {total:,}, by simulation: {self.simulated:,}; now {launch.name}")
        return found

    def _is_asked_again(self, key: Any) -> bool:
        """Whether a scaled time is requested again after those of others: a tuner chose it, and it may be reported."""
        return key in self._scaled and key != self._latest

    def _most_rows(self, kernel: str) -> int:
        """How large the next sample of a kernel should be: sweeps over many sizes and configurations get small ones."""
        self._simulations[kernel] += 1
        return MOST_ROWS if self._simulations[kernel] <= MANY_SIMULATIONS else MOST_ROWS // 4

    @property
    def notes(self) -> list[str]:
        """What the user should know of the times."""
        seen = f"{self.observed.total():,} launches ({', '.join(self.observed)})"
        observed = [f"{seen} were simulated for the program's own profiler"] if self.observed else []
        if not self.timed:
            return observed
        total, kernels = self.timed.total(), ", ".join(self.timed)
        share = f"; at least {100 * self.least_share:.2g} % of a launch's blocks" if self.least_share < 1 else ""
        cut = f", {self.cut:,} with a few iterations of their loop" if self.cut else ""
        scaled = f" {self.scaled:,} were scaled from a similar one," if self.scaled else ""
        return [
            *observed,
            f"{total:,} launches were only timed ({kernels}): {self.simulated:,} were simulated on samples of their"
            f" blocks{share}{cut},{scaled} the others had a known shape. These times are estimates without an interval."
            " What timed launches store is not computed",
        ]

    # -- what is the same

    def _run(self, launch: PtxLaunch, memory: ProcessMemory, host_calls: HostCalls) -> KernelRun:
        """A kernel ready to be traced for its addresses: that of an earlier launch, where there is one."""
        data = parameter_bytes(launch, launch.function)
        grid = launch.grid if "%nctaid" in launch.ptx or "%nclusterid" in launch.ptx or launch.cooperative else ()
        arrays = [address for address, _ in _pointers(launch, memory, data)]
        shared = tuple(arrays.index(one) for one in arrays)
        separate = (launch.ptx, launch.kernel) not in self._entangled
        extents = launch.block, launch.cluster, launch.shared_bytes, grid
        key = id(memory), launch.ptx, launch.kernel, extents, shared, separate
        if (run := self._ready.pop(key, None)) is None:
            run = KernelRun(launch, memory, check=False, tracing=True, host_calls=host_calls, separate=separate)
        else:
            run.retrace(launch, data, memory)
            run.host_calls = host_calls
        self._ready[key] = run
        if len(self._ready) > MOST_RUNS:
            self._ready.popitem(last=False)
        return run

    def _key(self, run: KernelRun, launch: PtxLaunch, memory: ProcessMemory, flushed: bool) -> tuple[Any, ...]:
        """Equal for launches that take equally long: pointers count as the sizes of what they point to.

        Where addresses or branches depend on values in memory, these count, too.
        """
        data = bytearray(parameter_bytes(launch, launch.function))
        sizes = []
        for address, at in _pointers(launch, memory, bytes(data)):
            pointer = int.from_bytes(data[at : at + _POINTER], "little")
            size = memory.allocation_at(address).bytes  # type: ignore[union-attr]
            content = zlib.crc32(memory.array_at(address, size).data) if run.program.by_data else 0
            sizes.append((size, pointer - address, content))
            data[at : at + _POINTER] = bytes(_POINTER)
        extents = launch.grid, launch.block, launch.cluster, launch.shared_bytes
        return id(memory), launch.ptx, launch.kernel, *extents, bytes(data), tuple(sizes), flushed

    # -- samples

    def simulate(self, run: KernelRun, flushed: bool, most_rows: int = MOST_ROWS, scales: bool = True) -> float:
        """The simulated time of a launch in milliseconds; `flushed` as above, `most_rows` as ``MOST_ROWS``.

        With smaller samples than these, a launch that repeats a loop is scaled from a similar one if `scales` is true.
        """
        shape = run.shape(run.launch.registers)
        wave = wave_blocks(shape, self.gpu)
        sample = choose_sample(run, wave, most_rows)
        waves = run.launch.n_blocks / wave
        waves = ceil(waves) if waves < WAVES else waves  # the last of a few waves takes as long as a full one
        known = self._similar_launches(run, sample.loop, flushed)
        iterations = sample.loop.iterations if sample.loop is not None else 0
        if scales and most_rows < MOST_ROWS and (similar := most_similar(known, waves, iterations)):
            self.scaled += 1
            return similar.scaled(waves, iterations)
        self.least_share = min(self.least_share, len(sample.teams) * run.device.team / run.launch.n_blocks)
        times = self._replayed(run, shape, sample, flushed)
        if (
            sample.is_cut and times[1].milliseconds <= times[0].milliseconds
        ):  # they do not show what one iteration takes
            sample = replace(sample, is_cut=False)
            times = self._replayed(run, shape, sample, flushed)
        milliseconds = times[-1].milliseconds
        if not iterations:
            return milliseconds
        each = milliseconds / iterations
        if sample.is_cut:
            self.cut += 1
            each = times[-1].each_more_than(times[0])
            milliseconds += each * (iterations - times[-1].iterations)
        known.append(LoopTimes(waves, iterations, milliseconds, each))
        return milliseconds

    def _replayed(self, run: KernelRun, shape: LaunchShape, sample: LaunchSample, flushed: bool) -> list[SampleTime]:
        """The time of the launch by its sample; where a loop is cut, with each of LENGTHS."""
        with Scratch() as name:
            return [
                SampleTime(
                    one.iterations, *replay_sample(Trace.open(one.path), self.gpu, Path(name), flushed, one.share)
                )
                for one in trace_sample(run, Path(name), self.gpu, shape, sample)
            ]

    def _similar_launches(self, run: KernelRun, loop: MainLoop | None, flushed: bool) -> list[LoopTimes]:
        """Times of launches of the kernel that differ in their extents; where values in memory count, of none."""
        if loop is None or run.program.by_data:
            return []
        launch = run.launch
        kernel = launch.ptx, launch.kernel
        extents = launch.block, launch.cluster, launch.shared_bytes
        return self._loops.setdefault((*kernel, *extents, kernel in self._entangled, loop.pattern, flushed), [])


def replay_sample(trace: Trace, gpu: GPU, folder: Path, flushed: bool, share: float = 1.0) -> tuple[float, float]:
    """Of the launch that a trace is a sample of, or all of it: its milliseconds, and those of its busiest pipe.

    Args:
        flushed: as for BenchmarkTimer.
        share: of its blocks' rows that the trace has.
    """
    execution = Execution.of(trace, gpu, folder)
    gpu = execution.gpu
    own = coalesce(trace, gpu)
    lines = len(own.line_address)
    transactions, where = with_buffer(own, gpu) if flushed else (own, layout(own, gpu))
    seeds = np.random.SeedSequence(0)
    system = System(transactions, gpu, execution.resident, seeds, where, name=trace.path)
    if flushed:
        fill_l2(system.machine, lines, _dirty_share(trace, gpu, lines, share))
    trial = system.run()
    if flushed:
        # Where dirty lines are limited, each store has cleaned one of the flush: no write-back is deferred.
        deferred = np.array(0) if max_dirty(gpu) else own_dirty_sectors(system.machine, lines)
        trial = replace(trial, dirty_sectors=deferred)
    ops, arrays = tables(trace)
    replayed = {"grid": list(trace.launch.grid), "blocks": trace.n_blocks, "wave_blocks": execution.wave_blocks}
    about = {"gpu": gpu.model_dump(mode="json"), "trace": replayed}
    trials = Trials.of({0: trial}, about=about, ops=ops, arrays=arrays, sources={})
    cycles = launch_time(trials).cycles.mean + (gpu.launch.idle_cycles or 0) + (gpu.launch.active_cycles or 0)
    busy = max(pipe_cycles(gpu, trace.issue.mixes, own.instructions["instruction_mix"]).values(), default=0.0)
    busy *= trace.launch.n_blocks / trace.n_blocks / gpu.sm.count
    return cycles / gpu.sm.clock_mhz / 1000, busy / gpu.sm.clock_mhz / 1000


def _dirty_share(trace: Trace, gpu: GPU, lines: int, share: float) -> float:
    """Share of L2's lines that the sample finds dirty: in a launch that turns L2 over, only the first blocks do.

    With a limit on dirty lines all blocks find as many: those of the flush, or of earlier blocks.
    """
    if max_dirty(gpu):
        return 1.0
    touched = lines * gpu.l1.line_bytes / share
    if touched >= gpu.l2.size_bytes:
        return 1.0
    return min(1.0, gpu.l2.size_bytes * trace.n_blocks / (touched * trace.launch.n_blocks))


def _pointers(launch: PtxLaunch, memory: ProcessMemory, data: bytes) -> list[tuple[int, int]]:
    """The allocations that words of a launch's parameters point into: their addresses, and the words' offsets."""
    found = []
    parameters = launch.function.parameters
    for first, one in zip(parameter_offsets(parameters), parameters, strict=True):
        for at in range(first, first + one.bytes - _POINTER + 1, _POINTER):
            allocation = memory.allocation_at(int.from_bytes(data[at : at + _POINTER], "little"))
            if allocation is not None:
                found.append((allocation.address, at))
    return found
