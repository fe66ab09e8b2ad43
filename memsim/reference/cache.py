"""The ways, sets and replacement policies of a cache, at every level; the slices of L2 and of the levels behind it."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from memsim.gpu.choices import Replacement
from memsim.gpu.memory import L2
from memsim.gpu.memory_side import MemorySideLevel
from memsim.reference.address_map import hash32, set_within_slice
from memsim.reference.clock import QueueServer

if TYPE_CHECKING:
    from memsim.reference.model import ReferenceModel

LONGEST_RRPV = 3  # two bits


@dataclass(eq=False)
class Way:
    """A way and the line that it holds, as masks of sectors."""

    slot: int
    reserved: bool = False  # shared memory has it
    line: int | None = None
    valid: int = 0
    pending: dict[Any, int] = field(default_factory=dict)  # MSHR -> the sectors that it brings
    dirty: int = 0
    activated: int = 0  # L2: fetched for or written by a store
    words: int = 0  # L2: words written of sectors that stores covered in part: bit 8 * s + w
    prefetched: int = 0  # L2: fetched by the prefetcher, and not requested since
    stale: int = 0  # L1: pending sectors to drop as soon as they arrive
    op: int = 0  # that wrote last
    owner: int | None = None  # L1: block slot whose local memory it holds, until that block ends
    allocated: int = 0  # L1: cycle in which the line was requested
    rrpv: int = 0  # re-reference prediction value: 0 (soon) to 3 (distant future)

    @property
    def under_way(self) -> int:
        """Sectors that MSHRs bring."""
        return sum(self.pending.values())

    @property
    def partial(self) -> int:
        """L2: sectors that stores covered in part, whose rest is in memory alone and is not on its way."""
        return self.dirty & ~self.valid & ~self.under_way

    @property
    def replaceable(self) -> bool:
        """Whether it may take another line: it waits for no data."""
        return not self.pending and not self.reserved

    def mshrs(self, mask: int) -> list[Any]:
        """The MSHRs that bring any of some sectors."""
        return [mshr for mshr, brings in self.pending.items() if brings & mask]

    def fill(self, mshr: Any) -> None:
        """What an MSHR brings is here."""
        self.valid |= self.pending.pop(mshr)

    def clear(self, line: int | None) -> None:
        """Hold another line, without any data yet."""
        self.line, self.pending, self.owner = line, {}, None
        self.valid = self.dirty = self.activated = self.words = self.prefetched = self.stale = 0


class CacheSet:
    """A set with a replacement policy: LRU, FIFO, random, tree-PLRU, or SRRIP and BRRIP (Jaleel et al., ISCA 2010).

    Args:
        number: of the set in the whole cache; with `key`, it seeds the random choices.
        reserved: ways at the end that never hold a line.
    """

    def __init__(self, ways: int, policy: Replacement, number: int, key: int, reserved: int = 0) -> None:
        self.ways = [Way(slot, reserved=slot >= ways - reserved) for slot in range(ways)]
        # The first to be replaced comes first, the one that was used (with FIFO, filled) last comes last.
        self.order = [way for way in self.ways[1:] + self.ways[:1] if not way.reserved]
        self.policy, self.number, self.key = policy, number, key
        self.draws = 0
        self.points_right: dict[tuple[int, int], bool] = {}  # tree-PLRU: (first way, ways) of a subtree

    def take_over(self, old: CacheSet) -> None:
        """Hold what a set of an earlier launch held. Random choices use this set's key from now on."""
        self.ways, self.order = deepcopy((old.ways, old.order))
        self.draws, self.points_right = old.draws, dict(old.points_right)

    def find(self, line: int) -> Way | None:
        return next((way for way in self.ways if way.line == line), None)

    def touch(self, way: Way) -> None:
        """Note a hit."""
        if self.policy is Replacement.lru:
            self._move(way, len(self.order))
        way.rrpv = 0
        self._point_away(way)

    def find_victim(self) -> Way | None:
        """Return the way to replace; None while all wait for data."""
        candidates = [way for way in self.order if way.replaceable]
        if not candidates:
            return None
        if self.order[0].line is None or self.policy in (Replacement.lru, Replacement.fifo):
            return candidates[0]
        if self.policy in (Replacement.srrip, Replacement.brrip):
            return self._most_distant(candidates)
        slot = self._draw() % len(self.ways) if self.policy is Replacement.random else self._tree_victim()
        self.draws += 1
        return next(way for way in self.ways[slot:] + self.ways[:slot] if way.replaceable)

    def fill(self, way: Way, line: int) -> None:
        """Give a way to a line."""
        way.clear(line)
        self._move(way, len(self.order))
        self._point_away(way)
        way.rrpv = LONGEST_RRPV - 1
        if self.policy is Replacement.brrip:
            way.rrpv = LONGEST_RRPV if self._draw() % 32 else LONGEST_RRPV - 1
            self.draws += 1

    def drop(self, way: Way) -> None:
        """Invalidate a line; its way is the next to be filled."""
        way.clear(None)
        self._move(way, 0)

    def _draw(self) -> int:
        return hash32(self.key ^ hash32(self.number << 12 ^ self.draws))

    def _move(self, way: Way, to: int) -> None:
        self.order.remove(way)
        self.order.insert(to, way)

    def _most_distant(self, candidates: list[Way]) -> Way:
        """The first way whose line is predicted for the distant future; all lines age until there is one."""
        while not (distant := [way for way in self.ways if way in candidates and way.rrpv == LONGEST_RRPV]):
            for way in self.ways:
                way.rrpv = min(way.rrpv + 1, LONGEST_RRPV)
        return distant[0]

    def _point_away(self, way: Way) -> None:
        """Let every node of the tree above a way point to its other half."""
        first, size = 0, len(self.ways)
        while size > 1:
            size //= 2
            right = way.slot >= first + size
            self.points_right[first, size] = not right
            first += size if right else 0

    def _tree_victim(self) -> int:
        first, size = 0, len(self.ways)
        while size > 1:
            size //= 2
            first += size if self.points_right.get((first, size), False) else 0
        return first


class CacheSets(dict[int, CacheSet]):
    """All sets of a cache (or of a slice), each of which is made when it is first used: a large L2 has 70,000.

    Args:
        n: sets.
        first: number of the first one, for the random choices.
        reserved: ways that never hold a line, spread evenly, in the last sets one more.
    """

    def __init__(self, n: int, ways: int, policy: Replacement, first: int, key: int, reserved: int = 0) -> None:
        self.n = n
        self._new = lambda s: CacheSet(ways, policy, first + s, key, reserved // n + (s >= n - reserved % n))

    def __missing__(self, number: int) -> CacheSet:
        self[number] = self._new(number)
        return self[number]

    def take_over(self, old: CacheSets) -> None:
        """Hold what the sets of an earlier launch held."""
        for number, before in old.items():
            self[number].take_over(before)


class CacheSlice(QueueServer):
    """A slice of L2, or of a level behind it: a server with its share of the level's sets.

    A request is for sectors of an L1 line, in which one or more lines of the level lie. Line k of the level in L1 line
    n has number n * lines_per_packet + k.

    Args:
        stage: in which the slice acts; its last number is that of the slice.
    """

    def __init__(self, model: ReferenceModel, level: L2 | MemorySideLevel, *stage: int) -> None:
        super().__init__(model.clock, *stage)
        self.model, self.number = model, stage[-1]
        self.sectors_per_line, self.every = level.line_bytes // 32, (1 << level.line_bytes // 32) - 1
        per_packet = self.lines_per_packet = model.gpu.l1.line_bytes // level.line_bytes
        n = level.size_bytes // level.slices // level.line_bytes // level.ways
        self.sets = CacheSets(n, level.ways, level.replacement, self.number * n, model.key)
        first = model.addresses.addresses  # of each L1 line
        self.set_number = cache(
            lambda line: set_within_slice(first[line // per_packet] + line % per_packet * level.line_bytes, level)
        )

    def set_of(self, line: int) -> CacheSet:
        """The set of a line; a copy, whose number is -1 - line, is where the line would be."""
        return self.sets[self.set_number(line if line >= 0 else -1 - line)]

    def lines(self, line: int, mask: int) -> list[tuple[int, int]]:
        """The level's lines in which sectors of an L1 line lie: number, and sectors of that line."""
        first, size = line * self.lines_per_packet, self.sectors_per_line
        own = [mask >> k * size & self.every for k in range(self.lines_per_packet)]
        return [(first + k, sectors) for k, sectors in enumerate(own) if sectors]

    def in_packet(self, line: int, mask: int) -> int:
        """Sectors of a line of the level as sectors of the L1 line that it is in."""
        return mask << line % self.lines_per_packet * self.sectors_per_line
