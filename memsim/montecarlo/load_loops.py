"""Getting the compiled loops ready before workers start, so that they are compiled or read from disk once."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import numpy as np

from memsim.gpu.config import GPU
from memsim.hierarchy.main_memory import memory_step
from memsim.hierarchy.system import System
from memsim.jit.compiled import loading_loops
from memsim.jit.mode import PLAIN_NUMBA
from memsim.montecarlo.pool import Processes
from memsim.trace.transactions import INSTRUCTION, Transactions

SEPARATE_LEVELS = ("slices", "channels", "translation")  # take together as long to compile as the SMs and a trace


def load_loops(gpu: GPU, first: Callable[[], object] = lambda: None) -> None:
    """Replay one load, which compiles every loop or reads it from Numba's cache; says so when it takes long.

    Where none is there and the host has another core, a second process compiles half of them meanwhile.

    Args:
        first: called before this process compiles its half; the other one begins before.
    """
    system = _system(gpu)
    with _compile_separately(system) as wait:
        first()
        with loading_loops():
            system.load("sms")
            wait()
            system.run()
            run = system.machine.log_run
            memory_step(system.machine, gpu, np.ones(run, np.int64), run, np.random.default_rng(0))


@contextmanager
def _compile_separately(system: System) -> Iterator[Callable[[], object]]:
    """Another process compiles the loops of `SEPARATE_LEVELS`, if that is worth it; waits until they are on disk.

    If that process is killed, they are compiled when they are needed.
    """
    if PLAIN_NUMBA or system.is_ready("sms") or system.is_ready(SEPARATE_LEVELS[0]) or not _has_another_core():
        yield lambda: None
        return
    with closing(Processes(_compile, 1)) as other:
        other.begin(0, system.gpu)
        yield other.answers  # what went wrong there shows again where the loops are needed


def _has_another_core() -> bool:
    """Whether a forked process can compile meanwhile; others would run a script that has no main guard again."""
    return platform.system() == "Linux" and len(os.sched_getaffinity(0)) > 1


def _compile(gpu: GPU) -> None:
    """Compile the loops of the levels `SEPARATE_LEVELS`; Numba writes each to disk."""
    system = _system(gpu)
    for level in SEPARATE_LEVELS:
        if getattr(system.machine, level) is not None:
            system.load(level)


def _system(gpu: GPU) -> System:
    return System(one_load(), gpu, 1, np.random.SeedSequence(0))


def one_load() -> Transactions:
    """A launch of one warp that loads one word."""
    instruction = np.zeros(1, INSTRUCTION)
    instruction["count"] = 1
    return Transactions(
        instructions=instruction,
        lines=np.zeros(1, np.uint32),
        masks=np.ones(1, np.uint8),
        partial=np.zeros(1, np.uint8),
        line_address=np.zeros(1, np.uint64),
        first_instruction=np.array([0, 1]),
        first_warp=np.array([0, 1]),
        n_ops=1,
    )
