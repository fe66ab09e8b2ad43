"""The hardware prefetcher of L2: which lines it requests, and when.

It watches the reads that L2 serves, in the order of service, by physical address. A prefetch enters the line's home
slice in the next cycle, waits in the slice's queue like any request, and is dropped there if there is no way or
MSHR for it: a prefetch never holds a request up for longer than its lookup. No prefetch leaves an aligned page, since
physical pages do not follow each other as virtual ones do.

The first request for a prefetched line counts as a miss would, so that a stream keeps
going ("tagged prefetch": Smith, *Cache Memories*, ACM Computing Surveys 14(3), 1982, section 2.1).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from memsim.gpu.memory import Prefetcher
from memsim.gpu.prefetcher import PrefetcherKind


@dataclass(frozen=True)
class Observed:
    """A read that L2 has served.

    Attributes:
        line: physical address, in lines of L1.
        op, sm: the static memory operation, and the SM that sent it.
        missed: whether a sector was absent, or present only because of a prefetch.
    """

    line: int
    op: int
    sm: int
    missed: bool


class NextLinePrefetcher:
    """On each miss, the lines behind it (Smith 1982: one-block lookahead, here `degree` lines from `distance` on)."""

    def __init__(self, own: Prefetcher) -> None:
        self.own = own

    def observe(self, read: Observed) -> Iterator[int]:
        """The lines to fetch after a read."""
        if read.missed:
            first = read.line + self.own.distance
            yield from range(first, first + self.own.degree)


@dataclass
class StrideEntry:
    """Of one instruction on one SM: the line that it read last, and how far it was from the one before."""

    last: int
    stride: int = 0
    state: str = "initial"

    def read(self, line: int) -> None:
        """Chen and Baer (1995), figure 2: a stride that was wrong once in the steady state is kept for a while."""
        correct = line - self.last == self.stride
        if not correct and self.state != "steady":
            self.stride = line - self.last
        after = {  # where a correct stride leads, and where a wrong one does
            "initial": ("steady", "transient"),
            "transient": ("steady", "no prediction"),
            "steady": ("steady", "initial"),
            "no prediction": ("transient", "no prediction"),
        }
        self.state, self.last = after[self.state][0 if correct else 1], line


class StridePrefetcher:
    """Along the stride of each instruction on each SM: Chen and Baer, *Effective Hardware-Based Data Prefetching for
    High-Performance Processors*, IEEE Transactions on Computers 44(5), 1995.

    The warps of an SM share an entry. Lee et al. (*Many-Thread Aware Prefetching Mechanisms for GPGPU Applications*,
    MICRO 2010) train one per warp; a request at L2 does not carry its warp.
    """

    def __init__(self, own: Prefetcher) -> None:
        self.own = own
        self.table: OrderedDict[tuple[int, int], StrideEntry] = OrderedDict()  # the one used last comes last

    def observe(self, read: Observed) -> Iterator[int]:
        """The lines to fetch after a read."""
        entry = self.table.pop((read.op, read.sm), None)
        if entry is None:
            entry = StrideEntry(read.line)
            if len(self.table) == self.own.entries:
                self.table.popitem(last=False)
        elif read.line != entry.last:
            entry.read(read.line)
        self.table[read.op, read.sm] = entry
        if entry.state == "steady" and entry.stride:
            for step in range(self.own.distance, self.own.distance + self.own.degree):
                yield read.line + step * entry.stride


@dataclass
class MissStream:
    """A run of near misses: where it is, in which direction it goes, and how far ahead lines were requested."""

    at: int
    direction: int = 0  # +1, -1; 0: not known yet
    confirmed: int = 0  # near misses in this direction
    ahead: int = 0


class StreamPrefetcher:
    """Ahead of runs of near misses in one direction: Srinath et al., *Feedback Directed Prefetching*, HPCA 2007,
    section 2.1, after IBM's POWER4 (Tendler et al., IBM Journal of R&D 46(1), 2002).

    A miss near no stream begins one. `training` more near misses in one direction make it run: from then on each read
    in its window moves it, and `degree` lines are fetched as long as they are within `distance` lines of the read.
    """

    def __init__(self, own: Prefetcher) -> None:
        self.own = own
        self.streams: list[MissStream] = []  # the one used last comes last

    def observe(self, read: Observed) -> Iterator[int]:
        """The lines to fetch after a read."""
        stream = next((one for one in self.streams if abs(read.line - one.at) <= self.own.distance), None)
        if stream is None:
            if read.missed:
                self.streams = [*self.streams, MissStream(read.line)][-self.own.entries :]
            return
        self.streams.remove(stream)
        self.streams.append(stream)
        moved = read.line - stream.at
        direction = (moved > 0) - (moved < 0)
        if stream.confirmed < self.own.training:
            if read.missed and direction:
                stream.confirmed = stream.confirmed + 1 if direction == stream.direction else 1
                stream.direction, stream.at, stream.ahead = direction, read.line, read.line
        elif direction == stream.direction:
            stream.at = read.line
        if stream.confirmed < self.own.training:
            return
        stream.ahead = max(stream.ahead * stream.direction, stream.at * stream.direction) * stream.direction
        for _ in range(self.own.degree):
            if abs(stream.ahead + stream.direction - stream.at) > self.own.distance:
                return
            stream.ahead += stream.direction
            yield stream.ahead


PREFETCHERS: dict[PrefetcherKind, Callable[[Prefetcher], NextLinePrefetcher | StridePrefetcher | StreamPrefetcher]] = {
    PrefetcherKind.next_line: NextLinePrefetcher,
    PrefetcherKind.stride: StridePrefetcher,
    PrefetcherKind.stream: StreamPrefetcher,
}


class PrefetchUnit:
    """The prefetcher of a machine, and its page rule; `line_bytes` is the size of a request to L2."""

    def __init__(self, own: Prefetcher, line_bytes: int) -> None:
        self.kind, self.lines_per_page = PREFETCHERS[own.kind](own), max(1, own.page_bytes // line_bytes)

    def lines_to_fetch(self, read: Observed) -> list[int]:
        """Lines (physical, in lines of L1) to request from L2 after a read: of its page, without the read's own."""
        page = read.line // self.lines_per_page
        return [line for line in self.kind.observe(read) if line // self.lines_per_page == page and line != read.line]
