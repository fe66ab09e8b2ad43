"""When blocks ran: what shows the rate of a long launch from a part of it.

While every slot of the GPU holds a block, the launch runs as a longer one would. That time ends when the first slot
finds no further block; :attr:`BlockTimes.full_until` is its end. How many blocks are done by then, and by each eighth
of it, is counted in blocks: one that is under way counts by the share of its time that has gone by, and the parts of
one that is split (random start alignment) by their instructions.
"""

from __future__ import annotations

import numpy as np

EIGHTHS = 8
BLOCK_TICKS = 256  # of a cycle, in which the starts of blocks are counted


class BlockTimes:
    """Starts and ends of the work items of one replay.

    Args:
        first, end: i8 [items, warps per block], see sm.blocks.work_items.
        block: i8 [items], the block of each.
        slots: (SMs, blocks one of them holds).
        launch_cycles: from a block's end to the next one's start.
        block_ticks: from one block's start to the next one's on the whole GPU, in parts of a cycle (BLOCK_TICKS).
        begin: cycle in which the first blocks start.

    Attributes:
        start, end: i8 [items], cycles.
    """

    def __init__(
        self, first: np.ndarray, end: np.ndarray, block: np.ndarray, slots: tuple[int, int], launch_cycles: int,
        begin: int, block_ticks: int = 0,
    ) -> None:  # fmt: skip
        self._share = _shares((end - first).sum(axis=1), block)
        self._sms, resident = slots
        self._launch_cycles, self._begin = launch_cycles, begin
        held = self._sms * resident
        self._item = np.arange(held)  # in each slot, as they are filled: one block an SM, then the next one
        self._launched = min(held, len(block))
        self._block_ticks, self._next_block = block_ticks, begin * BLOCK_TICKS
        self.start, self.end = np.full(len(block), begin), np.full(len(block), begin)
        self.start[: self._launched] = self._starts(self.start[: self._launched])
        self._full_until = begin if len(block) < held else None

    def take(self, freed: np.ndarray, launched: int) -> np.ndarray:
        """Take in the slots that became free in a quantum.

        Args:
            freed: records sm.state.FREED, by time and SM; the first ones get new items.
            launched: how many.

        Returns:
            i8 [launched], cycles in which these start.
        """
        times, slots = freed["time"], freed["block"] * self._sms + freed["sm"]
        self.end[self._item[slots]] = times
        items = np.arange(self._launched, self._launched + launched)
        self._launched += launched
        self.start[items] = self._starts(times[:launched] + self._launch_cycles)
        self._item[slots[:launched]] = items
        if self._full_until is None and launched < len(freed):
            self._full_until = int(times[launched])
        return self.start[items]

    def _starts(self, earliest: np.ndarray) -> np.ndarray:
        """Cycles in which blocks start that could start at `earliest`, i8 [blocks]: one after the other."""
        if not self._block_ticks:
            return earliest
        starts = np.empty_like(earliest)
        for number, time in enumerate(earliest.tolist()):
            begin = max(self._next_block, time * BLOCK_TICKS)
            self._next_block = begin + self._block_ticks
            starts[number] = -(-begin // BLOCK_TICKS)
        return starts

    @property
    def full_until(self) -> int:
        """Cycles from the first block's start until a slot stays empty."""
        return 0 if self._full_until is None else self._full_until - self._begin

    @property
    def done(self) -> np.ndarray:
        """f8 [EIGHTHS + 1], blocks done at each eighth of that time."""
        times = self._begin + self.full_until * np.arange(EIGHTHS + 1) / EIGHTHS
        took = np.maximum(self.end - self.start, 1)
        return np.array([self._share @ np.clip((time - self.start) / took, 0, 1) for time in times])


def _shares(instructions: np.ndarray, block: np.ndarray) -> np.ndarray:
    """Each item's part of its block, by instructions; that of a block without any is its last item.

    >>> _shares(np.array([3, 0, 4, 1]), np.array([0, 1, 2, 0])).tolist()
    [0.75, 1.0, 1.0, 0.25]
    """
    of_block = np.bincount(block, instructions)[block]
    last = np.zeros(len(block))
    last[np.unique(block[::-1], return_index=True)[1]] = 1
    return np.where(of_block > 0, instructions / np.maximum(of_block, 1), last[::-1])
