"""Where the traces of one imported file go: a file for one kernel, a folder for several."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from memsim.support.errors import InputError
from memsim.support.files import check_writable, writing

SUFFIX = ".h5"


def is_folder(path: Path) -> bool:
    """Whether a place for traces is meant as a folder: it is one, or does not end with ``.h5``."""
    return path.suffix != SUFFIX or path.is_dir()


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
