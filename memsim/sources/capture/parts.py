"""Blocks that come in parts: these go to a file as they come, and each thread's words come back in turn.

A block too long to be held comes so, and those of a grid that wait for each other, up to one barrier of the grid after
another: then the parts of all of them are there before the end of any is.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

import numpy as np

from memsim.support.files import writing

HEAD_WORDS = 2  # the block's number and how many threads it has; the threads' offsets follow


@dataclass(frozen=True)
class _Part:
    """Where a part's words begin in the file, in bytes, and i8 [n_threads + 1], each thread's among them."""

    start: int
    offsets: np.ndarray


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
        self._parts: dict[int, list[_Part]] = {}  # of each block that has not ended

    def holds(self, block: int) -> bool:
        """Whether there are any of a block."""
        return block in self._parts

    def add(self, payload: np.ndarray) -> None:
        """Add a block's next part.

        Args:
            payload: i8, as :mod:`memsim.sources.capture.lane_log` has it.

        Raises:
            InputError: the disk is full.
            ValueError: the payload is no part of a block.
        """
        number, n_threads = payload[:HEAD_WORDS].tolist() if len(payload) > HEAD_WORDS else (-1, -1)
        words = payload[HEAD_WORDS + 1 + n_threads :]
        offsets = payload[HEAD_WORDS : len(payload) - len(words)].copy()
        if n_threads < 1 or len(offsets) != n_threads + 1 or offsets[0] or offsets[-1] != len(words):
            raise ValueError("threads' words overlap")
        before = self._parts.setdefault(number, [])
        if (np.diff(offsets) < 0).any() or (before and len(before[-1].offsets) != len(offsets)):
            raise ValueError("parts of a block with other threads")
        with writing(self._folder):
            if self._file is None:
                self._file = TemporaryFile(dir=self._folder)  # noqa: SIM115
            before.append(_Part(self._file.tell(), offsets))
            self._file.write(words.data)
            self._file.flush()

    def n_threads(self, block: int) -> int:
        """Of a block."""
        return len(self._parts[block][-1].offsets) - 1

    def read(self, block: int, thread: int, place: Place, room: np.ndarray) -> int:
        """Fill ``room``, i8, with the thread's next words, and move its place on; returns how many there were."""
        assert self._file is not None
        count, parts = 0, self._parts[block]
        while count < len(room) and place.part < len(parts):
            part = parts[place.part]
            first, last = part.offsets[thread : thread + 2].tolist()
            taken = min(last - first - place.word, len(room) - count)
            if taken:
                at = part.start + room.itemsize * (first + place.word)
                done = os.preadv(self._file.fileno(), [room[count : count + taken].data], at)
                assert done == room.itemsize * taken
            count += taken
            place.word += taken
            if first + place.word == last:
                place.part, place.word = place.part + 1, 0
        return count

    def is_read(self, block: int, place: Place) -> bool:
        """Whether there are no words, of any thread, behind a place."""
        return place.part == len(self._parts[block])

    def forget(self, block: int) -> None:
        """Of a block that has ended; when all have, the file's room is used again."""
        del self._parts[block]
        if not self._parts and self._file is not None:
            self._file.seek(0)

    def close(self) -> None:
        """Remove the file."""
        if self._file is not None:
            self._file.close()
