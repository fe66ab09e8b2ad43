"""A GPU's streaming multiprocessors as data: issue, pipes, what a launch costs, and L1."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from memsim.gpu.choices import (
    Dependence,
    Divergence,
    FullSet,
    IndexHash,
    L1Serves,
    L1WritePolicy,
    Replacement,
    ReservedFrom,
    WarpScheduler,
)
from memsim.gpu.section import Section


def _lanes(what: str) -> Any:
    return Field(None, ge=1, le=4096, description=f"{what} instructions: results a cycle and SM; none: issue alone")


def _link(what: str, to: str = "one that uses its result") -> Any:
    return Field(None, ge=0, le=10**5, description=f"cycles from {what} instruction to {to}")


def _macs(kind: str) -> Any:
    return Field(None, ge=1, le=2**20, description=f"multiply-accumulates of {kind} a cycle and SM on the tensor cores")


class Pipes(Section):
    """What executes the instructions of a gap: width and latency of each class (memsim.trace.schema).

    The schedulers of an SM have equal shares of each. None: the class takes issue slots alone, and
    ``sm.instruction_cycles`` from one to the next on a chain. Of the links apart from their class, a guard and an
    operand take ``integer_cycles`` first, a branch ``control_cycles``.
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
    guard_cycles: int | None = _link("a comparison", "one that its predicate decides on")
    operand_cycles: int | None = _link("an arithmetic", "an access that uses its result")
    branch_cycles: int | None = _link("a branch", "what runs next")
    tensor_f16_macs: int | None = _macs("f16 and bf16")
    tensor_tf32_macs: int | None = _macs("tf32")
    tensor_i8_macs: int | None = _macs("8-bit integers")
    tensor_f8_macs: int | None = _macs("8-bit floats")
    tensor_f64_macs: int | None = _macs("f64")
    tensor_cycles: int | None = _link("a matrix")


class SM(Section):
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
    divergence: Divergence = Field(
        Divergence.in_turn,
        description="scoreboard: how a warp issues the two sides of a branch, one after the other or both at once",
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


class Launch(Section):
    """What a launch costs beside its blocks, once; None: not stated, and nothing is counted."""

    idle_cycles: int | None = Field(
        None, ge=0, le=10**6, description="elapsed before and after the SMs are active, as the profiler counts"
    )
    active_cycles: int | None = Field(
        None, ge=0, le=10**6, description="SMs are active before their first block's instructions and after their last"
    )
    waits_for_stores: bool = Field(
        True, description="whether a launch lasts until L2 has taken its stores; else until its last warp has ended"
    )


class L1(Section):
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
    texture_bytes: int | None = Field(
        None,
        ge=32,
        le=256,
        description="bytes of a transaction of the texture units, at least a sector; none: a line, as other loads",
    )
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
