"""pycachesim's C backend on the same transactions, compared with our replay.

pycachesim (RRZE-HPC) gets them as one stream, an instruction of every warp in turn, by its quickest call: a list of
Python's own ints, made before the clock starts, goes to C at once (measured: five times as fast as ``loadstore``).
Two LRU levels: 16 KB of 128-byte lines in 64 ways, and 768 KB in 64 ways, with 128-byte lines too, for its lines
cannot get smaller towards memory. It has one L1 for all SMs, no time, no DRAM, no sectors and nothing random.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

import numpy as np
from cachesim import Cache, CacheSimulator, MainMemory

from experiments.bench.table import Row
from experiments.bench.workload import Prepared
from memsim.trace.schema import OpKind
from memsim.trace.transactions import Transactions

PIECE = 1 << 20  # transactions held as Python ints at a time


def measure_pycachesim(prepared: Prepared, ours: float) -> list[Row]:
    """Two rows: its speed and the ratio.

    Args:
        ours: transactions replayed a second, in millions.
    """
    levels = _levels()
    count, stored, seconds = 0, 0, 0.0
    for addresses, stores in _stream(prepared.transactions, prepared.gpu.l1.line_bytes):
        whole = addresses.tolist()
        cuts = [0, *(np.flatnonzero(np.diff(stores)) + 1).tolist(), len(whole)]
        pieces = [(bool(stores[begin]), whole[begin:end]) for begin, end in zip(cuts, cuts[1:], strict=False)]
        begin = perf_counter()
        for store, piece in pieces:
            (levels.store if store else levels.load)(piece)
        seconds += perf_counter() - begin
        count += len(whole)
        stored += int(stores.sum())
    first = levels.first_level.backend
    assert first.STORE_count == stored and first.LOAD_count >= count - stored  # it counts store misses as loads too
    theirs = count / seconds / 1e6
    how = f"{count / 1e6:.2f} M accesses in one pass, wall, one merged stream, two plain LRU levels"
    return [
        Row("accesses per second of pycachesim's C backend", theirs, "M/s", None, None, how, count),
        Row(
            "memsim over pycachesim, accesses per second",
            ours / theirs,
            "x",
            1,
            2,
            "the best trial above over it, in one process",
            count,
        ),
    ]


def _levels() -> CacheSimulator:
    memory = MainMemory()
    second = Cache("L2", sets=96, ways=64, cl_size=128, replacement_policy="LRU")
    first = Cache("L1", sets=2, ways=64, cl_size=128, replacement_policy="LRU", load_from=second, store_to=second)
    memory.load_to(second)
    memory.store_from(second)
    return CacheSimulator(first, memory)


def _stream(transactions: Transactions, line_bytes: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Byte addresses and whether they are stored to, the k-th instruction of every warp before any (k+1)-th."""
    warps = np.diff(transactions.first_instruction)
    position = np.arange(len(transactions.instructions)) - np.repeat(transactions.first_instruction[:-1], warps)
    order = np.argsort(position, kind="stable")
    first = transactions.instructions["first"][order]
    counts = transactions.instructions["count"][order].astype(np.int64)
    stores = np.repeat(transactions.instructions["kind"][order] == OpKind.store, counts)
    starts = np.cumsum(counts) - counts
    which = np.repeat(first - starts, counts) + np.arange(len(stores))
    for begin in range(0, len(which), PIECE):
        lines = transactions.lines[which[begin : begin + PIECE]]
        yield transactions.line_address[lines].astype(np.int64) * line_bytes, stores[begin : begin + PIECE]
