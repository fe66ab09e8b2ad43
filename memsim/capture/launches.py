"""Runs the launches of a program, and traces the selected ones.

Every launch runs once, whole, so memory afterwards is as after a GPU's run. The sampled blocks are traced while
they run. Where the launch with the most accesses is selected, a launch is traced if it may have more than the heaviest
so far: unless launches of its shape had the same, smaller number twice, and unless its first blocks access so little
that the launch cannot come near.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from memsim.capture.activities import LAUNCH, Activities
from memsim.capture.array_names import array_names
from memsim.capture.captured_device import CapturedDevice
from memsim.capture.device_runtime import WORKSPACE_ADDRESS, DeviceRuntime
from memsim.capture.estimates import launch_nanoseconds
from memsim.capture.faults import explained
from memsim.capture.launch_traces import CountedLaunch, LaunchReply, LaunchTrace
from memsim.capture.modules import LoadedModule, Modules
from memsim.capture.names import matches
from memsim.capture.protocol import LaunchRequest
from memsim.capture.stand_ins import StandIns
from memsim.capture.timer import TIMED_BLOCKS, LaunchTimer, Timer
from memsim.capture.tuning import TimedLaunch
from memsim.capture.unexecuted import LaunchResult
from memsim.gpu.config import GPU
from memsim.sources.outputs import SUFFIX
from memsim.sources.ptx.full_launch import ExecutedCounts, run_and_trace
from memsim.sources.ptx.launch import PtxLaunch, parameter_bytes, with_code
from memsim.sources.ptx.machine.codes import OP, Micro
from memsim.sources.ptx.origin import NOWHERE, Origin
from memsim.sources.ptx.ptxas import registers_of
from memsim.sources.ptx.trace import HostWaits, KernelRun, Progress
from memsim.sources.sass.assemble import target
from memsim.sources.sass.constants import reads_workspace
from memsim.sources.sass.declarations import carried_cubin
from memsim.sources.selection import ALL, CaptureSelection
from memsim.support.errors import InputError
from memsim.support.progress import annotate

READY_RUNS = 64  # kernels that stay ready for their next launch, of one process
STEADY = 2  # launches of one shape with the same accesses, after which the next is taken to be such a one
MOST_PREPARED = 1 << 23  # micro-ops of warps of a launch that prepares a measurement: about a second
PRODUCT = 16  # how many times as long a micro-op takes on average where some are matrix products; a rough estimate
FAR = 4  # a launch whose first blocks promise less than the best's accesses by this factor is not traced


@dataclass
class Launches:
    """All launches of a capture.

    Args:
        gpu: that the kernels are compiled for, and whose occupancy and L2 size choose the blocks.
        selection: which launches and blocks.
        modules: what knows the kernels' machine code.
        folder: for traces until the capture ends.
        every: one trace of each kernel, not one in all.
        shown: what errors and traces call the program.
        origin: where sources lie that traces may quote.
        about: what traces say they were made from.
        progress: called with the blocks done and all of a traced launch.

    Attributes:
        counts: launches so far by kernel, in the order of their first.
        heaviest: of each kernel, the launch with the most accesses.
        taken: traces of the wanted launches, by group: the kernel, or "" for the program.
        notes: for the user.
        incomplete: launches of which not all blocks ran.
        without_blocks: why launches that may have been wanted were left out.
        failures: of kernels, the first one first.
        beyond: by kernel and line, accesses out of bounds in mapped memory: the first one's line, and how many.
        refused: why images could not be loaded.
        printed: by the latest launch, also by one that failed.
        entries: a kernel's name in PTX by the name that is shown.
        latest: the kernel that was launched last.
        activities: launches, copies and waits, in the order of the program's calls.
        stand_ins: which launch's trace stands for each, where some do for others.
    """

    gpu: GPU
    selection: CaptureSelection
    modules: Modules
    folder: Path
    every: bool
    shown: str
    origin: Origin = NOWHERE
    about: dict[str, Any] = field(default_factory=dict)
    progress: Progress | None = None
    counts: Counter[str] = field(default_factory=Counter)
    heaviest: dict[str, CountedLaunch] = field(default_factory=dict)
    heaviest_traces: dict[str, LaunchTrace] = field(default_factory=dict)
    taken: list[LaunchTrace] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    incomplete: list[str] = field(default_factory=list)
    without_blocks: list[InputError] = field(default_factory=list)
    failures: list[InputError] = field(default_factory=list)
    beyond: dict[tuple[str, str], tuple[str, int]] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    printed: bytes = b""
    entries: dict[str, str] = field(default_factory=dict)
    latest: str | None = None
    activities: Activities = field(default_factory=Activities)
    stand_ins: StandIns = field(default_factory=StandIns)
    _steady: dict[tuple[Any, ...], tuple[int, int]] = field(default_factory=dict)
    _order: int = 0

    @property
    def traces(self) -> list[LaunchTrace]:
        """The traces so far, in the order of their launches."""
        return sorted([*self.taken, *self.heaviest_traces.values()], key=lambda one: one.order)

    @property
    def is_complete(self) -> bool:
        """Whether all launches that were asked for are captured; a folder takes any kernel's, unless they are named."""
        return self._are_all({(one.counted.kernel, one.counted.index) for one in self.traces if not one.timed})

    def _are_all(self, captured: Set[tuple[str, int]]) -> bool:
        """Whether there is nothing to wait for once these launches, by kernel and number, are captured."""
        if not self.every:
            return bool(captured)
        numbers = (0,) if self.selection.launches is None else self.selection.launches
        if not self.selection.kernels or numbers is ALL:
            return False
        done = [(name, index) for name, index in captured]
        return all(
            any(index == number and matches((kernel,), name, self.entries[name]) for name, index in done)
            for kernel in self.selection.kernels
            for number in numbers
        )

    def _ends_with(self, name: str, index: int) -> bool:
        """Whether the program is to end when this launch is captured, so that no other blocks need to run."""
        captured = {(one.counted.kernel, one.counted.index) for one in self.traces if not one.timed}
        return not self.selection.to_end and self._are_all(captured | {(name, index)})

    def run(
        self,
        device: CapturedDevice,
        request: LaunchRequest,
        host_waits: HostWaits | None = None,
        timer: Timer | LaunchTimer | None = None,
    ) -> LaunchReply:
        """Run a launch, traced if it is wanted.

        Args:
            host_waits: called while the kernel waits for what the host does.
            timer: times the launches that a profiler in the program observes; None: they are estimated.

        Raises:
            InputError: the PTX is not understood, or the kernel does what it must not.
        """
        module = device.modules[request.module]
        entry = module.kernels[request.function]
        name = module.shown[entry]
        self.entries.setdefault(name, entry)
        index, self._order = self.counts[name], self._order + 1
        self.counts[name] += 1
        self.latest = name
        annotate(f"launch {self._order:,}: {name[:60]}")
        known = device.unexecuted.find(request, device.memory, self.selection.stand_ins, self._may_recall(device))
        if known is not None:
            return self._left_out(request, name, known)
        launch = self._launch(device, module, entry, request, index)
        runtime = DeviceRuntime(device.heap)
        device.host_waits = host_waits
        simulated = 0.0
        if request.observed and timer is not None and not isinstance(timer, Timer):
            coded = self._with_machine_code(module, launch)
            simulated = timer.milliseconds(coded, device.memory, runtime, flushed=False, runs=True)
        stands = -1
        try:
            if device.reports:
                counts = self._prepared(device, module, launch, runtime)
            elif self._is_selected(name, entry, index, launch) and self._has_blocks(launch):
                counts = self._traced(device, module, launch, runtime, name, index)
            else:
                counts = self._executed(device, module, launch, runtime)
            if self.selection.launches is ALL and self.is_selected_kernel(name):
                traced = bool(self.taken) and self.taken[-1].order == self._order
                stands = self.stand_ins.add(
                    _shape(name, launch), request.parameters, self._order, counts.accesses, traced
                )
                self._tell_launch(request)
        finally:
            self.printed = b"".join(runtime.text)
            goes_beyond = self._note_beyond(device, name)
        if self.selection.heaviest:
            self._count(name, index, launch, counts)
        spent = round(simulated * 1e6) or launch_nanoseconds(self.gpu, counts.executed, counts.sectors, launch.n_blocks)
        result = LaunchResult(spent, stands, counts)
        keeps = self._may_recall(device) and not goes_beyond  # memory behind allocations is neither compared nor kept
        device.unexecuted.add(request, device.memory, result, bool(self.printed), keeps)
        return LaunchReply(spent, self.printed)

    def _note_beyond(self, device: CapturedDevice, name: str) -> bool:
        """Note the accesses out of bounds of the latest launch that did not end it; whether there were any."""
        found, device.memory.beyond = device.memory.beyond, []
        for one in found:
            key = name, str(one.first.where)
            if key not in self.beyond:
                self.beyond[key] = str(explained(one.first, name, device.memory, self.shown)), 0
            text, count = self.beyond[key]
            self.beyond[key] = text, count + one.count
        return bool(found)

    def _may_recall(self, device: CapturedDevice) -> bool:
        """Whether launches may get the results of earlier ones: none is wanted by its number, and no heap is used."""
        wanted = self.selection.stand_ins or self.selection.heaviest
        return wanted and not device.reports and not device.heap.is_used

    def _left_out(self, request: LaunchRequest, name: str, known: LaunchResult) -> LaunchReply:
        """Reply to a launch that is not executed; an earlier one's trace stands for it."""
        if self.selection.stand_ins and self.is_selected_kernel(name):
            self.stand_ins.leave_out(name, known.stands, known.repeats)
            self._tell_launch(request)
        self.printed = b""
        return LaunchReply(known.nanoseconds, b"", known.repeats)

    def _tell_launch(self, request: LaunchRequest) -> None:
        if self.stand_ins.orders:
            self.activities.add(LAUNCH, request.stream, len(self.stand_ins.orders) - 1)

    def time(self, device: CapturedDevice, request: LaunchRequest, timer: Timer | LaunchTimer) -> LaunchReply:
        """Time a launch of the benchmark under way: some of its blocks run, traced.

        Raises:
            InputError: the PTX is not understood, or the kernel does what it must not.
        """
        assert device.benchmark is not None
        module = device.modules[request.module]
        entry = module.kernels[request.function]
        launch = self._launch(device, module, entry, request, 0)
        runtime = DeviceRuntime(device.heap)
        if not isinstance(timer, Timer):
            coded = self._with_machine_code(module, launch)
            name = module.shown[entry]
            self.entries.setdefault(name, entry)
            if self._is_selected_timed(name, entry):
                self._trace_timed(device, module, coded, runtime, name)
            spent = timer.milliseconds(coded, device.memory, runtime, device.benchmark.flushed)
            self._note_beyond(device, name)
            device.benchmark.launches.append(TimedLaunch(spent))
            return LaunchReply(round(spent * 1e6), b"".join(runtime.text))

        def trace(blocks: str, name: str) -> Path:
            path = (timer.folder or self.folder) / f"{name}{SUFFIX}"
            coded = self._with_machine_code(module, launch)
            run = KernelRun(coded, device.memory, check=False, tracing=True, host_calls=runtime)
            run_and_trace(run, lambda: run, path, self.gpu, blocks, snapshot_only=True)
            return path

        same = launch.ptx, entry, launch.grid, launch.block, launch.cluster, launch.shared_bytes, request.parameters
        timed = timer.time(device.benchmark.flushed, same, trace)
        self._note_beyond(device, module.shown[entry])
        device.benchmark.launches.append(timed)
        return LaunchReply(round(timed.milliseconds * 1e6), b"".join(runtime.text))

    def _is_selected_timed(self, name: str, entry: str) -> bool:
        """Whether to trace a timed launch: while there is no other launch, the first of each kernel."""
        if self.selection.launches is not None or not matches(self.selection.kernels, name, entry):
            return False
        return not (self.heaviest_traces or self.taken) if not self.every else not self._has_trace(name)

    def _has_trace(self, name: str) -> bool:
        return any(one.counted.kernel == name for one in self.traces)

    def _trace_timed(
        self, device: CapturedDevice, module: LoadedModule, launch: PtxLaunch, runtime: DeviceRuntime, name: str
    ) -> None:
        """Trace some blocks of a launch of a benchmark, in case that the program makes no other."""
        path = self.folder / f"{self._order}-timed{SUFFIX}"
        device.memory.name_arrays(array_names(module, launch))
        run = KernelRun(launch, device.memory, check=False, tracing=True, host_calls=runtime)
        blocks = self.selection.blocks or TIMED_BLOCKS
        done = run_and_trace(run, lambda: run, path, self.gpu, blocks, snapshot_only=True, progress=self.progress)
        counted = CountedLaunch(name, 0, launch.grid, launch.block, 0)  # any launch that runs whole has more
        if done.n_traced is not None and self.selection.heaviest:
            self.heaviest_traces[self._group(name)] = LaunchTrace(counted, self._order, path)
        elif done.n_traced is not None:
            self.taken.append(LaunchTrace(counted, self._order, path, timed=True))
        self.note(
            f"{name} is launched in a benchmark: the trace has {TIMED_BLOCKS} of its blocks unless --blocks is given"
        )

    # -- what is selected

    def is_launched(self, kernels: Sequence[str]) -> bool:
        """Whether one of the kernels, as ``--kernel`` names them, was launched."""
        return any(matches(kernels, name, entry) for name, entry in self.entries.items())

    def is_selected_kernel(self, name: str) -> bool:
        """Whether ``--kernel`` names a kernel that was launched."""
        return matches(self.selection.kernels, name, self.entries[name])

    def _is_selected(self, name: str, entry: str, index: int, launch: PtxLaunch) -> bool:
        if not matches(self.selection.kernels, name, entry):
            return False
        if not self.selection.heaviest:
            numbers = (0,) if self.selection.launches is None else self.selection.launches
            if self.selection.stand_ins and not self.stand_ins.is_traced(_shape(name, launch), bytes(launch.arguments)):
                return False
            return index in numbers and not self.is_complete
        heaviest = self.heaviest_traces.get(self._group(name))
        accesses, times = self._steady.get(_shape(name, launch), (0, 0))
        return heaviest is None or times < STEADY or accesses > heaviest.counted.accesses

    def _has_blocks(self, launch: PtxLaunch) -> bool:
        """Whether a launch has the blocks of ``--blocks``; where launches are compared, those without are left out."""
        try:
            if self.selection.blocks is not None and self.selection.heaviest:
                first, _, last = self.selection.blocks.partition(":")
                if last and int(first) >= launch.n_blocks:
                    self.without_blocks.append(
                        InputError(
                            "--blocks",
                            self.selection.blocks,
                            f"names no blocks of {launch.name}; its grid has {launch.n_blocks}",
                        )
                    )
                    return False
        except ValueError:
            pass  # not two numbers: tracing refuses them
        return True

    def _group(self, name: str) -> str:
        return name if self.every else ""

    def _is_worth(self, name: str) -> Callable[[int], bool]:
        heaviest = self.heaviest_traces.get(self._group(name)) if self.selection.heaviest else None
        return lambda guess: heaviest is None or guess * FAR >= heaviest.counted.accesses

    def _count(self, name: str, index: int, launch: PtxLaunch, counts: ExecutedCounts) -> None:
        """Remember what a launch accessed."""
        counted = CountedLaunch(name, index, launch.grid, launch.block, counts.accesses)
        before, times = self._steady.get(_shape(name, launch), (counts.accesses, 0))
        self._steady[_shape(name, launch)] = counts.accesses, times + 1 if before == counts.accesses else 1
        if name not in self.heaviest or counts.accesses > self.heaviest[name].accesses:
            self.heaviest[name] = counted

    # -- running

    def _traced(
        self,
        device: CapturedDevice,
        module: LoadedModule,
        launch: PtxLaunch,
        runtime: DeviceRuntime,
        name: str,
        index: int,
    ) -> ExecutedCounts:
        """Run a launch and keep its trace, if it is the best so far where that is wanted."""
        path = self.folder / f"{self._order}{SUFFIX}"
        device.memory.name_arrays(array_names(module, launch))
        ends = self._ends_with(name, index)  # nobody reads what it stores
        traced = KernelRun(
            self._with_machine_code(module, launch), device.memory, check=not ends, tracing=True, host_calls=runtime
        )
        traced.host_waits = device.host_waits
        done = run_and_trace(
            traced,
            lambda: self._ready(device, module, launch, runtime),
            path,
            self.gpu,
            self.selection.blocks,
            snapshot_only=self.selection.snapshot_only or ends,
            is_worth=self._is_worth(name),
            progress=self.progress,
        )
        if done.n_traced is not None:
            if done.cut:
                self.note(
                    f"{name}: {done.n_traced} of {launch.n_blocks} blocks are traced, as each executes many "
                    "instructions; --blocks 2x traces twice as many as the GPU holds"
                )
            self._store_trace(
                LaunchTrace(
                    CountedLaunch(name, index, launch.grid, launch.block, done.counts.accesses), self._order, path
                )
            )
            if self.selection.snapshot_only and done.n_traced < launch.n_blocks:
                self.incomplete.append(f"{done.n_traced} of {launch.n_blocks} blocks of {name} ran")
        return done.counts

    def _store_trace(self, one: LaunchTrace) -> None:
        group = self._group(one.counted.kernel)
        if not self.selection.heaviest:
            replaced = [other for other in self.taken if other.timed and self._group(other.counted.kernel) == group]
            for other in replaced:
                other.path.unlink()
            self.taken = [*(other for other in self.taken if other not in replaced), one]
            return
        heaviest = self.heaviest_traces.get(group)
        if heaviest is None or one.counted.accesses > heaviest.counted.accesses:
            self.heaviest_traces[group], one = one, heaviest or one
        if one is not self.heaviest_traces[group]:
            one.path.unlink()

    def _executed(
        self, device: CapturedDevice, module: LoadedModule, launch: PtxLaunch, runtime: DeviceRuntime
    ) -> ExecutedCounts:
        """Run a launch for its results."""
        counts = ExecutedCounts()
        run = self._ready(device, module, launch, runtime)
        run.all_blocks(range(launch.n_blocks))
        counts.add(run)
        return counts

    def _prepared(
        self, device: CapturedDevice, module: LoadedModule, launch: PtxLaunch, runtime: DeviceRuntime
    ) -> ExecutedCounts:
        """Run a launch that prepares a measurement; one that takes long does not run to its end."""
        counts, run, n_blocks = ExecutedCounts(), self._ready(device, module, launch, runtime), launch.n_blocks
        done = run.all_blocks(range(run.device.team))
        most = MOST_PREPARED // (PRODUCT if np.isin(run.program.code[:, OP], (Micro.mma, Micro.wgmma)).any() else 1)
        stop = min(n_blocks, max(1, most // run.executed) * run.device.team)
        if run.all_blocks(range(done, stop)) < n_blocks:
            self.note(
                f"{launch.name}: launches outside do_bench in a benchmark function execute about"
                f" {most / 1e6:.1g} million instructions of warps at most, so their results are incomplete"
            )
        counts.add(run)
        return counts

    def _ready(
        self, device: CapturedDevice, module: LoadedModule, launch: PtxLaunch, runtime: DeviceRuntime
    ) -> KernelRun:
        """A kernel ready to run: that of an earlier launch with the same extents, where there is one."""
        if _is_declared_alone(launch.ptx):
            launch = self._with_machine_code(module, launch)
        key = (
            launch.ptx,
            launch.kernel,
            launch.grid,
            launch.block,
            launch.cluster,
            launch.shared_bytes,
            launch.cooperative,
            launch.stack_bytes,
        )
        version = device.memory.version
        if (found := device.ready.pop(key, None)) is not None:
            run, before = found
            run.relaunch(launch, parameter_bytes(launch, launch.function), device.memory, before != version)
        else:
            run = KernelRun(launch, device.memory, check=True, tracing=False)
        run.host_calls, run.host_waits = runtime, device.host_waits
        device.ready[key] = run, version
        if len(device.ready) > READY_RUNS:
            device.ready.popitem(last=False)
        return run

    def _launch(
        self, device: CapturedDevice, module: LoadedModule, entry: str, request: LaunchRequest, index: int
    ) -> PtxLaunch:
        device.memory.use_variables(module.variable_addresses)
        text = module.text_of(entry)
        return PtxLaunch(
            ptx=text,
            kernel=entry,
            grid=request.grid,
            block=request.block,
            arguments=request.parameters,
            shared_bytes=request.shared_bytes,
            cluster=request.cluster,
            source=self.shown,
            parameters=self.about | {"launch": index, "order": self._order - 1, "compiled_for": target(text)},
            name=module.shown[entry],
            origin=self.origin,
            cooperative=request.cooperative,
            workspace=WORKSPACE_ADDRESS if request.cooperative else 0,
            stack_bytes=request.stack_bytes,
        )

    def _with_machine_code(self, module: LoadedModule, launch: PtxLaunch) -> PtxLaunch:
        """The launch with what the assembler makes of its kernel."""
        sass = self.modules.sass_kernel(module, launch.kernel)
        if not launch.workspace and not isinstance(sass, str) and reads_workspace(sass):
            sass = "it has a barrier of the whole grid, and was not launched for that"
        return with_code(replace(launch, registers=self._registers(module, launch)), sass)

    def _registers(self, module: LoadedModule, launch: PtxLaunch) -> int:
        """Registers of a thread: as given, else as the assembler says."""
        if self.selection.registers is not None:
            return self.selection.registers
        registers, note = registers_of(self.modules.needs(module, launch.kernel), launch.name)
        if note:
            self.note(note)
        return registers

    def note(self, line: str) -> None:
        """Keep a line for the user, once."""
        self.notes += [line] if line not in self.notes else []


@lru_cache(maxsize=64)
def _is_declared_alone(ptx: str) -> bool:
    """Whether a module's text declares its kernels, and their code is machine code."""
    return carried_cubin(ptx) is not None


def _shape(name: str, launch: PtxLaunch) -> tuple[Any, ...]:
    return name, launch.grid, launch.block, launch.shared_bytes
