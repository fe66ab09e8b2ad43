"""The processes: a host thread that calls, streams that follow, copy engines, and a device that runs kernels."""

from __future__ import annotations

from collections.abc import Generator, Iterable

import numpy as np
import simpy

from memsim.gpu.config import GPU
from memsim.host.allocation import Chunks, allocation_us
from memsim.host.device import HostDevice
from memsim.host.program import (
    Call,
    Direction,
    Graph,
    HostCopy,
    HostKernel,
    HostProgram,
    Managed,
    Nested,
    Operation,
    Stream,
)
from memsim.host.timeline import Span, Timeline
from memsim.host.unified import BLOCK_BYTES, FaultBatch, batches
from memsim.support.errors import InputError

Process = Generator[simpy.Event, None, None]


def simulate(program: HostProgram, gpu: GPU) -> Timeline:
    """Run a host program.

    Args:
        program: the host thread's calls.
        gpu: whose ``[host]`` section counts.

    Raises:
        InputError: the GPU does not state a figure that the program needs, ``host.call_us`` for example.
    """
    system = _System(gpu)
    system.env.process(system.thread(program))
    system.env.run()
    return Timeline(tuple(system.spans))


class _System:
    def __init__(self, gpu: GPU) -> None:
        self.env, self.spans = simpy.Environment(), list[Span]()
        self._gpu = gpu
        self._device = HostDevice(self.env, int(self._figure("concurrent_kernels")))
        engines = [simpy.Resource(self.env) for _ in range(int(self._figure("copy_engines")))]
        self._engines = dict(zip(Direction, [engines[0], engines[-1]], strict=True))
        self._last: dict[Stream, simpy.Event] = {}
        self._resident: dict[Managed, np.ndarray] = {}
        self._chunks = Chunks()

    def thread(self, program: HostProgram) -> Process:
        """The host's thread: one call after the other."""
        default = program.streams[0]
        for call in program.calls:
            begin = self.env.now
            yield self.env.timeout(self._call_us(call) + call.busy_us)
            self._span("host", "call", call.name, begin)
            if call.operation is not None:
                assert call.stream is not None
                before = self._before(call.stream, default)
                self._last[call.stream] = self.env.process(self._operation(call.stream.name, call.operation, before))
            if call.waits:
                begin = self.env.now
                yield self.env.all_of(self._last.values() if call.stream is None else self._of(call.stream))
                self._span("host", "wait", call.name, begin)

    def _call_us(self, call: Call) -> float:
        if call.memory is not None:
            name, nbytes = call.memory.name, call.memory.bytes
            moved = self._chunks.free(name) if nbytes is None else self._chunks.allocate(name, nbytes)
            return self._stated(allocation_us(self._gpu.host, moved), "allocate_us")
        if call.operation is None:
            return 0.0
        return self._figure("graph_call_us" if isinstance(call.operation, Graph) else "call_us")

    def _before(self, stream: Stream, default: Stream) -> list[simpy.Event]:
        """What an operation follows; the default stream follows all others, and they follow it (the legacy default)."""
        return list(self._last.values()) if stream is default else [*self._of(stream), *self._of(default)]

    def _of(self, stream: Stream) -> list[simpy.Event]:
        return [self._last[stream]] if stream in self._last else []

    def _operation(self, row: str, operation: Operation | Graph, before: Iterable[simpy.Event]) -> Process:
        yield self.env.all_of(before)
        if isinstance(operation, Graph):
            yield self.env.all_of(self._nodes(row, operation))
        else:
            yield from self._single(row, operation, "launch_us")

    def _nodes(self, row: str, graph: Graph) -> list[simpy.Event]:
        done: list[simpy.Event] = []
        for number, (operation, after) in enumerate(graph.nodes):
            before = [done[node] for node in after]
            done.append(self.env.process(self._node(f"{row}, node {number}", operation, before)))
        return done

    def _node(self, row: str, operation: Operation, before: list[simpy.Event]) -> Process:
        yield self.env.all_of(before)
        yield from self._single(row, operation, "graph_node_us")

    def _single(self, row: str, operation: Operation, start: str) -> Process:
        if isinstance(operation, HostCopy):
            yield from self._copy(row, operation)
        else:
            yield self.env.timeout(self._figure(start))
            yield from self._kernel(row, operation)

    def _copy(self, row: str, copy: HostCopy) -> Process:
        rate = f"{'' if copy.pinned else 'pageable_'}{copy.direction}_gb_per_s"
        yield from self._moved(row, copy.name, copy.direction, copy.bytes, rate, self._figure("copy_us"))

    def _moved(self, row: str, name: str, direction: Direction, nbytes: int, rate: str, start_us: float) -> Process:
        with self._engines[direction].request() as engine:
            yield engine
            begin = self.env.now
            yield self.env.timeout(start_us + nbytes / (1000 * self._figure(rate)))
            self._span(row, direction, name, begin)

    def _kernel(self, row: str, kernel: HostKernel) -> Process:
        """Faults first, then the blocks: threads that continue while others of their kernel stall are not modelled."""
        begin = self.env.now
        for touch in kernel.touches:
            resident = self._resident.setdefault(touch.memory, np.zeros(-(-touch.memory.bytes // BLOCK_BYTES), bool))
            for batch in batches(resident, touch, int(self._figure("fault_batch"))):
                yield self.env.timeout(self._driver_us(batch))
                start_us = batch.runs * self._figure("migration_us")
                name, nbytes = touch.memory.name, batch.blocks * BLOCK_BYTES
                yield from self._moved(row, name, Direction.to_gpu, nbytes, "to_gpu_gb_per_s", start_us)
        if kernel.touches:
            self._span(row, "faults", kernel.name, begin)
        begin = self.env.now
        launch_us = self._figure("device_launch_us") if isinstance(kernel.work, Nested) else 0.0
        yield self._device.run(kernel.work, launch_us)
        self._span(row, "kernel", kernel.name, begin)

    def _driver_us(self, batch: FaultBatch) -> float:
        """What the driver does for a batch of faults, before the data moves."""
        each = batch.faults * self._figure("fault_us") + batch.new_trees * self._figure("fault_block_us")
        return self._figure("fault_batch_us") + each

    def _span(self, row: str, kind: str, name: str, begin: float) -> None:
        if self.env.now > begin:
            self.spans.append(Span(row, str(kind), name, begin, self.env.now))

    def _figure(self, name: str) -> float:
        return self._stated(getattr(self._gpu.host, name), name)

    def _stated(self, value: float | None, name: str) -> float:
        if value is None:
            raise InputError(self._gpu.name, f"host.{name}", "is not stated; give it, for example with --set")
        return value
