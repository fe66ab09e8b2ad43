"""Unified memory: pages that come to the GPU when it first touches them.

A thread that touches a page which is not there stalls; its SM reports a fault. The driver fetches faults in batches,
and for every page of a batch moves the 64 KB block around it; blocks lie in a tree of 2 MB, and when more than half of
a subtree is on the GPU or about to be, the rest of it is moved too (Ganguly et al., ISCA 2019, section 3, find it by
measurement; NVIDIA's open driver has it as ``uvm_perf_prefetch_threshold``, 51 %). The first fault in such 2 MB costs
the driver more than the others: it takes memory on the GPU, maps the host's pages for its DMA and takes them from the
host's processes (Allen and Ge, SC 2021, describe the work; its time is ``host.fault_block_us``). Memory is never short:
no block leaves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from memsim.host.program import Touch

PAGE_BYTES = 4096
BLOCK_BYTES = 65536
TREE_BYTES = 1 << 21
_PAGES = BLOCK_BYTES // PAGE_BYTES  # of a block
_LEAVES = TREE_BYTES // BLOCK_BYTES


def requested_blocks(resident: np.ndarray, faulting: np.ndarray) -> np.ndarray:
    """What a batch moves.

    Args:
        resident: bool [blocks], what is on the GPU.
        faulting: i8 [n], blocks of the faulting pages, none of them resident.

    Returns:
        i8 [m], numbers of the blocks to move, ascending.

    >>> on_gpu = np.zeros(32, bool)
    >>> requested_blocks(on_gpu, np.array([0]))                 # one block
    array([0])
    >>> on_gpu[[0, 1]] = True
    >>> requested_blocks(on_gpu, np.array([2]))                 # three of four: the fourth comes along
    array([2, 3])
    """
    after = resident.copy()
    after[faulting] = True
    padded = np.zeros(-(-len(after) // _LEAVES) * _LEAVES, bool)
    padded[: len(after)] = after
    trees = padded.reshape(-1, _LEAVES)
    width = 2
    while width <= _LEAVES:
        subtrees = trees.reshape(-1, width)
        subtrees[2 * subtrees.sum(axis=1) > width] = True
        width *= 2
    return np.flatnonzero(padded[: len(after)] & ~resident)


@dataclass(frozen=True)
class FaultBatch:
    """What the driver serves at a time.

    Attributes:
        faults: reported, those of one page by several SMs counted apart.
        blocks: that it moves, of 64 KB.
        runs: of neighbouring blocks, each one migration.
        new_trees: 2 MB of which nothing was on the GPU before.
    """

    faults: int
    blocks: int
    runs: int
    new_trees: int


def batches(resident: np.ndarray, touch: Touch, most: int) -> Iterator[FaultBatch]:
    """Go through a kernel's pages; yield the batches of faults. `resident` is kept up to date.

    Args:
        resident: bool [blocks].
        touch: the pages in order.
        most: faults of a batch.
    """
    blocks, at = touch.pages // _PAGES, 0
    while at < len(blocks):
        missing = ~resident[blocks[at:]]
        if not missing.any():
            return
        at += int(missing.argmax())  # threads go on to the first page that is not there
        window = blocks[at : at + touch.window]
        faulting = window[~resident[window]][: max(1, most // touch.sharers)]
        moved = requested_blocks(resident, np.unique(faulting))
        trees = np.unique(moved // _LEAVES)
        new = sum(not resident[tree * _LEAVES : (tree + 1) * _LEAVES].any() for tree in trees)
        resident[moved] = True
        runs = 1 + int((np.diff(moved) > 1).sum())
        yield FaultBatch(len(faulting) * touch.sharers, len(moved), runs, new)
