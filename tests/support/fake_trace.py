"""Traces in memory and machines, for tests of coalescing."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from memsim.gpu.presets import load_gpu, override
from memsim.trace.schema import (
    CONTROL_DEFAULTS,
    EXPLICIT,
    INSTRUCTION_COLUMNS,
    INSTRUCTION_DEFAULTS,
    NO_OP,
    NO_WAIT,
    ArrayInfo,
    Chunk,
    Flag,
    Issue,
    LaunchShape,
    OpKind,
    Space,
    StaticInstruction,
)

ALL = 0xFFFFFFFF


def machine(capability: str, l1: bool = True, line: int = 128, sector: int | None = None):
    """A GPU for the coalescer; its other numbers do not matter here."""
    major = int(capability[0])
    sector = sector or (32 if major >= 5 else line)
    fields = {"l1.enabled": l1 and major > 1, "l1.line_bytes": line, "l1.sector_bytes": sector, "l2.line_bytes": 32}
    return override(load_gpu("tesla-c2050"), {"compute_capability": capability, **fields})


@dataclass
class FakeTrace:
    """A trace in memory: one warp of instructions (op, mask, addresses by active lane)."""

    ops: list[StaticInstruction]
    instructions: list[tuple[int, int, list[int]]]
    strided: dict[int, tuple[int, int]] = field(default_factory=dict)  # row -> (base, stride)
    launch: LaunchShape = LaunchShape((1, 1, 1), (32, 1, 1))
    path: Path = Path("fake.h5")
    issue: Issue = field(default_factory=Issue)
    arrays: list[ArrayInfo] = field(default_factory=list)

    @property
    def first_instruction(self):
        return np.array([0, len(self.instructions)])

    first_warp = np.array([0, 1])

    def chunks(self, max_instructions):
        for start in range(0, len(self.instructions), max_instructions):
            rows = range(start, min(start + max_instructions, len(self.instructions)))
            op, mask, base, stride, offsets = [], [], [], [], []
            for row in rows:
                number, active, addresses = self.instructions[row]
                op.append(number)
                mask.append(active)
                if row in self.strided:
                    low, step = self.strided[row]
                    base.append(low)
                    stride.append(step)
                else:
                    base.append(min(addresses, default=0))
                    stride.append(int(EXPLICIT))
                    offsets += [address - base[-1] for address in addresses]
            n = len(op)
            columns = (np.array(op, "u2"), np.full(n, int(Flag.sequence), "u1"), np.array(rows, "u4"),
                       np.array(mask, "u4"), np.array(base, "u8"), np.array(stride, "i4"), np.zeros(n, "u4"),
                       *np.full((3, n), NO_WAIT, "u1"), np.zeros(n, "u2"), np.zeros(n, "u4"),
                       *(np.full(n, value, "u1") for value in CONTROL_DEFAULTS.values()))  # fmt: skip
            ends = np.array([0, n]), np.array([0, len(offsets)])
            yield Chunk(range(0, 1), *ends, *columns, np.array(offsets, "u4"))


def static_instruction(width: int, kind: OpKind = OpKind.load, space: Space = Space.global_) -> StaticInstruction:
    return StaticInstruction(kind, space, width, 0, 1, 1, "kernel.py", "a[i]")


def chunk_of(rows: list[int], **columns: list[int]) -> Chunk:
    """Warps of so many rows that do nothing, with some columns given."""
    n = sum(rows)
    nothing = {**dict.fromkeys(INSTRUCTION_COLUMNS, 0), "op": NO_OP, **INSTRUCTION_DEFAULTS}
    values = {
        name: np.array(columns[name], dtype) if name in columns else np.full(n, nothing[name], dtype)
        for name, dtype in INSTRUCTION_COLUMNS.items()
    }
    starts = np.cumsum([0, *rows])
    return Chunk(range(len(rows)), starts, np.zeros_like(starts), addresses=np.zeros(0, "u4"), **values)
