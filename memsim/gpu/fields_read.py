"""Which fields of a GPU a computation reads: GPUs that agree in these give the same, whatever else they differ in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial, reduce
from typing import Any, cast

from memsim.gpu.config import GPU
from memsim.gpu.section import Section


def recording_reads(gpu: GPU, read: dict[str, str]) -> GPU:
    """The GPU, for a computation whose reads are to be known.

    Args:
        read: gets every field that is read, by its dotted name, and its value in text.

    >>> from memsim.gpu.presets import load_gpu
    >>> read = {}
    >>> recording_reads(load_gpu("tesla-c2050"), read).l1.ways, read
    (64, {'l1.ways': '64'})
    """
    return cast(GPU, _ReadRecorder(gpu, read, ""))


def agrees(gpu: GPU, read: Mapping[str, str]) -> bool:
    """Whether a GPU has these values in all fields that were read of another one."""
    return values(gpu, read) == tuple(read.values())


def values(gpu: GPU, names: Iterable[str]) -> tuple[str, ...]:
    """The values of fields, in text."""
    return tuple(repr(reduce(getattr, name.split("."), gpu)) for name in names)


class _ReadRecorder:
    """A part of a GPU that notes what is asked of it."""

    def __init__(self, of: Section, read: dict[str, str], prefix: str) -> None:
        self._of, self._read, self._prefix = of, read, prefix

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._of, name)
        if isinstance(found, Section):
            return _ReadRecorder(found, self._read, f"{self._prefix}{name}.")
        if callable(found):  # a method; what it reads is noted in turn
            return partial(getattr(type(self._of), name), self)
        self._read[self._prefix + name] = repr(found)
        return found
