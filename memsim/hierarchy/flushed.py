"""An L2 full of another kernel's lines, as a benchmark leaves it that writes a large buffer between its repetitions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from memsim.gpu.config import GPU
from memsim.hierarchy.cache.ways import place_of_set
from memsim.hierarchy.machine import Machine
from memsim.hierarchy.mapping import Layout
from memsim.trace.transactions import Transactions

_BUFFER = 1 << 21  # bytes to which the buffer is aligned


def with_buffer(transactions: Transactions, gpu: GPU) -> Transactions:
    """The transactions of a kernel whose lines are followed by those of a buffer as large as L2, which it never uses."""
    own, line = np.asarray(transactions.line_address), gpu.l1.line_bytes
    begin = -(-(int(own.max(initial=0)) + 1) * line // _BUFFER) * _BUFFER // line
    buffer = begin + np.arange(-(-gpu.l2.size_bytes // line), dtype=own.dtype)
    return replace(transactions, line_address=np.concatenate([own, buffer]))


def fill(machine: Machine, where: Layout, own_lines: int, buffer_lines: int, dirty: float = 1.0) -> None:
    """Fill an empty L2 with the lines of the buffer.

    Args:
        machine: of transactions that :func:`with_buffer` made, with nothing run yet. What it writes back of the buffer
            counts to no static op.
        where: their layout.
        own_lines, buffer_lines: L1 lines of the kernel and of the buffer.
        dirty: share of the lines that are dirty, within the limit on dirty ways.
    """
    slices, l2 = machine.slices, machine.gpu.l2
    cache, ways = slices.cache, l2.ways
    per = machine.gpu.l1.line_bytes // l2.line_bytes
    first = own_lines * per
    sets = np.asarray(where.sets)[first : first + buffer_lines * per].astype(np.int64)
    order = np.argsort(sets, kind="stable")
    sets, lines = sets[order], first + order
    rank = np.arange(len(sets)) - np.searchsorted(sets, sets)  # of a line in its set, the oldest first
    fits = rank < ways
    sets, lines, rank = sets[fits], lines[fits], rank[fits]
    slots = (cache.oldest[sets].astype(np.int64) + rank) % ways
    bits = int(cache.shape["group_bits"][0])
    way = place_of_set(sets, ways, bits) + (slots << bits)
    full = (1 << (l2.line_bytes // 32)) - 1
    cache.tags[way] = lines
    cache.ways["valid"][way] = full
    cache.ways["activated"][way] = full
    spread = (np.arange(len(way)) * 0.6180339887498949) % 1 < dirty  # evenly, in no period
    is_dirty = spread & (rank >= ways - min(l2.max_dirty_ways or ways, ways))
    cache.ways["dirty"][way[is_dirty]] = full
    slices.way_of[lines] = way
    slices.writers[way] = machine.counters.shape[1] - 1
    if l2.max_dirty_ways is not None:
        np.add.at(slices.dirty_ways, sets[is_dirty], 1)


def own_dirty_sectors(machine: Machine, own_lines: int) -> np.ndarray:
    """Sectors of the kernel's own lines that L2 holds dirty, i8 []."""
    cache = machine.slices.cache
    per = machine.gpu.l1.line_bytes // machine.gpu.l2.line_bytes
    dirty = np.ascontiguousarray(cache.ways["dirty"])[cache.tags < own_lines * per]
    return np.asarray(machine.slices.sectors)[dirty[dirty != 0]].sum()
