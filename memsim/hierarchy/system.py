"""One trial: the SimPy processes that drive the compiled loops.

SimPy owns time and the order of the levels; a process advances its level over one quantum of time by one compiled
call. Requests made in a quantum reach the next level in the same quantum, and their answers come at least one quantum
later, so how time is cut into quanta changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from time import perf_counter
from typing import Any

import numpy as np
import simpy

from memsim.gpu.choices import Inclusion
from memsim.gpu.components import component_counts
from memsim.gpu.config import GPU
from memsim.gpu.prefetcher import PrefetcherKind
from memsim.hierarchy import machine
from memsim.hierarchy.block_sample import BlockSample
from memsim.hierarchy.block_times import BlockTimes
from memsim.hierarchy.codes import NEVER
from memsim.hierarchy.dram.channels import advance_channels
from memsim.hierarchy.dram.request_log import new_log
from memsim.hierarchy.draws import draws
from memsim.hierarchy.l2.parameters import most_writes
from memsim.hierarchy.l2.prefetcher import prefetch_counts
from memsim.hierarchy.l2.slices import advance_slices
from memsim.hierarchy.machine import ReusableMachine
from memsim.hierarchy.main_memory import memory_step
from memsim.hierarchy.mapping import AddressLayout
from memsim.hierarchy.not_compiled import check_compiled
from memsim.hierarchy.parameters import longest_quantum
from memsim.hierarchy.sampled_replay import SampledReplay
from memsim.hierarchy.sm.blocks import launch_items, work_items
from memsim.hierarchy.sm.load_store import advance_sms
from memsim.hierarchy.sm.parameters import block_ticks
from memsim.hierarchy.sm.state import FREED
from memsim.hierarchy.translation.lookups import advance_translation
from memsim.hierarchy.trial import Trial, latency_counts
from memsim.jit.compile_entry import is_ready
from memsim.jit.plain_python import records
from memsim.support.errors import InputError
from memsim.trace.transactions import Transactions

# Levels in the order in which they handle a quantum.
_LOOPS: dict[str, Callable[..., Any]] = {
    "sms": advance_sms,
    "translation": advance_translation,
    "slices": advance_slices,
    "channels": advance_channels,
}

_STUCK = "leaves warps waiting for mbarriers forever; make the trace again"


class System:
    """One GPU replaying one trace in one trial.

    Args:
        transactions: the coalesced trace.
        gpu: the configuration.
        resident: blocks one SM holds at once.
        seeds: source of all random draws of the trial.
        where: the trace's layout; made here when None or when pages are placed at random.
        quantum: cycles a level advances at a time, 1 to longest_quantum(gpu), which is the default.
        commands: DRAM commands to log, for those who check timing.
        others: by source (see hierarchy.draws), the seeds of the trial whose draw replaces this one's.
        reusable: a machine to use again, if it fits; changes nothing but speed.
        name: of the trace, where something is wrong with it.
        sample: the blocks that are replayed in time; None: all.
    """

    def __init__(
        self,
        transactions: Transactions,
        gpu: GPU,
        resident: int,
        seeds: np.random.SeedSequence,
        where: AddressLayout | None = None,
        quantum: int | None = None,
        commands: int = 0,
        others: Mapping[str, np.random.SeedSequence] | None = None,
        reusable: ReusableMachine | None = None,
        name: object = "the trace",
        sample: BlockSample | None = None,
    ) -> None:
        check_compiled(gpu)
        self.transactions, self.gpu, self.name = transactions, gpu, name
        self.resident = min(resident, gpu.sm.max_warps // transactions.warps_per_block)
        self.quantum = longest_quantum(gpu) if quantum is None else quantum
        assert 1 <= self.quantum <= longest_quantum(gpu), "quantum beyond the shortest answer"
        started = min(len(transactions.first_warp) - 1, self.resident * gpu.sm.count)
        drawn = draws(transactions, gpu, started, seeds, where, others)
        again = None if reusable is None or commands else reusable.take(transactions, gpu, self.resident, drawn)
        self.machine = again or machine.build(transactions, gpu, drawn, self.resident, commands)
        self.where = drawn.where
        self.first, self.end, self.block = work_items(transactions, started, drawn.phases)
        self._sampled = None if sample is None else SampledReplay(self, sample)
        self.now = 0
        self.seconds = dict.fromkeys(_LOOPS, 0.0)  # inside compiled loops

    def is_ready(self, level: str) -> bool:
        """Whether a level's loop needs no compilation."""
        return is_ready(_LOOPS[level], getattr(self.machine, level), 0, 0)

    def load(self, level: str) -> Callable[..., Any]:
        """A level's loop for this machine's arrays, compiled if it is not on disk."""
        return self.machine.loop(level, _LOOPS[level], getattr(self.machine, level), 0, 0)

    def run(self, warm: bool = False, grouping: np.random.Generator | None = None) -> Trial:
        """Replay the trace, then take the main-memory step over the requests that reached DRAM.

        Args:
            warm: replay it once uncounted before, so that it finds the caches as that left them.
            grouping: draws the step's groups; None leaves the step out.
        """
        if warm:
            self._replay()
            self._forget()
            self.now = self.machine.settle()  # the end of the last quantum would depend on its length
        begin, clock = self.now, perf_counter()
        self.seconds = dict.fromkeys(self.seconds, 0.0)
        self._replay()
        seconds = perf_counter() - clock
        state, sms = self.machine, self.machine.sms
        times, memory = sms.times[:-1].copy(), np.zeros(0, np.int64)
        if grouping is not None:
            memory = memory_step(state, self.gpu, self.memory_log, state.log_run, grouping)
        return Trial(
            counters=state.counters.transpose(1, 0, 2, 3).copy(),
            cycles=np.array(self._end - begin),
            latency_histogram=sms.histogram[:-1].copy(),
            latency_sum=times["sum"],
            latency_count=times["count"],
            instruction_latency_sum=times["instruction_sum"],
            instruction_latency_count=times["instruction_count"],
            memory_histogram=latency_counts(memory),
            memory_sum=memory.sum(),
            memory_count=np.array(len(memory)),
            transactions=sms.sms["transactions"].sum(),
            wall_seconds=np.array(seconds),
            compiled_seconds=np.array(sum(self.seconds.values())),
            full_until=np.array(self.blocks.full_until),
            dirty_sectors=state.dirty_sectors,
            components=component_counts(
                {"prefetcher": prefetch_counts(state.slices.prefetching), "translation": state.translated}
            ),
            blocks_done=self.blocks.done,
            **({} if self._sampled is None else self._sampled.meter.measured),
        )

    @property
    def _end(self) -> int:
        """When the last warp has ended and, if the launch waits for them, L2 has taken all stores."""
        warps = int(self.machine.sms.sms["end"].max())
        if not (self.gpu.launch.waits_for_stores and self.gpu.l2.enabled):
            return warps
        return max(warps, int(self.machine.slices.slices["free"].max()))

    @property
    def memory_log(self) -> np.ndarray:
        """A copy of the log of requests to DRAM: line << 8 | sector mask, in runs of consecutive ones."""
        channels = self.machine.channels
        return channels.log[: int(channels.log_state["entries"][0])].copy()

    def _forget(self) -> None:
        """Set every count to zero; caches and clocks stay."""
        sms, channels = self.machine.sms, self.machine.channels
        self.machine.counters[:] = 0
        sms.histogram[:] = 0
        sms.times[:] = np.zeros(1, sms.times.dtype)
        sms.sms["transactions"] = 0
        channels.log_state[:] = new_log()
        self.machine.translated[:] = 0
        self.machine.slices.prefetching.counts[:] = 0
        self.machine.slices.prefetching.prefetched[:] = 0

    def _replay(self) -> None:
        """Run until every block has ended and nothing is under way.

        What is raised inside a process, Ctrl-C too, leaves as it is: SimPy raises a copy, type(error)(*error.args),
        which not every exception bears.
        """
        env = simpy.Environment(self.now)
        self.machine.sms.mbarriers["left"] = self.transactions.arrivals
        self.machine.sms.mbarriers["time"] = 0
        slots = self.gpu.sm.count, self.resident
        self.blocks = BlockTimes(
            self.first, self.end, self.block, slots, self.gpu.sm.launch_cycles, self.now, block_ticks(self.gpu)
        )
        below = [level for level in _LOOPS if level != "sms" and getattr(self.machine, level) is not None]
        drivers = [self._drive_sms(env), *(self._drive(env, level) for level in below)]
        levels = [env.process(driver) for driver in drivers]
        try:
            env.run()
        except BaseException as error:
            inside: list[Any] = [level.value for level in levels if level.triggered and not level.ok]
            raise (inside[0] if inside else error) from None
        finally:
            for driver in drivers:
                driver.close()  # those that rest refer to this system, whose arrays are to be freed after its last use
        self.now = int(env.now)

    def _drive_sms(self, env: simpy.Environment) -> Generator[simpy.Event, None, None]:
        """SMs come first and say how long the step is.

        All levels wait for the one event that begins a quantum, and SimPy resumes them in the order in which they began
        to wait: what SMs send in a quantum, the TLBs handle in the same quantum, then L2, then DRAM.
        """
        machine, seconds = self.machine, self.seconds
        advance = self.load("sms")
        requests, nodes = self._most_taken()
        crossing = self.gpu.l2.partitions > 1
        item = min(self.gpu.sm.count * self.resident, len(self.first))  # breadth-first
        slots = np.zeros(item, FREED)
        slots["block"], slots["sm"] = np.divmod(np.arange(item), self.gpu.sm.count)
        launch_items(machine.sms, self.first, self.end, 0, records(slots), self.blocks.start[:item])
        sampled = self._sampled
        if sampled:
            sampled.begin(item, int(env.now))
        running = item
        free_entries = 0
        while True:
            under_way = machine.reserve(requests, nodes, free_entries, crossing)
            if not running and not under_way:
                self.quantum_ends = env.event()  # never comes: the other levels rest
                return
            begin, now = perf_counter(), env.now
            earliest, freed, free_entries = advance(machine.sms, now, now + self.quantum)
            seconds["sms"] += perf_counter() - begin
            step = self.quantum
            if freed:
                slots = machine.sms.freed[:freed].view(np.ndarray)
                slots = slots[np.lexsort((slots["sm"], slots["time"]))]
                starts = self.blocks.take(slots, min(freed, len(self.first) - item))
                launch_items(machine.sms, self.first, self.end, item, records(slots), starts)
                item += len(starts)
                running += len(starts) - freed
                if sampled:
                    sampled.started(item, int(env.now))
            elif not under_way and not machine.under_way:
                if earliest == NEVER:
                    raise InputError(self.name, "instructions/phase", _STUCK)
                step = max(step, earliest - now)
            self.quantum_ends = env.timeout(step)
            yield self.quantum_ends

    def _drive(self, env: simpy.Environment, level: str) -> Generator[simpy.Event, None, None]:
        """The TLBs, L2, or DRAM: advance by the quantum that the SMs have just advanced by."""
        machine, seconds = self.machine, self.seconds
        advance = self.load(level)
        while True:
            begin, now = perf_counter(), env.now
            advance(getattr(machine, level), now, now + self.quantum)
            seconds[level] += perf_counter() - begin
            if self.quantum_ends.processed:
                return  # an exception has ended the SMs, so there is no next one; SimPy raises it when all levels rest
            yield self.quantum_ends

    def _most_taken(self) -> tuple[int, int]:
        """Most requests and nodes that one quantum can take from their pools."""
        gpu = self.gpu
        lookups = gpu.sm.count * (self.quantum // gpu.sm.lookup_cycles + 1) * gpu.l1.tags_per_cycle
        lines = gpu.l1.line_bytes // gpu.l2.line_bytes
        copies = gpu.sm.count * lines if gpu.l2.inclusion is Inclusion.inclusive else 0
        served = gpu.l2.slices * (int(self.quantum * gpu.l2_clocks / gpu.l2.sector_cycles) + 2)
        # One more: a reply that drops dirty sectors sends them on before its own record is free.
        dropped = gpu.l2.partitions - 1  # a write has a copy dropped
        walks = gpu.translation.walkers if gpu.translation.enabled else 0
        prefetches = 0 if gpu.prefetcher.kind is PrefetcherKind.none else gpu.prefetcher.degree
        return 2 * lookups + 1 + walks + served * (1 + most_writes(gpu) + copies + dropped + prefetches), lookups
