"""Coalescing one warp instruction the slow way: sets of bytes, and the programming guides' procedures step by step."""

from __future__ import annotations

from dataclasses import dataclass

from memsim.trace.schema import OpKind


@dataclass(frozen=True)
class Machine:
    capability: tuple[int, int]
    line: int = 128
    sector: int = 128
    l1: bool = True
    tags: int = 1
    banks: int | None = None
    out: int | None = None  # bytes of a load that leave L1 in a cycle
    piece: int | None = None  # bytes of a line that a transaction of the texture units may ask for


def transactions(lanes: dict[int, int], width: int, kind: OpKind, machine: Machine) -> list[tuple[int, int]]:
    """(first byte, bytes asked for as a set's sorted sectors -> mask of the line) of every transaction, in order.

    Args:
        lanes: active lane -> address.

    Returns:
        (line number, mask of its 32-byte sectors) a transaction.
    """
    found: list[set[int]] = []  # 32-byte sectors of each transaction
    for group in _groups(lanes, width, kind, machine):
        if kind in (OpKind.atomic, OpKind.reduction):
            found += _atomics(group, width)
        elif machine.capability < (1, 2):
            found += _in_order(group, width)
        elif machine.capability < (2, 0):
            found += _segments(group, width)
        else:
            found += _lines(group, width, kind, machine)
    per_line = machine.line // 32
    result = []
    for sectors in found:
        (line,) = {sector // per_line for sector in sectors}
        result.append((line, sum(1 << sector % per_line for sector in sectors)))
    return result


def partial(lanes: dict[int, int], width: int, found: list[tuple[int, int]], machine: Machine) -> list[int]:
    """Of a store's `found` transactions, the sectors whose bytes it does not all write; none before there was an L2.

    On 3.x an instruction's groups have transactions of their own, each with the bytes of its lanes.
    """
    if machine.capability < (2, 0):
        return [0] * len(found)
    per_line = machine.line // 32
    result = []
    for group in _groups(lanes, width, OpKind.store, machine):
        written = {byte for address in group.values() for byte in range(address, address + width)}
        n = len(_lines(group, width, OpKind.store, machine))
        for line, mask in found[len(result) : len(result) + n]:
            sectors = [line * per_line + s for s in range(per_line) if mask >> s & 1]
            part = [s for s in sectors if not written.issuperset(range(s * 32, s * 32 + 32))]
            result.append(sum(1 << s % per_line for s in part))
    return result


def _groups(lanes: dict[int, int], width: int, kind: OpKind, machine: Machine) -> list[dict[int, int]]:
    if machine.capability < (2, 0):
        size = 16
    elif machine.capability < (5, 0) and kind in (OpKind.load, OpKind.store):
        size = 32 if width <= 4 else 128 // width
    else:
        size = 32
    groups = [{lane: a for lane, a in sorted(lanes.items()) if lane // size == g} for g in range(32 // size)]
    return [group for group in groups if group]


def _sectors(address: int, width: int) -> list[int]:
    return sorted({byte // 32 for byte in range(address, address + width)})


def _in_order(group: dict[int, int], width: int) -> list[set[int]]:
    """Guide 2.3, 5.1.2.1, capability 1.0 and 1.1."""
    if width in (4, 8, 16):
        size = {4: 64, 8: 128, 16: 128}[width]
        for start in {address - lane % 16 * width for lane, address in group.items()}:
            if start % size == 0 and all(a == start + lane % 16 * width for lane, a in group.items()):
                whole = range(start, start + 16 * width, size)
                return [{byte // 32 for byte in range(first, first + size)} for first in whole]
    return [{sector} for _, address in group.items() for sector in _sectors(address, width)]


def _segments(group: dict[int, int], width: int) -> list[set[int]]:
    """Guide 2.3, 5.1.2.1, capability 1.2 and 1.3; a misaligned access counts as its parts."""
    size = {1: 32, 2: 64}.get(width, 128)
    waiting = [sector * 32 for _, address in group.items() for sector in _sectors(address, width)]
    found = []
    while waiting:
        start, length = waiting[0] // size * size, size
        served = [a for a in waiting if start <= a < start + size]
        waiting = [a for a in waiting if a not in served]
        while length > 32:
            half = length // 2
            if all(a < start + half for a in served):
                length = half
            elif all(a >= start + half for a in served):
                start, length = start + half, half
            else:
                break
        found.append({byte // 32 for byte in range(start, start + length)})
    return found


def _lines(group: dict[int, int], width: int, kind: OpKind, machine: Machine) -> list[set[int]]:
    touched: list[int] = []
    for address in group.values():
        touched += [sector for sector in _sectors(address, width) if sector not in touched]
    if kind == OpKind.load and not machine.l1 and machine.capability < (7, 0):
        return [{sector} for sector in touched]
    unit = machine.sector if kind == OpKind.load and machine.l1 else 32
    lines: dict[int, set[int]] = {}
    for sector in touched:
        first = sector * 32 // unit * unit // 32
        piece = machine.piece if kind == OpKind.load and machine.l1 and machine.piece else machine.line
        lines.setdefault(sector * 32 // piece, set()).update(range(first, first + unit // 32))
    return list(lines.values())


def _atomics(group: dict[int, int], width: int) -> list[set[int]]:
    """Lanes on the same address go one after the other."""
    found: list[set[int]] = []
    waiting = dict(group)
    while waiting:
        first_on = {address: lane for lane, address in reversed(waiting.items())}
        sectors = {sector for address in first_on for sector in _sectors(address, width)}
        found += [{sector} for sector in sorted(sectors)]
        waiting = {lane: a for lane, a in waiting.items() if lane not in first_on.values()}
    return found


def shared_passes(lanes: dict[int, int], width: int, kind: OpKind, capability: tuple[int, int]) -> int:
    """Passes of one shared-memory instruction: serve words bank by bank until none waits."""
    banks = 16 if capability < (2, 0) else 32
    size = 16 if capability < (2, 0) or width == 8 else {16: 8}.get(width, 32)
    paired = any(all(lanes.get(lane ^ bit, a) == a for lane, a in lanes.items()) for bit in (1, 2))
    if capability >= (7, 0) and kind == OpKind.load and width >= 8 and paired:
        size *= 2
    passes = 0
    for first in range(0, 32, size):
        waiting = [
            word
            for lane, a in sorted(lanes.items())
            if first <= lane < first + size
            for word in sorted({byte // 4 for byte in range(a, a + width)})
        ]
        while waiting:
            passes += 1
            waiting = _one_pass(waiting, banks, kind, capability)
    return passes


def wavefronts(lanes: dict[int, int], width: int, kind: OpKind, lines: list[int], machine: Machine) -> int:
    """Cycles of the load-store unit: the fullest bank of tags, the passes over the banks of data, the way out."""
    bits = machine.tags.bit_length() - 1
    folded = [sum(1 << b for b in range(bits) if f"{line:b}"[::-1][b::bits].count("1") % 2) for line in lines]
    found = [max([folded.count(bank) for bank in folded], default=0)]
    if kind in (OpKind.load, OpKind.store) and machine.banks:
        size = 16 if machine.capability < (2, 0) else {8: 16, 16: 8}.get(width, 32)
        groups = [[a for lane, a in lanes.items() if lane // size == g] for g in range(32 // size)]
        words = [{byte // 4 for a in group for byte in range(a, a + width)} for group in groups]
        of_banks = [[word % machine.banks for word in group] for group in words]
        found.append(sum(max([group.count(bank) for bank in group], default=0) for group in of_banks))
    if kind == OpKind.load and machine.out:
        found.append(-(-len(lanes) * width // machine.out))
    return max(found)


def _one_pass(waiting: list[int], banks: int, kind: OpKind, capability: tuple[int, int]) -> list[int]:
    """The words still waiting after one pass."""
    atomic = kind in (OpKind.atomic, OpKind.reduction)
    serving: dict[int, int] = {}
    left = []
    for word in waiting:
        bank = word % banks
        shares = not atomic and serving.get(bank) == word and (capability >= (2, 0) or word == waiting[0])
        if bank not in serving:
            serving[bank] = word
        elif not shares:
            left.append(word)
    return left


def constant_passes(lanes: dict[int, int], capability: tuple[int, int]) -> int:
    size = 16 if capability < (2, 0) else 32
    return sum(len({a for lane, a in lanes.items() if lane // size == g}) for g in range(32 // size))
