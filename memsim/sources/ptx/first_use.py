"""Getting the loops of a trace ready: read from disk, or compiled by two processes at their first use."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from memsim.jit.compile_entry import is_ready
from memsim.sources.ptx.launch import PtxLaunch
from memsim.sources.ptx.machine import lazily_compiled_ops
from memsim.sources.ptx.machine import run as machine_run
from memsim.sources.ptx.memory import DeviceMemory
from memsim.sources.ptx.trace import KernelRun
from memsim.support.cores import all_cores

_EMPTY_KERNEL = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry empty() { ret; }\n"
_SEPARATE = "from memsim.sources.ptx.first_use import load_separate_loops; load_separate_loops()"


def load_loops() -> None:
    """Run a kernel that does nothing, which compiles the loops of a trace or reads them from Numba's cache."""
    run = _empty_run()
    with _compiling_separately(run):
        run.blocks(np.arange(1))
    run.chunk(1, 0)


def load_separate_loops() -> None:
    """Load what a trace needs besides the machine's loop, and which takes half as long to compile."""
    run = _empty_run()
    lazily_compiled_ops.load_common(run.device.machine)
    run.chunk(1, 0)


@contextmanager
def _compiling_separately(run: KernelRun) -> Iterator[None]:
    """Another process compiles the separate loops meanwhile, where the main one is not on disk and a core is free.

    It is a new process and not a forked one, because threads of this one are at work. If it fails, the loops are
    compiled when they are needed.
    """
    if is_ready(machine_run.run, run.device.machine) or all_cores() == 1:
        yield
        return
    quiet = subprocess.DEVNULL
    with subprocess.Popen([sys.executable, "-c", _SEPARATE], stdin=quiet, stdout=quiet, stderr=quiet) as other:
        try:
            yield
        except BaseException:
            other.kill()
            raise


def _empty_run() -> KernelRun:
    launch = PtxLaunch(_EMPTY_KERNEL, "empty", (1, 1, 1), (32, 1, 1), [])
    return KernelRun(launch, DeviceMemory(), check=True, tracing=True)
