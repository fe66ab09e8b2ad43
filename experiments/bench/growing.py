"""What a transaction costs as a trace grows to a hundred times its length, and nothing else changes.

A sparse product of more rows gathers from a longer vector, which fits L1 no more: of SpMV with 13 times fewer rows, 15
of 100 transactions go on to a V100's L2, of the whole one 93. So here the table that is gathered from stays as long as
the paper's vector, together with a stream that is read once, and blocks become more.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import memsim
from experiments.bench.presets import GPUS, Cost, cost
from experiments.bench.table import Row
from experiments.bench.workload import Prepared
from memsim import Launch, Thread, workload

TABLE = 86_016  # words, as the vector of Baghsorkhi 2012, section 5.3
BLOCK, STEPS = 256, 4
SPREAD, MIXER, WORD = np.int64([0x9E3779B1, 0x45D9F3B, 0xFFFFFFFF])  # of a hash: neighbours' words lie anywhere


def gather(t: Thread, stream, table, out, threads):
    acc = t.var(0.0)
    for i in t.range(t.global_id, STEPS * threads, threads):
        mixed = i * SPREAD & WORD
        mixed = (mixed ^ mixed >> 16) * MIXER & WORD
        acc += stream[i] * table[(mixed ^ mixed >> 16) % TABLE]
    out[t.global_id] = acc


@workload
def gathered(grid: int = 256) -> Launch:
    """A word of a stream times one from anywhere in a table, four times a thread: 134 transactions or so a warp."""
    threads = BLOCK * grid
    arguments = dict(
        stream=np.zeros(STEPS * threads, np.float32),
        table=np.zeros(TABLE, np.float32),
        out=np.zeros(threads, np.float32),
        threads=threads,
    )
    return Launch(gather, grid=grid, block=BLOCK, arguments=arguments, registers=20)


def growing(prepared: Prepared) -> list[Row]:
    """The row of the GPU whose transactions become dearest, of all GPUs of the table."""
    size = prepared.size
    with TemporaryDirectory(prefix="memsim-bench-") as folder:
        costs = [_costs(Path(folder), blocks, trials) for blocks, trials in size.growth.items()]
    times = {gpu: costs[0][gpu].rate / costs[-1][gpu].rate for gpu in GPUS}
    parts = [f"{gpu} {', '.join(f'{one[gpu].rate:.1f}' for one in costs)}" for gpu in GPUS]
    lengths = ", ".join(f"{one[min(GPUS)].transactions / 1e6:.1f}" for one in costs)
    how = f"M/s at {lengths} M transactions, a table gathered from and a stream: {'; '.join(parts)}"
    work = sum(cost.transactions for one in costs for cost in one.values())
    what = "a transaction's cost in a trace of a hundred times the length"
    return [Row(what, max(times.values()), "x", 1.3, 1.0, how, work, less_is_better=True)]


def _costs(folder: Path, blocks: int, trials: int) -> Mapping[str, Cost]:
    """By GPU, of a trace of so many blocks."""
    trace = memsim.trace(gathered, out=folder / f"{blocks}.h5", blocks="all", gpu=min(GPUS), grid=blocks)
    return {gpu: cost(trace, gpu, folder / f"{blocks}-{gpu}", trials) for gpu in GPUS}
