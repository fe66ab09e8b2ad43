"""In which order the assembler issues the instructions of a basic block: an estimate, where SASS does not tell.

PTX says nothing of order but dependence: LLVM writes a load where its value is used, and ptxas moves independent
loads of a block up, so that one wait covers them all. This is list scheduling (Gibbons and Muchnick 1986) with two
priorities: loads and what they wait for, in the order of the text; then what decides on the block's branch, which takes
its time while loads are under way; all else as late as the text has it. No access moves over a barrier, a fence, an
atomic or a volatile access, and no load over a store that may write what it reads (`alias.py`).
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from memsim.sources.ptx.alias import AccessOrigin, Places, may_meet
from memsim.sources.ptx.effects import Effects, effects
from memsim.sources.ptx.flow import ENDS
from memsim.sources.ptx.module import Instruction
from memsim.sources.ptx.waits import brings

LOADED, DECIDING, LATE = range(3)
HALF = 16  # loads issued together, assumed; twice as many are under way. ptxas has a sliding window (ptx.md, Order)
Rank = tuple[int, int, int]  # part of the block between what orders accesses, half of a window there, LOADED to LATE


def scheduled(instructions: Sequence[Instruction], places: Places) -> list[Instruction]:
    """The instructions of a basic block in the order in which they are issued.

    Args:
        instructions: of the block.
        places: of the whole kernel's accesses.

    Returns:
        The same instructions: whatever depends on another by registers or memory comes behind it.
    """
    effect = [effects(one) for one in instructions]
    if sum(brings(one) for one in instructions) < 2:
        return list(instructions)
    before = _dependences(instructions, effect, _placed(instructions, effect, places))
    rank = _ranks(instructions, effect, before)
    waiting = [len(others) for others in before]
    after: list[list[int]] = [[] for _ in instructions]
    for i, others in enumerate(before):
        for j in others:
            after[j].append(i)
    ready = [(rank[i], i) for i, count in enumerate(waiting) if count == 0]
    heapq.heapify(ready)
    order = []
    while ready:
        _, i = heapq.heappop(ready)
        order.append(instructions[i])
        for j in after[i]:
            waiting[j] -= 1
            if waiting[j] == 0:
                heapq.heappush(ready, (rank[j], j))
    return order


def _ranks(instructions: Sequence[Instruction], effect: Sequence[Effects], before: list[set[int]]) -> list[Rank]:
    """What is issued first of all that can be: loads; what decides on the block's branch; all else.

    What they wait for has their rank, but for an instruction that orders accesses, and what that waits for: loads
    behind a barrier make nothing before it urgent. A branch is decided early where that waits for no load of the block,
    and not over an instruction that orders accesses, behind which the assembler leaves it.
    """
    ranks, loads = _in_place(instructions, effect)
    fence = max((i for i, does in enumerate(effect) if does.ordered), default=-1)
    for i, rank in loads.items():
        _urge([i], rank, ranks, before, effect)
    end = len(instructions) - 1
    decides = [i for i in before[end] if set(effect[i].writes) & set(effect[end].steers)]
    wanted = _with_all_before(decides, before, effect)
    if not any(brings(instructions[i]) or i > fence >= 0 for i in wanted):
        _urge(decides, (0, 0, DECIDING), ranks, before, effect)
    return ranks


def _in_place(instructions: Sequence[Instruction], effect: Sequence[Effects]) -> tuple[list[Rank], dict[int, Rank]]:
    """Ranks of instructions where the text has them, and those that loads are to have.

    Loads of a kind, of far memory or of shared and constant memory, are issued by half a window, each half before what
    stands behind the half before it.
    """
    ranks: list[Rank] = []
    loads: dict[int, Rank] = {}
    part, counts = 0, [0, 0]
    for i, (one, does) in enumerate(zip(instructions, effect, strict=True)):
        ranks.append((part, max(counts) // HALF, LATE))
        if does.ordered:
            part, counts = part + 1, [0, 0]
        elif brings(one):
            kind = does.space in ("shared", "const")
            loads[i] = part, max(counts[kind] // HALF - 1, 0), LOADED
            counts[kind] += 1
    return ranks, loads


def _urge(
    first: Sequence[int], rank: Rank, ranks: list[Rank], before: list[set[int]], effect: Sequence[Effects]
) -> None:
    """Give instructions, and all that they wait for, a rank, where theirs is not before it."""
    work = list(first)
    while work:
        i = work.pop()
        if rank < ranks[i] and not effect[i].ordered:
            ranks[i] = rank
            work += before[i]


def _with_all_before(first: Sequence[int], before: list[set[int]], effect: Sequence[Effects]) -> set[int]:
    """Instructions and all that they wait for, up to what orders accesses."""
    found: set[int] = set()
    work = list(first)
    while work:
        i = work.pop()
        if i not in found and not effect[i].ordered:
            found.add(i)
            work += before[i]
    return found


def _placed(
    instructions: Sequence[Instruction], effect: Sequence[Effects], places: Places
) -> list[AccessOrigin | None]:
    """Where each access goes; None for other instructions, and where that is not known."""
    written: dict[str, int] = {}
    placed = []
    for one, does in zip(instructions, effect, strict=True):
        placed.append(places.of(one, written) if does.memory else None)
        for name in does.writes:
            written[name] = written.get(name, 0) + 1
    return placed


def _dependences(
    instructions: Sequence[Instruction], effect: Sequence[Effects], placed: Sequence[AccessOrigin | None]
) -> list[set[int]]:
    """For each instruction those that must come before it: by registers, by memory, by order."""
    before: list[set[int]] = []
    writer: dict[str, int] = {}
    readers: dict[str, list[int]] = {}
    stores: list[int] = []
    loads: list[int] = []
    fence = -1
    for i, (one, does) in enumerate(zip(instructions, effect, strict=True)):
        needs = {writer[name] for name in does.reads if name in writer}
        for name in does.writes:
            needs.update(readers.pop(name, ()))
            if name in writer:
                needs.add(writer[name])
        if does.ordered or one.name in ENDS or i == len(instructions) - 1 and does.stores:
            needs.update(loads, stores)
            if one.name in ENDS:
                needs.update(range(i))
            loads, stores = [], []
        elif does.memory and does.space not in ("param", "const"):
            needs.update(k for k in stores if _meet(placed[k], placed[i]))
            if does.stores:
                needs.update(k for k in loads if _meet(placed[k], placed[i]))
            (stores if does.stores else loads).append(i)
        if fence >= 0 and (does.memory or does.ordered):
            needs.add(fence)
        if does.ordered:
            fence = i
        for name in does.reads:
            readers.setdefault(name, []).append(i)
        for name in does.writes:
            writer[name] = i
        needs.discard(i)
        before.append(needs)
    return before


def _meet(one: AccessOrigin | None, other: AccessOrigin | None) -> bool:
    return one is None or other is None or may_meet(one, other)
