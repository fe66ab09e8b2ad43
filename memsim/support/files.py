"""Writing files whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memsim.support.errors import InputError


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A temporary path beside `path` to write to; renamed over it when the block succeeds, removed when it raises.

    Raises:
        InputError: something stands at `path` that is no file, such as a device.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with replacing(folder / "a.txt") as temporary:
    ...     _ = temporary.write_text("whole")
    >>> [file.name for file in folder.iterdir()]
    ['a.txt']
    """
    target = Path(path)
    _check_replaceable(target)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        yield temporary
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Turn a failure to write inside the block (disk full, no permission) into an InputError that names `path`."""
    try:
        yield
    except (OSError, RuntimeError) as error:  # HDF5 reports some failures as RuntimeError
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else type(error).__name__
        problem = f"cannot be written ({reason}); give a writable place with room"
        raise InputError(path, "file", problem) from error


def check_writable(path: str | Path, *inputs: str | Path) -> None:
    """Refuse a path that a file cannot be written to, before hours of work that would end there.

    Args:
        inputs: what is read for it, which it must not replace.

    Raises:
        InputError: its folder does not exist or is not writable, or it is a folder, a device or one of `inputs`.
    """
    target = Path(path)
    _check_replaceable(target)
    if target.exists() and any(Path(read).exists() and target.samefile(read) for read in inputs):
        raise InputError(path, "file", "is read and would be written over; give another path")
    if not target.parent.is_dir():
        raise InputError(path, "folder", f"{target.parent} does not exist; make it first")
    if not os.access(target.parent, os.W_OK):
        raise InputError(path, "folder", f"{target.parent} is not writable; give a path in one that is")


def _check_replaceable(target: Path) -> None:
    """A rename puts a file in the place of a device as well: of /dev/null, to everybody's surprise."""
    if target.is_dir():
        raise InputError(target, "file", "is a folder; give the path of a file")
    if target.exists() and not target.is_file():
        raise InputError(target, "file", "is a device or a pipe; give the path of a file")
