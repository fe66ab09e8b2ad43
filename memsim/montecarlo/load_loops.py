"""Getting the compiled loops ready before workers start, so that they are compiled or read from disk once."""

from __future__ import annotations

import numpy as np

from memsim.gpu.config import GPU
from memsim.hierarchy.main_memory.step import memory_step
from memsim.hierarchy.system import System
from memsim.support.compiled import loading_loops
from memsim.trace.transactions import INSTRUCTION, Transactions


def load_loops(gpu: GPU) -> None:
    """Replay one load, which compiles every loop or reads it from Numba's cache; says so when it takes long."""
    with loading_loops():
        system = System(one_load(), gpu, 1, np.random.SeedSequence(0))
        system.run()
        run = system.machine.log_run
        memory_step(system.machine, gpu, np.ones(run, np.int64), run, np.random.default_rng(0))


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
