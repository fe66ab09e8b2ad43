"""Where the traces of one imported file go: a file for one kernel, a folder for several."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from memsim.sources.selection import CaptureSelection
from memsim.support.errors import InputError
from memsim.support.files import check_replaceable, check_writable, writing

SUFFIX = ".h5"


def is_folder(path: Path) -> bool:
    """Whether a place for traces is meant as a folder: it is one, or does not end with ``.h5``."""
    return path.suffix != SUFFIX or path.is_dir()


def moved_trace(made: Path, out: Path) -> Path:
    """Put a finished trace in its place; returns that.

    Args:
        made: the file, in the same file system.
        out: where it goes: a file, or a folder, which is made if need be.

    Raises:
        InputError: the place cannot be written, or a file stands there that must stay.
    """
    target = out / made.name if is_folder(out) else out
    check_replaceable(target)
    with writing(target):
        target.parent.mkdir(exist_ok=True)
        os.replace(made, target)
    return target


def trace_paths(out: str | Path | None, names: Sequence[str]) -> list[Path]:
    """The trace file of each kernel; makes the folder for them.

    Args:
        out: a path that ends with ``.h5``, a folder, or None for the current one.
        names: of the kernels' files, without suffix.

    Raises:
        InputError: one file for several kernels, a place that cannot be written, or a file that must stay.
    """
    target = Path(out) if out is not None else Path()
    if not is_folder(target):
        if len(names) > 1:
            problem = f"is one file for {len(names)} kernels; give a folder, or choose a kernel with --kernel"
            raise InputError(target, "file", problem)
        check_writable(target)
        return [target]
    if target.exists() and not target.is_dir():
        raise InputError(target, "folder", "is a file; give a folder, or a file that ends with .h5")
    with writing(target):
        target.mkdir(exist_ok=True)
    paths = [target / f"{name}{SUFFIX}" for name in names]
    for path in paths:
        check_writable(path)
    return paths


def check_output(out: Path) -> None:
    """Refuse a place where no trace can be written, before hours of work that would end there.

    Raises:
        InputError: it, or the folder it would be in, is not there or cannot be written.
    """
    check_writable(out / f".trace{SUFFIX}" if out.is_dir() else out)  # a kernel's file, whose name is not known yet


def check_several(out: Path, selection: CaptureSelection) -> None:
    """Refuse one file for several launches.

    Raises:
        InputError: it is one.
    """
    if selection.several and not is_folder(out):
        raise InputError(out, "file", "is one file for several launches; give a folder, whose name has no .h5")
