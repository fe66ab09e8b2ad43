"""Loads of neighbours in shared memory as one wide load, as the assembler joins them.

LLVM leaves loads of an array of floats in shared memory apart, whose alignment it does not know; ptxas, which places
the array, makes LDS.128 of three or four words of an aligned piece, LDS.64 of two neighbours. Loads of global memory,
and stores, it leaves as they are (ptxas 13.0, the ten kernels of siboehm/SGEMM_CUDA for sm_86, whose author shows the
same of an older one). Of rounds that are written out (`unroll.py`) loads are joined as of any block; of loops that
ptxas alone unrolls they are not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from memsim.sources.ptx.effects import effects
from memsim.sources.ptx.module import Address, Instruction, Register, Vector
from memsim.sources.ptx.widths import width_of_access

WIDEST = 16  # bytes of a lane


def joined(instructions: Sequence[Instruction], aligned: Mapping[str, int]) -> list[Instruction]:
    """The instructions of a basic block, as they are issued, with loads joined where the first of them stood.

    Args:
        instructions: of the block, in the order of issue.
        aligned: registers to log2 of what they are multiples of.
    """
    found: list[Instruction] = []
    run: list[Instruction] = []
    far_loads: list[Instruction] = []  # loads of far memory that stand among those of the run
    for one in instructions:
        if run and not _follows(run, one):
            if _is_far(one) and _apart(run, one):
                far_loads.append(one)
                continue
            found += [*_pieces(run, aligned), *far_loads]
            run, far_loads = [], []
        can_join = _can_join(one)
        if not can_join or not _apart(far_loads, one):
            found += [*_pieces(run, aligned), *far_loads]
            run, far_loads = [], []
        (run if can_join else found).append(one)
    return [*found, *_pieces(run, aligned), *far_loads]


def _can_join(one: Instruction) -> bool:
    """Whether a load is one of a single word from a register's address in shared memory."""
    if one.name != "ld" or not one.has("shared") or one.has("volatile", "v2", "v4", "v8") or one.guard is not None:
        return False
    to, place = one.operands
    return isinstance(to, Register) and isinstance(place, Address) and isinstance(place.base, Register)


def _follows(run: Sequence[Instruction], one: Instruction) -> bool:
    """Whether a load may be looked at with those right before it."""
    return _can_join(one) and _apart(run, one)


def _is_far(one: Instruction) -> bool:
    """Whether an instruction is a load of global memory, which loads of shared memory may pass."""
    return one.name == "ld" and one.has("global") and not effects(one).ordered


def _apart(loads: Sequence[Instruction], one: Instruction) -> bool:
    """Whether an instruction uses and writes nothing that loads write, and writes nothing that they use."""
    does = effects(one)
    written = {name for load in loads for name in effects(load).writes}
    used = {name for load in loads for name in effects(load).reads}
    return written.isdisjoint({*does.reads, *does.writes}) and used.isdisjoint(does.writes)


def _pieces(run: Sequence[Instruction], aligned: Mapping[str, int]) -> list[Instruction]:
    """Loads right after one another, joined by base and type."""
    groups: dict[tuple[str, tuple[str, ...]], dict[int, Instruction]] = {}
    made = {}  # the first of the loads that are joined -> what they become; a second load of one address stays
    for k, one in enumerate(run):
        place = one.operands[1]
        assert isinstance(place, Address) and isinstance(place.base, Register)
        if groups.setdefault((place.base.name, one.parts), {}).setdefault(place.offset, one) is not one:
            made[k] = one
    numbers = {id(one): k for k, one in enumerate(run)}
    for (base, _), group in groups.items():
        for offset, loads in _wide(group, aligned.get(base, 0)).items():
            made[min(numbers[id(one)] for one in loads if one)] = _as_one(offset, loads)
    return [made[k] for k in sorted(made)]


def _wide(group: Mapping[int, Instruction], base: int) -> dict[int, list[Instruction | None]]:
    """Loads by offset from one base, in aligned pieces: first offset -> the loads of its words, None for a gap.

    More than half of a piece of WIDEST bytes are loaded as it, with what nobody asked for; of a shorter one, all.
    """
    width = width_of_access(next(iter(group.values())))
    found: dict[int, list[Instruction | None]] = {}
    left = dict(group)
    size = WIDEST
    while size >= width:
        if size == width or 1 << base >= size:
            for begin in sorted({offset // size * size for offset in left if offset % width == 0}):
                words = [left.get(begin + at) for at in range(0, size, width)]
                asked = sum(word is not None for word in words)
                if asked == len(words) or size == WIDEST and 2 * asked > len(words) > 2:
                    found[begin] = words
                    left = {offset: one for offset, one in left.items() if not begin <= offset < begin + size}
        size //= 2
    return found | {offset: [one] for offset, one in left.items()}


def _as_one(offset: int, loads: Sequence[Instruction | None]) -> Instruction:
    """One load for those of neighbours, ascending from an offset."""
    first = next(one for one in loads if one)
    if len(loads) == 1:
        return first
    place = first.operands[1]
    assert isinstance(place, Address)
    parts = (*first.parts[:-1], f"v{len(loads)}", first.parts[-1])
    results = Vector(tuple(one.operands[0] if one else Register("_") for one in loads))
    return replace(first, parts=parts, operands=(results, replace(place, offset=offset)))
