"""Blocks that come in parts: these go to a file as they come, and each thread's words come back in turn.

A block too long to be held comes so, and those of a grid that wait for each other, up to one barrier of the grid after
another: then the parts of all of them are there before the end of any is. Small ones are joined first, as threads that
wait often have few words between, and each part costs an offset and a read a thread.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

import numpy as np

from memsim.support.files import writing

HEAD_WORDS = 2  # the block's number and how many threads it has; the threads' offsets follow
JOINED_WORDS = 64  # of a block's parts, and as many a thread, are written together


@dataclass
class _Block:
    """One that has not ended.

    Attributes:
        n_threads: of each part.
        starts: of its parts in the file, in bytes: i8 [n_threads + 1] offsets of the threads' words, then these.
        waiting: offsets and words of parts to be joined, at most :data:`JOINED_WORDS` a thread and one part more.
    """

    n_threads: int
    starts: list[int] = field(default_factory=list)
    waiting: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)


@dataclass
class Place:
    """How far a thread's words have been read: in which part, and how many of that."""

    part: int = 0
    word: int = 0


class Parts:
    """The parts of blocks, in a file without a name, which goes when the process does.

    Args:
        folder: where that file is.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: IO[bytes] | None = None
        self._blocks: dict[int, _Block] = {}

    def holds(self, block: int) -> bool:
        """Whether there are any of a block."""
        return block in self._blocks

    def add(self, payload: np.ndarray, last: bool = False) -> None:
        """Add a block's next part.

        Args:
            payload: i8, as :mod:`memsim.sources.capture.lane_log` has it.
            last: no other follows; the block can be read.

        Raises:
            InputError: the disk is full.
            ValueError: the payload is no part of a block.
        """
        number, n_threads = payload[:HEAD_WORDS].tolist() if len(payload) > HEAD_WORDS else (-1, -1)
        words = payload[HEAD_WORDS + 1 + n_threads :]
        offsets = payload[HEAD_WORDS : len(payload) - len(words)].copy()
        if n_threads < 1 or len(offsets) != n_threads + 1 or offsets[0] or offsets[-1] != len(words):
            raise ValueError("threads' words overlap")
        block = self._blocks.setdefault(number, _Block(n_threads))
        if (np.diff(offsets) < 0).any() or block.n_threads != n_threads:
            raise ValueError("parts of a block with other threads")
        block.waiting.append((offsets, words.copy()))
        if last or sum(len(words) for _, words in block.waiting) >= JOINED_WORDS * n_threads:
            self._write(block)

    def _write(self, block: _Block) -> None:
        """Write the parts that wait as one."""
        offsets, words = _joined(block.waiting)
        block.waiting.clear()
        with writing(self._folder):
            if self._file is None:
                self._file = TemporaryFile(dir=self._folder)  # noqa: SIM115
            block.starts.append(self._file.tell())
            self._file.write(offsets.data)
            self._file.write(words.data)
            self._file.flush()

    def n_threads(self, block: int) -> int:
        """Of a block."""
        return self._blocks[block].n_threads

    def read(self, block: int, thread: int, place: Place, room: np.ndarray) -> int:
        """Fill ``room``, i8, with the thread's next words, and move its place on; returns how many there were."""
        count, of = 0, self._blocks[block]
        around = np.empty(2, np.int64)
        while count < len(room) and place.part < len(of.starts):
            start = of.starts[place.part]
            self._read(around, start + around.itemsize * thread)
            first, last = around.tolist()
            taken = min(last - first - place.word, len(room) - count)
            words = start + around.itemsize * (of.n_threads + 1)
            self._read(room[count : count + taken], words + around.itemsize * (first + place.word))
            count += taken
            place.word += taken
            if first + place.word == last:
                place.part, place.word = place.part + 1, 0
        return count

    def _read(self, room: np.ndarray, at: int) -> None:
        """Fill ``room`` from an offset of the file."""
        assert self._file is not None
        done = os.preadv(self._file.fileno(), [room.data], at)
        assert done == room.nbytes

    def is_read(self, block: int, place: Place) -> bool:
        """Whether there are no words, of any thread, behind a place."""
        return place.part == len(self._blocks[block].starts)

    def forget(self, block: int) -> None:
        """Of a block that has ended; when all have, the file's room is used again."""
        del self._blocks[block]
        if not self._blocks and self._file is not None:
            self._file.seek(0)

    def close(self) -> None:
        """Remove the file."""
        if self._file is not None:
            self._file.close()


def _joined(parts: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and words of a block's consecutive parts as if they were one: thread after thread.

    >>> first, second = (np.array([0, 1, 3]), np.array([10, 20, 21])), (np.array([0, 1, 1]), np.array([11]))
    >>> [each.tolist() for each in _joined([first, second])]
    [[0, 2, 4], [10, 11, 20, 21]]
    """
    if len(parts) == 1:
        return parts[0]
    n_threads = len(parts[0][0]) - 1
    threads = np.concatenate([np.repeat(np.arange(n_threads), np.diff(one)) for one, _ in parts])
    words = np.concatenate([words for _, words in parts])
    return np.sum([offsets for offsets, _ in parts], axis=0), words[np.argsort(threads, kind="stable")]
