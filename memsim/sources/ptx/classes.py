"""Instructions by class, as the compiled code will have them: what is counted between accesses.

PTX is no machine code. These rules say what its instructions become, as SASS is known to be; only some were compared
with a disassembly (tests/sources/ptx/test_sass.py), so counts are called estimates: moves and conversions of
addresses vanish, pairs of logical operations become one LOP3, a multiplication whose product is added to becomes one
IMAD, 64-bit sums take two instructions. Classes are those of the CUDA C++ Programming Guide's table of throughputs
("Arithmetic Instructions").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memsim.sources.function_counts import (
    CONTROL,
    CONVERSION,
    DOUBLE,
    FAST,
    FP32,
    FP64,
    HALF,
    INTEGER,
    INTEGER_QUOTIENTS,
    MULTIPLY,
    SHUFFLE,
    SINGLE,
    SPECIAL,
    Becomes,
)
from memsim.sources.ptx.critical_paths import BRANCH, DependentInstructions, critical_path_to
from memsim.sources.ptx.effects import effects
from memsim.sources.ptx.module import Immediate, Instruction, Register
from memsim.trace.schema import GROUP_TYPES, INSTRUCTION_CLASSES, LINKS, TENSOR_TYPES

CLASSES, TENSORS = INSTRUCTION_CLASSES, TENSOR_TYPES
_TENSOR_TYPES = {"f16": 0, "bf16": 0, "tf32": 1, "s8": 2, "u8": 2, "s4": 2, "u4": 2, "e4m3": 3, "e5m2": 3, "f64": 4}
_FREE = frozenset(["cvta", "isspacep", "ret", "exit", "prefetchu", "pmevent"])
_LOGIC = frozenset(["and", "or", "xor", "not"])
_CONTROL = frozenset((
    "bra", "brx", "vote", "activemask", "elect", "fence", "membar", "nanosleep", "setmaxnreg", "trap", "call",
    "hostcall",
))  # fmt: skip
# A quotient to two units in the last place: assumed, after its scaling of the divisor.
_FULL: Becomes = {FP32: 4, SPECIAL: 1}
_ROUNDINGS = ("rn", "rz", "rm", "rp")
_ROUNDED = {"sqrt": np.sqrt, "rcp": np.reciprocal}


@dataclass(frozen=True)
class Segment:
    """Instructions that run one after another without a row of the trace between them.

    Attributes:
        counts: by class of CLASSES.
        critical_links: by LINKS, those on the longest chain of dependent ones.
        tensors: instructions for tensor cores.
        macs: their multiply-accumulates by class of TENSORS, of the whole warp.
        stalls: of machine code, which has no chains: the sum of its stall counts in cycles.
    """

    counts: tuple[int, ...] = (0,) * len(CLASSES)
    critical_links: tuple[int, ...] = (0,) * len(LINKS)
    tensors: int = 0
    macs: tuple[int, ...] = (0,) * len(TENSORS)
    stalls: int = 0

    @property
    def compute_run(self) -> int:
        """All instructions."""
        return sum(self.counts) + self.tensors

    @property
    def critical_path(self) -> int:
        """Those on the longest chain of dependent ones."""
        return min(self.compute_run, max(sum(self.critical_links), int(self.compute_run > 0)))

    def __add__(self, other: Segment) -> Segment:
        return Segment(
            tuple(a + b for a, b in zip(self.counts, other.counts, strict=True)),
            tuple(a + b for a, b in zip(self.critical_links, other.critical_links, strict=True)),
            self.tensors + other.tensors,
            tuple(a + b for a, b in zip(self.macs, other.macs, strict=True)),
            self.stalls + other.stalls,
        )


class Counter:
    """Counts instructions into segments; equal ones are one.

    Args:
        instructions: all of the kernel.
    """

    def __init__(self, instructions: Sequence[Instruction]) -> None:
        self.segments: list[Segment] = []
        self._numbers: dict[Segment, int] = {}
        self._now: list[Instruction] = []
        self._uses: dict[str, list[Instruction]] = {}
        self._writers: dict[str, list[Instruction]] = {}
        for one in instructions:
            for name in effects(one).reads:
                self._uses.setdefault(name, []).append(one)
            for name in effects(one).writes:
                self._writers.setdefault(name, []).append(one)

    def add(self, one: Instruction) -> None:
        """Count an instruction that is no access."""
        if not effects(one).memory or one.name == "wgmma":
            self._now.append(one)

    def take(self, before: Instruction | None = None) -> int:
        """The number of the segment since the last call, which ends before an instruction; -1 if there was nothing."""
        segment = self._segment(self._now, before)
        self._now = []
        if segment.compute_run == 0:
            return -1
        if segment not in self._numbers:
            self._numbers[segment] = len(self.segments)
            self.segments.append(segment)
        return self._numbers[segment]

    def _segment(self, instructions: Sequence[Instruction], before: Instruction | None) -> Segment:
        counts, macs, tensors = [0] * len(CLASSES), [0] * len(TENSORS), 0
        paths: dict[str, DependentInstructions] = {}
        longest = DependentInstructions()
        for one in instructions:
            tensor = tensor_work(one)
            path = critical_path_to(one, paths).then(self._links(one), int(tensor is not None))
            for k, count in self._becomes(one).items():
                counts[k] += count
            if tensor is not None:
                tensors += 1
                macs[tensor[0]] += tensor[1]
            paths |= dict.fromkeys(effects(one).writes, path)
            longest = max(longest, path)
        if before is not None and effects(before).memory:
            longest = max(longest, critical_path_to(before, paths))
        return Segment(tuple(counts), longest.links, tensors, tuple(macs))

    def _links(self, one: Instruction) -> Becomes:
        """Those of them that wait for each other: of what surrounds a branch (BSSY, BSYNC), the branch alone."""
        becomes = self._becomes(one)
        control = min(becomes.get(CONTROL, 0), 1)
        links = {k: count for k, count in becomes.items() if k != CONTROL}
        return links | ({BRANCH if one.name in ("bra", "brx") else CONTROL: control} if control else {})

    def _becomes(self, one: Instruction) -> Becomes:
        """Instructions of the machine that one of PTX becomes, by class."""
        name, kind = one.name, one.type
        if name in _FREE or tensor_work(one) is not None or one.has("uni") and name == "bra":
            return {}
        if name == "mov":
            return self._move(one)
        if name in _CONTROL or name in ("bar", "barrier"):
            return {CONTROL: 1} if name in _CONTROL else {}
        if name in ("shfl", "match", "redux"):
            return {SHUFFLE: 1}
        if name == "setp" or kind == "pred":
            return self._predicate(one)
        if name == "cvt":
            return self._convert(one)
        if name in ("div", "rem"):
            return self._division(one)
        if name in _ROUNDED and one.has("rn"):
            return (DOUBLE if kind == "f64" else SINGLE)[_ROUNDED[name]]
        if name in ("ex2", "lg2", "sin", "cos", "tanh", "rcp", "rsqrt", "sqrt"):
            return {SPECIAL: 1} if one.has("ftz") or name in ("sin", "cos", "tanh") else {SPECIAL: 1, FP32: 2}
        if kind in ("f16", "bf16", "f16x2", "bf16x2"):
            return {HALF: 1}
        if kind in ("f32", "f64", "f32x2"):
            return self._float(one)
        return self._integer(one)

    def _float(self, one: Instruction) -> Becomes:
        """A product that goes into a sum becomes part of it, an FFMA or DFMA; of two products the first."""
        if one.name == "mul":
            (name,) = effects(one).writes
            sums = [use for use in self._uses.get(name, ()) if use.name in ("add", "sub") and not use.has(*_ROUNDINGS)]
            if len(sums) == 1 and next(filter(None, map(self._fusible, effects(sums[0]).reads)), None) is one:
                return {}
        if one.type == "f32" and one.name in ("min", "max", "selp", "slct", "set"):
            return {INTEGER: 1}  # the ALU compares and selects
        return {FP64 if one.type == "f64" else FP32: 1}

    def _fusible(self, name: str) -> Instruction | None:
        """The product in a register that is used once, if it may be part of a sum: it asks for no rounding (PTX)."""
        wrote = self._writers.get(name, [])
        if len(wrote) != 1 or len(self._uses[name]) != 1 or wrote[0].name != "mul":
            return None
        same = wrote[0].type == self._uses[name][0].type
        return wrote[0] if same and not wrote[0].has(*_ROUNDINGS, "sat") else None

    def _move(self, one: Instruction) -> Becomes:
        """Moves of registers and constants vanish; packing of halves and special registers take one instruction."""
        source = one.operands[1]
        if isinstance(source, Register) and re.match(r"%(tid|ctaid|laneid|warpid|clock|globaltimer|smid)", source.name):
            return {CONTROL: 1}
        elements = getattr(source, "elements", ())
        return {INTEGER: 1} if elements and one.type == "b32" else {}

    def _predicate(self, one: Instruction) -> Becomes:
        """A comparison is one instruction; joining predicates is part of the comparison that alone feeds it."""
        if one.name != "setp":
            return (
                {}
                if one.name == "mov" or any(self._sole(one, name, "setp") for name in effects(one).reads)
                else {INTEGER: 1}
            )
        wide = one.type.endswith("64")
        group = FP64 if one.type == "f64" else HALF if "f16" in one.type else INTEGER
        return {group: 2 if wide and group == INTEGER else 1}

    def _convert(self, one: Instruction) -> Becomes:
        """Widening without a sign is free; with one it is a shift; pairs into halves are one F2F or I2F."""
        to, of = one.opcode[-2], one.opcode[-1]
        if "f" not in to and "f" not in of and not to.startswith("e") and not of.startswith("e"):
            signed = of.startswith("s") and to.endswith("64")
            return {INTEGER: 1} if signed or to.endswith(("8", "16")) else {}
        if to in ("f16x2", "bf16x2") or (of in ("f16", "bf16") and to == "f32"):
            return {HALF: 1}
        return {CONVERSION: 1}

    def _division(self, one: Instruction) -> Becomes:
        kind = one.type
        if kind == "f64":
            return DOUBLE[np.true_divide]
        if kind in ("f16", "bf16", "f32"):
            return _FULL if one.has("full") else (FAST if one.has("approx") else SINGLE)[np.true_divide]
        if isinstance(one.operands[2], Immediate):
            power = one.operands[2].value & (one.operands[2].value - 1) == 0
            return {INTEGER: 2} if power else {INTEGER: 3, MULTIPLY: 1}
        return INTEGER_QUOTIENTS[8 if kind.endswith("64") else 4, False]

    def _integer(self, one: Instruction) -> Becomes:
        """Logic in pairs, products with sums, 64 bits in halves; offsets of accesses are part of the access."""
        name, wide = one.name, one.type.endswith("64")
        if name in _LOGIC and not wide and self._feeds(one, _LOGIC):
            return {}
        if name in ("mul", "shl") and self._feeds(one, frozenset(("add",))):
            return {}  # IMAD, LEA, IMAD.WIDE
        if name == "add" and wide and isinstance(one.operands[2], Immediate) and self._only_addresses(one):
            return {}
        if name == "add" and any(self._sole(one, of, "mul") for of in effects(one).reads):
            return {MULTIPLY: 1}
        if name == "add" and wide:
            return {INTEGER: 1 if any(self._sole(one, of, "shl") for of in effects(one).reads) else 2}
        if name in ("popc", "clz", "bfind", "brev"):
            return {CONVERSION: 1}
        if name in ("mul", "mad", "mul24", "mad24", "dp4a", "dp2a"):
            return {MULTIPLY: 4 if wide else 1}
        if name == "bfe":
            return {INTEGER: 2}
        return {INTEGER: 2 if wide else 1}

    def _feeds(self, one: Instruction, names: frozenset[str]) -> bool:
        """Whether the result is used once, by one of these."""
        uses = [use for name in effects(one).writes for use in self._uses.get(name, ())]
        return (
            len(uses) == 1
            and uses[0].name in names
            and uses[0].type[-2:] == one.type[-2:]
            or (len(uses) == 1 and uses[0].name in names and one.has("wide"))
        )

    def _sole(self, one: Instruction, name: str, *writers: str) -> bool:
        """Whether only this instruction uses a register, which one of these wrote."""
        wrote = self._writers.get(name, [])
        return len(self._uses.get(name, ())) == 1 and len(wrote) == 1 and wrote[0].name in writers

    def _only_addresses(self, one: Instruction) -> bool:
        uses = [use for name in effects(one).writes for use in self._uses.get(name, ())]
        return bool(uses) and all(effects(use).memory for use in uses)


def tensor_work(one: Instruction) -> tuple[int, int] | None:
    """Of an instruction for tensor cores: its type's number in TENSORS, and multiply-accumulates a warp."""
    if one.name not in ("mma", "wgmma") or one.name == "wgmma" and not one.has("mma_async"):
        return None
    shape = next((found for part in one.opcode if (found := re.fullmatch(r"m(\d+)n(\d+)k(\d+)", part))), None)
    if shape is None:
        return None
    types = [part for part in one.opcode if part in _TENSOR_TYPES]
    kind = _TENSOR_TYPES[types[-1] if one.name == "wgmma" or len(types) < 3 else types[1]]
    if one.name == "wgmma":
        kind += TENSOR_TYPES.index(GROUP_TYPES[0])
    work = int(shape[1]) * int(shape[2]) * int(shape[3])
    return kind, work // 4 if one.name == "wgmma" else work  # of a warpgroup each warp does a quarter
