"""A block too long to be held: its parts go to a file as they come, and each thread's words come back in turn."""

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
    """The parts of one block, in a file without a name, which goes when the process does.

    Args:
        folder: where that file is.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: IO[bytes] | None = None
        self._parts: list[_Part] = []
        self.number = self.n_threads = 0

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._parts)

    def add(self, payload: np.ndarray) -> None:
        """Add the next part.

        Args:
            payload: i8, as :mod:`memsim.sources.capture.lane_log` has it.

        Raises:
            InputError: the disk is full.
            ValueError: the payload is no part of this block.
        """
        number, n_threads = payload[:HEAD_WORDS].tolist() if len(payload) > HEAD_WORDS else (-1, -1)
        words = payload[HEAD_WORDS + 1 + n_threads :]
        offsets = payload[HEAD_WORDS : len(payload) - len(words)].copy()
        if n_threads < 1 or len(offsets) != n_threads + 1 or offsets[0] or offsets[-1] != len(words):
            raise ValueError("threads' words overlap")
        if (np.diff(offsets) < 0).any() or (self._parts and (number, n_threads) != (self.number, self.n_threads)):
            raise ValueError("parts of several blocks are mixed")
        self.number, self.n_threads = number, n_threads
        with writing(self._folder):
            if self._file is None:
                self._file = TemporaryFile(dir=self._folder)  # noqa: SIM115
            self._parts.append(_Part(self._file.tell(), offsets))
            self._file.write(words.data)
            self._file.flush()

    def read(self, thread: int, place: Place, room: np.ndarray) -> int:
        """Fill ``room``, i8, with the thread's next words, and move its place on; returns how many there were."""
        assert self._file is not None
        count = 0
        while count < len(room) and place.part < len(self._parts):
            part = self._parts[place.part]
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

    def is_read(self, place: Place) -> bool:
        """Whether there are no words, of any thread, behind a place."""
        return place.part == len(self._parts)

    def clear(self) -> None:
        """Forget the block; the file's room is used again."""
        self._parts = []
        if self._file is not None:
            self._file.seek(0)

    def close(self) -> None:
        """Remove the file."""
        if self._file is not None:
            self._file.close()
