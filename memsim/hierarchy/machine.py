"""The state of a GPU as arrays: everything empty and idle, ready for one trial."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from memsim.gpu.choices import Dependence, Divergence, Inclusion
from memsim.gpu.config import GPU
from memsim.gpu.translation import TRANSLATION
from memsim.hierarchy.cache.replacement import LRU, for_lru
from memsim.hierarchy.cache.ways import new_cache, reserve
from memsim.hierarchy.counters import LATENCY_BINS, CountUnit, Event, Level, latency_bin_edges
from memsim.hierarchy.dram import state as dram_state
from memsim.hierarchy.dram.parameters import dram_parameters, log_run
from memsim.hierarchy.dram.request_log import new_log
from memsim.hierarchy.draws import Draws
from memsim.hierarchy.l2 import state as l2_state
from memsim.hierarchy.l2.parameters import group_bits, l2_parameters
from memsim.hierarchy.l2.prefetcher import new_prefetching
from memsim.hierarchy.mapping import AddressLayout, with_copies
from memsim.hierarchy.parameters import code_of, horizon, longest_quantum, shared, sharer_words
from memsim.hierarchy.requests import REQUEST, free_all, grow_pool, new_event_queue, new_pool, new_queues
from memsim.hierarchy.sm import state as sm_state
from memsim.hierarchy.sm.parameters import compute_run_times, results, sm_parameters
from memsim.hierarchy.translation import state as translation_state
from memsim.hierarchy.translation.pages import page_tables
from memsim.jit.compile_entry import entry
from memsim.jit.plain_python import level_records
from memsim.jit.specialization import is_fixed
from memsim.trace.schema import PRODUCT_GROUPS, SCOREBOARDS
from memsim.trace.transactions import Transactions

LOG_RUNS = 256  # runs of requests to DRAM that the log has room for
# Records of pools, and what is written when they are taken, a line comes or a table is appended to.
_WRITTEN_FIRST = {
    "requests", "free_requests", "mshr_targets", "free_mshr_targets", "loads", "free_loads", "rings",
    "signals", "freed", "allocated_at", "writers", "fetch_of", "fill_ways", "packet_ways", "written", "commands", "log",
}  # fmt: skip
_OF_TRACE = ("instructions", "lines", "masks", "partial", "merged", "words", "local", "phase", "divergences")
# What L2 keeps from one launch to the next.
_CACHE_CONTENT = ("tags", "ways", "oldest", "sets", "predictions")
_SLICE_CONTENT = ("dirty_ways", "written", "way_of", "copied")
SMS_PER_SUBSLOT = 8  # about as many requests of one cycle are put in order one by one
SMS_PER_CURSOR = 16  # few SMs' requests stay in the host's caches
SMALL_LATENCIES = 2048  # latencies whose histogram bin is looked up directly


@dataclass
class Machine:
    """The levels of one GPU; they share the pool of requests and the event queues between them."""

    gpu: GPU
    resident: int  # blocks one SM holds at once
    sms: sm_state.SMs
    translation: translation_state.TLBs | None  # where addresses are translated
    slices: l2_state.Slices
    channels: dram_state.Channels
    counters: np.ndarray  # [level, op, event, unit]
    translated: np.ndarray  # [TRANSLATION.counters]

    def __post_init__(self) -> None:
        self._idle = self.channels  # the main-memory step puts others in their place
        self._fresh = {id(array): (plain(array), _content(array)) for array in self._changing()}
        self._loops: dict[str, Callable[..., Any]] = {}

    def _changing(self) -> Iterator[np.ndarray]:
        """The arrays that a trial reads before it writes them, and writes."""
        for level in (self.sms, self.translation, self.slices, self.channels):
            for name, value in () if level is None else level._asdict().items():
                for array in value if isinstance(value, tuple) else (value,):
                    if name not in _WRITTEN_FIRST and array.flags.writeable:
                        yield array

    def renew(self, drawn: Draws) -> None:
        """Make everything empty and idle again, for another trial of the same trace.

        Memory that the host has mapped already, pools as large as they became and the tables of the trace stay: to make
        them took longer than a small trial.

        Args:
            drawn: what that trial drew; lines lie where they did.
        """
        for array, fresh in self._fresh.values():
            np.copyto(array, fresh)
        self.channels = self._idle._replace(requests=self.sms.requests)
        for free in (self.sms.free_requests, self.sms.free_mshr_targets, self.sms.free_loads):
            free_all(free)
        self._draw(drawn)

    def _draw(self, drawn: Draws) -> None:
        """Let the loops know what the trial drew."""
        sms = self.sms.p
        sms["weights_key"], sms["scheduler_key"] = drawn.warp_weights, drawn.warp_scheduler
        sms["arbitration_key"] = drawn.arbitration
        if self.translation is not None:
            self.translation.p["arbitration_key"] = drawn.arbitration
        for level in (self.sms, self.slices):
            level.cache.shape["key"] = drawn.replacement

    def carry_over_l2(self, before: Machine) -> None:
        """Let L2, empty so far, begin with the lines that a launch has left there, dirty ones too.

        Args:
            before: with nothing under way, of the same L2 and the same numbers of lines. What L2 writes back of it
                counts to no static instruction: another kernel's wrote it.
        """
        old, new = before.slices, self.slices
        for one, other, names in ((new.cache, old.cache, _CACHE_CONTENT), (new, old, _SLICE_CONTENT)):
            for name in names:
                np.copyto(getattr(one, name), getattr(other, name))
        new.writers[:] = self.counters.shape[1] - 1

    def loop(self, name: str, function: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
        """A loop's machine code for arguments of these types, which a machine has to receive once for every name."""
        if name not in self._loops:
            self._loops[name] = entry(function, *arguments)
        return self._loops[name]

    def grow_requests(self, least: int) -> None:
        """Double the pool of requests until `least` are free; numbers in use stay valid."""
        if self.sms.free_requests[0] >= least:
            return
        requests, free = grow_pool(self.sms.requests, self.sms.free_requests, least)
        self.sms = self.sms._replace(requests=requests, free_requests=free)
        old = self.slices.fill_ways
        fill_ways = np.resize(old, len(old) // len(self.slices.requests) * len(requests))
        self.slices = self.slices._replace(requests=requests, free_requests=free, fill_ways=fill_ways)
        self.channels = self.channels._replace(requests=requests)
        if self.translation is not None:
            self.translation = self.translation._replace(requests=requests, free_requests=free)

    def grow_mshrs(self, least: int) -> None:
        """Double the pools of MSHR targets and outstanding loads until `least` of each are free."""
        sms = self.sms
        if sms.free_mshr_targets[0] < least:
            mshr_targets, free_mshr_targets = grow_pool(sms.mshr_targets, sms.free_mshr_targets, least)
            sms = sms._replace(mshr_targets=mshr_targets, free_mshr_targets=free_mshr_targets)
        if sms.free_loads[0] < least:
            loads, free_loads = grow_pool(sms.loads, sms.free_loads, least)
            sms = sms._replace(loads=loads, free_loads=free_loads)
        self.sms = sms

    def reserve(self, requests: int, mshr_targets: int, free_entries: int, crossing: bool = False) -> int:
        """Make room for so many requests, MSHR targets and outstanding loads; returns the requests under way.

        Args:
            free_entries: MSHR targets and outstanding loads that are free for sure.
            crossing: every request under way may take one more, for what its copy replaces in the other partition.
        """
        free = int(self.sms.free_requests[0])
        under_way = len(self.sms.requests) - free
        requests += under_way if crossing else 0
        if free < requests:
            self.grow_requests(requests)
        if free_entries < mshr_targets:
            self.grow_mshrs(mshr_targets)
        return under_way

    @property
    def dirty_sectors(self) -> np.ndarray:
        """Sectors of L2 that are dirty, i8 []."""
        dirty = np.ascontiguousarray(self.slices.cache.ways["dirty"])
        return np.asarray(self.slices.sectors)[dirty[dirty != 0]].sum()

    @property
    def log_run(self) -> int:
        """Consecutive requests in a run of the log of requests to DRAM."""
        return int(self.channels.p["log_run"][0])

    def settle(self) -> int:
        """With nothing under way, set the SMs' clocks to the first cycle after everything that happened; returns it."""
        p = self.channels.p
        bus = int(self.channels.channels["bus_free"].max()) * int(p["clock_down"][0])
        answered = -(-bus // int(p["clock_up"][0])) + int(p["latency"][0])
        sms = self.sms.sms
        time = 1 + max(int(sms["end"].max()), int(sms["link_free"].max()), answered)
        sms["time"] = time
        return time

    @property
    def under_way(self) -> int:
        """Requests under way."""
        return len(self.sms.requests) - int(self.sms.free_requests[0])


class ReusableMachine:
    """The machine of a finished trial, kept for the next trial of the same trace on the same GPU.

    A large GPU's machine takes tens of megabytes, which the host then maps once instead of once per trial.
    """

    def __init__(self) -> None:
        self._stored: tuple[Machine, Transactions, AddressLayout] | None = None

    def put(self, machine: Machine, transactions: Transactions, where: AddressLayout) -> None:
        """Keep an idle machine; it replaces the one that was kept."""
        self._stored = machine, transactions, where

    def drop(self) -> None:
        """Keep none: its memory, and that of the trace it holds, goes back to the host."""
        self._stored = None

    def take(self, transactions: Transactions, gpu: GPU, resident: int, drawn: Draws) -> Machine | None:
        """A machine as :func:`build` makes it of the same, or None: it is no longer kept.

        Transactions and layout must be the very same objects, whose arrays the machine holds.
        """
        stored, self._stored = self._stored, None
        if stored is None:
            return None
        machine, of, where = stored
        if of is not transactions or where is not drawn.where or (machine.gpu, machine.resident) != (gpu, resident):
            return None
        machine.renew(drawn)
        return machine


def plain(array: np.ndarray) -> np.ndarray:
    """The array's own memory as numbers in a row: records as bytes, which numpy copies at once and not by field."""
    flat = array.view(np.ndarray).reshape(-1)
    return flat if array.dtype.names is None else flat.view(np.uint8)


def _content(array: np.ndarray) -> np.ndarray:
    """What to fill it with to make it as it is: a copy, or the one number that tables of lines begin with."""
    flat = plain(array)
    return flat[:1].copy() if flat.size and (flat == flat[0]).all() else flat.copy()


def build(tx: Transactions, gpu: GPU, drawn: Draws, resident: int, commands: int = 0) -> Machine:
    """An empty machine for a trace.

    Args:
        drawn: what the trial drew.
        resident: blocks one SM holds at once.
        commands: DRAM commands to log.
    """
    where = drawn.where
    requests, free_requests = new_pool(REQUEST, 4096)
    size = 1 << (2 * horizon(gpu)).bit_length()
    quantum = 1 << longest_quantum(gpu).bit_length()  # what SMs and TLBs send is due in the quantum in which they do
    subslots = 1 << (gpu.sm.count // SMS_PER_SUBSLOT).bit_length()
    counters = np.zeros((len(Level), tx.n_ops + 1, len(Event), len(CountUnit)), np.int64)
    translated = np.zeros(len(TRANSLATION.counters), np.int64)
    common = {
        "mapping": shared(where.mapping),
        "requests": requests,
        "free_requests": free_requests,
        "replies": new_queues(gpu.sm.count + 1),  # a queue an SM, then that of the page walkers
        "sectors": np.array([mask.bit_count() for mask in range(256)], np.int64),  # number of bits of a mask
        "sharers": np.zeros(len(where.mapping) * sharer_words(gpu), np.uint32),
        **{name: new_event_queue(size) for name in ("to_sms", "to_dram", "from_dram", "to_home", "to_near")},
        **{name: new_event_queue(quantum, subslots) for name in ("from_sms", "to_l2")},
    }
    sms = _sms(gpu, drawn, tx, resident, common["sectors"]) | {"counters": counters[Level.l1]}
    if gpu.translation.enabled:
        sms["to_l2"] = common["from_sms"]
    slices = _slices(gpu, drawn, tx.n_ops, len(requests)) | {"counters": counters[Level.l2]}
    channels = _channels(gpu, common["sectors"], commands) | {"counters": counters[Level.dram]}
    tlbs = _tlbs(gpu, drawn, tx.n_ops) | {"counters": translated} if gpu.translation.enabled else None
    return Machine(
        gpu,
        resident,
        _level(sm_state.SMs, sms, common),
        None if tlbs is None else _level(translation_state.TLBs, tlbs, common),
        _level(l2_state.Slices, slices, common),
        _level(dram_state.Channels, channels, common),
        counters,
        translated,
    )


def _level(kind: Any, own: dict[str, Any], common: dict[str, Any]) -> Any:
    """A level's arrays, its own ones and those that it shares with others by their names."""
    return level_records(kind(**own, **{name: common[name] for name in kind._fields if name not in own}))


def _sms(gpu: GPU, drawn: Draws, tx: Transactions, resident: int, sectors: np.ndarray) -> dict[str, Any]:
    n, l1, policy = gpu.sm.count, gpu.l1, code_of(gpu.l1.replacement)
    cache = new_cache(n * l1.sets, sm_state.L1_WAY, ways=l1.ways, group_bits=0, policy=policy, key=drawn.replacement)
    reserve(cache, l1.sets, l1.reserved_ways)
    mshr_targets, free_mshr_targets = new_pool(sm_state.MSHR_TARGET, 1024)
    loads, free_loads = new_pool(sm_state.LOAD, 1024)
    schedulers = gpu.sm.schedulers or 1
    scoreboard = gpu.sm.dependence is Dependence.scoreboard
    both = scoreboard and gpu.sm.divergence is Divergence.interleaved
    divergent = both and len(tx.divergences) > 0
    warps = n * sm_state.SLOTS * (2 if divergent else 1)
    scoreboards = warps * sm_state.CLASSES if scoreboard else 0
    controls = tx.controls if scoreboard else tx.controls[:0]
    state = np.zeros(n, sm_state.SM_STATE)
    state["warp"] = state["load"] = -1
    return dict(
        **{name: shared(getattr(tx, name)) for name in _OF_TRACE},
        p=sm_parameters(gpu, drawn, resident, tx.warps_per_block, divergent),
        sms=state,
        warps=np.zeros(warps, sm_state.WARP),
        diverged=np.zeros(warps // 2 if divergent else 0, sm_state.DIVERGED),
        blocks=np.zeros(n * sm_state.SLOTS, sm_state.BLOCK),
        heap=np.zeros(n * 2 * sm_state.SLOTS, np.int64),
        class_scoreboards=np.zeros(scoreboards, sm_state.CLASS_SCOREBOARD),
        rings=np.zeros(scoreboards * sm_state.RING, np.int64),
        controls=shared(controls),
        scoreboards=np.zeros(warps * SCOREBOARDS if len(controls) else 0, sm_state.SCOREBOARD),
        setters=np.zeros(scoreboards * sm_state.RING if len(controls) else 0, np.uint8),
        stalls=np.zeros(warps if len(controls) else 0, np.int64),
        results=results(gpu),
        groups=np.zeros(warps * PRODUCT_GROUPS if len(controls) else 0, np.int64),
        signals=np.zeros(scoreboards * sm_state.RING if len(tx.arrivals) else 0, np.int64),
        mbarriers=np.zeros(len(tx.arrivals), sm_state.PHASE),
        ports=np.zeros(n * schedulers, np.int64),
        address_units=np.zeros(n * schedulers, np.int64),
        pipes=np.zeros(n * schedulers * sm_state.PIPES, np.int64),
        compute_run_times=shared(compute_run_times(gpu, np.asarray(tx.mixes))),
        cache=for_lru(cache),
        allocated_at=np.zeros(len(cache.ways) if gpu.l2.inclusion is Inclusion.inclusive else 0, np.int64),
        mshr_targets=mshr_targets,
        free_mshr_targets=free_mshr_targets,
        loads=loads,
        free_loads=free_loads,
        prefetch_cursors=np.zeros(n // SMS_PER_CURSOR, np.int64),
        histogram=np.zeros((tx.n_ops + 1, LATENCY_BINS), np.int64),
        times=np.zeros(tx.n_ops + 1, sm_state.OP_TIMES),
        bin_of=(np.searchsorted(latency_bin_edges(), np.arange(SMALL_LATENCIES), side="right") - 1).astype(np.int16),
        link_cycles=-(-sectors * 32 // gpu.sm.reply_bytes_per_cycle),
        freed=np.zeros(n * sm_state.SLOTS, sm_state.FREED),
        freed_count=np.zeros(1, np.int64),
    )


def _tlbs(gpu: GPU, drawn: Draws, n_ops: int) -> dict[str, Any]:
    own, where, n = gpu.translation, drawn.where, gpu.sm.count
    sm_sets, shared_sets = own.sm_entries // own.sm_ways, own.shared_entries // own.shared_ways
    entries, entry_of = np.unique(where.pages // (own.shared_page_bytes // own.page_bytes), return_inverse=True)
    pages = np.zeros(len(where.pages), translation_state.PAGE)
    pages["set"], pages["entry"] = where.pages % sm_sets, entry_of
    steps = page_tables(where.pages, gpu)[1].ravel()
    steps["line"] += len(where.page_of)
    way, lru = translation_state.TLB_WAY, dict(group_bits=0, policy=LRU, key=0)
    tlbs = new_cache(n * sm_sets, way, ways=own.sm_ways, **lru)
    shared_tlb = new_cache(shared_sets, way, ways=own.shared_ways, **lru)
    entry_sets, way_of = (entries % shared_sets).astype(np.int32), np.full(len(entries), -1, np.int32)
    if own.starts_warm:
        translation_state.fill_in_order(shared_tlb, entry_sets, way_of)
    misses, free_misses = new_pool(translation_state.MISS, n * own.sm_misses)
    walks, free_walks = new_pool(translation_state.WALK, n * own.sm_misses)
    return dict(
        p=translation_state.translation_parameters(gpu, drawn.arbitration, n_ops),
        page_of=shared(where.page_of),
        pages=pages,
        entry_sets=entry_sets,
        steps=steps,
        tlbs=for_lru(tlbs),
        miss_of=np.full(len(tlbs.ways), -1, np.int32),
        under_way=np.zeros(n, np.int64),
        queues=new_queues(n),
        shared=for_lru(shared_tlb),
        way_of=way_of,
        walk_of=np.full(len(entries), -1, np.int32),
        misses=misses,
        free_misses=free_misses,
        walks=walks,
        free_walks=free_walks,
        waiting=new_queues(1),
        walking=np.zeros(1, np.int64),
        fills=new_event_queue(1 << (longest_quantum(gpu) + own.shared_latency_cycles).bit_length()),
    )


def _slices(gpu: GPU, drawn: Draws, n_ops: int, requests: int) -> dict[str, Any]:
    own, n_lines, policy = gpu.l2, len(drawn.where.mapping), code_of(gpu.l2.replacement)
    n_sets, bits = own.size_bytes // (own.line_bytes * own.ways), group_bits(gpu)
    copies = n_lines if own.partitions > 1 else 0
    cache = new_cache(n_sets, l2_state.L2_WAY, ways=own.ways, group_bits=bits, policy=policy, key=drawn.replacement)
    sets_of = with_copies(drawn.where, gpu)
    p = l2_parameters(gpu, drawn.where.has_distinct_sets, n_lines)
    return dict(
        p=p,
        sets_of=shared(sets_of),
        slices=np.zeros(own.slices, l2_state.SLICE),
        cache=for_lru(cache) if is_fixed(p) else cache,
        writers=np.zeros(len(cache.ways), np.uint16),
        dirty_ways=np.zeros(len(cache.sets), np.int16),
        written=np.zeros(len(cache.ways) if own.max_partial_ways else 0, np.uint32),
        way_of=np.full(len(sets_of), -1, np.int32),
        fetch_of=np.full(len(cache.ways) * (own.line_bytes // 32), -1, np.int64),
        packet_ways=np.zeros(8, np.int64),
        fill_ways=np.zeros(requests * (gpu.l1.line_bytes // own.line_bytes), np.int32),
        queues=new_queues(own.slices),
        answers=new_queues(own.slices),
        copied=np.zeros(copies, np.uint8),
        crossing=np.full(copies * (own.line_bytes // 32) if own.merges_copies else 0, -1, np.int32),
        fetch_bytes_mask=_widened(own.fetch_bytes // 32),
        prefetching=new_prefetching(gpu, drawn.where, len(cache.ways), n_ops),
    )


def _widened(group: int) -> np.ndarray:
    """Each mask with every group of `group` sectors that it touches filled."""
    masks = np.arange(256)
    wide = np.zeros(256, np.int64)
    for first in range(0, 8, group):
        full = ((1 << group) - 1) << first
        wide |= np.where(masks & full, full, 0)
    return wide & 255


def _channels(gpu: GPU, sectors: np.ndarray, commands: int) -> dict[str, Any]:
    return dict(
        **dram_state.new_channels(gpu.dram),
        p=dram_parameters(gpu),
        queues=new_queues(gpu.dram.channels),
        entries=-(-sectors // gpu.dram.entry_sectors),
        commands=np.zeros(commands, dram_state.COMMAND),
        logged=np.zeros(1, np.int64),
        log=np.zeros(log_run(gpu) * LOG_RUNS, np.int64),
        log_state=new_log(),
    )
