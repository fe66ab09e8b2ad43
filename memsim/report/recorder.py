"""Records what the reference model does, and when: the warps of one SM, its load-store unit, L2's slices and DRAM.

It wraps methods of the units of one model, which do what they do without it, so that a recorded replay has the counts
and cycles of any other.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from math import ceil
from typing import Any

import numpy as np

from memsim.gpu.config import GPU
from memsim.hierarchy.execution import Execution
from memsim.montecarlo.reference_trial import reference_model
from memsim.montecarlo.shared_stages import prepared
from memsim.reference.dram import RD, WR, Channel
from memsim.reference.l2 import L2Slice
from memsim.reference.model import ReferenceModel
from memsim.reference.sm import MultiprocessorUnit
from memsim.reference.warp import Warp
from memsim.support.errors import InputError
from memsim.support.scratch import Scratch
from memsim.trace.reader import Trace

TRANSACTIONS = 20_000  # which take about half a minute
WARP, LOAD_STORE, SLICE, CHANNEL = "warp", "load-store unit", "L2 slice", "DRAM channel"
_WAITS = {
    "issue": "issue",
    "wait_for_loads": "wait for data",
    "wait_at_barrier": "barrier",
    "use_mbarrier": "mbarrier",
}  # the SM's methods that take a warp, and what they are called


@dataclass(frozen=True)
class RecordedSpan:
    """What one unit does for some time.

    Attributes:
        unit: ``WARP`` or another of the names above.
        number: of the warp's slot in the SM, the slice or the channel; 0 of the load-store unit.
        name: of what it does.
        start, end: SM cycles.
        op: number of the static memory instruction; -1 for none.
    """

    unit: str
    number: int
    name: str
    start: int
    end: int
    op: int = -1


@dataclass(frozen=True)
class QueueLength:
    """How many requests wait at a slice or a channel, or are in service there, from a cycle on."""

    unit: str
    number: int
    cycle: int
    length: int


@dataclass
class SpanRecorder:
    """Watches a model that has not run yet.

    Args:
        model: to watch.
        sm: number of the SM whose warps are recorded.

    Attributes:
        spans, lengths: in the order in which they ended, or changed. Spans of a unit and number do not overlap, but a
            warp's are within its block's.
    """

    model: ReferenceModel
    sm: int
    spans: list[RecordedSpan] = field(default_factory=list)
    lengths: list[QueueLength] = field(default_factory=list)
    _free: dict[tuple[str, int], int] = field(default_factory=dict)
    _enqueued: dict[int, int] = field(default_factory=dict)
    _at_channel: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._watch_warps(self.model.sms[self.sm])
        self._watch_load_store(self.model.sms[self.sm])
        for l2_slice in self.model.slices:
            if isinstance(l2_slice, L2Slice):
                self._watch_slice(l2_slice)
        for channel in self.model.channels:
            self._watch_channel(channel)

    def _add(self, unit: str, number: int, name: str, start: int, end: int, op: int = -1) -> None:
        """Record a span from where the last one of the unit ended."""
        start = max(start, self._free.get((unit, number), 0))
        if end > start:
            self.spans.append(RecordedSpan(unit, number, name, start, end, op))
            self._free[unit, number] = end

    def _watch_warps(self, sm: MultiprocessorUnit) -> None:
        for method, name in _WAITS.items():
            setattr(sm, method, self._timed(getattr(sm, method), name))
        run_warp = sm.run_warp

        def recorded(warp: Warp, start: int) -> Generator[Any, Any, None]:
            yield from run_warp(warp, start)
            block = warp.age // (self.model.trace.warps_per_block or 1)
            self.spans.append(RecordedSpan(WARP, warp.slot, f"block {block}", start, self.model.clock.now))
            self._free[WARP, warp.slot] = self.model.clock.now

        sm.run_warp = recorded  # type: ignore[method-assign]

    def _timed(self, function: Callable[..., Generator[Any, Any, Any]], name: str) -> Callable[..., Any]:
        def recorded(warp: Warp, *rest: Any) -> Generator[Any, Any, Any]:
            begin = self.model.clock.now
            found = yield from function(warp, *rest)
            self._add(WARP, warp.slot, name, begin, self.model.clock.now)
            return found

        return recorded

    def _watch_load_store(self, sm: MultiprocessorUnit) -> None:
        unit, clock = sm.load_store, self.model.clock
        enqueue, serve = unit.enqueue, unit.serve

        def enqueued(warp: Warp) -> Any:
            self._enqueued[warp.slot] = clock.now
            return enqueue(warp)

        def served(warp: Warp) -> Generator[Any, Any, None]:
            begin, op = clock.now, int(self.model.trace.instructions[warp.pc - 1]["op"])
            self._add(WARP, warp.slot, "wait for load-store unit", self._enqueued.pop(warp.slot, begin), begin)
            yield from serve(warp)
            end = max(unit.free, clock.now)
            self._add(WARP, warp.slot, "access", begin, end, op)
            self._add(LOAD_STORE, 0, "access", begin, end, op)

        unit.enqueue, unit.serve = enqueued, served  # type: ignore[method-assign]

    def _watch_slice(self, l2_slice: L2Slice) -> None:
        put, complete, clock = l2_slice.queue.put, l2_slice.complete, self.model.clock

        def length(more: int) -> None:
            self.lengths.append(QueueLength(SLICE, l2_slice.number, clock.now, len(l2_slice.queue.items) + more))

        def entered(packet: Any) -> Any:
            event = put(packet)
            length(0)
            return event

        def completed(packet: Any) -> None:
            complete(packet)
            self._add(SLICE, l2_slice.number, str(packet.request), clock.now, ceil(l2_slice.free), packet.op)
            length(0)

        l2_slice.queue.put, l2_slice.complete = entered, completed  # type: ignore[method-assign, assignment]

    def _watch_channel(self, channel: Channel) -> None:
        send, finish, log, clock = channel.send, channel.finish, channel.log, self.model.clock
        timing = channel.timing

        def change(by: int) -> None:
            now = self._at_channel[channel.number] = self._at_channel.get(channel.number, 0) + by
            self.lengths.append(QueueLength(CHANNEL, channel.number, clock.now, now))

        def sent(request: Any, receiver: Any) -> None:
            send(request, receiver)
            change(1)

        def finished(request: Any, bank: int, row: int) -> None:
            finish(request, bank, row)
            change(-1)

        def logged(name: str, bank: int, row: int, at: int) -> None:
            log(name, bank, row, at)
            latency = {RD: timing.cl, WR: timing.cwl}.get(name)
            if latency is not None:
                start = (at + latency) / channel.ratio
                self._add(
                    CHANNEL,
                    channel.number,
                    f"{name} bank {bank} row {row}",
                    int(start),
                    ceil(start + timing.burst / channel.ratio),
                )

        channel.send, channel.finish, channel.log = sent, finished, logged  # type: ignore[method-assign, assignment]


def recorded_replay(trace: Trace, gpu: GPU, *, sm: int = 0, most: int = TRANSACTIONS, seed: int = 0) -> SpanRecorder:
    """Replay the first blocks of a trace on the reference model, and record who did what, and when.

    Args:
        sm: number of the SM whose warps are recorded.
        most: transactions after which no further block is launched.
        seed: of the trial 0 that is replayed.

    Raises:
        InputError: a GPU without that SM, or a block that fits no SM.
    """
    if not 0 <= sm < gpu.sm.count:
        raise InputError("--sm", str(sm), f"is not an SM of {gpu.name}; it has 0 to {gpu.sm.count - 1}")
    with Scratch() as folder:
        execution, _ = prepared(Execution.of(trace, gpu, folder), trace)
        seeds, _ = np.random.SeedSequence(seed, spawn_key=(0,)).spawn(2)
        model, _, _ = reference_model(execution.transactions, execution, execution.layout, seeds, most)
        recorder = SpanRecorder(model, sm)
        model.run()
    return recorder
