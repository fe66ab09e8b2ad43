"""Describing: lane accesses recorded a second, in memory alone and with the file written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

from experiments.bench.table import Row
from experiments.bench.workload import Prepared
from memsim.sources.describe import Recorder, Workload, load_workload
from memsim.sources.describe.workload import Launch
from memsim.trace.bits import popcounts
from memsim.trace.schema import NO_OP
from memsim.trace.writer import TraceWriter


def describing(prepared: Prepared) -> list[Row]:
    """The same blocks as in the trace; the matrix is built before the clock starts."""
    workload = load_workload("spmv")
    launch = workload.build(workload.parameters(prepared.size.parameters))
    blocks = prepared.trace.block_ids
    rows = []
    with TemporaryDirectory(prefix="memsim-bench-") as folder:
        for what, path in (("in memory", None), ("with the file", Path(folder) / "spmv.h5")):
            done = [_record(workload, launch, blocks, path) for _ in range(prepared.size.repeats)]
            lanes, best = done[0][0], min(seconds for _, seconds in done)
            how = f"best of {len(done)} runs, {lanes / 1e6:.2f} M lane accesses, wall, the data built before"
            what = f"lane accesses described per second, {what}"
            rows.append(Row(what, lanes / best / 1e6, "M/s", 20, 100, how, lanes))
    return rows


def _record(workload: Workload, launch: Launch, blocks: np.ndarray, path: Path | None) -> tuple[int, float]:
    """Lane accesses, and the seconds it took to record them (and to write the file)."""
    recorder = Recorder(workload, launch)
    lanes, seconds, begin = 0, 0.0, perf_counter()
    writing = TraceWriter(path, kernel="csr", source=workload.shown, parameters={}) if path else nullcontext()
    with writing as writer:
        for batch in _batches(recorder, blocks):
            chunk = recorder.run(batch)
            if writer:
                writer.append(batch, chunk)
            seconds += perf_counter() - begin
            lanes += int(popcounts(chunk.mask[chunk.op != NO_OP]).sum())
            begin = perf_counter()
        if writer:
            writer.finish(recorder.launch, recorder.ops, recorder.arrays)
    return lanes, seconds + perf_counter() - begin


def _batches(recorder: Recorder, blocks: np.ndarray) -> Iterator[np.ndarray]:
    done = 0
    while done < len(blocks):
        batch = blocks[done : done + recorder.batch_blocks]
        yield batch
        done += len(batch)
