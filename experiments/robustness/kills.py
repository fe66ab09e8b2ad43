"""Commands that are killed (SIGKILL) at random moments: what they leave, and what the next one clears away."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from memsim.support.errors import InputError
from memsim.trace.reader import Trace

PATIENCE_SECONDS = 30  # for compilers that a killed capture has started: they end by themselves
_MARK = "MEMSIM_ROBUSTNESS_RUN"

PROGRAM = """
#include <unistd.h>
__global__ void scale(float *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; x[i] = 3 * x[i]; }
int main() {
    float *x;
    usleep(100000);
    cudaMalloc(&x, 4 << 20);
    for (int i = 0; i < 4; i++) scale<<<4096, 256>>>(x);
    usleep(200000);
}
"""


@dataclass(frozen=True)
class Kills:
    """What so many killed runs of one command did.

    Attributes:
        runs: that were killed before they ended.
        damaged: runs that left an output which does not read whole.
        outlived: runs of which a process was still alive when the patience ended.
        left: names of what lies in the temporary folder, or next to the output, after one more run that was not killed.
    """

    runs: int
    damaged: int
    outlived: int
    left: list[str]


def capture_command(folder: Path, output: Path) -> list[str]:
    """A capture of a program that computes, and is silent before and after."""
    source = folder / "scale.cu"
    source.write_text(PROGRAM)
    return [sys.executable, "-m", "memsim", "capture", str(source), "-o", str(output), "-q"]


def trace_command(folder: Path, output: Path) -> list[str]:
    """A description of a workload, recorded."""
    options = ["-p", "rows=16384", "--gpu", "tesla-c2050", "-q"]
    return [sys.executable, "-m", "memsim", "trace", "spmv", *options, "-o", str(output)]


COMMANDS: dict[str, Callable[[Path, Path], list[str]]] = {"capture": capture_command, "trace": trace_command}


def kill_at_random(name: str, folder: Path, times: int, seed: int = 0) -> Kills:
    """Kill runs of a command at moments spread over its time.

    Args:
        name: of :data:`COMMANDS`.
        folder: empty.
        times: how many.
        seed: of the moments.
    """
    output, temporary = folder / "output" / "t.h5", folder / "temporary"
    output.parent.mkdir()
    temporary.mkdir()
    command = COMMANDS[name](folder, output)
    environment = {**os.environ, "TMPDIR": str(temporary), _MARK: str(folder)}
    subprocess.run(command, env=environment, check=True, capture_output=True)  # which may compile memsim's loops
    output.unlink()
    started = time.monotonic()
    subprocess.run(command, env=environment, check=True, capture_output=True)
    whole, draws = time.monotonic() - started, random.Random(seed)
    runs = damaged = outlived = 0
    for number in range(times):
        output.unlink(missing_ok=True)
        running = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
        with suppress(subprocess.TimeoutExpired):
            running.wait(draws.uniform(number, number + 1) / times * whole)
        runs += running.poll() is None
        running.kill()
        running.wait()
        damaged += output.exists() and not _is_whole(output)
        outlived += not _all_end(str(folder))
    output.unlink(missing_ok=True)
    subprocess.run(command, env=environment, check=True, capture_output=True)
    left = [path.name for path in (*temporary.iterdir(), *output.parent.iterdir()) if path != output]
    return Kills(runs, damaged, outlived, left)


def _is_whole(path: Path) -> bool:
    try:
        trace = Trace.open(path)
        return sum(len(chunk.warps) for chunk in trace.chunks()) == trace.n_warps
    except InputError:
        return False


def _all_end(mark: str) -> bool:
    """Whether the processes that a run started end in time."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while _marked(mark):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _marked(mark: str) -> Sequence[int]:
    """Processes of a run, by their environment; but not those that have ended and wait to be asked how."""
    found, wanted = [], f"{_MARK}={mark}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if wanted in (process / "environ").read_bytes().split(b"\0"):
                found.append(int(process.name))
    return found


def print_kills(times: int, seed: int = 0) -> None:
    """Print a table of what so many kills of each command left."""
    print("| kill -9 of | killed | damaged outputs | processes still alive | left behind after the next run |")
    print("|---|--:|--:|--:|--:|")
    for name in COMMANDS:
        with TemporaryDirectory() as folder:
            done = kill_at_random(name, Path(folder), times, seed)
        print(f"| {name} | {done.runs} of {times} | {done.damaged} | {done.outlived} | {len(done.left)} |", flush=True)
