"""A replay of some groups of consecutive blocks of a launch, in one go, and what was counted in each group.

Blocks of all groups run one after the other as if nothing lay between them: when the last block of a group has started,
the blocks up to the next group walk through the tags of L2 (:mod:`memsim.hierarchy.functional_walk`), and the next
group's first block is the next to start. So the launch begins once and ends once, and between these the GPU stays full.

Each group begins with blocks that are not measured, during which those of the group before end and L1s fill. From
then on until its last block has started, cycles and counts are measured. As many blocks end in that time as start.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memsim.hierarchy.counters import CountUnit, Event, Level

GROUPS = 8  # the most of a launch
ALIKE = 0.15  # relative difference of two groups' traffic, below which it tells them hardly apart


@dataclass(frozen=True)
class BlockGroup:
    """Consecutive blocks, by their numbers in the trace.

    Attributes:
        first: block.
        measured: the first block whose start is measured.
        end: behind the last one.
    """

    first: int
    measured: int
    end: int


@dataclass(frozen=True)
class BlockSample:
    """Which blocks of a trace are replayed in time.

    Attributes:
        groups: in their order. The first one begins with block 0, the last one ends with the last block.
        wave: blocks that the GPU holds at once.
    """

    groups: tuple[BlockGroup, ...]
    wave: int

    def __post_init__(self) -> None:
        assert 1 < len(self.groups) <= GROUPS and self.groups[0].first == 0

    @property
    def replayed(self) -> int:
        """Blocks that are replayed in time."""
        return sum(group.end - group.first for group in self.groups)

    def chosen(self, block: np.ndarray) -> np.ndarray:
        """Of blocks by their numbers, whether they are replayed in time."""
        group = np.searchsorted([group.first for group in self.groups], block, side="right") - 1
        return block < np.array([group.end for group in self.groups])[group]


class GroupMeter:
    """Measures the groups of a sample as their blocks start.

    Args:
        sample: the groups.

    Attributes:
        cycles: i8 [GROUPS], of each group from its first measured start to its last one.
        counters: i8 [GROUPS, levels, events, units], of that time, over all static instructions.
    """

    def __init__(self, sample: BlockSample) -> None:
        sizes = [(group.measured - group.first, group.end - group.first) for group in sample.groups]
        begins = np.cumsum([0, *(size for _, size in sizes)])
        self._marks = [int(begin) + mark for begin, pair in zip(begins[:-1], sizes, strict=True) for mark in pair]
        self._passed = 0
        self._before: tuple[int, np.ndarray] | None = None
        self._skipped: list[tuple[int, np.ndarray, np.ndarray]] = []
        self.cycles = np.zeros(GROUPS, np.int64)
        self.counters = np.zeros((GROUPS, len(Level), len(Event), len(CountUnit)), np.int64)

    def take(self, items: int, now: int, counters: np.ndarray) -> int | None:
        """Take in that so many work items have started by now.

        Args:
            counters: of the machine, [levels, ops, events, units].

        Returns:
            The number of the group that has ended with this, if one has.
        """
        ended = None
        while self._passed < len(self._marks) and items >= self._marks[self._passed]:
            group, is_end = divmod(self._passed, 2)
            self._passed += 1
            seen = now, counters.sum(axis=1)
            if is_end:
                assert self._before is not None
                self.cycles[group] = seen[0] - self._before[0]
                self.counters[group] = seen[1] - self._before[1]
                ended = group
            self._before = seen
        return ended

    def skip(self, work: int, traffic: np.ndarray, last: np.ndarray) -> None:
        """Take in the blocks between the group that has ended and the next one.

        Args:
            work: their transactions.
            traffic: sectors per transaction that reach L2 and DRAM, f8 [2], as walked.
            last: the same of the blocks right before the next group.
        """
        self._skipped.append((work, traffic, last))

    @property
    def weight(self) -> np.ndarray:
        """f8 [GROUPS], transactions of the blocks that were not replayed for which each group stands."""
        weight, before = np.zeros(GROUPS), traffic_of(self.counters[0])
        for group, (work, traffic, last) in enumerate(self._skipped):
            share = _share_of_next(traffic, before, last)
            weight[group : group + 2] += work * np.array([1 - share, share])
            before = last
        return weight

    @property
    def traffic(self) -> np.ndarray:
        """f8 [GROUPS], sectors per transaction that reach DRAM right before each group, as walked; 0 of the first."""
        found = np.zeros(GROUPS)
        found[1 : len(self._skipped) + 1] = [last[1] for _, _, last in self._skipped]
        return found

    @property
    def measured(self) -> dict[str, np.ndarray]:
        """The groups' columns of a :class:`memsim.hierarchy.trial.Trial`."""
        return {
            "group_cycles": self.cycles, "group_weight": self.weight, "group_traffic": self.traffic,
            "group_counters": self.counters,
        }  # fmt: skip


def work_of(counters: np.ndarray) -> np.ndarray:
    """Transactions that L1s looked up, [...], of counters [..., levels, events, units]: the work of groups."""
    return np.asarray(counters[..., Level.l1, :, CountUnit.transactions].sum(axis=-1))


def traffic_of(counters: np.ndarray) -> np.ndarray:
    """Sectors per transaction that reach L2 and DRAM, [..., 2], of counters [..., levels, events, units]."""
    sectors = counters[..., CountUnit.sectors].sum(axis=-1)[..., [Level.l2, Level.dram]]
    return np.asarray(sectors / np.maximum(work_of(counters), 1)[..., None])


def difference(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """How far the traffic of two groups is apart, relative to their mean, [..., 2]."""
    return np.asarray((after - before) / np.maximum(before + after, 1e-12) * 2)


def _share_of_next(traffic: np.ndarray, before: np.ndarray, after: np.ndarray) -> float:
    """The share of skipped blocks that are as the group after them is; the others are as the one before.

    It is the mixture of both whose traffic comes nearest to what the walk found; a half, where both hardly differ.

    Args:
        traffic, before, after: sectors per transaction to L2 and to DRAM, each [2].

    >>> one, two = np.array([1.0, 0.5]), np.array([1.0, 1.0])
    >>> round(_share_of_next(np.array([1.0, 0.6]), one, two), 2), _share_of_next(one, one, one)
    (0.21, 0.5)
    """
    distance = difference(before, after)
    found = (traffic - before) / np.maximum(before + after, 1e-12) * 2
    return float(np.clip((found @ distance + ALIKE**2 / 2) / (distance @ distance + ALIKE**2), 0, 1))
