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
    return Field(
        None, ge=1, le=4096, description=f"results of {what} instructions per cycle and SM; none: limited by issue only"
    )


def _link(what: str, to: str = "one that uses its result") -> Any:
    return Field(None, ge=0, le=10**5, description=f"latency from {what} instruction to {to}")


def _macs(kind: str) -> Any:
    return Field(
        None, ge=1, le=2**20, description=f"multiply-accumulates of {kind} per cycle and SM on the tensor cores"
    )


class Pipes(Section):
    """Width and latency of each class of instructions (memsim.trace.schema) between memory instructions.

    The stall counts of machine code contain all fixed latencies. Of its instructions, only those of variable latency,
    which set a scoreboard, use the cycles here.

    The schedulers of an SM have equal shares of each. None: the class takes issue slots alone, and
    ``sm.instruction_cycles`` from one to the next on a chain. Without cycles of its own, a guard, an operand, a
    multiplication or a uniform instruction takes ``integer_cycles``, a branch ``control_cycles``. Multiplications
    occupy the FMA pipe, too: `fp32_lanes` limits both together.
    """

    integer_lanes: int | None = _lanes("integer")
    integer_cycles: int | None = _link("an integer")
    multiply_lanes: int | None = _lanes("integer multiplication")
    multiply_cycles: int | None = _link("an integer multiplication")
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
    control_lanes: int | None = _lanes("control (branches, reads of special registers)")
    control_cycles: int | None = _link("a control")
    shuffle_lanes: int | None = _lanes("shuffle")
    shuffle_cycles: int | None = _link("a shuffle")
    uniform_lanes: int | None = _lanes("uniform")
    uniform_cycles: int | None = _link("a uniform")
    guard_cycles: int | None = _link("a comparison", "one that its predicate decides on")
    operand_cycles: int | None = _link("an arithmetic", "an access that uses its result")
    branch_cycles: int | None = _link("a branch", "what runs next")
    resolve_cycles: int | None = Field(
        None,
        ge=0,
        le=10**3,
        description="machine code: cycles that a warp waits after a branch, in addition to its stall count; none: 0",
    )
    tensor_f16_macs: int | None = _macs("f16 and bf16")
    tensor_tf32_macs: int | None = _macs("tf32")
    tensor_i8_macs: int | None = _macs("8-bit integers")
    tensor_f8_macs: int | None = _macs("8-bit floats")
    tensor_f64_macs: int | None = _macs("f64")
    tensor_group_f16_macs: int | None = _macs("f16 and bf16 by wgmma (none: as other instructions)")
    tensor_group_tf32_macs: int | None = _macs("tf32 by wgmma (none: as other instructions)")
    tensor_group_i8_macs: int | None = _macs("8-bit integers by wgmma (none: as other instructions)")
    tensor_group_f8_macs: int | None = _macs("8-bit floats by wgmma (none: as other instructions)")
    tensor_cycles: int | None = _link("a matrix")
    register_cycles: int | None = _link("an instruction that reads a special register", "one that uses its value")


class SM(Section):
    count: int = Field(ge=1, le=1024, description="number of streaming multiprocessors")
    clock_mhz: float = Field(ge=1, le=1e5, description="clock of the SMs; its cycles are the unit of simulated time")
    warp_size: int = Field(32, ge=1, le=64, description="lanes per warp")
    max_threads: int = Field(ge=1, le=4096, description="maximum number of resident threads per SM")
    max_warps: int = Field(ge=1, le=64, description="maximum number of resident warps per SM")
    max_blocks: int = Field(ge=1, le=64, description="maximum number of resident blocks per SM")
    registers: int = Field(ge=1, le=2**24, description="32-bit registers per SM")
    shared_bytes: int = Field(ge=0, le=2**24, description="shared memory per SM")
    warp_scheduler: WarpScheduler = Field(
        WarpScheduler.weighted_round_robin, description="policy that chooses the next ready warp"
    )
    dependence: Dependence = Field(
        Dependence.sequence,
        description="what an instruction waits for: all loads before its sequence, or the loads whose values it uses",
    )
    local_memory_by_slot: bool = Field(
        True,
        description="whether the blocks of a block slot have the same local memory, one after the other; if not, each "
        "block has its own",
    )
    divergence: Divergence = Field(
        Divergence.in_turn,
        description="with a scoreboard: order of divergent paths; interleaved is experimental",
    )
    loads_per_warp: int | None = Field(
        None,
        ge=1,
        le=64,
        description="with a scoreboard: maximum number of outstanding loads of one class per warp; none: 64",
    )
    schedulers: int | None = Field(
        None,
        ge=1,
        le=8,
        description="warp schedulers per SM, each with a share of the warps, issue ports and pipes; none: one",
    )
    issue_per_cycle: int = Field(1, ge=1, le=64, description="warp instructions that an SM issues per `issue_cycles`")
    issue_cycles: int = Field(1, ge=1, le=64, description="cycles per issue of a warp instruction")
    memory_issue: bool = Field(
        False, description="if true, a memory instruction occupies an issue slot of its scheduler"
    )
    address_cycles: int | None = Field(
        None,
        ge=1,
        le=10**3,
        description="with memory_issue: cycles per access in the address unit of a scheduler; none: no limit",
    )
    masked_issue: bool = Field(
        False,
        description="with memory_issue: if true, a fully predicated-off access occupies a slot, too; experimental",
    )
    queued_barriers: bool = Field(
        False,
        description="with address_cycles: if true, a barrier takes a turn of the address unit, after earlier accesses; "
        "experimental",
    )
    instruction_cycles: int = Field(
        ge=0, le=10**5, description="latency between dependent instructions whose class is not known"
    )
    lookup_cycles: int = Field(1, ge=1, le=10**5, description="cycles per transaction in the load-store unit")
    load_store_lanes: int | None = Field(
        None,
        ge=1,
        le=64,
        description="lanes per cycle that the load/store units of an SM take of one memory instruction; none: all",
    )
    pass_cycles: int = Field(1, ge=1, le=10**5, description="cycles per pass of shared or constant memory")
    constant_cycles: int | None = Field(
        None,
        ge=1,
        le=10**5,
        description="cycles per distinct address of a constant access; none: passes like shared memory",
    )
    shared_latency_cycles: int = Field(ge=1, le=10**5, description="latency of a conflict-free shared-memory access")
    launch_cycles: int = Field(
        400, ge=1, le=10**6, description="cycles from the end of a block to the start of the next one in its slot"
    )
    barrier_cycles: int = Field(
        1, ge=1, le=10**5, description="cycles from the last arrival at a barrier to its release"
    )
    arrival_cycles: int | None = Field(
        None, ge=1, le=10**3, description="cycles per arrival at a barrier; none: all arrive at once"
    )
    max_stores: int = Field(ge=1, le=2**16, description="maximum number of outstanding stores per SM")
    reply_bytes_per_cycle: int = Field(ge=1, le=2**16, description="bytes that an SM receives from L2 per cycle")
    pipes: Pipes = Pipes()

    @property
    def request_cycles(self) -> int:
        """Cycles that one memory instruction occupies the load/store units at least."""
        return -(-self.warp_size // self.load_store_lanes) if self.load_store_lanes else 1


class LaunchCost(Section):
    """The fixed cost of a launch, in addition to its blocks; None: not stated, and nothing is counted."""

    idle_cycles: int | None = Field(
        None, ge=0, le=10**6, description="cycles of a launch while no SM is active; none: 0"
    )
    block_cycles: float | None = Field(
        None,
        ge=0,
        le=10**4,
        description="cycles from the start of one block to that of the next, on the whole GPU; none: blocks that find "
        "free slots start together",
    )
    active_cycles: int | None = Field(
        None, ge=0, le=10**6, description="cycles of a launch while SMs are active, but run no block; none: 0"
    )
    waits_for_stores: bool = Field(
        True, description="whether a launch lasts until L2 has taken its stores; else until its last warp has ended"
    )


class L1(Section):
    enabled: bool = Field(True, description="whether loads are cached in L1")
    serves: L1Serves = Field(L1Serves.all, description="which loads are cached: all, or those through textures")
    size_bytes: int = Field(ge=1, le=2**24, description="capacity of the L1 of an SM")
    reserved_bytes: int = Field(0, ge=0, le=2**24, description="bytes of it that hold no lines (used as shared memory)")
    reserved_from: ReservedFrom = Field(
        ReservedFrom.ways,
        description="what reserved_bytes removes: ways, or halves of the sets; `sets` is experimental",
    )
    carve_outs: tuple[int, ...] = Field(
        (), max_length=32, description="sizes that shared memory may take of L1; the smallest sufficient one is used"
    )
    spare_carve_out_bytes: int | None = Field(
        None,
        ge=1,
        le=2**24,
        description="carve-out up to which the driver leaves room for twice the blocks that warps and registers allow; "
        "none: room for the resident blocks; experimental",
    )
    line_bytes: int = Field(ge=32, le=256, description="bytes per line (one tag), and per transaction")
    sector_bytes: int = Field(ge=32, le=256, description="bytes that a miss fetches from L2")
    texture_bytes: int | None = Field(
        None,
        ge=32,
        le=256,
        description="bytes per transaction of the texture units; none: a line; experimental",
    )
    ways: int = Field(ge=1, le=4096, description="associativity: lines per set")
    set_hash: IndexHash = Field(IndexHash.modulo, description="hash from line number to set")
    replacement: Replacement = Field(Replacement.lru, description="replacement policy")
    write_policy: L1WritePolicy = Field(L1WritePolicy.write_through, description="write policy")
    local_write_policy: L1WritePolicy | None = Field(
        None,
        description="write policy of stores to local memory, which is lost when its block ends; none: that of all "
        "stores",
    )
    merges_stores: bool = Field(
        False,
        description="whether L1 merges consecutive stores of a warp that each cover a part of one sector",
    )
    full_set: FullSet = Field(
        FullSet.wait, description="what a miss does if all ways of its set wait for data: it waits or bypasses L1"
    )
    mshrs: int = Field(ge=1, le=2**16, description="maximum number of outstanding misses per SM")
    hit_latency_cycles: int = Field(ge=1, le=10**5, description="load-to-use latency of a hit")
    tags_per_cycle: int = Field(
        1,
        ge=1,
        le=32,
        description="tag banks: lookups per cycle; a hash of the line number chooses the bank",
    )
    banks: int | None = Field(
        None,
        ge=1,
        le=128,
        description="data banks of 4 bytes; lanes on different words of a bank conflict; none: no conflicts",
    )
    bytes_per_cycle: int | None = Field(
        None,
        ge=1,
        le=2**12,
        description="bytes of load data that leave L1 per cycle; none: no limit",
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
    def policy_of_local(self) -> L1WritePolicy:
        """The write policy of stores to local memory."""
        return self.local_write_policy or self.write_policy

    @property
    def serves_global(self) -> bool:
        """Whether loads of global memory are looked up in it."""
        return self.enabled and self.serves is L1Serves.all
