"""Capturing CUDA programs: lane accesses recorded a second on one core, and the reader's memory."""

from __future__ import annotations

import re
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import memsim
from experiments.bench.one_core import Clock, Spent, on_one_core
from experiments.bench.table import Row
from experiments.bench.workload import Prepared
from memsim.capture import session
from memsim.support.library import folder
from memsim.trace.info import count
from memsim.trace.writer import TraceWriter

FEWER = 10  # times as few blocks show whether memory grows with them
SAXPY, SPMV = Path(__file__).with_name("saxpy.cu"), folder("traces") / "cuda" / "spmv.cu"
STATUS = Path("/proc/self/status")


@dataclass(frozen=True)
class Capture:
    """One capture.

    Attributes:
        lanes: accesses recorded.
        peak: most memory of this process by its end, in MiB.
        whole: its time; the others are parts of that.
        build: of the program, by nvcc; next to nothing where it is in the cache.
        write: of the trace.
    """

    lanes: int
    peak: float
    whole: Spent
    build: Spent
    write: Spent

    @property
    def run(self) -> Spent:
        """All but the build."""
        return self.whole - self.build


def capturing(prepared: Prepared) -> list[Row]:
    """Programs of little else than memory accesses, all of whose blocks are traced."""
    size = prepared.size
    saxpy = on_one_core(_captures, SAXPY, (size.captured,), size.runs)
    spmv = on_one_core(_captures, SPMV, (size.rows, size.nnz_per_row), size.runs)
    rows = [_speed(SAXPY.name, saxpy), _speed(SPMV.name, spmv)]
    if STATUS.exists():
        rows += _memory(size.captured, saxpy[0].peak)
    return rows


def _memory(blocks: int, peak: float) -> list[Row]:
    fewer = blocks // FEWER
    before = on_one_core(_captures, SAXPY, (fewer,), 1)[0].peak
    how = (
        f"VmHWM of {STATUS} over a capture of {blocks} blocks: interpreter and compiled loops included; "
        f"{before:.0f} MiB for {fewer} blocks"
    )
    return [
        Row("peak memory of a capture's reader", peak, "MiB", None, None, how, blocks, less_is_better=True),
        Row(
            "the same, over that for a tenth of the blocks", peak / before, "x", 1.2, 1.05,
            "a reader that held the log or the trace would grow with the blocks", blocks, less_is_better=True,
        ),
    ]  # fmt: skip


def _speed(name: str, done: list[Capture]) -> Row:
    """Lane accesses per second of the best capture, and what its time was spent on."""
    best = min(done, key=lambda one: one.run.wall)
    run = min((one.run for one in done), key=lambda run: run.cpu)
    least = min(done, key=lambda one: one.run.cpu)
    parts = {"program": run.programs, "writing": least.write.own, "kernels and other": run.own - least.write.own}
    how = (
        f"best of {len(done)} captures of {best.lanes / 1e6:.2f} M on one core, wall, from the program's start to the "
        f"closed file; {best.lanes / 1e6 / run.cpu:.1f} by CPU time: "
        f"{', '.join(f'{what} {100 * part / run.cpu:.0f} %' for what, part in parts.items())}; before that "
        f"nvcc {min(one.build.wall for one in done):.2f} s"
    )
    rate = best.lanes / best.run.wall / 1e6
    return Row(f"lane accesses captured per second, {name}", rate, "M/s", 20, None, how, best.lanes)


def _captures(program: Path, arguments: tuple[int, ...], repeats: int) -> list[Capture]:
    return [_capture(program, arguments) for _ in range(repeats)]


def _capture(program: Path, arguments: tuple[int, ...]) -> Capture:
    with TemporaryDirectory(prefix="memsim-bench-") as out, ExitStack() as stack:
        building = Clock().on(stack, session, "build")
        writing = Clock().on(stack, TraceWriter, "append", "finish")
        with Clock() as whole:
            texts = [str(argument) for argument in arguments]
            captured = memsim.capture(
                program, arguments=texts, out=Path(out) / "program.h5", blocks="all", registers=32, to_end=True
            )
        peak = _peak() if STATUS.exists() else 0.0  # before the trace is read
        held = count(captured.trace.chunks(), len(captured.trace.ops))
        spent = (clock.spent for clock in (whole, building, writing))
        return Capture(int(held.lane_accesses.sum()), peak, *spent)


def _peak() -> float:
    found = re.search(r"^VmHWM:\s+(\d+) kB", STATUS.read_text(), re.MULTILINE)
    assert found
    return int(found[1]) / 1024
