"""An L2 that a benchmark has flushed: the buffer that it writes between repetitions leaves L2 full of other lines."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from memsim.gpu.config import GPU
from memsim.gpu.prefetcher import PrefetcherKind
from memsim.hierarchy.cache.ways import first_way_of
from memsim.hierarchy.machine import Machine
from memsim.hierarchy.mapping import AddressLayout, layout, tables
from memsim.trace.transactions import Transactions

_ADDRESS = 1 << 42  # of the buffer, behind all that traces access
_GOLDEN = 0.6180339887498949


@dataclass(frozen=True)
class FlushBuffer:
    """A buffer as large as L2, which the kernel never uses.

    Attributes:
        addresses: of its L1 lines, in lines.
        where: the layout of these lines.
        l2_lines: its L2 lines, as many per set as there are ways.
        sets, ranks: where those lie: the sets, and their places there, the oldest first.
    """

    addresses: np.ndarray
    where: AddressLayout
    l2_lines: np.ndarray
    sets: np.ndarray
    ranks: np.ndarray


@lru_cache(16)
def flush_buffer(gpu: GPU) -> FlushBuffer:
    """The buffer that flushes a GPU's L2."""
    line = gpu.l1.line_bytes
    addresses = (_ADDRESS // line + np.arange(-(-gpu.l2.size_bytes // line))).astype(np.uint64)
    mapping, sets = tables(addresses.astype(np.int64) * line, gpu)
    order = np.argsort(sets, kind="stable")
    ordered = sets[order].astype(np.int64)
    ranks = np.arange(len(ordered)) - np.searchsorted(ordered, ordered)
    fits = ranks < gpu.l2.ways
    no_pages = np.zeros(0, np.int64)
    where = AddressLayout(mapping, sets, no_pages.astype(np.int32), no_pages)
    return FlushBuffer(addresses, where, order[fits], ordered[fits], ranks[fits])


def with_buffer(transactions: Transactions, gpu: GPU) -> tuple[Transactions, AddressLayout]:
    """Transactions whose lines are followed by those of the buffer, and their layout."""
    buffer = flush_buffer(gpu)
    lines = np.concatenate([np.asarray(transactions.line_address), buffer.addresses])
    both = replace(transactions, line_address=lines)
    if gpu.translation.enabled or gpu.prefetcher.kind is not PrefetcherKind.none:
        return both, layout(both, gpu)
    own = layout(transactions, gpu)
    where = AddressLayout(
        np.concatenate([own.mapping, buffer.where.mapping]),
        np.concatenate([own.sets, buffer.where.sets]),
        own.page_of,
        own.pages,
    )
    return both, where


def fill_l2(machine: Machine, own_lines: int, dirty: float = 1.0) -> None:
    """Fill an empty L2 with the lines of the buffer.

    Args:
        machine: of transactions that :func:`with_buffer` made, with nothing run yet. What it writes back of the buffer
            counts to no static instruction.
        own_lines: L1 lines of the kernel.
        dirty: share of the lines that are dirty, within the limit on dirty ways.
    """
    buffer, slices, l2 = flush_buffer(machine.gpu), machine.slices, machine.gpu.l2
    cache, ways = slices.cache, l2.ways
    lines = own_lines * (machine.gpu.l1.line_bytes // l2.line_bytes) + buffer.l2_lines
    bits = int(cache.shape["group_bits"][0])
    slots = (cache.oldest[buffer.sets].astype(np.int64) + buffer.ranks) % ways
    way = first_way_of(buffer.sets, ways, bits) + (slots << bits)
    full = (1 << (l2.line_bytes // 32)) - 1
    for field in ("valid", "activated"):
        cache.ways[field][way] = full
    spread = np.arange(len(way)) * _GOLDEN % 1 < dirty  # evenly, in no period
    is_dirty = spread & (buffer.ranks >= ways - min(l2.max_dirty_ways or ways, ways))
    cache.tags[way] = lines
    cache.ways["dirty"][way[is_dirty]] = full
    slices.way_of[lines] = way
    slices.writers[way] = machine.counters.shape[1] - 1
    if l2.max_dirty_ways is not None:
        np.add.at(slices.dirty_ways, buffer.sets[is_dirty], 1)


def own_dirty_sectors(machine: Machine, own_lines: int) -> np.ndarray:
    """Sectors of the kernel's own lines that L2 holds dirty, i8 []."""
    cache = machine.slices.cache
    per = machine.gpu.l1.line_bytes // machine.gpu.l2.line_bytes
    dirty = np.ascontiguousarray(cache.ways["dirty"])[cache.tags < own_lines * per]
    return np.asarray(machine.slices.sectors)[dirty[dirty != 0]].sum()
