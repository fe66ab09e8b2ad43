"""What is finished of long work, kept row by row, so that a process which is killed loses only what was under way.

The file is an SQLite database with a write-ahead log: a row is there whole, and on the disk, when :meth:`Journal.add`
returns, or it is not there at all. Each row carries a checksum. The process that has a journal open holds its lock,
which the system takes away when the process ends, however it ends.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from memsim.support.errors import InputError
from memsim.support.result_cache import packed, unpacked

_FORMAT = 2  # 1: runs and studies named their tasks otherwise
_MAKE = """
CREATE TABLE IF NOT EXISTS finished (
    task TEXT NOT NULL, number INTEGER NOT NULL, content BLOB NOT NULL, digest BLOB NOT NULL, PRIMARY KEY (task, number)
) WITHOUT ROWID
"""
_ANEW = "give --force to start again"
_DATABASE_FILES = ("", "-wal", "-shm", "-journal")  # files that SQLite may have for a database


def journal_path(out: str | Path) -> Path:
    """The hidden file next to an output in which its rows are kept until it is whole."""
    out = Path(out)
    return out.with_name(f".{out.name}.journal")


class Journal:
    """Arrays by task and number; what a task is, its text says, for example as JSON.

    Args:
        path: the file, made when it is missing.
        shown: what an error names instead: the output that the rows are for.
        anew: begin without the rows that are there, or whatever else is.

    Raises:
        InputError: another process has it open, or it cannot be written or is no journal.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "journal"
    >>> journal = Journal(path, "result.h5")
    >>> journal.add("a task", 3, {"cycles": np.array([7])})
    >>> journal.close()
    >>> [(number, arrays["cycles"].tolist()) for number, arrays in Journal(path, "result.h5").rows("a task")]
    [(3, [7])]
    """

    def __init__(self, path: str | Path, shown: str | Path, anew: bool = False) -> None:
        self.path, self._shown = Path(path), shown
        try:
            self._open()
        except DamagedJournal:
            if not anew:
                raise
        if anew:
            self.remove()  # nobody else has it open, or opening it would have said so
            self._open()

    def _open(self) -> None:
        new = not self.path.exists()
        with self._notified():
            self._base = sqlite3.connect(self.path, timeout=0, isolation_level=None)
        try:
            with self._notified():
                # Locked from here on; and with nobody else there, the log needs no memory that processes share.
                self._base.execute("PRAGMA locking_mode = EXCLUSIVE")
                self._base.execute("PRAGMA journal_mode = WAL")
                self._base.execute("PRAGMA synchronous = FULL")
                self._base.execute("BEGIN EXCLUSIVE")
                (found,) = self._base.execute("PRAGMA user_version").fetchone()
                if found not in (0, _FORMAT):
                    raise DamagedJournal(self._shown, "journal", f"is of format {found}, not {_FORMAT}; {_ANEW}")
                self._base.execute(_MAKE)
                self._base.execute(f"PRAGMA user_version = {_FORMAT}")
                self._base.execute("COMMIT")
        except BaseException:
            self.remove() if new else self.close()
            raise

    def tasks(self) -> dict[str, int]:
        """How many rows each task has.

        Raises:
            InputError: a task's text is damaged.
        """
        with self._notified():
            found = dict(self._base.execute("SELECT task, count(*) FROM finished GROUP BY task").fetchall())
        if not all(isinstance(task, str) for task in found):
            raise self.damaged()
        return found

    def rows(self, task: str) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
        """Number and arrays of every row of a task, in order; a damaged row is as if it were not there."""
        with self._notified():
            numbers = self._base.execute(
                "SELECT number FROM finished WHERE task = ? ORDER BY number", (task,)
            ).fetchall()
        for (number,) in numbers:
            with self._notified():
                found = self._base.execute(
                    "SELECT content, digest FROM finished WHERE task = ? AND number = ?", (task, number)
                ).fetchone()
            if (
                found is not None and (arrays := unpacked(*found)) is not None
            ):  # a damaged index lists rows that are not there
                yield number, arrays

    def add(self, task: str, number: int, arrays: Mapping[str, np.ndarray]) -> None:
        """Keep a row; it is on the disk when this returns."""
        content, digest = packed(arrays)
        with self._notified():
            self._base.execute("INSERT OR REPLACE INTO finished VALUES (?, ?, ?, ?)", (task, number, content, digest))

    def damaged(self) -> InputError:
        """What to raise for content that no run can have written."""
        return DamagedJournal(self._shown, "journal", f"is damaged; {_ANEW}")

    def close(self) -> None:
        """Let it go, and its lock."""
        self._base.close()

    def remove(self) -> None:
        """Close it and take its files away."""
        self.close()
        for end in _DATABASE_FILES:
            self.path.with_name(self.path.name + end).unlink(missing_ok=True)

    @contextmanager
    def _notified(self) -> Iterator[None]:
        """Turn what SQLite raises into an InputError."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._problem(error) from error

    def _problem(self, error: sqlite3.Error) -> InputError:
        name = getattr(error, "sqlite_errorname", "")
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            return InputError(self._shown, "file", "is being written by another run; wait for it, or give another path")
        undecodable = isinstance(error, sqlite3.OperationalError) and "decode" in str(
            error
        )  # SQLite has no code for it
        if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")) or undecodable:
            return self.damaged()
        problem = f"cannot be written ({error}, in {self.path.name}); give a writable place with room"
        return InputError(self._shown, "file", problem)


class DamagedJournal(InputError):
    """The file is no journal, or holds what no run can have written."""
