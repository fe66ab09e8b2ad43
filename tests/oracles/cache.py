"""A set of a cache as a list of its ways in order of use, and the draws as arithmetic on whole numbers."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field

from memsim.gpu.choices import Replacement


def mix(x: int) -> int:
    """Two rounds of xor-shift and multiply on 32 bits."""
    for _ in range(2):
        x = ((x >> 16 ^ x) * 0x45D9F3B) % 2**32
    return x >> 16 ^ x


def sectors(mask: int) -> set[int]:
    return {s for s in range(8) if mask >> s & 1}


@dataclass(eq=False)
class Way:
    slot: int
    line: int | None = None
    valid: set[int] = field(default_factory=set)
    pending: set[int] = field(default_factory=set)
    dirty: set[int] = field(default_factory=set)
    activated: set[int] = field(default_factory=set)  # L2: brought in or written by a store
    poisoned: set[int] = field(default_factory=set)  # L1: to be dropped when they arrive
    op: int = 0  # that wrote last
    born: int = 0  # L1: when the line was asked for
    prediction: int = 0  # RRIP: 0, used again at once, to 3, in the distant future
    position: int = 0  # L2: of this line in its L1 line
    place: tuple[int, int, int] = (0, 0, 0)  # L2: channel, bank, row

    def clear(self, line: int | None) -> None:
        self.line = line
        for sectors_of in (self.valid, self.pending, self.dirty, self.activated, self.poisoned):
            sectors_of.clear()


class Set:
    """One set; `number` and `key` seed its random choices. Its last `reserved` slots never hold a line."""

    def __init__(self, ways: int, policy: Replacement, number: int, key: int, reserved: int = 0) -> None:
        self.slots = [Way(slot) for slot in range(ways)]
        for way in self.slots[ways - reserved :]:
            way.pending = {-1}
        self.order = [way for way in self.slots[1:] + self.slots[:1] if not way.pending]  # next to go ... last used
        self.policy, self.number, self.key = policy, number, key
        self.draws = 0
        self.away: dict[tuple[int, int], bool] = {}  # (first slot, slots) of a subtree: whether the victim is right

    def take_over(self, old: Set) -> None:
        """Be as the same set of an earlier machine; what is drawn from now on is drawn with this one's key."""
        self.slots, self.order = deepcopy((old.slots, old.order))
        self.draws, self.away = old.draws, dict(old.away)

    def find(self, line: int) -> Way | None:
        return next((way for way in self.slots if way.line == line), None)

    def touch(self, way: Way) -> None:
        if self.policy == Replacement.lru:
            self._to_back(way)
        way.prediction = 0
        self._point_away(way)

    def victim(self) -> Way | None:
        """The way to replace; None while all wait for data."""
        free = [way for way in self.order if not way.pending]
        if not free:
            return None
        if self.order[0].line is None or self.policy in (Replacement.lru, Replacement.fifo):
            return free[0]
        if self.policy in (Replacement.srrip, Replacement.brrip):
            while not (gone := [way for way in self.slots if way in free and way.prediction == 3]):
                for way in self.slots:
                    way.prediction = min(way.prediction + 1, 3)
            return gone[0]
        if self.policy == Replacement.random:
            slot = mix(self.key ^ mix(self.number << 12 ^ self.draws)) % len(self.slots)
        else:
            slot = self._tree_victim()
        self.draws += 1
        return next(way for way in self.slots[slot:] + self.slots[:slot] if not way.pending)

    def fill(self, way: Way, line: int) -> None:
        way.clear(line)
        self._to_back(way)
        self._point_away(way)
        way.prediction = 2
        if self.policy == Replacement.brrip:
            way.prediction = 3 if mix(self.key ^ mix(self.number << 12 ^ self.draws)) % 32 else 2
            self.draws += 1

    def drop(self, way: Way) -> None:
        way.clear(None)
        self.order.remove(way)
        self.order.insert(0, way)

    def _to_back(self, way: Way) -> None:
        self.order.remove(way)
        self.order.append(way)

    def _point_away(self, way: Way) -> None:
        first, size = 0, len(self.slots)
        while size > 1:
            size //= 2
            right = way.slot >= first + size
            self.away[first, size] = not right
            first += size if right else 0

    def _tree_victim(self) -> int:
        first, size = 0, len(self.slots)
        while size > 1:
            size //= 2
            first += size if self.away.get((first, size), False) else 0
        return first
