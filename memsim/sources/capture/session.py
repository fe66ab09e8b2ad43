"""One capture from start to end: build the program, run it, answer its questions, write what it logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from memsim.gpu.config import GPU
from memsim.sources.capture.build import Program, Sources, build
from memsim.sources.capture.lane_log import Launch
from memsim.sources.capture.merge import Merger, load_loops
from memsim.sources.capture.process import Process
from memsim.sources.capture.recorder import Progress, Recorder, check_place, check_several
from memsim.sources.capture.resources import Resources
from memsim.sources.capture.wanted import Wanted
from memsim.support.errors import InputError
from memsim.support.scratch import Scratch
from memsim.trace.reader import Trace

NOT_IN_SOURCES = "is not in the trace of the source"


@dataclass(frozen=True)
class Captured:
    """The traces that one run of a program gave, and what there is to know about them.

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
        """The trace of the launch that was captured first, often the only one."""
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
    check_several(Path(out), wanted)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(Scratch())) if keep is None else keep
        folder.mkdir(parents=True, exist_ok=True)
        resources = Resources(sources, gpu, ask=sources.gpu or wanted.registers is None)
        stack.callback(resources.close)
        program = build(sources, folder)
        for kernel in wanted.kernels:
            program.kernels.check(kernel)
        shown = str(sources.files[0])
        merger = Merger(program.sites, wanted.gaps, shown, wanted.unroll, Path(out).absolute().parent)
        stack.callback(merger.close)
        recorder = Recorder(
            shown, arguments, Path(out), gpu, wanted, merger, resources, program.kernels, sources.gpu, progress
        )
        stack.enter_context(recorder.writers)
        process = stack.enter_context(Process(program.path, arguments, shown))
        load_loops()  # while the program makes ready
        stopped = _listen(process, recorder)
        recorder.close()
    in_order = sorted(recorder.written, key=lambda path: recorder.written[path].launch.index)
    traces = [Trace.open(path) for path in in_order]
    return Captured(
        traces, dict(recorder.launches), [*_notes(recorder, traces, stopped), *_notes_of_libraries(program)]
    )


def _listen(process: Process, recorder: Recorder) -> bool:
    """Take the program's messages until it ends, or needs not go on; whether the latter."""
    try:
        for message in process.messages():
            if isinstance(message, Launch) and message.again:
                process.check()  # it has ended: a copy of it speaks
            if answer := recorder.take(message):
                process.answer(answer)
            if recorder.wanted.stop and recorder.is_complete:
                return True
        process.check()
    except InputError as error:
        if not recorder.spoilt:
            raise
        why = f"its data were wrong ({recorder.spoilt}: --snapshot-only); --stop ends it before it uses them"
        raise InputError(error.where, error.field, f"{error.problem}; {why}") from error
    return False


def _notes(recorder: Recorder, traces: Sequence[Trace], stopped: bool) -> list[str]:
    notes = [*recorder.notes, *_notes_of_launches(recorder, traces), *recorder.wanted.never_came(recorder.launches)]
    if recorder.spoilt and not stopped:
        not_read = "what the program printed or wrote after that is wrong and not to be read"
        notes.append(f"{recorder.spoilt} (--snapshot-only): {not_read}; --stop ends it there")
    return notes


def _notes_of_libraries(program: Program) -> list[str]:
    """What a trace of the source lacks."""
    if not program.collectives:
        return []
    named = ", ".join(program.collectives)
    return [f"what {named} access {NOT_IN_SOURCES}; --by ptx has it"]


def _notes_of_launches(recorder: Recorder, traces: Sequence[Trace]) -> list[str]:
    """What to say of the kernels that were launched, where there was something to choose."""
    heaviest, launches = recorder.heaviest, recorder.launches
    if heaviest is None:
        return notes_of_others(launches, traces, recorder.wanted)
    if launches.total() == 1:
        return []
    captured = {(one.launch.kernel, one.index) for one in recorder.written.values()}
    told = [
        f"{counted} of {launches[kernel]} launches{' (captured)' if (kernel, counted.index) in captured else ''}"
        for kernel, counted in heaviest.of_kernel.items()
    ]
    missed = [
        f"{one.launch.kernel}: launch {one.index} has more accesses than those before it; " for one in heaviest.missed()
    ]
    return [*told, *(f"{text}choose it with --kernel and --launch" for text in missed)]


def notes_of_others(launches: Mapping[str, int], traces: Sequence[Trace], wanted: Wanted) -> list[str]:
    """What to say of kernels that were launched too, where none was chosen."""
    captured = [one.kernel for one in traces]
    others = {kernel: count for kernel, count in launches.items() if kernel not in captured}
    if not others or wanted.kernels or not captured:
        return []
    seen = ", ".join(f"{kernel} ({count})" for kernel, count in others.items())
    launch = traces[0].parameters["launch"]
    return [f"captured {captured[0]}, launch {launch}; launched too: {seen}; choose with --kernel"]
