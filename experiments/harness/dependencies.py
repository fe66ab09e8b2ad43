"""What a study's tables depend on: the code that ran and the files that were read, each with a digest.

A full run writes ``dependencies.csv`` next to the study's ``scoreboard.csv``. The tables are *stale* if one of these
files has changed since. The digest of Python code leaves out comments, docstrings and blank lines.
"""

from __future__ import annotations

import ast
import csv
import io
import os
import sys
import threading
import tokenize
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from types import FrameType

from memsim.support.files import replacing

ROOT = Path(__file__).parents[2]
NAME = "dependencies.csv"
_CODE = ("memsim", "experiments", "configs", "traces")  # folders of the repository that tables may depend on
_WRITTEN = {"README.md", "scoreboard.csv", NAME}  # what a run itself writes, and reads back
_SHARED = Path("experiments", "harness")  # how rows are printed and kept; only what a claim is changes a table
_CAPTURE = Path("memsim", "capture")  # runs in processes of its own, so all of it counts once it is used
_CLAIMS = _SHARED / "study.py"
_WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class Recorder:
    """Notes what this process and its forks read and call, in a file that all of them append to.

    A file that was read counts. A module that was imported counts if a function of its room has run, where a room is a
    folder of memsim, one of memsim/sources, or a single workload: a study that captures no program does not depend on
    how programs are captured, though it imports that.

    Args:
        log: the file.
        calls: whether to note calls, which costs time; else all that is imported counts.
    """

    def __init__(self, log: Path, calls: bool = True) -> None:
        self._log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._path = log
        self._calls = calls
        self._active = True
        self._seen: set[object] = set()
        self._rooms: set[Path] = set()
        sys.addaudithook(self._note_open)
        if calls:
            sys.settrace(self._note_call)
            threading.settrace(self._note_call)

    def _note_open(self, event: str, arguments: tuple[object, ...]) -> None:
        if event != "open" or not self._active or not isinstance(arguments[0], (str, os.PathLike)):
            return
        name, mode, flags = os.fspath(arguments[0]), arguments[1], arguments[2]
        reads = mode.startswith("r") if isinstance(mode, str) else not int(str(flags or 0)) & os.O_ACCMODE
        if not reads or not isinstance(name, str) or name in self._seen or name.endswith((".py", ".pyc")):
            return
        self._seen.add(name)
        self._write(os.path.abspath(name))

    def _note_call(self, frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if code in self._seen:
            return
        name = _in_repository(Path(code.co_filename))
        if name is not None and (room := _room(name)) not in self._rooms:
            caller: FrameType | None = frame
            while caller is not None:  # what runs while a module is imported says nothing
                if caller.f_code.co_name == "<module>" and caller.f_globals.get("__name__") != "__main__":
                    return
                caller = caller.f_back
            self._rooms.add(room)
            self._write(f"ran {room}")
        self._seen.add(code)

    def _write(self, line: str) -> None:
        os.write(self._log, f"{line}\n".encode())

    def finish(self) -> dict[str, str]:
        """Stop, and return the digest of each file that counts, by its path in the repository."""
        self._active = False
        if self._calls:
            sys.settrace(None)
            threading.settrace(None)  # type: ignore[arg-type]
        os.close(self._log)
        lines = self._path.read_text(encoding="utf-8").splitlines()
        rooms = {Path(line.removeprefix("ran ")) for line in lines if line.startswith("ran ")}
        opened = {Path(line) for line in lines if not line.startswith("ran ")}
        loaded = {Path(file) for module in list(sys.modules.values()) if (file := getattr(module, "__file__", None))}
        names = {name for path in opened if (name := _in_repository(path))}
        imported = {name for path in loaded if (name := _in_repository(path))}
        names |= {
            name for name in imported if not self._calls or _room(name) in rooms or name.parts[0] == "experiments"
        }
        names |= {room for room in rooms if room.suffix == ".py"}  # workloads are loaded by their path
        if any(_CAPTURE in name.parents for name in names):
            names |= {path.relative_to(ROOT) for path in (ROOT / _CAPTURE).rglob("*") if path.is_file()}
        return digests(name for name in names if {"__pycache__", "built"}.isdisjoint(name.parts))


def _room(name: Path) -> Path:
    """The room of a module: a folder of memsim or of memsim/sources; of a workload, the file itself.

    >>> print(_room(Path("memsim/hierarchy/sm/l1.py")), _room(Path("memsim/sources/ptx/trace.py")))
    memsim/hierarchy memsim/sources/ptx
    """
    if name.parts[0] != "memsim":
        return name
    deep = 3 if name.parts[1] == "sources" else 2
    return Path(*name.parts[: min(deep, len(name.parts) - 1)])


def _in_repository(path: Path) -> Path | None:
    """The path within the repository of a file that tables may depend on; None of others."""
    try:
        name = path.relative_to(ROOT)
    except ValueError:
        return None
    counts = name.parts[0] in _CODE and name.name not in _WRITTEN and name.suffix not in (".png", ".pyc")
    printing = _SHARED in name.parents and name != _CLAIMS
    return name if counts and not printing and path.is_file() else None


def digests(names: Iterable[Path]) -> dict[str, str]:
    """The digest of each of the repository's files, by its path; "absent" for those that are gone."""
    return {name.as_posix(): digest(ROOT / name) if (ROOT / name).is_file() else "absent" for name in sorted(names)}


def digest(path: Path) -> str:
    """16 hexadecimal digits of a file's content; of Python code without comments, docstrings and blank lines."""
    content = path.read_bytes()
    if path.suffix == ".py":
        content = code_of(content.decode("utf-8")).encode()
    return sha256(content).hexdigest()[:16]


def code_of(text: str) -> str:
    r"""Python source without comments, docstrings and blank lines.

    >>> code_of("'Two.'\n\nx = 1  # one\n\n\ny = '# no comment'\n")
    "x = 1\ny = '# no comment'"
    """
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, _WITH_DOCSTRING) and ast.get_docstring(node, clean=False) is not None:
            first = node.body[0]
            for row in range(first.lineno - 1, first.end_lineno or first.lineno):
                lines[row] = ""
    return "\n".join(stripped for line in lines if (stripped := line.rstrip()))


def keep(folder: Path, found: dict[str, str], seconds: float) -> None:
    """Write what a study's tables depend on, and how long its run took."""
    with replacing(folder / NAME) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("seconds", f"{seconds:.0f}"), *sorted(found.items())])


def kept(folder: Path) -> tuple[float | None, dict[str, str]]:
    """What :func:`keep` wrote: (seconds of the run, digests by path); (None, none) where a study was never recorded."""
    if not (folder / NAME).exists():
        return None, {}
    with (folder / NAME).open(encoding="utf-8", newline="") as file:
        (_, seconds), *rows = list(csv.reader(file))
    return float(seconds), {name: value for name, value in rows}


def changed(folder: Path) -> list[str] | None:
    """The files that a study's tables depend on and that differ now; None where its run was never recorded."""
    seconds, then = kept(folder)
    if seconds is None:
        return None
    now = digests(Path(name) for name in then)
    return [name for name in then if now[name] != then[name]]
