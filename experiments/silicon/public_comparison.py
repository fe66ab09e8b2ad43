"""The public programs' counters, and memsim's for the same machine code, launch by launch."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import mean, median

import memsim
from experiments.silicon import ncu
from experiments.silicon.compare import SETTINGS
from experiments.silicon.public_programs import Public, command_of, public_programs
from memsim.analysis.profiler import metrics
from memsim.analysis.table import aligned
from memsim.gpu.presets import load_gpu
from memsim.support.errors import InputError
from memsim.support.files import replacing
from memsim.support.scratch import Scratch

# memsim's metrics (docs/how_to/profiler.md) that are compared. Those of L1 and of shared memory are 0 where a launch
# has no such access.
_L1 = tuple(
    f"l1tex__t_{what}_pipe_lsu_mem_{space}_op_{op}.sum"
    for space, ops in (("global", ("ld", "st", "red", "atom")), ("local", ("ld", "st")))
    for op in ops
    for what in ("requests", "sectors")
)
_L1_HITS = tuple(f"l1tex__t_sectors_pipe_lsu_mem_{space}_op_ld_lookup_hit.sum" for space in ("global", "local"))
_SHARED = tuple(
    f"l1tex__data_{what}_mem_shared_op_{op}.sum"
    for what in ("pipe_lsu_wavefronts", "bank_conflicts_pipe_lsu")
    for op in ("ld", "st")
)
_LEVELS = (
    "lts__t_requests_srcunit_tex.sum", "lts__t_sectors_srcunit_tex.sum", "lts__t_sectors_srcunit_tex_op_read.sum",
    "lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum", "lts__t_sectors_srcunit_tex_op_write.sum",
    "lts__t_sectors_op_read.sum", "lts__t_sectors_op_write.sum", "dram__sectors_read.sum", "dram__sectors_write.sum",
    "smsp__inst_executed.sum", "sm__cycles_active.max", "sm__cycles_elapsed.max", "gpu__time_duration.sum",
)  # fmt: skip
METRICS = (*_L1, *_L1_HITS, *_SHARED, *_LEVELS)
_MAY_BE_NONE = frozenset((*_L1, *_L1_HITS, *_SHARED))
ABOUT = ("program", "repository", "kernel", "launch", "grid", "block", "code", "message")


def predict(command: Sequence[str], kernel: str, launch: int, gpu: str, trials: int) -> dict[str, object]:
    """memsim's metrics of one launch: captured whole from the executable, replayed from empty caches.

    Args:
        command: the executable and its arguments.
        kernel: its name, mangled or as ``memsim capture --kernel`` takes it.
        launch: which of the kernel's, from 0.
    """
    with Scratch() as folder:
        captured = memsim.capture(
            command[0], arguments=command[1:], kernel=[kernel], launch=launch, blocks="all", gpu=gpu,
            out=Path(folder, "launch.h5"),
        )  # fmt: skip
        result = memsim.simulate(captured.trace, gpu, trials=trials, jobs=1, settings=SETTINGS)
        code = captured.trace.parameters.get("code", "")
    found: dict[str, object] = {name: metric.values.mean for name, metric in metrics(result).items()}
    found["sm__cycles_elapsed.max"] = found["gpc__cycles_elapsed.max"]
    return {"code": code, **found}


def compare_public(
    profiles: Path,
    programs: Path,
    out: Path,
    gpu: str,
    *,
    trials: int = 1,
    each: int = 1,
    limit: float = 60,
    jobs: int = 1,
) -> str:
    """Write a row per launch, with measured and predicted values; returns a table of the errors by metric.

    Args:
        profiles: a folder with the CSV of each program, as ``run_programs.sh`` leaves it.
        programs: the folder of the executables.
        out: the CSV file. Rows that it has already are kept, and not computed again.
        gpu: the preset of the GPU that was measured.
        trials: replays of a launch.
        each: launches of a kernel, from its first.
        limit: seconds for a launch; one that takes longer gets a row that says so.
        jobs: launches at a time.

    Raises:
        InputError: no such GPU, no profile of any program.
    """
    load_gpu(gpu)
    rows = _read(out)
    known = {(row["program"], row["kernel"], row["launch"]) for row in rows}
    todo = [one for one in _measured(profiles, each) if (one[0].name, one[1].kernel, str(one[2])) not in known]
    if not rows and not todo:
        raise InputError(profiles, "profiles", "has no CSV of a program; give the folder that run_programs.sh packed")
    with ThreadPoolExecutor(jobs) as workers:
        for row in workers.map(lambda one: _row(*one, programs, gpu, trials, limit), todo):
            rows.append(row)
            _write(rows, out)
    return summary(rows)


def _measured(profiles: Path, each: int) -> Iterator[tuple[Public, ncu.Launch, int]]:
    """The launches of all profiles, with their numbers among those of their kernel."""
    for program in public_programs():
        file = profiles / f"{program.name}.csv"
        text = file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""
        if '"ID"' not in text:
            continue
        seen: Counter[str] = Counter()
        for launch in ncu.launches(text, file):
            if seen[launch.kernel] < each:
                yield program, launch, seen[launch.kernel]
            seen[launch.kernel] += 1


def _row(
    program: Public, launch: ncu.Launch, number: int, programs: Path, gpu: str, trials: int, limit: float
) -> dict[str, str]:
    """One launch, measured and predicted."""
    row = {
        "program": program.name, "repository": program.repository, "kernel": launch.kernel, "launch": str(number),
        "grid": launch.grid, "block": launch.block,
    }  # fmt: skip
    row |= {name: f"{launch.values[name]:.10g}" for name in METRICS if name in launch.values}
    ours, message = _in_time([*command_of(program, programs)], launch.kernel, number, gpu, trials, limit)
    row |= {"code": str(ours.get("code", "")), "message": message}
    for name in METRICS:
        value = ours.get(name, 0.0 if ours and name in _MAY_BE_NONE else None)
        row[f"memsim {name}"] = "" if value is None else f"{float(str(value)):.10g}"
    return row


def _in_time(
    command: Sequence[str], kernel: str, number: int, gpu: str, trials: int, limit: float
) -> tuple[dict[str, object], str]:
    """:func:`predict` in a process of its own, in an empty folder; nothing, and why, if it fails or takes too long."""
    asked = json.dumps({"command": command, "kernel": kernel, "launch": number, "gpu": gpu, "trials": trials})
    line = [sys.executable, "-m", "experiments.silicon.public_comparison", asked]
    paths = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    with Scratch() as folder:
        process = subprocess.Popen(
            line, cwd=folder, env=os.environ | {"PYTHONPATH": paths}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, errors="replace", start_new_session=True,
        )  # fmt: skip
        try:
            printed, said = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return {}, f"takes over {limit:g} s"
    if process.returncode:
        return {}, (said.strip().splitlines() or ["no message"])[-1][:300]
    return json.loads(printed.strip().splitlines()[-1]), ""


def summary(rows: Sequence[Mapping[str, str]]) -> str:
    """Errors by metric, over the launches in which the GPU counted something; the last column has those in which only
    memsim did."""
    lines = []
    for name in METRICS:
        pairs = [
            (float(row[name]), float(row[f"memsim {name}"]))
            for row in rows
            if row.get(name) and row.get(f"memsim {name}")
        ]
        errors = [100 * abs(ours / there - 1) for there, ours in pairs if there]
        only_ours = sum(1 for there, ours in pairs if ours and not there)
        if errors or only_ours:
            near = [sum(1 for one in errors if one <= bound) for bound in (1, 10)]
            middle = [f"{mean(errors):.1f}", f"{median(errors):.1f}"] if errors else ["", ""]
            lines.append([name, str(len(errors)), *middle, *map(str, near), str(only_ours)])
    headers = ("metric", "launches", "mean error, %", "median, %", "within 1 %", "within 10 %", "0 on the GPU alone")
    left = Counter(row["message"] for row in rows if row["message"])
    notes = [f"{count} launches: {message}" for message, count in left.most_common()]
    return "\n".join([aligned(headers, lines, [False] + [True] * 6), *notes])


def _read(out: Path) -> list[dict[str, str]]:
    if not out.exists():
        return []
    with out.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _write(rows: Sequence[Mapping[str, str]], out: Path) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    names = [*ABOUT, *(column for name in METRICS for column in (name, f"memsim {name}"))]
    with replacing(out) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, names, restval="", lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    try:
        print(json.dumps(predict(**json.loads(sys.argv[1]))))
    except InputError as error:
        sys.exit(str(error))
