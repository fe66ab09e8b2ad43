"""The compiled code's trace of a CUDA C++ program where it can be had, else the source's."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from memsim.gpu.config import GPU
from memsim.sources.capture import Captured, Sources, Wanted, capture
from memsim.sources.capture.frontend.expressions import INLINE_PTX
from memsim.sources.capture.recorder import Progress
from memsim.sources.outputs import is_folder, moved_trace
from memsim.sources.ptx.cpp.session import capture_by_ptx
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
    if why := _only_by_source(sources, out, wanted):
        found = capture(sources, arguments, out, gpu, wanted, keep=keep, progress=progress)
        return _noted(found, f"traced by its source: {why}")
    if not wanted.heaviest:
        return _compiled_or_source(sources, arguments, out, gpu, wanted, None, keep, progress)
    with Scratch(out.absolute().parent, HIDDEN) as folder:
        place = Path(folder) / out.name
        try:
            found = capture(sources, arguments, place, gpu, wanted, keep=keep, progress=progress)
        except InputError as error:
            if error.field != INLINE_PTX:
                raise
            exact = replace(wanted, launches=(0,), stop=True)
            compiled = capture_by_ptx(sources, arguments, out, gpu, exact, keep=keep, progress=progress)
            return _noted(compiled, _ENDED)
        launch = int(found.trace.parameters["launch"])
        exact = replace(wanted, kernels=(found.trace.kernel,), launches=(launch,), stop=True)
        return _compiled_or_source(sources, arguments, out, gpu, exact, found, keep, progress)


def _only_by_source(sources: Sources, out: Path, wanted: Wanted) -> str:
    """Why compiled code is out of the question; "" if it is not."""
    if sources.gpu:
        return "it runs on a GPU"
    if is_folder(out):
        return "several launches are; --by ptx traces the first of each kernel"
    if wanted.gaps or wanted.unroll != 1:
        return "--gaps and --unroll are guesses at what compiled code has"
    if shutil.which("nvcc") is None:
        return "nvcc is not installed here"
    return ""


def _compiled_or_source(
    sources: Sources, arguments: Sequence[str], out: Path, gpu: GPU, wanted: Wanted, by_source: Captured | None,
    keep: Path | None, progress: Progress | None,
) -> Captured:  # fmt: skip
    """Capture a launch by PTX; if that cannot be, by source, where that is not done already."""
    try:
        compiled = capture_by_ptx(sources, arguments, out, gpu, wanted, keep=keep, progress=progress)
    except InputError as error:
        if by_source is None:
            found = capture(sources, arguments, out, gpu, wanted, keep=keep, progress=progress)
        else:
            found = replace(by_source, traces=[Trace.open(moved_trace(by_source.trace.path, out))])
        return _noted(found, f"traced by its source: {error}")
    known = by_source or compiled
    notes = [note for note in known.notes if "registers" not in note]  # compiled code has its own
    told = f"{_COMPILED}; --by source traces the source"
    return _noted(replace(compiled, launches=known.launches, notes=notes), told)


def _noted(found: Captured, note: str) -> Captured:
    return replace(found, notes=[*found.notes, note])
