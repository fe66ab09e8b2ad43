"""The compiled code's trace of a CUDA C++ program where it can be had, else the source's."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from memsim.gpu.config import GPU
from memsim.sources.capture import Captured, Sources, Wanted, capture
from memsim.sources.capture.frontend.expressions import INLINE_PTX
from memsim.sources.capture.recorder import Progress
from memsim.sources.outputs import moved_trace
from memsim.sources.ptx.cpp.session import Refused, capture_by_ptx
from memsim.support.errors import InputError
from memsim.support.scratch import HIDDEN, Scratch
from memsim.trace.reader import Trace

_COMPILED = "traced by its compiled code (nvcc's PTX)"
_ENDED = f"{_COMPILED}, the first launch: the source has inline PTX, so the program was ended with the trace"


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
    meant, if none is named, only a run by source tells: then the program runs twice.

    Args: see :func:`memsim.sources.capture.capture`.

    Returns:
        The traces; a note tells by which of both, and why.

    Raises:
        InputError: as there.
    """
    if why := _only_by_source(sources, wanted):
        found = capture(sources, arguments, out, gpu, wanted, keep=keep, progress=progress)
        return _noted(found, f"traced by its source: {why}")
    with Scratch(out.absolute().parent, HIDDEN) as folder:
        place = Path(folder) / out.name
        if out.is_dir():
            place.mkdir()

        @cache
        def by_source() -> Captured:
            return capture(sources, arguments, place, gpu, wanted, keep=keep, progress=progress)

        exact, refused = wanted, Refused()
        if wanted.heaviest:
            try:
                exact = replace(wanted, exact=frozenset(map(_launch, by_source().traces)), stop=True)
            except InputError as error:
                if error.field != INLINE_PTX:
                    raise
                exact = replace(wanted, launches=(0,), stop=True)
                compiled = capture_by_ptx(sources, arguments, out, gpu, exact, keep=keep, progress=progress)
                return _noted(compiled, _ENDED)
        try:
            compiled = capture_by_ptx(
                sources, arguments, out, gpu, exact, keep=keep, progress=progress, refused=refused
            )
        except InputError as error:
            try:
                source = by_source()
            except InputError as other:
                raise (error if other.field == INLINE_PTX else other) from None
            moved = [Trace.open(moved_trace(trace.path, out)) for trace in source.traces]
            return _noted(replace(source, traces=moved), f"traced by its source: {error}")
        return _joined(compiled, by_source if wanted.heaviest or refused else None, refused, out)


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


def _joined(compiled: Captured, by_source: Callable[[], Captured] | None, refused: Refused, out: Path) -> Captured:
    """The compiled code's traces, and the source's of the launches whose code could not be run."""
    notes = [f"{kernel}: traced by its source: {error}" for (kernel, _), error in refused.items()]
    if compiled.traces:
        notes.append(f"{_COMPILED}; --by source traces the source")
    if by_source is None:
        return replace(compiled, notes=[*compiled.notes, *notes])
    source, own = by_source(), {_launch(trace): trace for trace in compiled.traces}
    traces = [
        own[launch] if (launch := _launch(trace)) in own else Trace.open(moved_trace(trace.path, out))
        for trace in source.traces
    ]
    kernels = {kernel for kernel, _ in refused}
    told = [one for one in source.notes if "registers" not in one or one.partition(":")[0] in kernels]  # others: own
    return Captured(traces, source.launches, [*told, *notes])


def _noted(found: Captured, note: str) -> Captured:
    return replace(found, notes=[*found.notes, note])
