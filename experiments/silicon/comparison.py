"""memsim's counters for the machine code of every launch that was measured, next to the GPU's."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import mean, median

import memsim
from experiments.silicon.columns import COLUMNS, number, read_table, short, write_table
from experiments.silicon.measured import ABOUT, Measured, rows
from memsim.analysis.profiler import metrics
from memsim.analysis.table import aligned
from memsim.gpu.presets import load_gpu
from memsim.support.errors import InputError
from memsim.support.scratch import Scratch

SETTINGS = {"stochastic.start_alignment": False}  # a whole grid, from its launch on
_OF_SMS = (
    *(f"global_{name}_{what}" for name in ("load", "store", "reduction", "atomic") for what in ("requests", "sectors")),
    *(f"local_{name}_sectors" for name in ("load", "store")), "global_load_hits", "local_load_hits",
    "shared_load_wavefronts", "shared_store_wavefronts",
)  # fmt: skip
QUANTITIES = (
    "instructions", *_OF_SMS, "l2_read_sectors", "l2_read_hits", "l2_write_sectors", "dram_read_sectors",
    "dram_write_sectors", "sm_cycles", "active_cycles", "nanoseconds",
)  # fmt: skip
# Below so many sectors, what the constants, the code and the profiler itself read counts as much as the kernel's data.
LEAST = {"l2_read_sectors": 1000, "l2_write_sectors": 1000, "dram_read_sectors": 1000, "dram_write_sectors": 1000}
COMPARED = (*ABOUT, "code", "message", "seconds", *(text for name in QUANTITIES for text in (name, f"memsim_{name}")))
RATIOS = {  # hits, lookups
    "L1 load hits": (("global_load_hits", "local_load_hits"), ("global_load_sectors", "local_load_sectors")),
    "L2 read hits": (("l2_read_hits",), ("l2_read_sectors",)),
}


def predict(
    files: str, arguments: Sequence[str], kernel: str, launch: int | None, gpu: str, trials: int
) -> dict[str, object]:
    """memsim's counters of one launch, by :data:`QUANTITIES`: captured whole, replayed from empty caches."""
    with Scratch() as folder:
        captured = memsim.capture(
            files, arguments=arguments, kernel=[kernel] if kernel else None, launch=launch, blocks="all", gpu=gpu,
            to_end=launch is None, out=Path(folder, "launch.h5"),
        )  # fmt: skip
        result = memsim.simulate(captured.trace, gpu, trials=trials, jobs=1, settings=SETTINGS)
        code = captured.trace.parameters.get("code", "")
    found = {name: metric.values.mean for name, metric in metrics(result).items()}
    found["sm__cycles_elapsed.max"] = found["gpc__cycles_elapsed.max"]
    ours = {name: found.get(COLUMNS[name], 0.0 if name in _OF_SMS else None) for name in QUANTITIES}
    return {"code": code, **ours}


def compare(
    folder: Path,
    executables: Path,
    out: Path,
    gpu: str,
    *,
    trials: int = 1,
    limit: float = 60,
    jobs: int = 1,
    only: str = "",
) -> str:
    """Write a row per launch, with measured and predicted values; returns a table of the errors by quantity.

    Args:
        folder: of the measurements, as :mod:`experiments.silicon.measure` writes them.
        executables: the public programs, as ``build`` makes them.
        out: the CSV file. Rows that it has already are kept, and not computed again.
        gpu: the preset of the GPU that was measured.
        trials: replays of a launch.
        limit: seconds for a launch; one that takes longer gets a row that says so.
        jobs: launches at a time.
        only: a regular expression; rows whose table, program and parameters do not match are left out.

    Raises:
        InputError: no such GPU, no measured launch.
    """
    load_gpu(gpu)
    compared = read_table(out) if out.exists() else []
    known = {_key(row) for row in compared}
    asked = [one for one in rows(folder, executables) if re.search(only, _text(one.about))]
    if not asked:
        raise InputError(folder, "tables", "have no such launch; give the folder that measure wrote")
    order = {_key(one.about): place for place, one in enumerate(rows(folder, executables))}
    with ThreadPoolExecutor(jobs) as workers:
        todo = [one for one in asked if _key(one.about) not in known]
        for row in workers.map(lambda one: _row(one, gpu, trials, limit), todo):
            compared.append(row)
            compared.sort(key=lambda row: order.get(_key(row), len(order)))
            write_table(out, compared, COMPARED)
    return summary(compared)


def _key(row: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(row[name] for name in ("table", "program", "kernel", "launch"))


def _text(about: Mapping[str, str]) -> str:
    return " ".join(about[name] for name in ("table", "program", "parameters"))


def _row(one: Measured, gpu: str, trials: int, limit: float) -> dict[str, str]:
    """One launch, measured and predicted."""
    begin = time.monotonic()
    if Path(one.files).exists():
        ours, message = _in_time(one, gpu, trials, limit)
    else:
        ours, message = {}, "the executable is not built"
    row = {**one.about, "code": str(ours.get("code", "")), "message": message}
    row["seconds"] = f"{time.monotonic() - begin:.1f}"
    for name in QUANTITIES:
        value = ours.get(name)
        row[name] = one.cells.get(name, "")
        row[f"memsim_{name}"] = "" if value is None else short(float(str(value)))
    return row


def _in_time(one: Measured, gpu: str, trials: int, limit: float) -> tuple[dict[str, object], str]:
    """:func:`predict` in a process of its own, in an empty folder; nothing, and why, if it fails or takes too long."""
    with Scratch() as folder:
        result = Path(folder, "result.json")
        asked = json.dumps({
            "files": one.files, "arguments": one.arguments, "kernel": one.kernel, "launch": one.launch, "gpu": gpu,
            "trials": trials,
        })  # fmt: skip
        line = [sys.executable, "-m", "experiments.silicon.comparison", asked, str(result)]
        paths = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
        process = subprocess.Popen(
            line, cwd=folder, env=os.environ | {"PYTHONPATH": paths}, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True,
        )  # fmt: skip
        try:
            _, said = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return {}, f"takes over {limit:g} s"
        if process.returncode:
            return {}, (said.strip().splitlines() or ["no message"])[-1][:300]
        return json.loads(result.read_text(encoding="utf-8")), ""


def errors(compared: Sequence[Mapping[str, str]]) -> dict[str, list[float]]:
    """Errors by quantity, %: relative ones, and of hit ratios their differences in percentage points."""
    found: dict[str, list[float]] = {}
    for name in QUANTITIES:
        pairs = [(number(row[name]), number(row[f"memsim_{name}"])) for row in compared]
        least = LEAST.get(name, 0)
        found[name] = [
            100 * (ours / there - 1) for there, ours in pairs if there and there >= least and ours is not None
        ]
    for name, (hits, lookups) in RATIOS.items():
        pairs = [(_ratio(row.get, hits, lookups), _ratio(_of_memsim(row), hits, lookups)) for row in compared]
        found[name] = [100 * (ours - there) for there, ours in pairs if there is not None and ours is not None]
    return {name: values for name, values in found.items() if values}


def _of_memsim(row: Mapping[str, str]) -> Callable[[str, str], str]:
    return lambda name, otherwise: row.get(f"memsim_{name}", otherwise)


def _ratio(cell: Callable[[str, str], str], hits: Sequence[str], lookups: Sequence[str]) -> float | None:
    total = sum(number(cell(name, "")) or 0 for name in lookups)
    return sum(number(cell(name, "")) or 0 for name in hits) / total if total >= LEAST["l2_read_sectors"] else None


def summary(compared: Sequence[Mapping[str, str]]) -> str:
    """Errors by quantity, over the launches in which the GPU counted something."""
    lines = []
    for name, values in errors(compared).items():
        sizes = [abs(value) for value in values]
        near = [str(sum(1 for size in sizes if size <= bound)) for bound in (1, 10)]
        unit = "points" if name in RATIOS else "%"
        lines.append(
            [name.replace("_", " "), unit, str(len(sizes)), f"{mean(sizes):.1f}", f"{median(sizes):.1f}", *near]
        )
    headers = ("quantity", "unit", "launches", "mean error", "median", "within 1", "within 10")
    left = Counter(row["message"] for row in compared if row["message"])
    notes = [f"{count} launches: {message}" for message, count in left.most_common()]
    return "\n".join([aligned(headers, lines, [False, False, *[True] * 5]), *notes])


if __name__ == "__main__":
    try:
        found = predict(**json.loads(sys.argv[1]))
    except InputError as error:
        sys.exit(str(error))
    Path(sys.argv[2]).write_text(json.dumps(found), encoding="utf-8")
