"""The compiled code's trace of a CUDA C++ program where it can be had, else the source's."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from memsim.gpu.config import GPU
from memsim.sources.capture import Captured, Sources, Wanted, capture
from memsim.sources.capture.frontend.expressions import INLINE_PTX
from memsim.sources.capture.recorder import Progress, check_place, check_several
from memsim.sources.capture.session import NOT_IN_SOURCES
from memsim.sources.outputs import is_folder, moved_trace
from memsim.sources.ptx.cpp.session import Refused, SeveralLaunches, capture_by_ptx
from memsim.support.errors import InputError
from memsim.support.scratch import HIDDEN, Scratch
from memsim.trace.reader import Trace

_COMPILED = "traced by its compiled code (nvcc's PTX)"
_ALL_COMPILED = f"{_COMPILED}; --by source traces the source"
_ENDED = f"{_COMPILED}, the first launch: the source has inline PTX, so the program was ended with the trace"
_NOT_FAST = "what is traced by its source is as without --use-fast-math"

Compiled = Callable[..., Captured]


def capture_best(
    sources: Sources,
    arguments: Sequence[str],
    out: Path,
    gpu: GPU,
    wanted: Wanted,
    *,
    keep: Path | None = None,
    progress: Progress | None = None,
) -> Captured:
    """Trace what nvcc makes of a launch's kernel; without nvcc, or where its code cannot be run here, the source.

    Compiled code has the unrolled loops, the joined accesses and the instructions that a GPU sees. Which launch is
    meant, if none is named and there are several, only a run by source tells: then the program runs once more.

    Args: see :func:`memsim.sources.capture.capture`.

    Returns:
        The traces; a note tells by which of both, and why.

    Raises:
        InputError: as there.
    """
    check_place(out)
    check_several(out, wanted)
    with Scratch(out.absolute().parent, HIDDEN) as folder:
        places = {way: _place(Path(folder) / way, out) for way in ("source", "compiled")}

        def by_source() -> Captured:
            return capture(sources, arguments, places["source"], gpu, wanted, keep=keep, progress=progress)

        def compiled(exact: Wanted, refused: Refused | None, only: bool = False) -> Captured:
            return capture_by_ptx(
                sources,
                arguments,
                places["compiled"],
                gpu,
                exact,
                keep=keep,
                progress=progress,
                refused=refused,
                only=only,
            )

        if why := _only_by_source(sources, wanted):
            return _moved(_noted(by_source(), f"traced by its source: {why}"), out, sources)
        if not wanted.heaviest:
            return _moved(_best_of_chosen(compiled, by_source, wanted), out, sources)
        try:
            if not is_folder(out) and (found := _of_only_launch(compiled, wanted)):
                return _moved(_noted(found, _ALL_COMPILED), out, sources)
            found = by_source()
        except InputError as error:
            if error.field != INLINE_PTX:
                raise
            return _moved(_noted(compiled(replace(wanted, launches=(0,), stop=True), None), _ENDED), out, sources)
        return _moved(_best_of_heaviest(compiled, found, wanted), out, sources)


def _place(folder: Path, out: Path) -> Path:
    """Where traces lie until all are made: named as they will be."""
    place = folder / Path(os.path.abspath(out)).name
    folder.mkdir()
    if out.is_dir():
        place.mkdir()
    return place


def _best_of_chosen(compiled: Compiled, by_source: Callable[[], Captured], wanted: Wanted) -> Captured:
    """Of launches that were named; the program runs again for those whose code could not be run."""
    refused = Refused()
    found = compiled(wanted, refused)
    if not refused:
        return _noted(found, _ALL_COMPILED)
    try:
        return _joined(found, by_source(), refused)
    except InputError as error:
        if error.field != INLINE_PTX:
            raise
        raise next(iter(refused.values())) from None  # there is no other way to trace it


def _of_only_launch(compiled: Compiled, wanted: Wanted) -> Captured | None:
    """Of the launch of a program that has one; None if it has several, or its code cannot be run."""
    if _is_given_input():
        return None  # what the program has read there would be gone for the next run
    refused = Refused()
    with suppress(SeveralLaunches):
        found = compiled(wanted, refused, only=True)
        return None if refused else found
    return None


def _is_given_input() -> bool:
    """Whether standard input is a file or a pipe."""
    try:
        return not stat.S_ISCHR(os.fstat(0).st_mode)
    except OSError:  # it is closed
        return False


def _best_of_heaviest(compiled: Compiled, found: Captured, wanted: Wanted) -> Captured:
    """Of the launches that a run by source found."""
    refused = Refused()
    exact = replace(wanted, exact=frozenset(map(_launch, found.traces)), stop=True)
    try:
        return _joined(compiled(exact, refused), found, refused)
    except InputError as error:  # of the second run, where the first went well
        return _noted(found, f"traced by its source: {error}")


def _only_by_source(sources: Sources, wanted: Wanted) -> str:
    """Why compiled code is out of the question; "" if it is not."""
    if sources.gpu:
        return "it runs on a GPU"
    if wanted.gaps or wanted.unroll != 1:
        return "--gaps and --unroll are guesses at what compiled code has"
    if shutil.which("nvcc") is None:
        return "nvcc is not installed here"
    return ""


def _launch(trace: Trace) -> tuple[str, int]:
    return trace.kernel, int(trace.parameters["launch"])


def _joined(compiled: Captured, source: Captured, refused: Refused) -> Captured:
    """The compiled code's traces, and the source's of the launches whose code could not be run."""
    own = {_launch(trace): trace for trace in compiled.traces}
    traces = [own.get(_launch(trace), trace) for trace in source.traces]
    kernels = {kernel for kernel, _ in refused}
    notes = [one for one in source.notes if "registers" not in one or one.partition(":")[0] in kernels]  # others: own
    notes = [one for one in notes if NOT_IN_SOURCES not in one or len(own) < len(traces)]
    notes += [f"{kernel}: traced by its source: {error}" for (kernel, _), error in refused.items()]
    return Captured(traces, source.launches, [*notes, *([_ALL_COMPILED] if own else [])])


def _moved(found: Captured, out: Path, sources: Sources) -> Captured:
    traces = [Trace.open(moved_trace(trace.path, out)) for trace in found.traces]
    slow = sources.fast_math and any("by" not in trace.parameters for trace in traces)
    return replace(found, traces=traces, notes=[*found.notes, *([_NOT_FAST] if slow else [])])


def _noted(found: Captured, note: str) -> Captured:
    return replace(found, notes=[*found.notes, note])
