"""What a trace file holds: HDF5, schema ``memsim-trace``. The single place that names groups, columns and flags.

::

    bytes 0 to 511   the seal: SHA-256 of the rest, in text (from 1.3 on, see support.seal)
    /                attributes: schema, version, created_by, digest, kernel, source, parameters (JSON),
                     grid (3), block (3), warp_size, registers (per thread), shared_bytes (per block),
                     dependence and instructions (from 1.4 on), gpu (from 1.6 on)
    /ops/*           one row per static instruction: kind, space, width, array, line, column, file, text,
                     bypass_l1 (from 1.1 on), async_copy (from 1.4 on), by_data (from 1.6 on)
    /arrays/*        one row per array: name, space, base, bytes, element_bytes
    /blocks/id       linear block number in the grid, of every traced block
    /blocks/first_warp       index of its first warp in /warps (n_blocks + 1 entries)
    /warps/first_instruction (n_warps + 1 entries)
    /warps/first_address     (n_warps + 1 entries) index into /addresses
    /instructions/*  one row per memory instruction, warp after warp, in program order
    /instruction_mixes/*     one row per distinct instruction mix (from 1.4 on); row 0 is all zeros: not known
    /sources         JSON text, the lines of the files that ops name (from 1.5 on, see trace.source_text)
    /addresses       byte offsets from the instruction's base, one per active lane, of explicit instructions

From 1.14 on a column of /instructions is left out if it has nothing but its default (INSTRUCTION_DEFAULTS).

``kernel`` is the kernel function's name and ``source`` the file that describes it. ``gpu`` is the preset whose size
chose the blocks and for which compiled code was compiled; it is empty where that is not known (trace.target_gpu).
``width`` is the number of bytes that one lane accesses; ``array`` is a row of /arrays. Lines and columns count from 1;
0 is not known. Every traced block has all its warps. Texts are UTF-8, of fixed length from 1.3 on. ``digest`` names
the content (trace.digest), to which the text of source files, the GPU and ``by_data`` do not belong.

The compute run of a row is the non-memory instructions that the warp issues before the row's access. ``compute_run``
is their number. ``off_path`` (from 1.2 on) is how many of them are not on the critical path, the longest chain of
dependent instructions. ``instruction_mix`` (from 1.4 on) is the row of /instruction_mixes that counts them by class,
0 where only their number is known. Before 1.13, the two columns are named ``gap`` and ``mix``, the group ``mixes``,
and its columns of the critical path ``chain_CLASS`` (memsim.support.deprecated).

Waits by class (from 1.4 on): ``wait_long``, ``wait_short`` and ``wait_copies`` are how many of the warp's most recent
loads of a class may still be outstanding when the row issues; all older ones must have answered. 0 waits for all,
NO_WAIT for none. Loads of a class answer in order, like those of a scoreboard (NVIDIA) or a counter (AMD: vmcnt,
lgkmcnt). Long are loads and atomics with a result from global, local and texture memory. Short are those from shared
and constant memory. Copies go from global to shared memory past the registers (cp.async and bulk copies: static
instructions with ``async_copy``). The wait comes before the row's compute run, and the compute run before its access.
If a source knows that part of a compute run needs no wait, it writes that part as an earlier row (NO_OP, no wait).

``phase`` (from 1.7 on) is the number of a phase of an mbarrier; each block has its own, and 0 is none. A row with
``Flag.arrives`` arrives at it: a copy when it has answered, a row without access after its compute run. A row without
access with ``Flag.awaits`` waits, after its compute run, until all rows of the file that arrive at its phase have.

Where a warp diverges at a branch, the rows of one path come before those of the other. A row with ``Flag.path_switch``
(from 1.9 on), which accesses nothing, marks where the warp switches to lanes that have waited for it. The two paths are
the rows from it on, and those before it up to where its lanes were last active. Where they reconverge, a row has the
mask of the lanes of both. A source that records the machine's own order has no such rows.

Traces of machine code (from 1.10 on) have the waits of its control codes instead of those by class. A warp has
SCOREBOARDS scoreboards, each a counter of instructions whose results are outstanding. ``scoreboard_set`` is the one
that the row's access sets until it has answered, NO_SCOREBOARD for none. ``scoreboard_wait`` has a bit for each that
must be clear when the row's compute run begins. A row without access sets a scoreboard for the last instruction of its
compute run if ``result`` names its class: 1 is the first of RESULT_CLASSES, 0 is none. ``stall`` is the stall count of
the access, or of that instruction: cycles from its issue until the warp's next instruction may issue. Copies are waited
for by class, because machine code waits for groups of them.

Matrix products of a warp group (wgmma) run on while their warp issues what follows (from 1.14 on). A row without access
ends with each of them: ``result`` is PRODUCT, or GROUP of the last one of a group. It sets no scoreboard.
``wait_products`` is how many of the warp's most recent groups may be unfinished when the row issues, NO_WAIT for any
number. That wait comes before the row's compute run, like the others.

``dependence`` is what a source knows of waits: "control_code" (as above), "scoreboard" (by class), or "sequence",
where only the flags show where a warp waits, and it then waits for everything. Flags are always written.
``instructions`` is where compute runs come from: "machine_code" (from 1.10 on: machine code was executed, and each
instruction was counted as it issued), "compiled" (counted in compiled code), "estimated" (from source code or PTX), or
"none" (no compute run is known).

An instruction mix has, for each of INSTRUCTION_CLASSES, ``count_CLASS`` (warp instructions) and ``critical_CLASS``
(those on the critical path). From 1.8 on some links of the critical path are counted apart from their class:
``critical_guard`` counts comparisons that a branch or a predicated instruction waits for, ``critical_operand``
arithmetic whose result the row's access needs, and ``critical_branch`` branches, without the time of a comparison.
Before 1.8 such links were counted in ``critical_integer``, ``critical_control`` and so on. ``count_tensor`` counts
matrix instructions, and for each of TENSOR_TYPES ``count_TYPE`` their multiply-accumulates, of whole warp instructions.
Counts of classes and of matrix instructions add up to the compute run. From 1.12 on, multiplications of integers
(``multiply``), instructions of the uniform data path (``uniform``) and matrix instructions of a warp group (wgmma) are
counted apart. In traces of machine code a mix has no critical path. Instead it has ``stall_cycles`` (from 1.10 on), the
sum of the stall counts of its instructions without that of one that sets a scoreboard at its end, and
``critical_resolve`` (from 1.12 on), the number of instructions that decide which instruction is next: branches, calls,
returns, and BSYNC, where divergent lanes meet.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from functools import cached_property
from math import prod

import numpy as np

SCHEMA = "memsim-trace"
VERSION = (1, 14)


class OpKind(IntEnum):
    """What a static instruction does."""

    load = 0
    store = 1
    atomic = 2  # returns the old value: the warp waits
    reduction = 3  # an atomic whose old value nobody uses: fire and forget


class Space(IntEnum):
    """The memory an access goes to."""

    global_ = 0
    shared = 1
    local = 2
    constant = 3
    texture = 4  # global memory that is read through the texture units, or by loads of read-only data


class Flag(IntEnum):
    """Bits of ``instructions/flags``."""

    sequence = 1  # starts a sequence: waits for the loads of the one before
    barrier = 2  # no memory access: the block's warps wait for each other (op is NO_OP)
    data = 4  # a store, in its sequence, of what the sequence's loads bring: it waits for them
    path_switch = 8  # the warp switches to lanes (`mask`) that have waited since it diverged (op is NO_OP); from 1.9 on
    masked = 32  # an access whose lanes are all off by its predicate: issued, but no access (op is NO_OP); from 1.6 on
    arrives = 64  # at `phase`, an mbarrier's: a copy, or no access (op is NO_OP); from 1.7 on
    awaits = 128  # `phase`, that all have arrived at it (op is NO_OP); from 1.7 on


class KnownWaits(StrEnum):
    """What a trace says of its warps' waits."""

    sequence = "sequence"
    scoreboard = "scoreboard"
    control_code = "control_code"


class Instructions(StrEnum):
    """Where a trace's non-memory instructions come from."""

    none = "none"
    estimated = "estimated"
    compiled = "compiled"
    machine_code = "machine_code"


class LoadClass(IntEnum):
    """Loads that answer in order among each other; each has a count of its own in what waits for them."""

    long = 0
    short = 1
    copies = 2


NO_OP = 0xFFFF  # `op` of an instruction without memory access (a barrier, or a warp's last compute run)
NO_WAIT = 255  # in a column of waits: for none of the class
SCOREBOARDS = 6  # of a warp
ALL_SCOREBOARDS = (1 << SCOREBOARDS) - 1
NO_SCOREBOARD = 7  # as control codes have it
EXPLICIT = np.int32(-(2**31))  # `stride` of an instruction whose addresses are listed

WIDEST_WARP = 64  # lanes
# Column name -> dtype of /instructions, for warps of up to 32 lanes (`instruction_columns`: of any). `base` is the byte
# address of the lowest-numbered active lane when strided, the lowest address when explicit. A strided lane's address is
# base + stride * (lane - lowest active lane).
INSTRUCTION_COLUMNS: dict[str, str] = {
    "op": "<u2",
    "flags": "u1",
    "compute_run": "<u4",
    "mask": "<u4",
    "base": "<u8",
    "stride": "<i4",
    "off_path": "<u4",
    "wait_long": "u1",
    "wait_short": "u1",
    "wait_copies": "u1",
    "instruction_mix": "<u2",
    "phase": "<u4",
    "scoreboard_set": "u1",
    "scoreboard_wait": "u1",
    "stall": "u1",
    "result": "u1",
    "wait_products": "u1",
}


def instruction_columns(warp_size: int) -> dict[str, str]:
    """INSTRUCTION_COLUMNS of traces with so many lanes per warp: a bit of the mask for each.

    >>> instruction_columns(32)["mask"], instruction_columns(64)["mask"]
    ('<u4', '<u8')
    """
    return INSTRUCTION_COLUMNS if warp_size <= 32 else INSTRUCTION_COLUMNS | {"mask": "<u8"}


WAIT_COLUMNS = tuple(f"wait_{each.name}" for each in LoadClass)
CONTROL_DEFAULTS = {
    "scoreboard_set": NO_SCOREBOARD, "scoreboard_wait": 0, "stall": 0, "result": 0, "wait_products": NO_WAIT,
}  # fmt: skip
# Columns that a file of an older minor version lacks.
INSTRUCTION_DEFAULTS: dict[str, int] = {
    "off_path": 0, **dict.fromkeys(WAIT_COLUMNS, NO_WAIT), "instruction_mix": 0, "phase": 0, **CONTROL_DEFAULTS,
}  # fmt: skip
ADDRESS_DTYPE = "<u4"
INDEX_COLUMNS: dict[str, str] = {  # dataset -> dtype of what finds blocks and warps
    "blocks/id": "<i8",
    "blocks/first_warp": "<i8",
    "warps/first_instruction": "<i8",
    "warps/first_address": "<i8",
}
OP_COLUMNS: dict[str, str] = {
    "kind": "u1",
    "space": "u1",
    "width": "<u2",
    "array": "<i4",
    "line": "<i4",
    "column": "<i4",
    "file": "str",
    "text": "str",
    "bypass_l1": "u1",
    "async_copy": "u1",
    "by_data": "u1",
}
# Columns that a file of an older minor version lacks.
OP_DEFAULTS: dict[str, int] = {"bypass_l1": 0, "async_copy": 0, "by_data": 0}
ARRAY_COLUMNS: dict[str, str] = {"name": "str", "space": "u1", "base": "<u8", "bytes": "<u8", "element_bytes": "<u2"}

# Of instructions without memory access, after the table of arithmetic throughput in the CUDA C++ Programming Guide.
# Which pipes execute a class: memsim.gpu.pipes. The last two are counted from 1.12 on.
_CLASSES_BEFORE_1_12 = ("integer", "fp32", "half", "fp64", "special", "conversion", "control", "shuffle")
_CLASSES_FROM_1_12 = ("multiply", "uniform")
INSTRUCTION_CLASSES = (*_CLASSES_BEFORE_1_12, *_CLASSES_FROM_1_12)
LINKS = (*INSTRUCTION_CLASSES, "guard", "operand", "branch", "resolve")  # of a chain; the last four are of no class
_TENSOR_BEFORE_1_12 = ("tensor_f16", "tensor_tf32", "tensor_i8", "tensor_f8", "tensor_f64")
GROUP_TYPES = ("tensor_group_f16", "tensor_group_tf32", "tensor_group_i8", "tensor_group_f8")  # of warp groups (wgmma)
TENSOR_TYPES = (*_TENSOR_BEFORE_1_12, *GROUP_TYPES)
MIX = np.dtype(
    [
        *((f"{what}_{each}", "<u4") for each in INSTRUCTION_CLASSES for what in ("count", "critical")),
        ("count_tensor", "<u4"),
        *((f"count_{each}", "<u4") for each in TENSOR_TYPES),
        *((f"critical_{each}", "<u4") for each in LINKS[len(INSTRUCTION_CLASSES) :]),
        ("stall_cycles", "<u4"),
    ]
)
# What a file older than 1.8 lacks, one older than 1.10, and one older than 1.12 (`critical_resolve`, two classes).
MIX_DEFAULTS = {
    **{f"critical_{each}": 0 for each in LINKS[len(INSTRUCTION_CLASSES) :]},
    "stall_cycles": 0,
    **{f"{what}_{each}": 0 for each in _CLASSES_FROM_1_12 for what in ("count", "critical")},
    **{f"count_{each}": 0 for each in GROUP_TYPES},
}
ISSUED = (*(f"count_{each}" for each in INSTRUCTION_CLASSES), "count_tensor")  # what adds up to a compute run
MOST_MIXES = 1 << 16
MOST_STALL = 15  # cycles: a stall count has four bits
# Of instructions without access that set a scoreboard: those of variable latency, by what decides on it. "register" are
# special registers (S2R). The last two set none: products of a warp group, and the last one of a group of products.
RESULT_CLASSES = (*_CLASSES_BEFORE_1_12, "tensor", "constant", "register", "product", "group")
PRODUCT, GROUP = (RESULT_CLASSES.index(name) + 1 for name in ("product", "group"))
PRODUCT_GROUPS = 8  # of products that a warp can tell apart: waits leave fewer of them unfinished


@dataclass(frozen=True)
class LaunchShape:
    """How a kernel was launched.

    Attributes:
        grid, block: extents (x, y, z), in blocks and in threads.
        warp_size: lanes of a warp, at most WIDEST_WARP.
        registers: of one thread.
        shared_bytes: of one block.

    >>> LaunchShape((336, 1, 1), (100, 1, 1)).warps_per_block
    4
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    warp_size: int = 32
    registers: int = 32
    shared_bytes: int = 0

    @property
    def n_blocks(self) -> int:
        return prod(self.grid)

    @property
    def threads_per_block(self) -> int:
        return prod(self.block)

    @property
    def warps_per_block(self) -> int:
        return -(-self.threads_per_block // self.warp_size)


@dataclass(frozen=True)
class StaticInstruction:
    """One load, store or atomic at one source position: a row of /ops.

    L1 does not serve a load with `bypass_l1`; one with `async_copy` fills shared memory past the registers. The address
    of one with `by_data` is known to come from loaded data, as in a list or a gather.
    """

    kind: OpKind
    space: Space
    width: int
    array: int
    line: int
    column: int
    file: str
    text: str
    bypass_l1: bool = False
    async_copy: bool = False
    by_data: bool = False

    @property
    def load_class(self) -> LoadClass | None:
        """Among which loads it answers in order; None for what answers nothing.

        >>> StaticInstruction(OpKind.load, Space.shared, 4, 0, 1, 1, "k.py", "s[i]").load_class.name
        'short'
        """
        if self.kind not in (OpKind.load, OpKind.atomic):
            return None
        if self.async_copy:
            return LoadClass.copies
        return LoadClass.short if self.space in (Space.shared, Space.constant) else LoadClass.long


@dataclass(frozen=True)
class ArrayInfo:
    """One array of the kernel: a row of /arrays. Shared arrays have addresses of their own, from 0 in every block."""

    name: str
    space: Space
    base: int
    bytes: int
    element_bytes: int


@dataclass(frozen=True, eq=False)
class Issue:
    """What a trace knows of how its warps issue instructions.

    Attributes:
        dependence: which columns of waits are written.
        instructions: where the compute runs come from.
        mixes: MIX, the rows of /instruction_mixes; the first is all zeros.
    """

    dependence: KnownWaits = KnownWaits.sequence
    instructions: Instructions = Instructions.none
    mixes: np.ndarray = field(default_factory=lambda: np.zeros(1, MIX))

    @cached_property
    def issued(self) -> np.ndarray:
        """Instructions of each mix, i8 [n_mixes].

        >>> Issue().issued.tolist()
        [0]
        """
        return np.array([self.mixes[name] for name in ISSUED], np.int64).sum(axis=0)

    @property
    def stated(self) -> dict[str, str]:
        """What attributes say of it, where that is not what an older file means by having none."""
        texts = {"dependence": self.dependence.value, "instructions": self.instructions.value}
        old = {"dependence": KnownWaits.sequence.value, "instructions": Instructions.none.value}
        return {name: text for name, text in texts.items() if text != old[name]}


@dataclass(frozen=True)
class Chunk:
    """Whole warps of a trace, as columns.

    Attributes:
        warps: range of the warps' numbers in the trace.
        first_instruction: i8 [n_warps + 1], index into the columns below, starting at 0.
        first_address: i8 [n_warps + 1], index into ``addresses``, starting at 0.
        op, flags, compute_run, mask, base, stride, off_path, wait_long, wait_short, wait_copies, instruction_mix,
        phase, scoreboard_set, scoreboard_wait, stall, result, wait_products: [n_instructions], dtypes of
            instruction_columns.
        addresses: u4, byte offsets of explicit instructions.
    """

    warps: range
    first_instruction: np.ndarray
    first_address: np.ndarray
    op: np.ndarray
    flags: np.ndarray
    compute_run: np.ndarray
    mask: np.ndarray
    base: np.ndarray
    stride: np.ndarray
    off_path: np.ndarray
    wait_long: np.ndarray
    wait_short: np.ndarray
    wait_copies: np.ndarray
    instruction_mix: np.ndarray
    phase: np.ndarray
    scoreboard_set: np.ndarray
    scoreboard_wait: np.ndarray
    stall: np.ndarray
    result: np.ndarray
    wait_products: np.ndarray
    addresses: np.ndarray


@dataclass(frozen=True)
class RepairedChunk(Chunk):
    """Whole warps that are transformed (memsim.why.transforms).

    Attributes:
        before: the same rows as they were; by them lanes part.
    """

    before: Chunk
