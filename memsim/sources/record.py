"""Records a described kernel to a trace file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from memsim.gpu.config import GPU
from memsim.sources import traced_blocks
from memsim.sources.describe import Recorder, Workload, load_workload
from memsim.trace import source_text, target_gpu
from memsim.trace.info import lane_bytes
from memsim.trace.reader import Trace
from memsim.trace.schema import Chunk
from memsim.trace.writer import TraceWriter

Progress = Callable[[int, int], None]  # blocks done, blocks in all


def record(
    workload: Workload | str | Path,
    params: Mapping[str, Any] | None,
    gpu: GPU,
    blocks: str | None,
    out: str | Path,
    progress: Progress | None = None,
) -> Trace:
    """Run a workload's kernel and write what its warps access.

    Args:
        workload: one made by ``@workload``, or a name of the library, or a path to a kernel file.
        params: its parameters, values or text; the others keep their defaults.
        gpu: whose occupancy and L2 size choose the block sample; the trace itself fits any GPU with as many lanes per
            warp.
        blocks: ``FIRST:LAST``, ``4x`` (times the resident threads) or ``all``; None: the workload's default, or what
            section 3.1 of Baghsorkhi 2012 asks for.
        out: the trace file.
        progress: called with the blocks done and all, after every batch.

    Raises:
        InputError: unknown workload or parameter, a kernel that fails or never ends, blocks outside the grid, a file
            that cannot be written. Nothing is left behind.
    """
    if not isinstance(workload, Workload):
        workload = load_workload(workload)
    parameters = workload.parameters(params)
    launch = workload.build(parameters)
    recorder = Recorder(workload, launch, gpu.sm.warp_size)
    about = {"kernel": launch.kernel.__name__, "source": workload.shown, "gpu": target_gpu.gpu_label(gpu)}
    with TraceWriter(out, parameters=parameters, warp_size=gpu.sm.warp_size, **about) as writer:
        # The first block alone shows what a block accesses and how much shared memory it declares.
        start = traced_blocks.given_blocks(blocks, recorder.launch, gpu).start if blocks is not None else 0
        first = recorder.run(np.array([start]))
        if blocks is not None:
            chosen = traced_blocks.given_blocks(blocks, recorder.launch, gpu)
        else:
            accessed = lane_bytes(first, recorder.ops)
            chosen = traced_blocks.default_blocks(recorder.launch, gpu, launch.residencies, accessed)
        for batch, chunk in _batches(recorder, chosen, first):
            writer.append(batch, chunk)
            if progress:
                progress(int(batch[-1]) + 1 - chosen.start, len(chosen))
        writer.finish(recorder.launch, recorder.ops, recorder.arrays, recorder.issue, source_text.of_ops(recorder.ops))
    return Trace.open(out)


def _batches(recorder: Recorder, blocks: range, first: Chunk) -> Iterator[tuple[np.ndarray, Chunk]]:
    """All the blocks with their instructions, the first of which has been run."""
    yield np.array([blocks.start]), first
    done = blocks.start + 1
    while done < blocks.stop:
        batch = np.arange(done, min(done + recorder.batch_blocks, blocks.stop))
        yield batch, recorder.run(batch)
        done += len(batch)
