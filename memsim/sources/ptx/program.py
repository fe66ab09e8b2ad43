"""From a kernel to what the machine runs: micro-ops, what they charge, what they wait for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from memsim.sources.ptx.classes import Counter, Segment
from memsim.sources.ptx.effects import copied_registers, effects, is_register_copy, loads_data
from memsim.sources.ptx.launch import PtxLaunch
from memsim.sources.ptx.layout import RESERVED_REGISTER, KernelLayout
from memsim.sources.ptx.lowering.builder import Builder
from memsim.sources.ptx.lowering.dispatch import lower
from memsim.sources.ptx.machine.codes import Micro
from memsim.sources.ptx.memory import DeviceMemory
from memsim.sources.ptx.module import Function, Instruction, Label, SourcePosition
from memsim.sources.ptx.slice import NeededValues, everything, needed, read_space

END = Instruction(("ret",), (), None, 0, SourcePosition())  # of a body that has none
LOGGING = ("bar", "barrier", "cp", "mbarrier", "wgmma")  # what may log a row though it accesses nothing
ENDING = ("bra", "brx", "ret", "exit", "trap")


@dataclass
class BasicBlock:
    """Instructions that run one after another: labels at their start, a branch at most at their end."""

    labels: list[str] = field(default_factory=list)
    instructions: list[Instruction] = field(default_factory=list)


def basic_blocks(body: Sequence[Instruction | Label]) -> list[BasicBlock]:
    """A body cut at its labels and behind its branches, in the order of the text."""
    blocks = [BasicBlock()]
    for one in body:
        if isinstance(one, Label):
            if blocks[-1].instructions:
                blocks.append(BasicBlock())
            blocks[-1].labels.append(one.name)
            continue
        blocks[-1].instructions.append(one)
        if one.name in ENDING:
            blocks.append(BasicBlock())
    return blocks


@dataclass(frozen=True)
class LoweredKernel:
    """What the machine runs.

    Attributes:
        code: i8 [n, FIELDS].
        origin: the instruction of each micro-op.
        segments: what is charged, by number.
        builder: rows of registers, constants and predicates; lists.
        facts: what the trace says of accesses of machine code; None: of PTX.
        loads, skipped: of machine code, micro-ops that bring values which addresses or branches depend on from global
            memory, and those that store to it without their values.
        by_data: whether addresses or branches depend on values in global memory; true where all values are computed.
    """

    code: np.ndarray
    origin: list[Instruction]
    segments: list[Segment]
    builder: Builder
    by_data: bool = True
    facts: Any = None
    loads: Sequence[int] = ()
    skipped: Sequence[int] = ()


def build(
    launch: PtxLaunch, function: Function, layout: KernelLayout, memory: DeviceMemory, *, check: bool, tracing: bool
) -> LoweredKernel:
    """Lower a kernel.

    Args:
        function: the kernel, without calls.
        check: compute all values, not only what feeds addresses and branches.
        tracing: charge instructions, and wait for loads where registers depend on them.

    Raises:
        InputError: an instruction that memsim does not support, by its line.
    """
    fixed = fixed_registers(launch, layout)
    builder = Builder(launch.source, function.registers, fixed, layout.symbols)
    builder.capability = int("".join(filter(str.isdigit, launch.module.target)) or builder.capability)
    blocks = basic_blocks(function.body)
    builder.read = {name for block in blocks for one in block.instructions for name in effects(one).reads}
    every = [one for block in blocks for one in block.instructions]
    needed_values = everything(every) if check else needed(every, layout, memory)
    lowering = _Lowering(builder, function.tables, needed_values, tracing, Counter(every))
    lowering.run(blocks)
    by_data = check or any(needed_values.values(one) and read_space(one, effects(one)) == "global" for one in every)
    return LoweredKernel(builder.finish(), builder.origin, lowering.segments, builder, by_data)


def fixed_registers(launch: PtxLaunch, layout: KernelLayout) -> dict[str, int]:
    """Special registers that are the same in every thread of a launch."""
    found = {}
    for axis, name in enumerate("xyz"):
        found[f"%ntid.{name}"] = launch.block[axis]
        found[f"%nctaid.{name}"] = launch.grid[axis]
        found[f"%cluster_nctaid.{name}"] = launch.cluster[axis]
        found[f"%nclusterid.{name}"] = launch.grid[axis] // launch.cluster[axis]
    x, y, z = launch.cluster
    warps = -(-launch.threads // 32)
    return found | {
        "%cluster_nctarank": x * y * z, "%nwarpid": warps, "%nsmid": 1, "%smid": 0, "%gridid": 1,
        "%is_explicit_cluster": int(x * y * z > 1), "%dynamic_smem_size": launch.shared_bytes,
        **_workspace(launch), **_reserved(layout),
        "%total_smem_size": launch.shared_bytes, "%aggr_smem_size": launch.shared_bytes,
    }  # fmt: skip


def _reserved(layout: KernelLayout) -> dict[str, int]:
    """Where shared memory that the system reserves begins and ends, and its parts, which are ours to choose."""
    at = layout.reserved_offset
    offsets = {"begin": at, "end": at + layout.reserved_bytes, "cap": layout.reserved_bytes, "0": at, "1": at}
    return {f"{RESERVED_REGISTER}{name}": value for name, value in offsets.items()}


def _workspace(launch: PtxLaunch) -> dict[str, int]:
    """Where the driver writes for cooperative groups where the grid's workspace is."""
    if not launch.workspace:
        return {}
    return {"%envreg1": launch.workspace >> 32, "%envreg2": launch.workspace & 0xFFFFFFFF}


class _Lowering:
    """Lowers basic blocks, and charges between what may log a row."""

    def __init__(
        self,
        builder: Builder,
        tables: dict[str, list[str]],
        needed_values: NeededValues,
        tracing: bool,
        counter: Counter,
    ) -> None:
        self._b, self._tables, self._needed, self._tracing = builder, tables, needed_values, tracing
        self._counter = counter
        self.segments = self._counter.segments
        self._loaded: set[str] = set()

    def run(self, blocks: list[BasicBlock]) -> None:
        """Lower all blocks; those that run into the end of the body return."""
        if self._tracing:
            self._find_loaded(blocks)
        for block in blocks:
            for label in block.labels:
                self._b.labels[label] = len(self._b.code)
            self._block(block.instructions)
        self._b.begin(END, -1, [])
        self._b.emit(Micro.exit, guard=-1)

    def _find_loaded(self, blocks: list[BasicBlock]) -> None:
        """Registers that may hold what a load loads_data: results of loads, and copies of them."""
        every = [one for block in blocks for one in block.instructions]
        self._loaded = {name for one in every if loads_data(one) for name in effects(one).writes}
        before = -1
        while before != len(self._loaded):
            before = len(self._loaded)
            self._loaded |= {
                to for one in every if is_register_copy(one) for to, of in copied_registers(one) if of in self._loaded
            }

    def _block(self, instructions: list[Instruction]) -> None:
        """Lower one block: what charges or waits first, then what computes."""
        checked: set[str] = set()
        for one in instructions:
            uses = self._uses(one, checked)
            logs = effects(one).memory or one.name in LOGGING
            ends = one.name in ENDING
            values = self._needed.values(one)
            if self._tracing and ends:
                self._counter.add(one)
            segment = self._counter.take(one) if self._tracing and (uses or logs or ends) else -1
            self._b.begin(one, segment, uses)
            if one.name == "brx":
                self._branch_by_table(one)
            else:
                lower(self._b, one, values)
            self._b.flush()
            self._share(one)
            if self._tracing and not ends:
                self._counter.add(one)
            checked -= set(effects(one).writes)
        if self._tracing and instructions:
            self._b.begin(instructions[-1], self._counter.take(), [])
            self._b.flush()

    def _uses(self, one: Instruction, checked: set[str]) -> list[str]:
        """Registers whose loads the instruction waits for, each once a block."""
        if not self._tracing or is_register_copy(one):
            return []
        uses = [name for name in dict.fromkeys(effects(one).reads) if name in self._loaded and name not in checked]
        checked.update(uses)
        return uses

    def _share(self, one: Instruction) -> None:
        """A copy of a loaded register waits where it is used."""
        if not self._tracing or not is_register_copy(one):
            return
        pairs = [(to, of) for to, of in copied_registers(one) if of in self._loaded and to != of]
        if pairs:
            rows = [self._b.row(name) for pair in pairs for name in pair]
            self._b.begin(one, -1, [])
            self._b.emit(Micro.alias, list=self._b.listed(rows), count=len(pairs))

    def _branch_by_table(self, one: Instruction) -> None:
        index, table = one.operands[0], one.operands[1]
        name = getattr(table, "name", "")
        if name not in self._tables:
            raise self._b.error("branches by a table that is not declared")
        self._b.jump_by(self._b.value(index, "u32"), self._tables[name])
