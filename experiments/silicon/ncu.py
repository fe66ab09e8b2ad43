"""Nsight Compute: which counters are asked for, and its CSV as numbers.

Metric names are those of compute capability 7.0 and later (Nsight Compute, Metrics Reference); a sector has 32 bytes.
Caches are flushed before each kernel and clocks are fixed, which are ncu's defaults.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from memsim.support.errors import InputError

METRICS = {
    "l1_read_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1_read_hits": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
    "l1_write_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l2_read_sectors": "lts__t_sectors_srcunit_tex_op_read.sum",
    "l2_read_hits": "lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum",
    "l2_write_sectors": "lts__t_sectors_srcunit_tex_op_write.sum",
    "dram_read_sectors": "dram__sectors_read.sum",
    "dram_write_sectors": "dram__sectors_write.sum",
    "cycles": "sm__cycles_elapsed.max",
    "nanoseconds": "gpu__time_duration.sum",
}
_ABOUT = ("Kernel Name", "Block Size", "Grid Size")


def command(program: list[str], kernel: str) -> list[str]:
    """The command line that profiles the first launch of a kernel, one row of counters."""
    asked = ["--metrics", ",".join(METRICS.values()), "--csv", "--page", "raw", "--print-units", "base"]
    return ["ncu", *asked, "--kernel-name", f"regex:{kernel}", "--launch-count", "1", *program]


def read(text: str, where: str | Path) -> list[dict[str, str | float]]:
    """Rows of ``ncu --csv --page raw``, under the names of :data:`METRICS`, with kernel, block and grid.

    Lines before the header (a program's own output, ``==PROF==``) are skipped; so is the row of units.

    Raises:
        InputError: no header, a metric is missing, a value is no number.
    """
    lines = text.splitlines()
    start = next((n for n, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        raise InputError(where, "CSV", 'has no line that begins with "ID"; give the output of ncu --csv --page raw')
    table = csv.DictReader(lines[start:])
    missing = [name for name in (*_ABOUT, *METRICS.values()) if name not in (table.fieldnames or [])]
    if missing:
        raise InputError(where, missing[0], "is no column; profile with all metrics of experiments/silicon/ncu.py")
    return list(_rows(table, where))


def _rows(table: csv.DictReader[str], where: str | Path) -> Iterator[dict[str, str | float]]:
    for number, row in enumerate(table):
        if number == 0 and not row["ID"]:  # units
            continue
        found: dict[str, str | float] = {name.split()[0].lower(): row[name] or "" for name in _ABOUT}
        for name, metric in METRICS.items():
            try:
                found[name] = float((row[metric] or "").replace(",", ""))
            except ValueError:
                raise InputError(where, metric, f"is {row[metric]!r} in row {number}; give a number") from None
        yield found
