"""Walks linked lists in circles: the microbenchmark of Baghsorkhi et al., PPoPP 2012, section 2.1.

One list, one thread: latency against ``stride`` shows line sizes, against ``bytes`` the caches' sizes. Their test for
inclusion has one block more than the GPU has SMs, each block filling an SM (``threads``), all with lists of their own
(``lists = grid``) or the last one with the first one's (``lists = grid - 1``).
"""

import math
from typing import Literal

import numpy as np

from memsim import Launch, Thread, workload

WORD = 4  # bytes of a link


def chase(t: Thread, links, last, words, lists, iterations):
    with t.where(t.thread_idx.x == 0):
        p = t.block_idx.x % lists * words
        for _ in t.range(iterations):
            p = links[p]
        last[t.block_idx.x] = p


@workload
def pointer_chase(
    bytes: int = 16384,
    stride: int = 128,
    laps: float = 2.0,
    order: Literal["sequential", "random"] = "sequential",
    grid: int = 1,
    threads: int = 1,
    lists: int = 1,
    data_seed: int = 1,
) -> Launch:
    """Lists of ``bytes`` with an element every ``stride`` bytes, each walked ``laps`` times by one thread a block."""
    if stride < WORD or stride % WORD or bytes < stride or lists < 1:
        raise ValueError(f"give a stride that is a multiple of {WORD}, bytes of at least that, and at least one list")
    words, elements = bytes // WORD, bytes // stride
    path = np.arange(elements)
    if order == "random":
        path = np.concatenate([[0], 1 + np.random.default_rng(data_seed).permutation(elements - 1)])
    links = np.zeros((lists, words), np.int32)
    starts = np.arange(lists)[:, None] * words
    links[:, path * (stride // WORD)] = starts + np.roll(path, -1) * (stride // WORD)
    iterations = math.ceil(laps * elements)
    at = path[iterations % elements] * (stride // WORD)
    return Launch(
        chase,
        grid=grid,
        block=threads,
        arguments=dict(
            links=links.reshape(-1), last=np.zeros(grid, np.int32), words=words, lists=lists, iterations=iterations
        ),
        registers=10,
        residencies=math.inf,
        expected=lambda: {"last": np.arange(grid) % lists * words + at},
    )
