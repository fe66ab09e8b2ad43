"""Finds what memsim ships: workloads in ``traces/`` and GPU presets in ``configs/``.

Both folders lie next to the package in a checkout and inside it once installed from a wheel.
"""

from __future__ import annotations

import difflib
from pathlib import Path

from memsim.support.errors import InputError

_PACKAGE = Path(__file__).parents[1]


def folder(kind: str) -> Path:
    """The folder ``traces`` or ``configs``.

    >>> folder("traces").name
    'traces'
    """
    installed = _PACKAGE / kind
    return installed if installed.is_dir() else _PACKAGE.parent / kind


def names(kind: str, suffix: str) -> list[str]:
    """Names (files without their suffix) of what a folder ships, sorted.

    >>> "spmv" in names("traces", ".py")
    True
    """
    return sorted(path.stem for path in folder(kind).glob(f"*{suffix}") if not path.stem.startswith("_"))


def find(kind: str, suffix: str, name_or_path: str | Path) -> Path:
    """The file a user means: one that the library ships, by name, else a path.

    Raises:
        InputError: neither; lists the names.

    >>> find("traces", ".py", "spmv").name
    'spmv.py'
    """
    text = str(name_or_path)
    shipped = names(kind, suffix)
    if text in shipped:
        return folder(kind) / f"{text}{suffix}"
    path = Path(name_or_path)
    if path.is_file():
        return path
    if path.suffix == suffix or len(path.parts) > 1:
        raise InputError(text, "file", f"does not exist; give a path to a {suffix} file or one of {', '.join(shipped)}")
    nearest = difflib.get_close_matches(text, shipped, 2)
    hint = f"did you mean {' or '.join(nearest)}? " if nearest else ""
    raise InputError(text, "name", f"is not in the library; {hint}known are {', '.join(shipped)}, or give a path")
