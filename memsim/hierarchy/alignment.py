"""Whether the blocks that are resident at the start begin at random phases."""

from __future__ import annotations

from memsim.gpu.config import GPU, MID_LAUNCH
from memsim.gpu.presets import override
from memsim.trace.reader import Trace


def aligned(gpu: GPU, trace: Trace) -> GPU:
    """Return the GPU with ``stochastic.start_alignment`` on or off, as it is right for a trace.

    Random phases (Baghsorkhi et al., PPoPP 2012, 3.2.1) stand for what went before: in the middle of a launch blocks
    have drifted apart. A trace that has the launch's first block begins where the launch does, with all blocks in
    step, which drift apart as far as they do; random phases would take from blocks that stay in step, as those of tiled
    matrix products do, what they share in the caches.
    """
    if gpu.stochastic.start_alignment != MID_LAUNCH:
        return gpu
    return override(gpu, {"stochastic.start_alignment": bool(trace.block_ids.min(initial=0) > 0)})
