"""Warp instructions run a second, as PTX and as machine code, and a large product's snapshot with its file."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import numpy as np

from experiments.bench.table import Row
from experiments.bench.workload import FULL, Prepared
from memsim.gpu.presets import load_gpu
from memsim.sources.ptx import DeviceMemory, PtxLaunch, trace_launch
from memsim.sources.ptx.launch import with_code
from memsim.sources.sass.choice import kernel_for
from memsim.trace.reader import Trace
from memsim.trace.schema import NO_OP

PTX = Path(__file__).parents[2] / "tests" / "data" / "ptx" / "matmul.sm_80.ptx"
TILE, SHARED_BYTES = 64, 65_536  # of the kernel in that file


def ptx(prepared: Prepared) -> list[Row]:
    """A tiled product of half precision in Triton, as the tests have it compiled, for A100's snapshot."""
    n = 4096 if prepared.size == FULL else 256
    count, cpu, wall, how = _best(n, prepared.size.repeats)
    what = f"snapshot of {n} x {n} x {n}, from PTX to the closed file"
    return [
        Row("PTX warp instructions per second", count / cpu / 1e6, "M/s", 10, 20, how, count),
        Row(what, wall, "s", 30, None, "best, wall; Triton's start and compilation are not included", count, True),
    ]


def machine_code(prepared: Prepared) -> list[Row]:
    """The same product as machine code: for its addresses alone, and with the values of its tensor cores."""
    full = prepared.size == FULL
    what = "machine code, warp instructions per second"
    count, cpu, _, how = _best(4096 if full else 256, prepared.size.repeats, as_code=True)
    rows = [Row(what, count / cpu / 1e6, "M/s", 12, 20, f"{how}; addresses alone", count)]
    count, cpu, _, how = _best(512 if full else 128, 2, as_code=True, check=True)
    return [*rows, Row(f"{what}, all values", count / cpu / 1e6, "M/s", None, None, f"{how}; HMMA with values", count)]


def _best(n: int, repeats: int, **more: bool) -> tuple[int, float, float, str]:
    """Warp instructions, the least seconds of the process and of the clock, and how they were measured."""
    with TemporaryDirectory(prefix="memsim-bench-") as folder:
        _record(n, folder, **more)  # loads the loops
        done = [_record(n, folder, **more) for _ in range(repeats)]
    count = done[0][0]
    how = f"best of {repeats} runs, {count / 1e6:.1f} M warp instructions, process time, with the file"
    return count, min(seconds for _, seconds, _ in done), min(seconds for _, _, seconds in done), how


def _record(n: int, folder: str, as_code: bool = False, check: bool = False) -> tuple[int, float, float]:
    """Warp instructions, and seconds of the process and of the clock."""
    memory = DeviceMemory()
    addresses = [memory.add(np.zeros((n, n), np.float16), name) for name in "abc"]
    grid = ((n // TILE) ** 2, 1, 1)
    launch = PtxLaunch(PTX.read_text(), "matmul", grid, (128, 1, 1), [*addresses, n, n, n, 0, 0], SHARED_BYTES)
    gpu = load_gpu("a100")
    launch = with_code(launch, kernel_for(launch.ptx, "matmul", gpu)) if as_code else launch
    process, wall = process_time(), perf_counter()
    trace = trace_launch(launch, memory, Path(folder) / "matmul.h5", gpu, check=check)
    seconds = process_time() - process, perf_counter() - wall  # without reading the file again to count
    return _instructions(trace), *seconds


def _instructions(trace: Trace) -> int:
    """Those of compute runs, which the trace counts without running them all, and accesses."""
    return sum(int(chunk.compute_run.sum()) + int((chunk.op != NO_OP).sum()) for chunk in trace.chunks())
