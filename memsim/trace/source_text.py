"""The text of the files that static instructions stand in, kept with a trace and its results, to be shown anywhere."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import h5py

from memsim.support import hdf5
from memsim.support.errors import InputError
from memsim.support.hdf5 import read_text, write_text
from memsim.trace.schema import StaticInstruction

MOST_FILE_BYTES = 1 << 20
MOST_BYTES = 1 << 23  # of all files of a trace
_ROOM = Path(__file__).parents[1]  # the package, in or next to which the library's kernels lie

Sources = dict[str, list[str] | None]  # file, as ops name it -> its lines; None: too large to keep
Places = Callable[[str], Iterable[Path]]


def of_ops(ops: Iterable[StaticInstruction]) -> Sources:
    """The files that static instructions name, as :func:`at_hand` finds them."""
    return at_hand((op.file, op.line, op.text) for op in ops)


def of_compiled(ops: Iterable[StaticInstruction], find_paths: Places) -> Sources:
    """The files that static instructions of compiled code name: their texts, instructions, stand in none."""
    return at_hand(((op.file, op.line, "") for op in ops), find_paths)


def at_hand(accesses: Iterable[tuple[str, int, str]], find_paths: Places | None = None) -> Sources:
    """The files that lie here and are as the accesses say: each stands in its line.

    Args:
        accesses: file, line from 1, text; "": the file has such a line, or the line is 0, which compilers give to what
            they made themselves.
        find_paths: where a file of a name may lie; None: here, next to the other files, or in this library.

    A file beyond MOST_FILE_BYTES, or one for which MOST_BYTES leave no room, is named without its text.
    """
    by_file: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for name, line, text in accesses:
        by_file[name].append((line, text))
    folders = dict.fromkeys(Path(name).parent for name in by_file)  # a header's name comes without its own
    found: Sources = {}
    left = MOST_BYTES
    for name, of_file in by_file.items():
        here = (Path(name), _ROOM / name, _ROOM.parent / name, *(folder / name for folder in folders))
        for path in here if find_paths is None else find_paths(name):
            size = _size(path)
            if size > min(left, MOST_FILE_BYTES):
                found[name] = None
                break
            lines = _lines(path) if size else []
            if lines and all(_stands(text, number, lines) for number, text in of_file):
                found[name] = [line.expandtabs() for line in lines]
                left -= size
                break
    return found


def write(group: h5py.Group, sources: Mapping[str, list[str] | None]) -> None:
    """Write sources into a file, or into a group of one."""
    write_text(group, "sources", sources)


def read(path: str | Path, file: h5py.File) -> Sources:
    """Sources of a file; none of one that is older than they are.

    Raises:
        InputError: what is stored is something else, or more than is ever kept.
    """
    stored = hdf5.find(file, "sources")
    if stored is None:
        return {}
    if stored.dtype.itemsize > 8 * MOST_BYTES:  # a byte may take six in JSON
        raise InputError(path, "sources", f"has {stored.dtype.itemsize} bytes; at most {8 * MOST_BYTES} are read")
    sources: Any = read_text(path, file, "sources")
    if not isinstance(sources, dict) or not all(lines is None or _are_lines(lines) for lines in sources.values()):
        raise InputError(path, "sources", "is not a JSON object of files, each a list of lines or null")
    return sources


def _are_lines(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(line, str) for line in value)


def _size(path: Path) -> int:
    """Bytes of a file; 0 of what is none."""
    try:
        return path.stat().st_size if path.is_file() else 0
    except (OSError, ValueError):
        return 0


def _lines(path: Path) -> list[str]:
    """Lines as compilers count them; none of a file that cannot be read as text."""
    try:
        return [line.rstrip("\r") for line in path.read_bytes().decode("utf-8").split("\n")]
    except (OSError, ValueError):
        return []


def _stands(text: str, number: int, lines: Sequence[str]) -> bool:
    if not text:
        return 0 <= number <= len(lines)
    first = text.split("\n")[0].split("[")[0].strip()
    return 0 < number <= len(lines) and first in lines[number - 1]
