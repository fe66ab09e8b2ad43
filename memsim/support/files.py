"""Files written whole or not at all, and read if they are small."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from memsim.support.errors import InputError
from memsim.support.scratch import HIDDEN, Scratch

_existing_stays: ContextVar[bool] = ContextVar("existing_stays", default=False)


@contextmanager
def keeping_existing(force: bool = False) -> Iterator[None]:
    """Inside, no file is written over but with `force`: :func:`check_writable` and :func:`replacing` refuse to."""
    before = _existing_stays.set(not force)
    try:
        yield
    finally:
        _existing_stays.reset(before)


@contextmanager
def replacing(path: str | Path, durable: bool = False) -> Iterator[Path]:
    """A temporary path next to `path` to write to; renamed over it when the block succeeds, removed when it raises.

    It lies in a hidden folder, which the next one made there removes if this process is killed.

    Args:
        path: where the file goes.
        durable: wait until it is on the disk, so that even a power cut leaves the old file or the new.

    Raises:
        InputError: something stands at `path` that is no file, such as a device, or a file that must stay.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with replacing(folder / "a.txt") as temporary:
    ...     _ = temporary.write_text("whole")
    >>> [file.name for file in folder.iterdir()]
    ['a.txt']
    """
    target = Path(path)
    check_replaceable(target)
    with Scratch(target.parent, HIDDEN) as folder:
        temporary = Path(folder, target.name)
        yield temporary
        if durable:
            _flush(temporary)
        os.replace(temporary, target)
        if durable:
            _flush(target.parent)


def _flush(path: Path) -> None:
    """Have what the system still holds of a file, or of a folder's names, written to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Turn a failure to write inside the block (disk full, no permission) into an InputError that names `path`."""
    try:
        yield
    except (OSError, RuntimeError) as error:  # HDF5 reports some failures as RuntimeError
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else type(error).__name__
        problem = f"cannot be written ({reason}); give a writable place with room"
        raise InputError(path, "file", problem) from error


def read_small(path: Path, most: int, expected: str) -> bytes:
    """What a file holds, if that is small.

    Args:
        path: the file.
        most: bytes that it may hold.
        expected: what it is to be, for the message.

    Raises:
        InputError: it cannot be read, or is larger.
    """
    try:
        with path.open("rb") as file:
            content = file.read(most + 1)
    except OSError as error:
        raise InputError(path, "file", f"cannot be read: {error.strerror}") from None
    if len(content) > most:
        raise InputError(path, "file", f"is larger than {most} bytes; give {expected}")
    return content


def read_toml(path: Path, most: int, expected: str) -> dict[str, Any]:
    """What a small TOML file holds; arguments as for :func:`read_small`.

    Raises:
        InputError: it cannot be read, is larger, or is not TOML.
    """
    try:
        return tomllib.loads(read_small(path, most, expected).decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(path, "file", f"is not TOML: {error}") from None


def check_writable(path: str | Path, *inputs: str | Path) -> None:
    """Refuse a path that a file cannot be written to, before hours of work that would end there.

    Args:
        inputs: what is read for it, which it must not replace.

    Raises:
        InputError: its folder does not exist or is not writable, or it is a folder, a device, one of `inputs`, or a
            file that must stay.
    """
    target = Path(path)
    if target.is_file() and any(Path(read).exists() and target.samefile(read) for read in inputs):
        raise InputError(path, "file", "is an input and would be overwritten; give another path")
    check_replaceable(target)
    if not target.parent.is_dir():
        raise InputError(path, "folder", f"{target.parent} does not exist; create it first")
    if not os.access(target.parent, os.W_OK):
        raise InputError(path, "folder", f"{target.parent} is not writable; give a path in one that is")


def check_replaceable(path: str | Path) -> None:
    """Refuse a path at which something stands that no file may replace.

    A rename puts a file in the place of a device as well: of /dev/null, to everybody's surprise.

    Raises:
        InputError: it is a folder, a device, or, inside :func:`keeping_existing`, a file.
    """
    target = Path(path)
    if target.is_dir():
        raise InputError(target, "file", "is a folder; give the path of a file")
    if target.exists() and not target.is_file():
        raise InputError(target, "file", "is a device or a pipe; give the path of a file")
    if target.exists() and _existing_stays.get():
        raise InputError(target, "file", "exists; give --force to overwrite it, or another path")
