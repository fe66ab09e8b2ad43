"""The pages of a trace, numbered densely, and the tables that a walk reads."""

from __future__ import annotations

import numpy as np

from memsim.gpu.config import GPU

ENTRY_BYTES = 8  # of a page table
FAN_OUT_BITS = 9  # log2 of the entries of one table
TABLE_BYTES = ENTRY_BYTES << FAN_OUT_BITS

# One load of a walk: the line of the page table, and the sector in it.
STEP = np.dtype([("line", "<i4"), ("mask", "<i4")])


def numbered(address: np.ndarray, gpu: GPU) -> tuple[np.ndarray, np.ndarray]:
    """(number of each line's page, in the order of addresses; the pages' virtual page numbers).

    Args:
        address: i8 [lines], virtual byte address of each line.

    Returns:
        page_of: i4 [lines]; pages: i8 [pages], sorted. Both are empty where nothing is translated.
    """
    if not gpu.translation.enabled:
        return np.zeros(0, np.int32), np.zeros(0, np.int64)
    pages, page_of = np.unique(address // gpu.translation.page_bytes, return_inverse=True)
    return page_of.astype(np.int32), pages


def page_tables(pages: np.ndarray, gpu: GPU) -> tuple[np.ndarray, np.ndarray]:
    """The lines of the tables that translate `pages`, and what a walk for each of them loads.

    The tables of a level lie side by side, as if they were one array over all pages, those of the next level behind
    them: the walks of neighbours load the same lines. Each level resolves nine bits of a page's number.

    Args:
        pages: i8 [pages], virtual page numbers.

    Returns:
        offsets: i8 [lines], bytes from the first table's start, sorted.
        steps: STEP [pages, walk_levels], from the root; its lines are numbers within `offsets`.
    """
    levels = gpu.translation.walk_levels
    entries = np.zeros((len(pages), levels), np.int64)
    begin = 0
    for level in range(levels if len(pages) else 0):
        number = pages >> FAN_OUT_BITS * (levels - 1 - level)
        entries[:, level] = begin + ENTRY_BYTES * (number - number[0])
        begin += -(-(entries[-1, level] + ENTRY_BYTES - begin) // TABLE_BYTES) * TABLE_BYTES
    line_bytes = gpu.l1.line_bytes
    lines, which = np.unique(entries.ravel() // line_bytes, return_inverse=True)
    steps = np.zeros(entries.shape, STEP)
    steps["line"] = which.reshape(entries.shape)
    steps["mask"] = 1 << entries % line_bytes // 32
    return lines * line_bytes, steps
