"""A GPU's memory beyond the SMs as data: L2, address translation and DRAM."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from memsim.gpu.choices import DramPolicy, Inclusion, IndexHash, Replacement, RowPolicy, WriteHit, WriteMiss, WriteTurns
from memsim.gpu.section import Section, present_name


class L2(Section):
    enabled: bool = Field(True, description="whether there is an L2; else requests go to memory as they are")
    size_bytes: int = Field(ge=1, le=2**32, description="bytes of all slices together")
    line_bytes: int = Field(ge=32, le=256, description="bytes of a line: one tag")
    fetch_bytes: int = Field(
        ge=32, le=256, description="aligned bytes that a miss fetches from memory; kept and counted by 32-byte sector"
    )
    ways: int = Field(ge=1, le=4096, description="lines of a set")
    slices: int = Field(ge=1, le=256, description="parts of L2, each with its own share of the addresses")
    slice_interleave_bytes: int = Field(ge=32, le=2**30, description="consecutive bytes that one slice holds")
    slice_hash: IndexHash = Field(IndexHash.modulo, description="how an address becomes the number of a slice")
    set_hash: IndexHash = Field(
        IndexHash.modulo, description="how the number of a line in its slice becomes that of a set"
    )
    replacement: Replacement = Field(Replacement.lru, description="which line of a full set goes")
    write_hit: WriteHit = Field(WriteHit.any, description="which valid sectors count a store as a hit")
    write_miss: WriteMiss = Field(
        WriteMiss.validate,
        description="what a store that misses does: fetches the sector, or takes it as valid, or goes to memory",
    )
    max_dirty_ways: int | None = Field(
        None, ge=1, le=4096, description="lines of a set that may be dirty before the oldest is cleaned; none: all"
    )
    inclusion: Inclusion = Field(
        Inclusion.non_inclusive, description="whether a line that leaves L2 leaves every L1 too"
    )
    mshrs: int = Field(ge=1, le=2**16, description="fetches one slice may have under way")
    hit_latency_cycles: int = Field(ge=2, le=10**5, description="load to use, on a hit, with no queueing")
    clock_mhz: float | None = Field(
        None, ge=1, le=1e5, description="the slices' clock, which counts how long they are busy; none: the SMs'"
    )
    sector_cycles: int = Field(1, ge=1, le=10**5, description="cycles of that clock a slice is busy for one sector")
    partial_store_cycles: int | None = Field(
        None, ge=1, le=10**5, description="and for one that a store covers in part, if that is more; none: the same"
    )
    partitions: int = Field(1, ge=1, le=2, description="parts of L2 that each cache for the SMs connected to them")
    partition_cycles: int = Field(0, ge=0, le=10**5, description="what a hit in the other partition takes longer")

    @property
    def of_partial_store(self) -> int:
        """Cycles a slice is busy for a sector that a store covers in part."""
        return max(self.sector_cycles, self.partial_store_cycles or 0)

    @model_validator(mode="before")
    @classmethod
    def _old_names(cls, data: Any) -> Any:
        return (
            {present_name(f"l2.{name}")[3:]: value for name, value in data.items()} if isinstance(data, dict) else data
        )


class Translation(Section):
    """Address translation between L1, which is tagged with virtual addresses, and L2: TLBs and page walks."""

    enabled: bool = Field(False, description="whether what goes to L2 is translated; else addresses are physical")
    page_bytes: int = Field(2097152, ge=4096, le=2**30, description="bytes of a page, and of an entry of an SM's TLB")
    sm_entries: int = Field(16, ge=1, le=4096, description="pages that one SM's TLB holds")
    sm_ways: int = Field(16, ge=1, le=4096, description="entries of a set of it")
    sm_misses: int = Field(16, ge=1, le=4096, description="misses of one SM's TLB that may be under way")
    shared_entries: int = Field(256, ge=1, le=2**20, description="entries of the TLB that all SMs share")
    shared_ways: int = Field(16, ge=1, le=4096, description="entries of a set of it")
    shared_page_bytes: int = Field(33554432, ge=4096, le=2**40, description="bytes that one entry of it covers")
    shared_latency_cycles: int = Field(10, ge=1, le=10**5, description="from an SM's miss to its fill, on a hit")
    starts_warm: bool = Field(True, description="the shared TLB begins with the trace's pages, as copies leave it")
    walkers: int = Field(32, ge=1, le=4096, description="page walks at a time")
    walk_levels: int = Field(4, ge=1, le=6, description="loads of a page walk, each from L2, one after the other")


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
    faw: int = Field(ge=1, le=1000, description="window that holds at most four activates")
    rtp: int = Field(ge=1, le=1000, description="read command to precharge, same bank")
    wr: int = Field(ge=1, le=1000, description="last write data to precharge, same bank")
    wtr: int = Field(ge=1, le=1000, description="last write data to read command")
    rtw: int = Field(ge=1, le=1000, description="read command to write command")
    ccd_l: int | None = Field(None, ge=1, le=1000, description="ccd within a bank group; None: as ccd")
    rrd_l: int | None = Field(None, ge=1, le=1000, description="rrd within a bank group; None: as rrd")
    wtr_l: int | None = Field(None, ge=1, le=1000, description="wtr within a bank group; None: as wtr")
    refi: int | None = Field(None, ge=100, le=10**6, description="between refreshes of all banks; None: no refresh")
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
    kind: str = Field(description="the memory's technology, for people")
    channels: int = Field(ge=1, le=256, description="parts of main memory, each with a bus and a scheduler of its own")
    banks: int = Field(ge=1, le=64, description="banks of one channel")
    bank_groups: int | None = Field(
        None, ge=2, le=64, description="groups of banks that share a path, bank b in b mod groups; None: not told apart"
    )
    row_bytes: int = Field(ge=32, le=2**30, description="bytes of one row of one bank")
    interleave_bytes: int = Field(ge=32, le=2**30, description="consecutive bytes that one channel holds")
    channel_hash: IndexHash = Field(IndexHash.modulo, description="how an address becomes the number of a channel")
    bank_hash: IndexHash = Field(
        IndexHash.modulo, description="how the number of a row in a channel becomes that of a bank"
    )
    clock_mhz: float = Field(ge=1, le=1e5, description="the command clock")
    policy: DramPolicy = Field(
        DramPolicy.fr_fcfs, description="whose turn it is: requests as they came, or those to open rows first"
    )
    row_policy: RowPolicy = Field(RowPolicy.open_page, description="how long a bank keeps a row open")
    write_turns: WriteTurns = Field(WriteTurns.alone, description="when writes go, beside reads")
    queue: int = Field(ge=1, le=256, description="entries for reads that one channel's scheduler sees")
    write_queue: int = Field(ge=1, le=256, description="entries for writes that one channel holds")
    write_high: int = Field(ge=1, description="entries held that start a drain of writes")
    write_low: int = Field(ge=0, description="entries held that end it")
    entry_sectors: int = Field(8, ge=1, le=8, description="sectors of a request that one entry of the queues holds")
    latency_cycles: int = Field(ge=0, le=10**5, description="from L2 to the channel and back, beside the timing table")
    timing: DramTiming
