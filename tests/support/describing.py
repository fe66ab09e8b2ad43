"""Describes small kernels for tests."""

import numpy as np

from memsim.sources.describe import Launch, Recorder, Workload
from memsim.trace.schema import NO_OP, Flag


def describe(kernel, grid=1, block=32, **arguments):
    """Run a kernel over its whole grid; the recorder and its one chunk."""
    launch = Launch(kernel, grid, block, arguments)
    recorder = Recorder(Workload(kernel, "kernel.py"), launch)
    return recorder, recorder.run(np.arange(launch.shape.n_blocks))


def program(recorder, chunk, warp=0):
    """A warp's instructions in order: (source text, starts a sequence); barriers are "barrier"."""
    rows = range(chunk.first_instruction[warp], chunk.first_instruction[warp + 1])
    texts = [op.text for op in recorder.ops]
    return [
        ("barrier" if chunk.flags[i] & Flag.barrier else texts[chunk.op[i]], bool(chunk.flags[i] & Flag.sequence))
        for i in rows
        if chunk.op[i] != NO_OP or chunk.flags[i] & Flag.barrier
    ]
