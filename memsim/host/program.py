"""What a host's thread asks of a GPU, call by call: streams, copies, launches, graphs, managed memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from memsim.analysis.result import RunResult
from memsim.support.errors import InputError


class Direction(StrEnum):
    """Of a copy."""

    to_gpu = "to_gpu"
    to_host = "to_host"


@dataclass(frozen=True)
class KernelWork:
    """What a kernel does, seen from outside: blocks that are handed to the GPU as room gets free.

    Attributes:
        blocks: of the grid.
        wave_blocks: how many of them the GPU holds at once, when it holds nothing else.
        block_us: time of one block, microseconds.

    Raises:
        InputError: less than one block, or a negative time.
    """

    blocks: int
    wave_blocks: int
    block_us: float

    def __post_init__(self) -> None:
        for name, value, least in (("blocks", self.blocks, 1), ("wave_blocks", self.wave_blocks, 1)):
            if value < least:
                raise InputError("kernel", name, f"is {value}; give {least} or more")
        if not 0 <= self.block_us < math.inf:
            raise InputError("kernel", "block_us", f"is {self.block_us}; give microseconds, 0 or more")

    @classmethod
    def of(cls, result: RunResult) -> KernelWork:
        """The kernel of a simulation, which takes its predicted time when alone, after `host.launch_us`."""
        trace = result.trials.about["trace"]
        blocks, wave = math.prod(trace["grid"]), trace["wave_blocks"]
        return cls(blocks, wave, result.active_time.mean * 1000 / math.ceil(blocks / wave))


@dataclass(frozen=True)
class Nested:
    """A kernel whose blocks may each launch another one when their own work is done (dynamic parallelism).

    Attributes:
        wave_blocks: as in :class:`KernelWork`.
        blocks_us: time of every block, microseconds, without its launch.
        children: the kernel that each block launches, if any; the whole is done when they are.

    Raises:
        InputError: no blocks, or not as many children as blocks.
    """

    wave_blocks: int
    blocks_us: tuple[float, ...]
    children: tuple[KernelWork | None, ...]

    def __post_init__(self) -> None:
        if len(self.children) != len(self.blocks_us) or not self.blocks_us:
            count = len(self.blocks_us)
            raise InputError("kernel", "children", f"are {len(self.children)}; give one for each of {count} blocks")

    @property
    def blocks(self) -> int:
        return len(self.blocks_us)


@dataclass(eq=False)
class Managed:
    """Unified memory (``cudaMallocManaged``) of `bytes`; it starts on the host."""

    name: str
    bytes: int


@dataclass(frozen=True)
class Touch:
    """How a kernel goes through managed memory.

    Attributes:
        memory: what it accesses.
        pages: i8 [n], numbers of its 4 KB pages in the order in which they are first accessed.
        window: how many of them the resident threads have under way at once.
        sharers: SMs that access a page at about the same time: each reports its own fault.
    """

    memory: Managed
    pages: np.ndarray
    window: int
    sharers: int = 1


@dataclass(frozen=True)
class HostCopy:
    name: str
    bytes: int
    direction: Direction
    pinned: bool


@dataclass(frozen=True)
class HostKernel:
    name: str
    work: KernelWork | Nested
    touches: tuple[Touch, ...] = ()


@dataclass(frozen=True)
class HostMemory:
    """A call that takes device memory (``bytes`` of it) or gives it back (None)."""

    name: str
    bytes: int | None


Operation = HostCopy | HostKernel


@dataclass(eq=False)
class Stream:
    """Operations of a stream are done one after the other; those of two streams as they come."""

    name: str


@dataclass(eq=False)
class Graph:
    """Operations with dependences, made once and launched as a whole (``cudaGraphLaunch``)."""

    name: str
    nodes: list[tuple[Operation, tuple[int, ...]]] = field(default_factory=list)

    def kernel(self, name: str, work: KernelWork, after: Sequence[int] = ()) -> int:
        """Add a kernel that follows the nodes `after`; returns the node's number."""
        return self._add(HostKernel(name, work), after)

    def copy(self, bytes: int, direction: Direction, after: Sequence[int] = (), name: str = "copy") -> int:
        """Add a copy of pinned memory that follows the nodes `after`; returns the node's number."""
        return self._add(HostCopy(name, bytes, direction, pinned=True), after)

    def _add(self, operation: Operation, after: Sequence[int]) -> int:
        count = len(self.nodes)
        if not all(0 <= node < count for node in after):
            raise InputError(self.name, operation.name, f"follows nodes {list(after)}; there are {count} so far")
        self.nodes.append((operation, tuple(after)))
        return count


@dataclass(frozen=True)
class Call:
    """One call of the host's thread.

    Attributes:
        name: as the timeline shows it.
        stream: where its operation goes; None: it has none.
        operation: what the call asks for; None: it only waits, or works.
        waits: the call returns when the stream (None: every stream) has done all it was given.
        busy_us: the host's own work before its next call, in addition to the time of this call.
        memory: what it allocates or frees.
    """

    name: str
    stream: Stream | None = None
    operation: Operation | Graph | None = None
    waits: bool = False
    busy_us: float = 0.0
    memory: HostMemory | None = None


class HostProgram:
    """The calls of one host thread, in order; a stream that is not named is the default stream."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._default = Stream("default stream")
        self.streams = [self._default]
        self._allocated: set[str] = set()

    def stream(self, name: str | None = None) -> Stream:
        """``cudaStreamCreate``: a new stream."""
        made = Stream(name or f"stream {len(self.streams)}")
        self.streams.append(made)
        return made

    def copy(
        self, bytes: int, direction: Direction, stream: Stream | None = None, *, name: str = "copy", pinned: bool = True
    ) -> None:
        """``cudaMemcpyAsync`` into `stream`; without one ``cudaMemcpy``, which returns when the data is there.

        A copy of pageable memory returns only then, too: it goes through a pinned buffer of the driver's.

        Raises:
            InputError: fewer than 0 bytes.
        """
        if bytes < 0:
            raise InputError(name, "bytes", f"is {bytes}; give 0 or more")
        waits = stream is None or not pinned
        self.calls.append(Call(name, stream or self._default, HostCopy(name, bytes, direction, pinned), waits))

    def allocate(self, name: str, bytes: int) -> None:
        """``cudaMalloc``, or ``cudaMallocManaged``: the host is busy with it.

        Raises:
            InputError: fewer than 0 bytes, or memory of that name is there already.
        """
        if bytes < 0:
            raise InputError(name, "bytes", f"is {bytes}; give 0 or more")
        if name in self._allocated:
            raise InputError(name, "allocate", "is allocated already; free it first, or take another name")
        self._allocated.add(name)
        self.calls.append(Call(f"allocate {name}", memory=HostMemory(name, bytes)))

    def free(self, name: str) -> None:
        """``cudaFree``: waits for all that the GPU has to do.

        Raises:
            InputError: no memory of that name.
        """
        if name not in self._allocated:
            known = ", ".join(sorted(self._allocated)) or "nothing"
            raise InputError(name, "free", f"is not allocated; {known} is")
        self._allocated.remove(name)
        self.calls.append(Call(f"wait to free {name}", waits=True))
        self.calls.append(Call(f"free {name}", memory=HostMemory(name, None)))

    def kernel(
        self, name: str, work: KernelWork | Nested, stream: Stream | None = None, touches: Sequence[Touch] = ()
    ) -> None:
        """``kernel<<<...>>>``: returns at once."""
        self.calls.append(Call(name, stream or self._default, HostKernel(name, work, tuple(touches))))

    def launch(self, graph: Graph, stream: Stream | None = None) -> None:
        """``cudaGraphLaunch``: returns at once."""
        self.calls.append(Call(graph.name, stream or self._default, graph))

    def synchronize(self, stream: Stream | None = None) -> None:
        """``cudaStreamSynchronize``, or without a stream ``cudaDeviceSynchronize``."""
        self.calls.append(Call("synchronize", stream, waits=True))

    def work(self, microseconds: float, name: str = "host") -> None:
        """The host computes for so long."""
        self.calls.append(Call(name, busy_us=microseconds))
