"""One capture from start to end: build the program, run it, answer its questions, write what it logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from memsim.gpu.config import GPU
from memsim.sources.capture.build import Sources, build
from memsim.sources.capture.merge import Merger, load_loops
from memsim.sources.capture.process import Process
from memsim.sources.capture.recorder import Progress, Recorder, Wanted, check_place
from memsim.sources.capture.resources import Resources
from memsim.support.scratch import Scratch
from memsim.trace.reader import Trace


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
        out: the trace file, which ends with ``.h5``; or a folder, for one trace a kernel, each of the wanted launch.
        gpu: whose occupancy and L2 size choose the snapshot; the trace itself fits any GPU.
        wanted: which launch and blocks.
        keep: a folder for the instrumented source and the build's log; None: they are not kept.
        progress: told the blocks done and all.

    Raises:
        InputError: the source is not understood, the program fails, the wanted launch never comes, or the file cannot
            be written. Nothing is left behind.
    """
    wanted = wanted or Wanted()
    check_place(Path(out))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(Scratch())) if keep is None else keep
        folder.mkdir(parents=True, exist_ok=True)
        resources = Resources(sources, ask=sources.gpu or wanted.registers is None)
        stack.callback(resources.close)
        program = build(sources, folder)
        shown = str(sources.files[0])
        merger = Merger(program.sites, wanted.gaps, shown, wanted.unroll)
        recorder = Recorder(shown, arguments, Path(out), gpu, wanted, merger, resources, sources.gpu, progress)
        stack.enter_context(recorder.writers)
        process = stack.enter_context(Process(program.path, arguments, shown))
        load_loops()  # while the program makes ready
        for message in process.messages():
            if answer := recorder.take(message):
                process.answer(answer)
            if wanted.stop and recorder.is_complete:
                break
        else:
            process.check()
        recorder.close(program.kernels)
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
