"""Which GPU is meant where a trace is replayed and none is named: the one that the trace was made for."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import overload

from memsim.gpu.config import GPU
from memsim.gpu.defaults import DEFAULT_GPU
from memsim.gpu.presets import load_gpu, names
from memsim.support.errors import InputError
from memsim.trace.reader import Trace


@lru_cache(64)
def gpu_label(gpu: GPU) -> str:
    """What a trace says of the GPU that it is made for: the name of a preset, if it is one unchanged.

    >>> gpu_label(load_gpu("h100"))
    'h100'
    """
    unchanged = gpu.name in names() and load_gpu(gpu.name) == gpu
    return gpu.name if unchanged else f"{gpu.name} (not the preset)"


@overload
def resolve_gpu(trace: Trace, gpu: str | Path | None) -> str | Path: ...


@overload
def resolve_gpu(trace: Trace, gpu: GPU | str | Path | None) -> GPU | str | Path: ...


def resolve_gpu(trace: Trace, gpu: GPU | str | Path | None) -> GPU | str | Path:
    """The GPU that was named; else the preset that the trace was made for; else, if it does not state it, the default.

    Raises:
        InputError: none was named, and the trace was made for one that is no preset.
    """
    if gpu is not None:
        return gpu
    if trace.gpu and trace.gpu not in names():
        raise InputError(trace.path, "gpu", f"is {trace.gpu}, which is not a preset; name a GPU, as --gpu does")
    return trace.gpu or DEFAULT_GPU
