"""PTX: warp instructions run a second for their addresses alone, and a large product's snapshot with its file."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import numpy as np

from experiments.bench.table import Row
from experiments.bench.workload import FULL, Prepared
from memsim.gpu.presets import load_gpu
from memsim.sources.ptx import DeviceMemory, PtxLaunch, trace_launch
from memsim.trace.reader import Trace
from memsim.trace.schema import NO_OP

PTX = Path(__file__).parents[2] / "tests" / "data" / "ptx" / "matmul.sm_80.ptx"
TILE, SHARED_BYTES = 64, 65_536  # of the kernel in that file


def ptx(prepared: Prepared) -> list[Row]:
    """A tiled product of half precision in Triton, as the tests have it compiled, for A100's snapshot."""
    n = 4096 if prepared.size == FULL else 256
    with TemporaryDirectory(prefix="memsim-bench-") as folder:
        _record(n, folder)  # loads the loops
        done = [_record(n, folder) for _ in range(prepared.size.repeats)]
    count = done[0][0]
    cpu, wall = min(seconds for _, seconds, _ in done), min(seconds for _, _, seconds in done)
    how = f"best of {len(done)} runs, {count / 1e6:.1f} M warp instructions, process time, with the file"
    what = f"snapshot of {n} x {n} x {n}, from PTX to the closed file"
    return [
        Row("PTX warp instructions per second", count / cpu / 1e6, "M/s", 10, 20, how, count),
        Row(what, wall, "s", 30, None, "best, wall; Triton's start and compilation are not included", count, True),
    ]


def _record(n: int, folder: str) -> tuple[int, float, float]:
    """Warp instructions, and seconds of the process and of the clock."""
    memory = DeviceMemory()
    addresses = [memory.add(np.zeros((n, n), np.float16), name) for name in "abc"]
    grid = ((n // TILE) ** 2, 1, 1)
    launch = PtxLaunch(PTX.read_text(), "matmul", grid, (128, 1, 1), [*addresses, n, n, n, 0, 0], SHARED_BYTES)
    process, wall = process_time(), perf_counter()
    trace = trace_launch(launch, memory, Path(folder) / "matmul.h5", load_gpu("a100"))
    return _instructions(trace), process_time() - process, perf_counter() - wall


def _instructions(trace: Trace) -> int:
    """Those of compute runs, which the trace counts without running them all, and accesses."""
    return sum(int(chunk.compute_run.sum()) + int((chunk.op != NO_OP).sum()) for chunk in trace.chunks())
