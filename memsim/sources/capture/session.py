"""One capture from start to end: build the program, run it, answer its questions, write what it logs."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from memsim.config import GPU
from memsim.errors import InputError
from memsim.files import check_writable
from memsim.sources import snapshot
from memsim.sources.capture.build import Sources, build
from memsim.sources.capture.log import Blocks, End, Failed, Launch, Message, Records
from memsim.sources.capture.merge import Merger
from memsim.sources.capture.process import Process
from memsim.sources.capture.resources import Resources
from memsim.trace.info import lane_bytes
from memsim.trace.reader import Trace
from memsim.trace.schema import Chunk, LaunchShape
from memsim.trace.writer import TraceWriter

Progress = Callable[[int, int], None]  # blocks done, blocks in all


@dataclass(frozen=True)
class Wanted:
    """What of a program's run is captured.

    Attributes:
        kernel: by name; None: the first that is launched.
        launch: which of its launches, from 0.
        blocks: ``FIRST:LAST``, ``4x`` (times the resident threads) or ``all``; None: what section 3.1 of Baghsorkhi
            2012 asks for.
        snapshot_only: other blocks of the launch do not run, so what runs later sees wrong data.
        registers: of a thread; None: as nvcc reports, where there is nvcc.
        gaps: estimate the instructions between accesses.
        stop: end the program as soon as the one trace is complete, whatever it would have done or found later.
    """

    kernel: str | None = None
    launch: int = 0
    blocks: str | None = None
    snapshot_only: bool = False
    registers: int | None = None
    gaps: bool = False
    stop: bool = False


@dataclass(frozen=True)
class Captured:
    """What a capture brought.

    Attributes:
        traces: one of each captured launch.
        launches: how often each kernel was launched, in the order of their first launches.
        notes: what the user should know, a line each.
    """

    traces: list[Trace]
    launches: dict[str, int]
    notes: list[str]

    @property
    def trace(self) -> Trace:
        """The one trace, or the first."""
        return self.traces[0]


def capture(
    sources: Sources,
    arguments: Sequence[str],
    out: str | Path,
    gpu: GPU,
    wanted: Wanted | None = None,
    *,
    keep: Path | None = None,
    progress: Progress | None = None,
) -> Captured:
    """Build a program with probes, run it here, and write the memory trace of one of its launches.

    Args:
        sources: the program.
        arguments: of its command line.
        out: the trace file; or a folder, for one trace a kernel, each of the wanted launch.
        gpu: whose occupancy and L2 size choose the snapshot; the trace itself fits any GPU.
        wanted: which launch and blocks.
        keep: a folder for the instrumented source and the build's log; None: they are not kept.
        progress: told the blocks done and all.

    Raises:
        InputError: the source is not understood, the program fails, the wanted launch never comes, or the file cannot
            be written. Nothing is left behind.
    """
    wanted = wanted or Wanted()
    if not Path(out).is_dir():
        check_writable(out)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="memsim-"))) if keep is None else keep
        folder.mkdir(parents=True, exist_ok=True)
        resources = Resources(sources, ask=wanted.registers is None)
        stack.callback(resources.close)
        program = build(sources, folder)
        shown = str(sources.files[0])
        merger = Merger(program.sites, wanted.gaps, shown)
        recorder = _Recorder(shown, arguments, Path(out), gpu, wanted, merger, resources, sources.gpu, progress)
        stack.enter_context(recorder.writers)
        process = stack.enter_context(Process(program.path, arguments, shown))
        for message in process.messages():
            if answer := recorder.take(message):
                process.answer(answer)
            if wanted.stop and recorder.is_complete:
                break
        else:
            process.check()
        recorder.close()
    traces = [Trace.open(path) for path in recorder.written]
    return Captured(traces, dict(recorder.launches), _notes(recorder.launches, traces, wanted))


def _notes(launches: Mapping[str, int], traces: Sequence[Trace], wanted: Wanted) -> list[str]:
    notes = []
    others = {kernel: count for kernel, count in launches.items() if kernel not in {one.kernel for one in traces}}
    if others and wanted.kernel is None:
        seen = ", ".join(f"{kernel} ({count})" for kernel, count in others.items())
        notes.append(f"captured {traces[0].kernel}, launch {wanted.launch}; launched too: {seen}; choose with --kernel")
    if wanted.snapshot_only and sum(launches.values()) > len(traces):
        notes.append("other blocks of the launch did not run: what the program computed after it is wrong")
    return notes


@dataclass
class _Recorder:
    """Writes the wanted launches' traces from the program's messages; all of them, or none if the program fails."""

    program: str
    arguments: Sequence[str]
    out: Path
    gpu: GPU
    wanted: Wanted
    merger: Merger
    resources: Resources
    on_gpu: bool = False
    progress: Progress | None = None
    launches: Counter[str] = field(default_factory=Counter)
    written: list[Path] = field(default_factory=list)
    writers: ExitStack = field(default_factory=ExitStack)  # they remove what they wrote if anything fails
    _launch: Launch | None = None  # that is being captured
    _writer: TraceWriter | None = None
    _first: int | None = None  # the first block, until its accesses have told how many blocks to take
    _blocks: range = range(0)

    def take(self, message: Message) -> str:
        """Use a message of the program; returns the answer that it waits for, if it does."""
        if isinstance(message, Failed):
            raise InputError(self.program, "run", f"failed: {message.text}")
        chunk = self.merger.take(message)
        if isinstance(message, Launch):
            return self._begin(message)
        if isinstance(message, Blocks):
            assert chunk is not None
            return self._add(message, chunk)
        if isinstance(message, Records):
            assert self._writer is not None
            self._writer.append(np.array(self._blocks), self.merger.records(message, self._blocks))
        if isinstance(message, End):
            self._end()
        return ""

    @property
    def is_complete(self) -> bool:
        """Whether there is nothing more to capture."""
        return bool(self.written) and self._launch is None and not self.out.is_dir()

    def close(self) -> None:
        """The program is done, and well: keep the traces.

        Raises:
            InputError: nothing was captured.
        """
        if self._launch is not None:
            raise InputError(self.program, "run", f"ended inside kernel {self._launch.kernel}; no trace was kept")
        if not self.written:
            kernel, seen = self.wanted.kernel, ", ".join(f"{one} ({n})" for one, n in self.launches.items())
            if not self.launches:
                raise InputError(self.program, "run", "launched no kernel; give arguments after -- if it needs some")
            if kernel is not None and kernel not in self.launches:
                raise InputError("--kernel", kernel, f"was never launched; launched were {seen}")
            raise InputError("--launch", str(self.wanted.launch), f"never came; launches, counted from 0: {seen}")
        self.writers.close()

    def _begin(self, launch: Launch) -> str:
        """A launch is about to run: which of its blocks to log."""
        index = self.launches[launch.kernel]
        self.launches[launch.kernel] += 1
        if not self._is_wanted(launch, index):
            return "0 0"
        self._launch = launch
        path = self.out / f"{launch.kernel}.h5" if self.out.is_dir() else self.out
        about = {"launch": index} | ({"arguments": shlex.join(self.arguments)} if self.arguments else {})
        self._writer = self.writers.enter_context(
            TraceWriter(path, kernel=launch.kernel, source=self.program, parameters=about)
        )
        self.written.append(path)
        if self.on_gpu:  # all at once, before anything is known of what a block accesses
            self._blocks = self._given() if self.wanted.blocks is not None else self._wave()
            return self._answer(self._blocks.start, self._blocks.stop)
        self._first = self._given().start if self.wanted.blocks is not None else 0
        return self._answer(self._first, self._first + 1)

    def _is_wanted(self, launch: Launch, index: int) -> bool:
        if index != self.wanted.launch or (self.written and not self.out.is_dir()):
            return False
        return self.wanted.kernel in (None, launch.kernel)

    def _given(self) -> range:
        assert self.wanted.blocks is not None
        return snapshot.given_blocks(self.wanted.blocks, self._shape(), self.gpu)

    def _wave(self) -> range:
        """As many blocks as the GPU holds at a time."""
        return snapshot.given_blocks("1x", self._shape(), self.gpu)

    def _shape(self) -> LaunchShape:
        assert self._launch is not None
        if self.wanted.registers is not None:
            return self.merger.launch_shape(self.wanted.registers)
        threads = self.merger.launch_shape().warps_per_block * self.gpu.sm.warp_size
        most = self.gpu.sm.registers // threads  # nvcc would make do with so many for this GPU
        return self.merger.launch_shape(min(self.resources.registers(self._launch.kernel), most))

    def _add(self, message: Blocks, chunk: Chunk) -> str:
        """Write blocks; the first one's accesses decide on how many there will be."""
        assert self._writer is not None
        self._writer.append(message.ids, chunk)
        if self.progress and self._first is None:
            self.progress(int(message.ids[-1]) + 1 - self._blocks.start, len(self._blocks))
        if self._first is None:
            return ""
        self._first = None
        if self.wanted.blocks is not None:
            self._blocks = self._given()
        else:
            self._blocks = snapshot.default_blocks(self._shape(), self.gpu, None, lane_bytes(chunk, self.merger.ops))
        return self._answer(self._blocks.start, self._blocks.stop)

    def _answer(self, first: int, last: int) -> str:
        return f"{first} {last}{' only' if self.wanted.snapshot_only else ''}"

    def _end(self) -> None:
        if self._launch is None:
            return
        assert self._writer is not None
        self._writer.finish(self._shape(), self.merger.ops, self.merger.arrays)
        self._launch = self._writer = None
