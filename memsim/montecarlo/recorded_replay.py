"""One replay on the reference model that is recorded: who did what, and when."""

from __future__ import annotations

import numpy as np

from memsim.gpu.config import GPU
from memsim.hierarchy.execution import Execution
from memsim.montecarlo.reference_trial import reference_model
from memsim.reference.recorder import SpanRecorder
from memsim.support.errors import InputError
from memsim.support.scratch import Scratch
from memsim.trace.reader import Trace

TRANSACTIONS = 20_000  # which take about half a minute


def recorded_replay(trace: Trace, gpu: GPU, *, sm: int = 0, most: int = TRANSACTIONS, seed: int = 0) -> SpanRecorder:
    """Replay the first blocks of a trace on the reference model, and record it.

    Args:
        sm: number of the SM whose warps are recorded.
        most: transactions after which no further block is launched.
        seed: of the trial 0 that is replayed.

    Raises:
        InputError: a GPU without that SM, or a block that fits no SM.
    """
    if not 0 <= sm < gpu.sm.count:
        raise InputError("--sm", str(sm), f"is not an SM of {gpu.name}; it has 0 to {gpu.sm.count - 1}")
    with Scratch() as folder:
        execution = Execution.of(trace, gpu, folder)
        execution.prepare(trace)
        seeds, _ = np.random.SeedSequence(seed, spawn_key=(0,)).spawn(2)
        model, _, _ = reference_model(execution.transactions, execution, execution.layout, seeds, most)
        recorder = SpanRecorder(model, sm)
        model.run()
    return recorder
