"""The hardware prefetcher of L2: its state, what it requests after a read, and what becomes of prefetched sectors.

Parameters, counters, laws and sources: :mod:`memsim.gpu.prefetcher`. It observes the reads of all slices in order of
service, and a request reaches its slice in the next cycle, so slices advance cycle by cycle where there is one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from memsim.gpu.config import GPU
from memsim.gpu.prefetcher import PREFETCHER, PrefetcherKind
from memsim.hierarchy.codes import ALL, PREFETCH
from memsim.hierarchy.mapping import AddressLayout, prefetch_page_lines
from memsim.hierarchy.parameters import as_configured, code_of, crossing_cycles, record_of, shared
from memsim.hierarchy.requests import schedule, take
from memsim.jit.compiled import called, inlined

NONE, NEXT_LINE, STRIDE, STREAM = range(len(PrefetcherKind))
REQUESTS, REDUNDANT, DROPPED, SENT, SECTORS, USEFUL, LATE, UNUSED, LEFT = range(len(PREFETCHER.counters))
# States of Chen and Baer's reference prediction table (1995, figure 2), and those that follow.
INITIAL, TRANSIENT, STEADY, NO_PREDICTION = range(4)
AFTER_CORRECT = np.array([STEADY, STEADY, STEADY, TRANSIENT])
AFTER_WRONG = np.array([TRANSIENT, NO_PREDICTION, INITIAL, NO_PREDICTION])
# An instruction on an SM (`key`): the line that it read last, how far that was from the one before, when it was used.
STRIDE_ENTRY = np.dtype([("key", "<i8"), ("last", "<i8"), ("stride", "<i8"), ("state", "<i8"), ("used", "<i8")])
# A run of near misses: where it is, in which direction (+1, -1, or 0) so many misses confirm it, and the last request.
MISS_STREAM = np.dtype(
    [("at", "<i8"), ("direction", "<i8"), ("confirmed", "<i8"), ("ahead", "<i8"), ("used", "<i8")]
)  # fmt: skip


class Prefetching(NamedTuple):
    """The prefetcher of a machine; without one, its tables are empty."""

    p: np.ndarray
    physical: np.ndarray  # [line] its physical address, in lines of L1
    index_of: np.ndarray  # [line] its index among the lines of all pages that prefetches may reach
    line_at: np.ndarray  # [index] line
    strides: np.ndarray  # STRIDE_ENTRY
    streams: np.ndarray  # MISS_STREAM
    table: np.ndarray  # entries in use, and reads observed so far
    counts: np.ndarray  # [PREFETCHER.counters]
    prefetched: np.ndarray  # [way] sectors that a prefetch fetched or is fetching, and that no request has needed yet


def new_prefetching(gpu: GPU, where: AddressLayout, ways: int, n_ops: int) -> Prefetching:
    """The state of a prefetcher that has seen nothing.

    Args:
        ways: of L2.
        n_ops: static instructions; reads of page walks, which belong to none, are not observed.
    """
    own = gpu.prefetcher
    kind = code_of(own.kind)
    crosses_in_one = gpu.l2.partitions > 1 and crossing_cycles(gpu)[0] == 1
    return Prefetching(
        p=record_of(
            kind=kind,
            **as_configured(own, "degree", "distance", "entries", "training"),
            page_bits=prefetch_page_lines(gpu).bit_length() - 1,
            n_ops=n_ops,
            all_sectors=(1 << gpu.l1.line_bytes // 32) - 1,
            # Requests that crossed between the partitions were sent earlier, unless that takes one cycle.
            first_key=0 if crosses_in_one else gpu.l2.slices,
        ),
        physical=shared(where.physical),
        index_of=shared(where.index_of),
        line_at=shared(where.line_at),
        strides=np.zeros(own.entries if kind == STRIDE else 0, STRIDE_ENTRY),
        streams=np.zeros(own.entries if kind == STREAM else 0, MISS_STREAM),
        table=np.zeros(2, np.int64),
        counts=np.zeros(len(PREFETCHER.counters), np.int64),
        prefetched=np.zeros(ways if kind else 0, np.uint8),
    )


def prefetch_counts(own: Prefetching) -> np.ndarray:
    """The counters of a trial that has ended, i8 [PREFETCHER.counters]."""
    counts = own.counts.copy()
    counts[LEFT] = np.bitwise_count(np.asarray(own.prefetched)).sum()
    return counts


@called
def observe(m, s, r, missed, time):
    """Slice `s` has served read `r`: request lines. `missed`: a sector was absent, or there because of a prefetch."""
    kind = m.prefetching.p[0].kind
    m.prefetching.table[1] += 1
    if kind == NEXT_LINE:
        if missed:
            request_lines(m, s, r, m.prefetching.physical[m.requests[r].line], np.int64(1), time)
    elif kind == STRIDE:
        observe_stride(m, s, r, time)
    elif kind == STREAM:
        observe_stream(m, s, r, missed, time)


@inlined
def request_lines(m, s, r, line, stride, time):
    """Request `degree` lines along a stride, from `distance` strides behind `line` on."""
    first = m.prefetching.p[0].distance
    for step in range(first, first + m.prefetching.p[0].degree):
        request_line(m, s, r, line + step * stride, time)


@inlined
def request_line(m, s, r, line, time):
    """Request a line (physical, in lines of L1), unless it is the line of read `r`, or in another page."""
    own = np.int64(m.prefetching.physical[m.requests[r].line])
    page_bits = m.prefetching.p[0].page_bits
    if line == own or line >> page_bits != own >> page_bits:
        return
    number = m.prefetching.line_at[m.prefetching.index_of[m.requests[r].line] + line - own]
    f = take(m.free_requests)
    m.requests[f].time = time + 1
    m.requests[f].line = number
    m.requests[f].key = m.prefetching.p[0].first_key + s
    m.requests[f].sm = m.requests[r].sm
    m.requests[f].op = m.prefetching.p[0].n_ops
    m.requests[f].target = m.mapping[number].slice
    m.requests[f].home = m.mapping[number].slice
    m.requests[f].kind = PREFETCH
    m.requests[f].mask = m.prefetching.p[0].all_sectors
    m.requests[f].partial = 0
    schedule(m.to_home, m.requests, f)
    m.prefetching.counts[REQUESTS] += 1


@inlined
def observe_stride(m, s, r, time):
    """Chen and Baer (1995): along the stride of the read's instruction on its SM, while that is steady."""
    own = m.prefetching
    line = np.int64(own.physical[m.requests[r].line])
    key = np.int64(m.requests[r].op) << 16 | np.int64(m.requests[r].sm)
    at, oldest = np.int64(-1), np.int64(0)
    for k in range(own.table[0]):
        if own.strides[k].key == key:
            at = np.int64(k)
        if own.strides[k].used < own.strides[oldest].used:
            oldest = np.int64(k)
    if at < 0:
        at = oldest
        if own.table[0] < own.p[0].entries:
            at = np.int64(own.table[0])
            own.table[0] += 1
        own.strides[at].key = key
        own.strides[at].last = line
        own.strides[at].stride = 0
        own.strides[at].state = INITIAL
    elif own.strides[at].last != line:
        state = own.strides[at].state
        stride = line - own.strides[at].last
        if stride == own.strides[at].stride:
            own.strides[at].state = AFTER_CORRECT[state]
        else:
            if state != STEADY:
                own.strides[at].stride = stride
            own.strides[at].state = AFTER_WRONG[state]
        own.strides[at].last = line
    own.strides[at].used = own.table[1]
    if own.strides[at].state == STEADY and own.strides[at].stride != 0:
        request_lines(m, s, r, line, own.strides[at].stride, time)


@inlined
def observe_stream(m, s, r, missed, time):
    """Srinath et al. (2007): ahead of the run of near misses that the read is in."""
    own = m.prefetching
    line = np.int64(own.physical[m.requests[r].line])
    distance, training = own.p[0].distance, own.p[0].training
    at, oldest = np.int64(-1), np.int64(0)
    for k in range(own.table[0]):
        if abs(line - own.streams[k].at) <= distance and (at < 0 or own.streams[k].used < own.streams[at].used):
            at = np.int64(k)
        if own.streams[k].used < own.streams[oldest].used:
            oldest = np.int64(k)
    if at < 0:
        if missed:
            at = oldest
            if own.table[0] < own.p[0].entries:
                at = np.int64(own.table[0])
                own.table[0] += 1
            own.streams[at].at = line
            own.streams[at].direction = 0
            own.streams[at].confirmed = 0
            own.streams[at].ahead = 0
            own.streams[at].used = own.table[1]
        return
    own.streams[at].used = own.table[1]
    moved = line - own.streams[at].at
    direction = 1 if moved > 0 else (-1 if moved < 0 else 0)
    if own.streams[at].confirmed < training:
        if missed and direction != 0:
            same = direction == own.streams[at].direction
            own.streams[at].confirmed = own.streams[at].confirmed + 1 if same else 1
            own.streams[at].direction = direction
            own.streams[at].at = line
            own.streams[at].ahead = line
    elif direction == own.streams[at].direction:
        own.streams[at].at = line
    if own.streams[at].confirmed < training:
        return
    direction, head = own.streams[at].direction, own.streams[at].at
    ahead = max(own.streams[at].ahead * direction, head * direction) * direction
    for _ in range(own.p[0].degree):
        if abs(ahead + direction - head) > distance:
            break
        ahead += direction
        request_line(m, s, r, ahead, time)
    own.streams[at].ahead = ahead


@called
def use_prefetched(m, s, demand, valid):
    """A request needs sectors `demand` of the lines just found; count those that prefetches fetched or are fetching."""
    p = m.p[0]
    for position in range(p.lines_per_packet):
        shift = position * p.sectors_per_line
        of_line = demand >> shift & p.line_mask
        if of_line:
            way = m.packet_ways[position]
            used = np.int64(m.prefetching.prefetched[way]) & of_line
            if used:
                m.prefetching.counts[USEFUL] += m.sectors[used & valid >> shift]
                m.prefetching.counts[LATE] += m.sectors[used & (ALL ^ valid >> shift)]
                m.prefetching.prefetched[way] = m.prefetching.prefetched[way] ^ used
                m.slices[s].prefetched = 1


@inlined
def forget_prefetched(m, way):
    """A way gets another line: prefetched sectors that no request needed are unused."""
    m.prefetching.counts[UNUSED] += m.sectors[m.prefetching.prefetched[way]]
    m.prefetching.prefetched[way] = 0
