"""A PTX file with the small Python file that says how it is launched: ``memsim capture --ptx``."""

from __future__ import annotations

import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memsim.sources.ptx.launchers.capturing import Capturing
from memsim.sources.ptx.launchers.caught import Code, entries
from memsim.sources.ptx.origin import beside
from memsim.support.errors import InputError


def launch_file(capturing: Capturing, ptx: Path, launch: Path, kernel: str | None = None) -> None:
    """Run a PTX file's kernel once, as a Python file says.

    Args:
        capturing: what the launch is handed to.
        ptx: the file.
        launch: a Python file that sets ``grid``, ``block`` and ``arguments`` (numbers and numpy arrays, one a
            parameter, in a list, or in a dict by name), and may set ``kernel``, ``shared_bytes`` and ``cluster``.
        kernel: which one of the PTX file's; None: what the Python file says, or the only one.

    Raises:
        InputError: a file that is missing or does not run, or a name that is not set or makes no sense.
    """
    text, given = _text(ptx), _given(launch)
    for name in ("grid", "block", "arguments"):
        if name not in given:
            raise InputError(launch, name, f"is not set; give grid, block and arguments to launch {ptx} with")
    entry = _entry(ptx, text, kernel or given.get("kernel"))
    arguments = given["arguments"]
    names = list(arguments) if isinstance(arguments, Mapping) else ()
    values = list(arguments.values()) if isinstance(arguments, Mapping) else list(arguments)
    cluster = given.get("cluster", 1)
    origin = beside(ptx, launch, compiled=ptx.stat().st_mtime)
    capturing.launch(
        Code(text, entry, entry, str(ptx), origin=origin),
        values,
        _extents(launch, given, "grid"),
        _extents(launch, given, "block"),
        names=names,
        cluster=cluster,
        shared_bytes=int(given.get("shared_bytes", 0)),
    )


def _text(ptx: Path) -> str:
    try:
        return ptx.read_text("latin-1")
    except OSError as error:
        raise InputError(ptx, "file", f"cannot be read ({error.strerror}); give a file of PTX") from error


def _given(launch: Path) -> dict[str, Any]:
    """The names that the Python file sets; what it raises is told by its line."""
    if not launch.is_file():
        raise InputError(launch, "file", "does not exist; give a Python file that sets grid, block and arguments")
    try:
        return runpy.run_path(str(launch))
    except (Exception, SystemExit) as error:
        place, line = error.__traceback__, 0
        while place is not None:
            if place.tb_frame.f_code.co_filename == str(launch):
                line = place.tb_lineno
            place = place.tb_next
        line = getattr(error, "lineno", None) or line
        raise InputError(f"{launch}:{line}", "code", f"fails: {type(error).__name__}: {error}") from error


def _entry(ptx: Path, text: str, wanted: str | None) -> str:
    found = entries(text)
    if not found:
        raise InputError(ptx, "kernel", "has no .entry; give PTX with a kernel")
    if wanted is None and len(found) > 1:
        raise InputError(ptx, "kernel", f"is one of {', '.join(found)}; choose with --kernel")
    if wanted is not None and wanted not in found:
        raise InputError(ptx, "kernel", f"{wanted} is not in it; give one of {', '.join(found)}")
    return wanted or found[0]


def _extents(launch: Path, given: Mapping[str, Any], name: str) -> tuple[int, ...]:
    """A grid or block of one to three extents."""
    value = given[name]
    values = (value,) if isinstance(value, int) else value
    try:
        extents = tuple(int(one) for one in values)
    except (TypeError, ValueError):
        extents = ()
    if not 1 <= len(extents) <= 3 or min(extents) < 1:
        raise InputError(launch, name, f"is {value!r}; give one to three whole numbers from 1 on")
    return extents
