"""Build the programs with nvcc, run them under ncu, and keep the counters with device, driver and command."""

from __future__ import annotations

import csv
import shlex
import shutil
import subprocess
from pathlib import Path

from experiments.silicon import ncu
from experiments.silicon.programs import CHANNELS, CHASE, PROGRAMS
from memsim.support.errors import InputError
from memsim.support.files import replacing

TOOLS = ("nvcc", "ncu", "nvidia-smi")
COUNTERS, LATENCIES, LOADED = "counters.csv", "chase.csv", "channels.csv"


def measure(folder: Path) -> None:
    """Everything, into a folder: counters.csv, chase.csv, channels.csv, and what the tools printed.

    Raises:
        InputError: no GPU or tool; a program that fails its own check.
    """
    for tool in TOOLS:
        if shutil.which(tool) is None:
            raise InputError("silicon", tool, "is not on the PATH; run this where a GPU and the CUDA toolkit are")
    folder.mkdir(parents=True, exist_ok=True)
    about = device()
    rows = []
    for program in PROGRAMS:
        built = build(program.file, folder)
        line = ncu.command([str(built), *program.arguments], program.kernel)
        text = run(line, folder / f"{program.name}.txt")
        rows += [{"program": program.name, **about, "command": shlex.join(line), **row}
                 for row in ncu.read(text, folder / f"{program.name}.txt")]  # fmt: skip
    write(folder / COUNTERS, rows)
    for source, name, arguments in ((CHASE, LATENCIES, []), (CHANNELS, LOADED, [str(about["sms"])])):
        line = [str(build(source, folder)), *arguments]
        table = run(line, folder / f"{source.stem}.txt").splitlines()
        write(folder / name, [{**about, "command": shlex.join(line), **row} for row in csv.DictReader(table)])


def device() -> dict[str, object]:
    """The first GPU: name, driver, clocks (MHz) and number of SMs."""
    asked = "name,driver_version,clocks.max.sm,clocks.max.mem"
    line = ["nvidia-smi", f"--query-gpu={asked}", "--format=csv,noheader,nounits", "--id=0"]
    name, driver, clock, memory_clock = (part.strip() for part in output(line).split(","))
    return dict(device=name, driver=driver, sm_mhz=clock, memory_mhz=memory_clock, sms=_sms())


def _sms() -> int:
    """The number of SMs, which nvidia-smi does not tell: one attribute, as ncu reports it of any kernel."""
    built = build(PROGRAMS[0].file, Path("out", "silicon"))
    metric = "device__attribute_multiprocessor_count"
    text = output(["ncu", "--metrics", metric, "--csv", "--page", "raw", "--launch-count", "1", str(built), "4096"])
    lines = text.splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith('"ID"'))
    return int(float(list(csv.DictReader(lines[start:]))[-1][metric].replace(",", "")))


def build(source: Path, folder: Path) -> Path:
    """The program, built for the GPU at hand."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder.resolve() / source.stem
    output(["nvcc", "-O3", "-std=c++17", "-arch=native", "-lineinfo", "-o", str(program), str(source)])
    return program


def run(line: list[str], log: Path) -> str:
    """Standard output of a command, kept in a file too."""
    text = output(line)
    log.write_text(text, encoding="utf-8")
    return text


def output(line: list[str]) -> str:
    """Standard output of a command that must succeed."""
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stdout + done.stderr).strip().splitlines()[-1:] or ["no message"]
        raise InputError("silicon", shlex.join(line)[:200], f"ended with status {done.returncode}: {last[0]}")
    return done.stdout


def write(path: Path, rows: list[dict[str, object]]) -> None:
    """A CSV file, whole or not at all."""
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
