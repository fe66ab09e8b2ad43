"""A profiler's report, whichever of its formats it has."""

from __future__ import annotations

from pathlib import Path

from memsim.measured.launch import MeasuredLaunch
from memsim.measured.ncu_csv import read_csv
from memsim.measured.ncu_report import MAGIC, read_ncu_report
from memsim.support.errors import InputError

_LIMIT_BYTES = 1 << 30  # a report of thousands of launches has some hundred megabytes


def read_report(path: str | Path) -> list[MeasuredLaunch]:
    """The launches of a report: ``.ncu-rep``, or what ``ncu --csv`` printed.

    Raises:
        InputError: it cannot be read, is of neither format, or holds no launch.
    """
    path = Path(path)
    try:
        if path.stat().st_size > _LIMIT_BYTES:
            raise InputError(path, "size", f"is beyond {_LIMIT_BYTES >> 30} GiB; export fewer launches")
        content = path.read_bytes()
    except OSError as error:
        raise InputError(path, "report", f"cannot be read: {error.strerror}") from None
    own = content.startswith(MAGIC)
    launches = read_ncu_report(path, content) if own else read_csv(path, _decoded(path, content))
    if not launches:
        raise InputError(path, "report", "holds no launch of a kernel; profile one")
    return launches


def _decoded(path: Path, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(path, "report", "is neither .ncu-rep nor text; give one of ncu's, or its --csv") from None
