"""Importing Accel-Sim's traces: how fast, and how fast Accel-Sim itself is compared with one trial of the replay.

Accel-Sim's speed was measured on a machine like ours: 5 to 24 thousand L1 sector accesses per second; 2 million took
two minutes. The ratios here are over the highest, and their notes give the others. Sectors of shared memory do not
count, there as here, but both take their time.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import memsim
from experiments.bench.one_core import Clock, Spent, on_one_core
from experiments.bench.streaming import ENCODINGS, LANES_PER_BLOCK, SECTORS_PER_BLOCK, write_streaming
from experiments.bench.table import Row
from experiments.bench.workload import Prepared
from memsim.trace.bits import popcounts
from memsim.trace.coalesce import coalesce

ACCELSIM = 24e3  # L1 sector accesses per second, the most that was measured
OTHERS = {"2 million in two minutes": 2e6 / 120, "the least": 5e3}
GPU = "tesla-v100"
SMALLER = 8  # times fewer blocks, where only the encodings are compared


def importing(prepared: Prepared) -> list[Row]:
    """Reading each encoding; then a streaming kernel and a tiled product, read and replayed."""
    size = prepared.size
    with TemporaryDirectory(prefix="memsim-bench-") as name:
        folder = Path(name)
        rows = _encodings(folder, size.imported // SMALLER, size.repeats)
        streaming = folder / "streaming.traceg"
        write_streaming(streaming, size.imported, "base and stride")
        rows.append(_beside("streaming", streaming, size.runs))
        streaming.unlink()
        matmul = memsim.trace("matmul", out=folder / "matmul.h5", blocks="all", n=size.n, variant="tiled")
        rows.append(_beside("tiled product", memsim.export_accelsim([matmul], folder)[0], size.runs))
    return rows


def _encodings(folder: Path, blocks: int, repeats: int) -> list[Row]:
    paths = [folder / f"{mode}.traceg" for mode in ENCODINGS.values()]
    for encoding, path in zip(ENCODINGS, paths, strict=True):
        write_streaming(path, blocks, encoding)
    lanes, sectors = blocks * LANES_PER_BLOCK, blocks * SECTORS_PER_BLOCK
    rows = []
    for encoding, path, (wall, cpu) in zip(ENCODINGS, paths, on_one_core(_imports, paths, repeats), strict=True):
        how = (
            f"best of {repeats} imports on one core, {path.stat().st_size / 1e6:.0f} MB, {lanes / 1e6:.2f} M lane "
            f"accesses, wall, with the file; {lanes / cpu / 1e6:.1f} by CPU time; "
            f"{sectors / wall / 1e6:.2f} M L1 sector accesses per second"
        )
        what = f"lane accesses imported per second, {encoding}"
        rows.append(Row(what, lanes / wall / 1e6, "M/s", None, None, how, lanes))
    return rows


def _imports(paths: list[Path], repeats: int) -> list[tuple[float, float]]:
    """The least seconds of importing each file, wall and CPU; the first import, which loads the loops, is left out."""
    _import(paths[0])
    spent = [[_import(path) for _ in range(repeats)] for path in paths]
    return [(min(one.wall for one in times), min(one.cpu for one in times)) for times in spent]


def _import(path: Path) -> Spent:
    with Clock() as clock:
        memsim.import_accelsim(path, path.with_suffix(".h5"))
    return clock.spent


@dataclass(frozen=True)
class ImportTimes:
    """A trace imported and replayed: its size; the least time of two commands, of one, and of the calls behind."""

    sectors: int
    instructions: int
    commands: Spent
    command: Spent
    reading: Spent
    replaying: Spent


def _beside(name: str, path: Path, runs: int) -> Row:
    done = on_one_core(_import_and_run, path, runs)
    calls = done.reading + done.replaying
    sectors = done.sectors / 1e6
    ratio = done.sectors / done.commands.wall / ACCELSIM
    others = ", ".join(f"{ratio * ACCELSIM / rate:.0f}x of {name}" for name, rate in OTHERS.items())
    how = (
        f"best of {runs} times `memsim import` and `memsim run --trials 1 --gpu {GPU}` on one core, wall, against "
        f"{ACCELSIM / 1e3:.0f} thousand a second: {sectors:.2f} M L1 sector accesses and "
        f"{done.instructions / 1e6:.2f} M memory instructions in {done.commands.wall:.2f} s "
        f"(CPU {done.commands.cpu:.2f}), {others}; as one, `memsim run {path.name}`, {done.command.wall:.2f} s "
        f"(CPU {done.command.cpu:.2f}), {done.sectors / ACCELSIM / done.command.wall:.0f}x; "
        f"without Python's start and loading of loops {calls.wall:.2f} s (CPU {calls.cpu:.2f}: import "
        f"{done.reading.cpu:.2f}, run {done.replaying.cpu:.2f}), {done.sectors / ACCELSIM / calls.wall:.0f}x"
    )
    return Row(f"Accel-Sim's time over import and replay, {name}", ratio, "x", 100, None, how, done.sectors)


def _import_and_run(path: Path, runs: int) -> ImportTimes:
    """Both by commands, as a user does it; and by calls in this process, of which the first loads the loops."""
    trace, result = path.with_suffix(".h5"), path.with_suffix(".result.h5")
    commands, command, reading, replaying = [], [], [], []
    for _ in range(runs):
        with Clock() as clock:
            _memsim("import", "accelsim", str(path), "-o", str(trace), "--force")
            _memsim("run", str(trace), "--gpu", GPU, "--trials", "1", "-o", str(result), "--force")
        commands.append(clock.spent)
        with Clock() as clock:
            _memsim("run", str(path), "--gpu", GPU, "--trials", "1", "-o", str(result), "--force")
        command.append(clock.spent)
        with Clock() as clock:
            (read,) = memsim.import_accelsim(path, trace)
        reading.append(clock.spent)
        with Clock() as clock:
            memsim.simulate(read, GPU, trials=1)
        replaying.append(clock.spent)
    transactions = coalesce(read, memsim.load_gpu(GPU))
    least = (min(times, key=lambda spent: spent.wall) for times in (commands, command, reading, replaying))
    return ImportTimes(int(popcounts(transactions.masks).sum()), read.n_instructions, *least)


def _memsim(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "memsim", *arguments], check=True, capture_output=True)
