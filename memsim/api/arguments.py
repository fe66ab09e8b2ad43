"""What the arguments of the interface mean: a GPU by name, a trace by path, a file that nobody named."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from memsim.support.errors import InputError
from memsim.support.scratch import Scratch

if TYPE_CHECKING:
    from memsim.gpu.config import GPU
    from memsim.trace.reader import Trace


_numbers = count()


def open_trace(
    path: str | Path, kernel: str | None = None, progress: Callable[[int, int], None] | None = None
) -> Trace:
    """Open a trace file; Accel-Sim's, ``kernelslist.g``, ``.traceg`` or ``.tracez``, are imported to a temporary one.

    Args:
        path: a file of memsim's, or of Accel-Sim's, plain or packed.
        kernel: which one of a list: its id, the name of its file, or a part of its name; None: there is one.
        progress: called with the bytes of the file that are read, and all, when it is imported.

    Raises:
        InputError: a bad file, or several kernels.

    ::

        trace = memsim.open_trace("traces/kernelslist.g", kernel="spmv")
    """
    from memsim.trace.reader import Trace

    path = Path(path)
    if path.suffix == ".g" or {".traceg", ".tracez"} & set(path.suffixes):
        from memsim.sources.imported.accelsim import import_only_kernel

        return import_only_kernel(path, trace_file(None), kernel, progress)
    if kernel is not None:
        raise InputError(path, "kernel", "is given for a trace file, which has only one kernel; leave out --kernel")
    return Trace.open(path)


def opened(
    trace: Trace | str | Path, gpu: GPU | str | Path | None, settings: Mapping[str, object] | None
) -> tuple[Trace, GPU]:
    """A trace, and the GPU that is meant, as it is set."""
    from memsim.trace.reader import Trace
    from memsim.trace.target_gpu import resolve_gpu

    recorded = trace if isinstance(trace, Trace) else open_trace(trace)
    return recorded, named_gpu(resolve_gpu(recorded, gpu), settings)


def named_gpu(gpu: GPU | str | Path, settings: Mapping[str, object] | None = None) -> GPU:
    """A GPU as it is, by the name of its preset, or of a TOML file; or with some fields changed."""
    from memsim.gpu.presets import load_gpu, override

    machine = load_gpu(gpu) if isinstance(gpu, str | Path) else gpu
    return override(machine, settings) if settings else machine


def trace_file(path: str | Path | None) -> str | Path:
    """Where a trace goes: a temporary file if nobody says."""
    return Path(_scratch().name, f"{os.getpid()}-{next(_numbers)}.h5") if path is None else path


@cache
def _scratch() -> Scratch:
    """One folder for temporary traces; it goes when Python ends. Processes forked later share it."""
    return Scratch()
