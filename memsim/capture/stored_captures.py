"""Captures that were made before: kept in the cache, and taken again where nothing that they depend on has changed.

A capture depends on the command, on memsim's sources, and on what the program's host code read: the preloaded library
``native/host_inputs.cpp`` reports files and environment variables. Captures of programs that read what another run may
find different (the time of day, random numbers, other programs, the network), or that write files, are not kept. Host
code that decides by its process id, by files that it only looks at (``stat``) or by processor instructions is not
noticed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from memsim.capture.build import MADE_OF
from memsim.capture.file_states import file_state, is_unchanged
from memsim.capture.library_build import native_digest
from memsim.capture.server import Captured
from memsim.gpu.config import GPU
from memsim.sources.outputs import SUFFIX, moved_trace
from memsim.sources.selection import CaptureSelection
from memsim.support.cache import cache_folder, own_digest
from memsim.support.errors import InputError
from memsim.support.files import HIDDEN
from memsim.support.result_cache import StoredRows, limit_bytes, remove_beyond
from memsim.support.scratch import Scratch
from memsim.trace.reader import Trace

KIND = "captures"
INPUTS_VARIABLE = "MEMSIM_INPUTS"
NOTE = "the same capture was made before and is taken from the cache; --no-cache runs the program again"
_ROOMS = ("support", "jit", "gpu", "trace", "sources", "capture")
_ALWAYS_READ = ("LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_NUMERIC", "LD_LIBRARY_PATH", "LD_PRELOAD", "TZ")
_HARMLESS = ("/dev/null", "/dev/tty")
_OF_THE_SYSTEM = ("/proc/", "/sys/")


class StoredCapture:
    """The captures of one command; its program's inputs decide which of them is meant.

    Args:
        program: the executable that memsim built.
        arguments, shown, gpu, selection: as for :func:`memsim.capture.server.serve`.
        cached: false keeps and finds nothing.
    """

    def __init__(
        self, program: Path, arguments: Sequence[str], shown: str, gpu: GPU, selection: CaptureSelection, cached: bool
    ) -> None:
        self._begun = time.time_ns()
        self._program = program
        state = {
            "memsim": [own_digest(*_ROOMS), native_digest()],
            "program": [program.parent.name, _made_of(program.parent)],
            "command": [os.getcwd(), shown, *arguments],
            "gpu": gpu.model_dump(mode="json"),
            "wanted": repr(selection),
            "variables": _variables(_ALWAYS_READ) | {k: v for k, v in os.environ.items() if k.startswith("MEMSIM_")},
        }
        self._rows: StoredRows | None = None
        if cached and limit_bytes() and not selection.to_end and _has_no_input():
            key = hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()[:32]
            self._rows = StoredRows(key, KIND)

    def find(self, out: Path) -> Captured | None:
        """The capture that was made before, its traces written anew; None if there is none of the present inputs.

        Raises:
            InputError: a trace cannot be written.
        """
        if self._rows is None:
            return None
        for _, row in self._rows.read():
            record = json.loads(row["record"].tobytes())
            if _is_current(record):
                return self._written(record, out)
        return None

    def _written(self, record: dict[str, Any], out: Path) -> Captured | None:
        with Scratch(out.absolute().parent, HIDDEN) as scratch:
            copies = []
            for name, digest in record["traces"]:
                copy = Path(scratch) / name
                stored = cache_folder(KIND) / f"{digest}{SUFFIX}"
                try:
                    shutil.copyfile(stored, copy)
                    os.utime(stored)  # what is used last stays
                except OSError:
                    return None
                if _digest(copy) != digest:
                    stored.unlink(missing_ok=True)
                    return None
                copies.append(copy)
            traces = [Trace.open(moved_trace(copy, out)) for copy in copies]
        return Captured(traces, record["launches"], [*record["notes"], NOTE], None)

    @contextmanager
    def reported(self) -> Iterator[dict[str, str]]:
        """The variables with which the program reports what it reads; :meth:`add` is called within."""
        if self._rows is None:
            yield {}
            return
        with Scratch() as scratch:
            self._report = Path(scratch) / "inputs"
            self._report.write_text("E \n")  # an empty report is one that could not be written
            yield {INPUTS_VARIABLE: str(self._report)}

    def add(self, captured: Captured) -> None:
        """Keep a capture, unless it may come out differently next time."""
        if (
            self._rows is None
            or captured.exit_code is not None
            or captured.program
            or str(self._program) not in captured.mapped
        ):
            return
        read = _parse(self._report.read_text(errors="surrogateescape"))
        if read is None:
            return
        files, names = read
        inputs = {path: file_state(path) for path in sorted(files | captured.mapped)}
        if any(state is not None and int(state[1]) >= self._begun for state in inputs.values()):
            return  # changed since: nobody knows what the program read
        traces = [(trace.path, _digest(trace.path)) for trace in captured.traces]
        record = {
            "files": inputs,
            "variables": _variables(names),
            "traces": [[path.name, digest] for path, digest in traces],
            "launches": captured.launches,
            "notes": captured.notes,
        }
        with suppress(OSError, InputError):  # a full disk: it is not kept
            folder = cache_folder(KIND)
            for path, digest in traces:
                copied = folder / f"{digest}.{os.getpid()}"
                shutil.copyfile(path, copied)
                os.replace(copied, folder / f"{digest}{SUFFIX}")
            self._rows.add(0, {"record": np.frombuffer(json.dumps(record).encode(), np.uint8)})
            remove_beyond(folder, limit_bytes())


def _parse(report: str) -> tuple[set[str], set[str]] | None:
    """Files and variables that a program read; None if it did what is not to be repeated, or the report is damaged."""
    files, names = set(), set()
    for line in report.splitlines() or ["X no report"]:
        kind, _, text = line.partition(" ")
        if kind == "E":
            names.add(text)
        elif kind == "R" and text not in _HARMLESS:
            if text.startswith(_OF_THE_SYSTEM) or not (os.path.isfile(text) or not os.path.exists(text)):
                return None
            files.add(text)
        elif kind != "R":
            return None
    return files, names - {""}


def _variables(names: Iterable[str]) -> dict[str, str | None]:
    return {name: os.environ.get(name) for name in sorted(names)}


def _is_current(record: dict[str, Any]) -> bool:
    """Whether all that a capture depends on is as it was."""
    variables = all(os.environ.get(name) == value for name, value in record["variables"].items())
    return variables and all(is_unchanged(path, state) for path, state in record["files"].items())


def _made_of(folder: Path) -> list[list[str | None]]:
    """Paths and digests of the files that a program was compiled from."""
    states = json.loads((folder / MADE_OF).read_text())
    return [[path, str(state[2]) if state else None] for path, state in sorted(states.items())]


def _has_no_input() -> bool:
    """Whether standard input is a terminal or empty: what comes through a pipe cannot be compared."""
    try:
        return stat.S_ISCHR(os.fstat(0).st_mode)
    except OSError:
        return True


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
