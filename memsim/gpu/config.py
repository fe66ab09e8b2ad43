"""A GPU as validated, immutable data.

A preset is a TOML file (``configs/``); every number there is a table ``{value, source, status}`` with its unit in the
field's name. A field of this model that ends in ``_cycles`` may be given in the file as ``_ns`` instead; it is
resolved to SM cycles once, here.
"""

from __future__ import annotations

import difflib
import json
from enum import StrEnum
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from memsim.gpu import rules
from memsim.support.errors import InputError


class WarpScheduler(StrEnum):
    weighted_round_robin = "weighted_round_robin"
    loose_round_robin = "loose_round_robin"
    greedy_then_oldest = "greedy_then_oldest"
    random = "random"


class Dependence(StrEnum):
    """What a warp's instruction waits for."""

    sequence = "sequence"  # all loads of the sequence before it (bulk scheduling: Baghsorkhi 2012, section 2)
    scoreboard = "scoreboard"  # the loads whose values it uses: issue in order, a stall at the first use


class Replacement(StrEnum):
    lru = "lru"
    fifo = "fifo"
    random = "random"
    tree_plru = "tree_plru"
    srrip = "srrip"  # static re-reference interval prediction, two bits, hit priority (Jaleel et al., ISCA 2010)
    brrip = "brrip"  # bimodal: most new lines are the next to go (the same)


class IndexHash(StrEnum):
    """How a line's number becomes a set (or slice, or channel) number."""

    modulo = "modulo"
    xor_fold = "xor_fold"
    rotated = "rotated"  # the remainder, moved on by a fold of the quotient: any count, and no stride camps
    fermi_l1 = "fermi_l1"
    polynomial = "polynomial"  # remainder of the number's bits by an irreducible polynomial (Rau, ISCA 1991)


class L1Serves(StrEnum):
    """Which loads L1 serves."""

    all = "all"
    texture = "texture"  # those of read-only data alone, as the cache of Kepler's texture units


class ReservedFrom(StrEnum):
    """What an L1 gives up for the bytes that shared memory takes of it."""

    ways = "ways"  # ways, of the last sets first
    sets = "sets"  # half of the sets, as long as what is left fits the ways of the other half; the rest from ways


class L1WritePolicy(StrEnum):
    """What a store does in L1; it always goes on to L2 but under ``write_back``."""

    write_through = "write_through"  # updates a line that is present, allocates nothing
    write_allocate = "write_allocate"  # the same, and allocates a line that is absent, without fetching
    write_evict = "write_evict"  # invalidates a line that is present, allocates nothing
    write_back = "write_back"  # allocates without fetching (sector mask), writes dirty sectors back on eviction


class FullSet(StrEnum):
    """What a miss does in an L1 set whose ways all wait for data."""

    wait = "wait"  # until data arrive, and the load-store unit with it
    bypass = "bypass"  # goes to L2 without a way, and leaves no line

    @classmethod
    def _missing_(cls, value: object) -> FullSet | None:
        return cls.bypass if value == "pass_by" else None  # an older name


class WriteHit(StrEnum):
    """Which valid L2 sectors count a store as a hit."""

    any = "any"
    write_activated = "write_activated"  # only sectors that a store brought in or wrote before (Baghsorkhi 2012, 2.1)


class WriteMiss(StrEnum):
    """What a store that misses in L2 does."""

    fetch = "fetch"  # allocates, reads the sector from memory, leaves it dirty
    validate = "validate"  # allocates without reading; the sector is valid and dirty at once
    update_memory = "update_memory"  # writes memory, reads the sector in, leaves it clean (Baghsorkhi 2012, 2.1)
    no_allocate = "no_allocate"  # goes to memory


class Inclusion(StrEnum):
    inclusive = "inclusive"  # an L2 eviction invalidates the copies in every L1
    non_inclusive = "non_inclusive"


class DramPolicy(StrEnum):
    fcfs = "fcfs"
    fr_fcfs = "fr_fcfs"


_RENAMED = {
    "l2.far_cycles": "l2.partition_cycles",
    "l2.sector_bytes": "l2.fetch_bytes",
}  # fields, to what they are called now


class _Data(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


def _lanes(what: str) -> Any:
    return Field(None, ge=1, le=4096, description=f"{what} instructions: results a cycle and SM; none: issue alone")


def _link(what: str) -> Any:
    return Field(None, ge=0, le=10**5, description=f"from {what} instruction to one that uses its result")


def _macs(kind: str) -> Any:
    return Field(None, ge=1, le=2**20, description=f"multiply-accumulates of {kind} a cycle and SM on the tensor cores")


class Pipes(_Data):
    """What executes the instructions of a gap: width and latency of each class (memsim.trace.schema).

    The schedulers of an SM have equal shares of each. None: the class takes issue slots alone, and
    ``sm.instruction_cycles`` from one to the next on a chain.
    """

    integer_lanes: int | None = _lanes("integer")
    integer_cycles: int | None = _link("an integer")
    fp32_lanes: int | None = _lanes("single-precision")
    fp32_cycles: int | None = _link("a single-precision")
    half_lanes: int | None = _lanes("half-precision (two to an instruction's lane)")
    half_cycles: int | None = _link("a half-precision")
    fp64_lanes: int | None = _lanes("double-precision")
    fp64_cycles: int | None = _link("a double-precision")
    special_lanes: int | None = _lanes("special-function")
    special_cycles: int | None = _link("a special-function")
    conversion_lanes: int | None = _lanes("conversion")
    conversion_cycles: int | None = _link("a conversion")
    control_lanes: int | None = _lanes("control (branches, votes, predicates)")
    control_cycles: int | None = _link("a control")
    shuffle_lanes: int | None = _lanes("shuffle")
    shuffle_cycles: int | None = _link("a shuffle")
    tensor_f16_macs: int | None = _macs("f16 and bf16")
    tensor_tf32_macs: int | None = _macs("tf32")
    tensor_i8_macs: int | None = _macs("8-bit integers")
    tensor_f8_macs: int | None = _macs("8-bit floats")
    tensor_f64_macs: int | None = _macs("f64")
    tensor_cycles: int | None = _link("a matrix")


class SM(_Data):
    count: int = Field(ge=1, le=1024, description="streaming multiprocessors on the chip")
    clock_mhz: float = Field(ge=1, le=1e5, description="the clock whose cycles are the simulation's time")
    warp_size: int = Field(32, ge=1, le=32, description="lanes of a warp")
    max_threads: int = Field(ge=1, le=4096, description="resident threads of one SM")
    max_warps: int = Field(ge=1, le=64, description="resident warps of one SM")
    max_blocks: int = Field(ge=1, le=64, description="resident blocks of one SM")
    registers: int = Field(ge=1, le=2**24, description="32-bit registers of one SM")
    shared_bytes: int = Field(ge=0, le=2**24, description="shared memory of one SM")
    warp_scheduler: WarpScheduler = Field(
        WarpScheduler.weighted_round_robin, description="which of an SM's ready warps issues next"
    )
    dependence: Dependence = Field(
        Dependence.sequence,
        description="what an instruction waits for: loads before its sequence, or, by scoreboard, those it uses",
    )
    loads_per_warp: int | None = Field(
        None, ge=1, le=64, description="scoreboard: loads of a class that a warp may have unanswered; none: 64"
    )
    schedulers: int | None = Field(
        None,
        ge=1,
        le=8,
        description="parts of the SM, each with a share of its warps, issue ports and pipes; none: one",
    )
    issue_per_cycle: int = Field(1, ge=1, le=64, description="warp instructions one SM issues in `issue_cycles`")
    issue_cycles: int = Field(1, ge=1, le=64, description="cycles that the issue of a warp instruction takes")
    memory_issue: bool = Field(False, description="whether accesses take an issue slot; with schedulers, to begin in")
    address_cycles: int | None = Field(
        None,
        ge=1,
        le=10**3,
        description="with memory_issue: cycles a scheduler's address unit takes for an access; none: no limit",
    )
    masked_issue: bool = Field(
        False, description="with memory_issue: whether an access whose lanes are all off by a predicate counts as one"
    )
    instruction_cycles: int = Field(ge=0, le=10**5, description="from an instruction of a gap to the next on its chain")
    lookup_cycles: int = Field(1, ge=1, le=10**5, description="cycles the load-store unit needs for one transaction")
    pass_cycles: int = Field(1, ge=1, le=10**5, description="cycles of one pass of shared or constant memory")
    constant_cycles: int | None = Field(
        None,
        ge=1,
        le=10**5,
        description="of a constant access, a distinct address, in a unit of its own; none: passes as of shared memory",
    )
    shared_latency_cycles: int = Field(ge=1, le=10**5, description="latency of a conflict-free shared-memory access")
    launch_cycles: int = Field(400, ge=1, le=10**6, description="from a block's end to the next one's start there")
    barrier_cycles: int = Field(1, ge=1, le=10**5, description="from the last warp's arrival to the block's release")
    arrival_cycles: int | None = Field(
        None, ge=1, le=10**3, description="cycles the SM takes for a warp's arrival at a barrier; none: all at once"
    )
    max_stores: int = Field(ge=1, le=2**16, description="stores one SM may have under way to L2")
    reply_bytes_per_cycle: int = Field(ge=1, le=2**16, description="bytes one SM receives from L2 in a cycle")
    pipes: Pipes = Pipes()


class Launch(_Data):
    """What a launch costs beside its blocks, once; None: not stated, and nothing is counted."""

    idle_cycles: int | None = Field(
        None, ge=0, le=10**6, description="elapsed before and after the SMs are active, as the profiler counts"
    )
    active_cycles: int | None = Field(
        None, ge=0, le=10**6, description="SMs are active before their first block's instructions and after their last"
    )


class L1(_Data):
    enabled: bool = Field(True, description="whether loads are cached in L1")
    serves: L1Serves = Field(L1Serves.all, description="which loads are: all, or those through textures")
    size_bytes: int = Field(ge=1, le=2**24, description="bytes of one SM's L1")
    reserved_bytes: int = Field(0, ge=0, le=2**24, description="bytes of it that hold no lines (kept as shared memory)")
    reserved_from: ReservedFrom = Field(
        ReservedFrom.ways,
        description="what L1 gives up for reserved_bytes: ways, of the last sets first, or halves of its sets",
    )
    carve_outs: tuple[int, ...] = Field(
        (), max_length=32, description="what shared memory may take of it: the least that holds the resident blocks'"
    )
    line_bytes: int = Field(ge=32, le=256, description="bytes of a line: one tag, and the simulator's transaction")
    sector_bytes: int = Field(ge=32, le=256, description="bytes that a miss fetches")
    ways: int = Field(ge=1, le=4096, description="lines of a set")
    set_hash: IndexHash = Field(IndexHash.modulo, description="how the number of a line becomes that of a set")
    replacement: Replacement = Field(Replacement.lru, description="which line of a full set goes")
    write_policy: L1WritePolicy = Field(L1WritePolicy.write_through, description="what a store does to a line in L1")
    full_set: FullSet = Field(
        FullSet.wait, description="what a miss does in a set whose ways all wait for data: waits, or goes past L1"
    )
    mshrs: int = Field(ge=1, le=2**16, description="misses one SM may have under way")
    hit_latency_cycles: int = Field(ge=1, le=10**5, description="load to use, on a hit")
    tags_per_cycle: int = Field(
        1,
        ge=1,
        le=32,
        description="banks of tags, which look a line up at a time each; a fold of its number says which",
    )
    banks: int | None = Field(
        None,
        ge=1,
        le=128,
        description="banks of data, 4 bytes wide; lanes on other words of a bank wait; none: no lane",
    )
    bytes_per_cycle: int | None = Field(
        None,
        ge=1,
        le=2**12,
        description="bytes of a load's lanes that leave L1 in a cycle; none: as fast as it is read",
    )

    @property
    def sets(self) -> int:
        """Sets that hold lines."""
        sets, left = self.size_bytes // (self.line_bytes * self.ways), self.size_bytes - self.reserved_bytes
        halves = self.reserved_from is ReservedFrom.sets
        while halves and sets % 2 == 0 and 2 * left <= sets * self.ways * self.line_bytes:
            sets //= 2
        return sets

    @property
    def reserved_ways(self) -> int:
        """Ways that hold no line, over all of :attr:`sets`."""
        return self.sets * self.ways - (self.size_bytes - self.reserved_bytes) // self.line_bytes

    @property
    def most_reserved(self) -> int:
        """The most of ``reserved_bytes``: every set that holds lines keeps a way."""
        lines = self.size_bytes // self.line_bytes
        sets = lines // self.ways
        return (lines - (sets // (sets & -sets) if self.reserved_from is ReservedFrom.sets else sets)) * self.line_bytes

    @property
    def serves_global(self) -> bool:
        """Whether loads of global memory are looked up in it."""
        return self.enabled and self.serves is L1Serves.all


class L2(_Data):
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
    sector_cycles: int = Field(1, ge=1, le=10**5, description="cycles a slice is busy for one sector")
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


class RowPolicy(StrEnum):
    """How long a DRAM bank keeps a row open."""

    open_page = "open_page"  # until another row of the bank is wanted, or a refresh
    closed_page = "closed_page"  # until no request that the scheduler sees goes to it (auto-precharge)


class Translation(_Data):
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


class DramTiming(_Data):
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


class Dram(_Data):
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
    queue: int = Field(ge=1, le=256, description="entries for reads that one channel's scheduler sees")
    write_queue: int = Field(ge=1, le=256, description="entries for writes that one channel holds")
    write_high: int = Field(ge=1, description="entries held that start a drain of writes")
    write_low: int = Field(ge=0, description="entries held that end it")
    entry_sectors: int = Field(8, ge=1, le=8, description="sectors of a request that one entry of the queues holds")
    latency_cycles: int = Field(ge=0, le=10**5, description="from L2 to the channel and back, beside the timing table")
    timing: DramTiming


MID_LAUNCH = "mid_launch"


class Stochastic(_Data):
    """What is random, and only this; each is a switch a study can turn off."""

    start_alignment: bool | Literal["mid_launch"] = Field(
        True, description="resident blocks start at random phases; mid_launch: if the launch's first one is not traced"
    )
    warp_weights: bool = Field(True, description="weighted_round_robin draws weights; a warp that waits loses its turn")
    max_weight: int = Field(4, ge=1, le=64, description="largest weight: sequences a warp issues in a row")
    arbitration: bool = Field(True, description="requests of SMs that reach L2 in one cycle are ordered at random")
    dram_grouping: bool = Field(True, description="main-memory step: group sizes are drawn, else all are full")
    page_placement: bool = Field(False, description="pages get random physical frames")
    page_bytes: int = Field(65536, ge=4096, le=2**30, description="bytes of a page")


class MwpCwp(_Data):
    """What the MWP/CWP model is told (Hong and Kim, ISCA 2009, tables 1 and 6); None: derived from the other fields."""

    issue_cycles: float | None = Field(None, ge=1e-3, le=10**5, description="SM cycles to issue one warp instruction")
    mem_ld_cycles: int | None = Field(None, ge=1, le=10**6, description="round trip of one transaction to DRAM")
    departure_del_coal_cycles: int | None = Field(
        None, ge=1, le=10**6, description="delay between two coalesced memory warps of one SM"
    )
    departure_del_uncoal_cycles: int | None = Field(
        None, ge=1, le=10**6, description="delay between two transactions of an uncoalesced memory warp"
    )


def _way(description: str) -> Any:
    return Field(None, ge=1e-9, le=1e6, description=description)


class Host(_Data):
    """The way between host and GPU (:mod:`memsim.host`); None: not stated."""

    to_gpu_gb_per_s: float | None = _way("rate of a long copy of pinned memory to the GPU")
    to_host_gb_per_s: float | None = _way("rate of a long copy of pinned memory to the host")
    pageable_to_gpu_gb_per_s: float | None = _way("rate of a long copy of pageable memory to the GPU")
    pageable_to_host_gb_per_s: float | None = _way("rate of a long copy of pageable memory to the host")
    copy_us: float | None = _way("time of a copy of nothing")
    call_us: float | None = _way("host's time for one call that starts a copy or a kernel")
    launch_us: float | None = _way("from a kernel's turn in its stream to its first block")
    graph_call_us: float | None = _way("host's time for one launch of a graph")
    graph_node_us: float | None = _way("from a kernel's turn in its graph to its first block")
    copy_engines: int | None = Field(None, ge=1, le=2, description="copies at a time; with two, one each way")
    concurrent_kernels: int | None = Field(None, ge=1, le=1024, description="kernels that may run at once")
    fault_batch: int | None = Field(None, ge=1, le=2**16, description="page faults the driver serves at a time")
    fault_batch_us: float | None = _way("driver's time for one batch of page faults, beside all that follows")
    fault_us: float | None = _way("driver's time for one fault of a batch")
    fault_block_us: float | None = _way("driver's time for 2 MB of which the GPU held nothing before")
    migration_us: float | None = _way("time of a migration of nothing; neighbouring pages move together")
    allocate_us: float | None = _way("host's time to take memory from the driver or give it back")
    allocate_us_per_mb: float | None = _way("the same, for every 10^6 bytes")
    allocate_shared_us: float | None = _way("host's time for an allocation within 2 MB that it has already")
    device_launch_us: float | None = _way("time of a thread's launch of a kernel from the device")


class GPU(_Data):
    """Everything the simulator knows of a GPU; immutable, and valid as a whole (:mod:`memsim.gpu.rules`).

    ``model_dump(mode="json")`` gives a dict for files, :func:`gpu_from_dict` takes it back;
    :func:`memsim.gpu.presets.override` makes variants.
    """

    name: str = Field(max_length=100, description="what reports call it")
    compute_capability: str = Field(pattern=r"^\d{1,2}\.\d$", description="chooses the coalescing rules")
    sm: SM
    launch: Launch = Launch()
    l1: L1
    l2: L2
    translation: Translation = Translation()
    dram: Dram
    stochastic: Stochastic = Stochastic()
    mwp_cwp: MwpCwp = MwpCwp()
    host: Host = Host()

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        for field, problem in rules.problems(self):
            raise PydanticCustomError("geometry", "{field} {problem}", {"field": field, "problem": problem})
        return self


def gpu_from_dict(data: object, where: object) -> GPU:
    """Make a GPU of plain (JSON-like) data, which may be anything.

    Args:
        data: nested dict of the fields of :class:`GPU`; enumerations as strings.
        where: what an error names, usually the file.

    Raises:
        InputError: naming `where`, the first wrong field, and what would be right.
    """
    try:
        # JSON is the mode in which strict fields take enumerations as strings; `default` turns what JSON lacks
        # (a TOML date) into a string, which no such field accepts.
        return GPU.model_validate_json(json.dumps(data, default=str))
    except ValidationError as error:
        raise InputError(where, *_explain(error.errors())) from None


def _explain(errors: list[Any]) -> tuple[str, str]:
    """Turn the first of pydantic's errors into (field, what is wrong and what would be right)."""
    error = errors[0]
    if error["type"] == "geometry":
        return error["ctx"]["field"], error["ctx"]["problem"]
    field = ".".join(str(part) for part in error["loc"]) or "configuration"
    if error["type"] == "missing":
        return field, "is missing; give it, or inherit a preset that has it"
    if error["type"] == "extra_forbidden":
        return field, unknown(field)
    given = repr(error["input"])
    given = given if len(given) <= 60 else given[:57] + "..."
    would_do = [error["msg"].removeprefix("Input ")]
    if (whole := field.rpartition(".")[0]) in fields():  # one of several kinds of value, each with an error
        kinds = [other["msg"] for other in errors if other["loc"][:-1] == error["loc"][:-1]]
        field, would_do = whole, [kind.removeprefix("Input ") for kind in kinds]
    return field, f"is {given}; it {', or '.join(would_do)}"


def fields(model: type[BaseModel] = GPU, prefix: str = "") -> dict[str, Any]:
    """Every leaf field as ``{"l1.ways": FieldInfo, ...}``, in the order of the model.

    >>> fields()["l1.ways"].description
    'lines of a set'
    """
    leaves: dict[str, Any] = {}
    for name, info in model.model_fields.items():
        inner = info.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            leaves |= fields(inner, f"{prefix}{name}.")
        else:
            leaves[prefix + name] = info
    return leaves


def present_name(field: str) -> str:
    """The present name of a field that files may still call by an older one.

    >>> present_name("l2.far_cycles"), present_name("l1.ways")
    ('l2.partition_cycles', 'l1.ways')
    """
    return _RENAMED.get(field, field)


def unknown(field: str) -> str:
    """Say that a field does not exist, and which one was probably meant.

    >>> unknown("l1.way")
    'is unknown; did you mean l1.ways?'
    """
    near = difflib.get_close_matches(field[:80], fields(), n=1, cutoff=0.0)
    return f"is unknown; did you mean {near[0]}?"
