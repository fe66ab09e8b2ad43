"""What the server keeps of one process: its memory, its modules, and the benchmark that it runs."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from memsim.capture.arena import ProcessMemory
from memsim.capture.device_runtime import Heap
from memsim.capture.modules import LoadedModule
from memsim.capture.tuning import TimedLaunch
from memsim.capture.unexecuted import UnexecutedLaunches
from memsim.sources.ptx.trace import HostWaits, KernelRun


@dataclass
class Benchmarked:
    """A benchmark: whether L2 was flushed before it, and its launches."""

    flushed: bool
    launches: list[TimedLaunch] = field(default_factory=list)


@dataclass
class CapturedDevice:
    """What the server keeps of one process.

    Attributes:
        memory: its allocations.
        modules: that it has loaded, by handle.
        heap: of device-side malloc.
        workspace: u32 bytes and u32 barrier of cooperative groups' grids.
        benchmark: what a tuner times at the moment; None: nothing.
        benchmarks: the launches of each that has ended.
        reports: whether a function runs that makes measurements (``triton.testing.perf_report``).
        ready: kernels that have run, by kernel and extents, the latest last.
        host_waits: called while the present kernel waits for what the host does.
        finished: payload and status of the launch that ran while the program continued.
        unexecuted: decides which launches need not be executed.
    """

    memory: ProcessMemory
    modules: dict[int, LoadedModule] = field(default_factory=dict)
    heap: Heap = field(default_factory=Heap)
    workspace: np.ndarray = field(default_factory=lambda: np.zeros(64, np.uint8))
    benchmark: Benchmarked | None = None
    benchmarks: list[list[TimedLaunch]] = field(default_factory=list)
    reports: bool = False
    ready: OrderedDict[tuple[Any, ...], tuple[KernelRun, int]] = field(default_factory=OrderedDict)
    host_waits: HostWaits | None = None
    finished: tuple[bytes, int] = (b"", 0)
    unexecuted: UnexecutedLaunches = field(default_factory=UnexecutedLaunches)
