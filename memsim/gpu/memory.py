"""A GPU's memory beyond the SMs as data: translation, L2 and its prefetcher, caches behind L2, and DRAM."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, model_validator

from memsim.gpu.choices import DramPolicy, Inclusion, IndexHash, Replacement, RowPolicy, WriteHit, WriteMiss, WriteTurns
from memsim.gpu.memory_side import NAMES, MemorySideLevel
from memsim.gpu.prefetcher import PrefetcherKind
from memsim.gpu.section import Section, present_name


class L2(Section):
    enabled: bool = Field(True, description="whether there is an L2; if not, requests go to memory")
    size_bytes: int = Field(ge=1, le=2**32, description="capacity of all slices together")
    line_bytes: int = Field(ge=32, le=256, description="bytes per line (one tag)")
    fetch_bytes: int = Field(
        ge=32,
        le=256,
        description="aligned bytes that a miss fetches from memory; state and counters are per 32-byte sector",
    )
    ways: int = Field(ge=1, le=4096, description="associativity: lines per set")
    slices: int = Field(ge=1, le=256, description="number of slices; each serves a share of the addresses")
    slice_interleave_bytes: int = Field(ge=32, le=2**30, description="consecutive bytes per slice")
    slice_hash: IndexHash = Field(IndexHash.modulo, description="hash from address to slice")
    set_hash: IndexHash = Field(IndexHash.modulo, description="hash from line number within a slice to set")
    replacement: Replacement = Field(Replacement.lru, description="replacement policy")
    write_hit: WriteHit = Field(WriteHit.any, description="which valid sectors make a store a hit")
    write_miss: WriteMiss = Field(
        WriteMiss.validate,
        description="what a store that misses does: fetch the sector, validate it, or write to memory",
    )
    max_dirty_ways: int | None = Field(
        None, ge=1, le=4096, description="dirty lines per set before the oldest is written back; none: all"
    )
    max_partial_ways: int | None = Field(
        None,
        ge=1,
        le=4096,
        description="lines per set with sectors that stores covered in part, before L2 reads the rest of those of the "
        "oldest from memory and writes them back; the rest is also read when such a line is evicted; none: never read",
    )
    inclusion: Inclusion = Field(
        Inclusion.non_inclusive, description="whether an eviction from L2 invalidates the copies in L1s"
    )
    mshrs: int = Field(ge=1, le=2**16, description="maximum number of outstanding fetches per slice")
    hit_latency_cycles: int = Field(ge=2, le=10**5, description="load-to-use latency of a hit without queueing")
    clock_mhz: float | None = Field(None, ge=1, le=1e5, description="clock of the slices; none: that of the SMs")
    sector_cycles: int = Field(1, ge=1, le=10**5, description="cycles per sector in a slice")
    read_sectors: int | None = Field(
        None,
        ge=1,
        le=8,
        description="sectors of a request that a slice reads in sector_cycles; none: one; stores and atomics: one",
    )
    partial_store_cycles: int | None = Field(
        None, ge=1, le=10**5, description="cycles per sector that a store writes partly, if more; none: the same"
    )
    repeated_store_cycles: int | None = Field(
        None,
        ge=1,
        le=10**5,
        description="cycles per sector that a store writes partly, if the slice's store before it wrote to that sector "
        "as well; none: as for others",
    )
    partitions: int = Field(1, ge=1, le=2, description="L2 partitions; each caches for the SMs connected to it")
    partition_cycles: int = Field(0, ge=0, le=10**5, description="additional latency of a hit in the other partition")
    merges_copies: bool = Field(
        False,
        description="with two partitions, whether a load of a line whose copy is on its way from the other one waits "
        "for that copy; if not, it crosses as well",
    )
    instances: int | None = Field(
        None,
        ge=2,
        le=64,
        description="separate L2s, each with an equal share of slices and size; SM s uses number s mod instances alone"
        "; none: one L2",
    )

    @property
    def of_partial_store(self) -> int:
        """Cycles a slice is busy for a sector that a store covers in part."""
        return max(self.sector_cycles, self.partial_store_cycles or 0)

    @property
    def of_repeated_store(self) -> int:
        """Cycles a slice is busy for a sector that a store covers in part, after a store to the same sector."""
        return self.of_partial_store if self.repeated_store_cycles is None else self.repeated_store_cycles

    @property
    def one_instance(self) -> L2:
        """Of several separate L2s, one."""
        n = self.instances or 1
        share = {"size_bytes": self.size_bytes // n, "slices": self.slices // n, "instances": None}
        return self.model_copy(update=share)

    @model_validator(mode="before")
    @classmethod
    def _old_names(cls, data: Any) -> Any:
        return (
            {present_name(f"l2.{name}")[3:]: value for name, value in data.items()} if isinstance(data, dict) else data
        )


class DramTiming(Section):
    """JEDEC-style constraints in cycles of the DRAM command clock (``dram.clock_mhz``)."""

    cl: int = Field(ge=1, le=1000, description="read command to first data")
    cwl: int = Field(ge=1, le=1000, description="write command to first data")
    burst: int = Field(ge=1, le=1000, description="cycles the data bus is busy for one sector")
    ccd: int = Field(ge=1, le=1000, description="column command to column command")
    rcd: int = Field(ge=1, le=1000, description="activate to column command, same bank")
    rp: int = Field(ge=1, le=1000, description="precharge to activate, same bank")
    ras: int = Field(ge=1, le=1000, description="activate to precharge, same bank")
    rrd: int = Field(ge=1, le=1000, description="activate to activate, two banks")
    faw: int = Field(ge=1, le=1000, description="time window with at most four activates")
    rtp: int = Field(ge=1, le=1000, description="read command to precharge, same bank")
    wr: int = Field(ge=1, le=1000, description="last write data to precharge, same bank")
    wtr: int = Field(ge=1, le=1000, description="last write data to read command")
    rtw: int = Field(ge=1, le=1000, description="read command to write command")
    ccd_l: int | None = Field(None, ge=1, le=1000, description="ccd within a bank group; none: as ccd")
    rrd_l: int | None = Field(None, ge=1, le=1000, description="rrd within a bank group; none: as rrd")
    wtr_l: int | None = Field(None, ge=1, le=1000, description="wtr within a bank group; none: as wtr")
    refi: int | None = Field(
        None, ge=100, le=10**6, description="interval between refreshes of all banks; none: no refresh"
    )
    rfc: int | None = Field(None, ge=1, le=10**5, description="refresh to activate; given with refi")

    def resolved(self) -> dict[str, int]:
        """Every constraint as a number: what is None stands for, and 0 for no refresh.

        >>> from memsim.gpu.presets import load_gpu
        >>> timing = load_gpu("gtx480").dram.timing
        >>> timing.resolved()["ccd_l"] == timing.ccd
        True
        """
        values = self.model_dump()
        same = {"ccd_l": self.ccd, "rrd_l": self.rrd, "wtr_l": self.wtr, "refi": 0, "rfc": 0}
        return values | {name: value for name, value in same.items() if values[name] is None}


class Dram(Section):
    kind: str = Field(description="memory technology; a label")
    channels: int = Field(ge=1, le=256, description="channels, each with a data bus and a scheduler")
    banks: int = Field(ge=1, le=64, description="banks per channel")
    bank_groups: int | None = Field(
        None, ge=2, le=64, description="bank groups per channel (bank b in group b mod groups); none: not distinguished"
    )
    row_bytes: int = Field(ge=32, le=2**30, description="bytes per row of a bank")
    interleave_bytes: int = Field(ge=32, le=2**30, description="consecutive bytes per channel")
    channel_hash: IndexHash = Field(IndexHash.modulo, description="hash from address to channel")
    bank_hash: IndexHash = Field(IndexHash.modulo, description="hash from row number within a channel to bank")
    clock_mhz: float = Field(ge=1, le=1e5, description="clock of DRAM commands")
    policy: DramPolicy = Field(DramPolicy.fr_fcfs, description="scheduling policy: in order, or row hits first")
    row_policy: RowPolicy = Field(RowPolicy.open_page, description="how long a bank keeps a row open")
    write_turns: WriteTurns = Field(WriteTurns.alone, description="when writes are served relative to reads")
    queue: int = Field(ge=1, le=256, description="read queue entries per channel")
    write_queue: int = Field(ge=1, le=256, description="write queue entries per channel")
    write_high: int = Field(ge=1, description="occupied write queue entries that start a drain")
    write_low: int = Field(ge=0, description="occupied write queue entries that end a drain")
    entry_sectors: int = Field(8, ge=1, le=8, description="sectors per queue entry")
    latency_cycles: int = Field(
        ge=0, le=10**5, description="latency from L2 to the channel and back, in addition to the timing constraints"
    )
    timing: DramTiming


class Prefetcher(Section):
    """The hardware prefetcher of L2."""

    kind: PrefetcherKind = Field(PrefetcherKind.none, description="which lines are prefetched into L2; none: no line")
    degree: int = Field(2, ge=1, le=64, description="lines that one request makes it fetch at most")
    distance: int = Field(4, ge=1, le=256, description="lines or strides that it runs ahead of the request")
    entries: int = Field(64, ge=1, le=4096, description="strides or streams that it tracks; the oldest is replaced")
    training: int = Field(2, ge=1, le=16, description="near misses in one direction that make a stream")
    page_bytes: int = Field(4096, ge=256, le=2**30, description="aligned bytes that no prefetch leaves")


_Cycles = Annotated[int, Field(ge=2, le=10**5)]


class MemorySide(Section):
    """The cache levels between L2 and DRAM."""

    levels: int = Field(0, ge=0, le=len(NAMES), description="cache levels between L2 and DRAM, from L2 on; 0: none")
    size_bytes: tuple[Annotated[int, Field(ge=1, le=2**34)], ...] = Field(
        (), description="of each level: capacity of all slices together"
    )
    line_bytes: tuple[Annotated[int, Field(ge=32, le=256)], ...] = Field(
        (), description="of each level: bytes per line; validity is per 32-byte sector"
    )
    ways: tuple[Annotated[int, Field(ge=1, le=64)], ...] = Field((), description="of each level: associativity")
    slices: tuple[Annotated[int, Field(ge=1, le=256)], ...] = Field(
        (), description="of each level: slices, each with a share of the addresses"
    )
    slice_interleave_bytes: tuple[Annotated[int, Field(ge=32, le=2**30)], ...] = Field(
        (), description="of each level: consecutive bytes per slice"
    )
    slice_hash: tuple[IndexHash, ...] = Field((), description="of each level: hash from address to slice")
    set_hash: tuple[IndexHash, ...] = Field((), description="of each level: hash from line number to set")
    replacement: tuple[Replacement, ...] = Field((), description="of each level: replacement policy")
    hit_latency_cycles: tuple[_Cycles, ...] = Field(
        (), description="of each level: load-to-use latency of a hit without queueing"
    )
    slice_bytes_per_cycle: tuple[Annotated[int, Field(ge=1, le=2**16)], ...] = Field(
        (), description="of each level: bytes that a slice reads or writes per SM cycle"
    )

    @property
    def each(self) -> list[MemorySideLevel]:
        """The levels, from L2 on."""
        fields = [name for name in type(self).model_fields if name != "levels"]
        return [
            MemorySideLevel(NAMES[k], **{name: getattr(self, name)[k] for name in fields}) for k in range(self.levels)
        ]


class Translation(Section):
    """Address translation between L1, which is tagged with virtual addresses, and L2: TLBs and page walks."""

    enabled: bool = Field(False, description="whether addresses are translated before L2")
    page_bytes: int = Field(2097152, ge=4096, le=2**30, description="page size, and reach of an entry of an SM's TLB")
    sm_entries: int = Field(16, ge=1, le=4096, description="entries of the TLB of an SM")
    sm_ways: int = Field(16, ge=1, le=4096, description="associativity of the TLB of an SM")
    sm_misses: int = Field(16, ge=1, le=4096, description="maximum number of outstanding misses of the TLB of an SM")
    shared_entries: int = Field(256, ge=1, le=2**20, description="entries of the shared TLB")
    shared_ways: int = Field(16, ge=1, le=4096, description="associativity of the shared TLB")
    shared_page_bytes: int = Field(33554432, ge=4096, le=2**40, description="reach of an entry of the shared TLB")
    shared_latency_cycles: int = Field(
        10, ge=1, le=10**5, description="latency from a miss of an SM's TLB to its fill, on a hit in the shared TLB"
    )
    starts_warm: bool = Field(True, description="whether the shared TLB begins with the trace's pages, as after copies")
    walkers: int = Field(32, ge=1, le=4096, description="page walks at the same time")
    walk_levels: int = Field(4, ge=1, le=6, description="dependent loads per page walk, each through L2")
