"""``python -m experiments.bench [--quick] [PART ...]``: measure, and print the table."""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Sequence

from experiments.bench.answers import answers
from experiments.bench.capturing import capturing
from experiments.bench.describing import describing
from experiments.bench.first_use import first_use
from experiments.bench.growing import growing
from experiments.bench.importing import importing
from experiments.bench.lru import measure_pycachesim
from experiments.bench.memory import memory
from experiments.bench.presets import presets
from experiments.bench.ptx import machine_code, ptx
from experiments.bench.replay import replay
from experiments.bench.start import start
from experiments.bench.studies import studies
from experiments.bench.table import Row, table
from experiments.bench.workers import workers
from experiments.bench.workload import FULL, QUICK, Prepared, Size, prepared
from memsim.support.result_cache import VARIABLE


def _replay(workload: Prepared) -> list[Row]:
    rows = replay(workload)
    return rows + measure_pycachesim(workload, rows[0].measured)


PARTS = {
    "replay": _replay,
    "presets": presets,
    "growing": growing,
    "workers": workers,
    "studies": studies,
    "describing": describing,
    "capturing": capturing,
    "ptx": ptx,
    "machine_code": machine_code,
    "importing": importing,
    "memory": memory,
    "start": start,
    "answers": answers,
    "first_use": first_use,
}


def _part(name: str) -> str:
    if name not in PARTS:
        raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(PARTS)}")
    return name


def measure(size: Size, parts: Sequence[str] = tuple(PARTS)) -> list[Row]:
    """The rows of some parts, one measurement after the other."""
    os.environ[VARIABLE] = "0"  # what is timed is replayed
    with prepared(size) as workload:
        return [row for part in parts for row in PARTS[part](workload)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table; figures of a loaded machine say so by its load average."""
    parser = argparse.ArgumentParser(prog="python -m experiments.bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small matrix: shows that it works, not how fast")
    parser.add_argument("parts", nargs="*", type=_part, metavar="PART", help=f"of {', '.join(PARTS)}; all without one")
    asked = parser.parse_args(arguments)
    size = QUICK if asked.quick else FULL
    machine = f"Python {platform.python_version()}, {os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}"
    print(f"SpMV, {size.rows} rows x {size.nnz_per_row} random nonzeros, on tesla-c2050; {machine}\n", flush=True)
    print(table(measure(size, asked.parts or tuple(PARTS))))


if __name__ == "__main__":
    main()
