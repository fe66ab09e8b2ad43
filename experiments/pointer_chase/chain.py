"""The pointer chase of gpu-benches (RRZE-HPC, gpu-latency) on a simulated GPU, for one working set.

One thread follows a list with an element in every 128-byte line, in random order, a million times around or once,
whichever is longer. It is timed on its second run: the caches are as the first run left them.

A lap in which every access is as any other need not be chased whole. The kernel here lets a block read most of it in
order, which takes the caches through the same states, and one thread chase pieces of it; only these are counted.
It reads three laps: one that leaves the caches as the first run does, the first lap of the timed run, which may still
find some of what the first run read last, and one that stands for all others.

Lists of 16 MB or more are read by eight warps, others by one. All warps wait for each other after each step, so the
order differs only within 256 lines, few of which share a set of L2.
"""

from __future__ import annotations

import math
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import memsim
from memsim import Launch, Thread, workload
from memsim.gpu.config import GPU
from memsim.hierarchy.mapping import index
from memsim.sources.describe.memory import FIRST_ADDRESS

LINE = 128  # bytes
WORDS = LINE // 8  # of a line: word 0 links to the next element, word 1 to that as many further on as a step reads
ONE_WARP, EIGHT_WARPS = 32, 256  # elements that a step reads of a short list, and of a long one
LONG = 1 << 17  # elements, 16 MB
PIECES = 16  # that are chased, of a lap
CHASED = 250  # elements of a piece
QUIET = {f"stochastic.{name}": False for name in ("start_alignment", "warp_weights", "arbitration")}


def chase(t: Thread, links, heads, starts, last, fill, steps, chased):
    """Lap 0 is read by all threads; of each piece of laps 1 and 2 thread 0 chases the beginning."""
    p = t.var(heads[0, t.global_id])
    for _ in t.range(fill):
        p.set(links[p + 1])
        t.sync()
    q = t.var(starts[0])
    for piece in range(len(steps)):
        t.sync()
        with t.where(t.global_id == 0):
            q.set(starts[piece])
            for _ in t.range(chased[piece]):
                q.set(links[q])
        t.sync()
        p.set(heads[1 + piece, t.global_id])
        for _ in t.range(steps[piece]):
            p.set(links[p + 1])
            t.sync()
    for piece in range(len(steps)):
        t.sync()
        with t.where(t.global_id == 0):
            q.set(starts[piece])
            for _ in t.range(chased[piece]):
                q.set(links[q + 0])
        t.sync()
        p.set(heads[1 + piece, t.global_id])
        for _ in t.range(steps[piece]):
            p.set(links[p + 1])
            t.sync()
    last[t.global_id] = p


def at_once(elements: int) -> int:
    """Elements of a list that a step reads.

    >>> at_once(4_000), at_once(200_000)
    (32, 256)
    """
    return EIGHT_WARPS if elements >= LONG else ONE_WARP


def pieces(elements: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of a lap: (first element of each piece, elements chased, steps of all threads over the rest).

    >>> pieces(100)
    (array([0]), array([100]), array([0]))
    """
    threads = at_once(elements)
    if elements <= PIECES * (CHASED + threads):
        return np.array([0]), np.array([elements]), np.array([0])
    first = np.arange(PIECES) * elements // PIECES
    length = np.diff(first, append=elements)
    steps = (length - CHASED) // threads
    return first, length - steps * threads, steps


@workload
def chain(elements: int = 1024, begin: int = 0, ahead: int = 0, data_seed: int = 1) -> Launch:
    """A list of ``elements``, ``ahead`` lines behind the start of memory; the first lap begins at its ``begin``-th."""
    order = np.concatenate([[0], 1 + np.random.default_rng(data_seed).permutation(elements - 1)])
    links = np.zeros((ahead + elements, WORDS), np.int64)
    order += ahead
    links[order, 0] = np.roll(order, -1) * WORDS
    threads = at_once(elements)
    links[order, 1] = np.roll(order, -threads) * WORDS
    first, chased, steps = pieces(elements)
    fill = math.ceil(elements / threads)
    at = np.concatenate([[begin + elements - fill * threads], first + chased])
    heads = order[(at[:, None] + np.arange(threads)) % elements] * WORDS
    arguments = dict(links=links.reshape(-1), heads=heads, starts=order[first] * WORDS,
                     last=np.zeros(threads, np.int64), fill=fill, steps=steps.tolist(),
                     chased=chased.tolist())  # fmt: skip
    return Launch(chase, grid=1, block=threads, arguments=arguments, registers=16, residencies=math.inf)


def lines_ahead(gpu: GPU) -> int:
    """Lines to skip so that a list takes L1's sets in order, from the first on: where the real ones lay nobody noted.

    Of the hashes here each keeps a run of as many lines as there are sets in that order somewhere among its first
    sets * sets lines.
    """
    sets = gpu.l1.sets
    placed = index(FIRST_ADDRESS // LINE + np.arange(sets * (sets + 1)), sets, gpu.l1.set_hash)
    in_order = placed[1:] == placed[:-1] + 1
    runs = np.convolve(in_order, np.ones(sets - 1, np.int64), "valid") == sets - 1
    return int(np.argmax(runs))


def latency(gpu: GPU, working_set_kb: float, iterations: int = 1_000_000, seed: int = 1) -> float:
    """Mean latency of an access of the timed run, in SM cycles.

    Args:
        working_set_kb: of the list, in KB of 1024 bytes.
        iterations: accesses of a run, if the list is not longer.
    """
    elements = round(working_set_kb * 1024 / LINE)
    laps = max(iterations / elements, 1.0)
    begin = round(laps % 1.0 * elements)
    with TemporaryDirectory(prefix="memsim-") as folder:
        trace = memsim.trace(
            chain, out=Path(folder, "chain.h5"), elements=elements, begin=begin, ahead=lines_ahead(gpu), data_seed=seed
        )
        result = memsim.simulate(trace, gpu=gpu, trials=1, seed=seed, settings=QUIET)
    first, others = (load.latency.mean for load in result.loads if load.text in ("links[q]", "links[q + 0]"))
    return (first + (laps - 1) * others) / laps
