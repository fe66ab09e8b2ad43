"""Runs that are interrupted or killed at random moments: none hangs, none leaves a damaged file, none loses a trial.

Every try is a process forked from this one, which has the compiled loops already: so its moments fall into the run, not
into its start. A process says on a pipe when a trial is finished.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import memsim
from memsim.analysis.result import RunResult
from memsim.cli import app
from memsim.hierarchy.trial import Trial
from memsim.support.interrupts import listening
from memsim.support.journal import Journal, journal_path

GPU = "tesla-c2050"
TRIALS = 24  # of a run that is killed
MANY = 100_000  # of a run that is interrupted
LONGEST = 60.0  # seconds after an interrupt that are no hang yet, on a machine that others use
_TIMES = ("wall_seconds", "compiled_seconds")


def small_trace(folder: Path) -> Path:
    """A trace whose trials take some hundredths of a second each; loads the loops that replay it, too."""
    path = folder / "spmv.h5"
    memsim.trace("spmv", rows=4096, nnz_per_row=8, out=path)
    memsim.simulate(path, GPU, trials=1)
    return path


def _heeding() -> None:
    """What a shell's child does with signals; test runners' children may ignore them."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def forked(action: Callable[[], object], output: Path | None = None) -> int:
    """A process that does this, with its output in a file or nowhere, and ends: its id."""
    sys.stdout.flush()
    sys.stderr.flush()
    signals = (signal.SIGINT, signal.SIGTERM)  # none comes to the child before it can end by itself
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    if pid := os.fork():
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
        return pid
    code = 70
    try:
        sink = os.open(output or os.devnull, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(sink, 1)
        os.dup2(sink, 2)
        sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
        _heeding()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
        action()
        code = 0
    except SystemExit as leaving:
        code = int(leaving.code or 0)
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def ended(pid: int, seconds: float) -> int | None:
    """How a process ends, as subprocess has it; None, and it is killed, if it does not in so many seconds."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None


def usual_seconds(trace: Path, jobs: int) -> float:
    """How long a run of TRIALS trials takes here and now: delays are drawn from it."""
    begin = time.monotonic()
    ended(forked(partial(memsim.simulate, trace, GPU, trials=TRIALS, jobs=jobs)), 10 * LONGEST)
    return time.monotonic() - begin


def _await_moment(reported: int, draw: random.Random, span: float) -> int:
    """Wait for a random number of trials, often none, as a pipe tells them, and a little longer: how many came."""
    trials = max(draw.randrange(-TRIALS // 3, TRIALS), 0)
    came = 0
    while came < trials and os.read(reported, 1):
        came += 1
    time.sleep(draw.uniform(0, 2 * span / TRIALS if trials else span / 2))
    return came


def _telling(tell: int) -> None:
    """From here on, this process writes to a pipe when a trial is on the disk."""
    add = Journal.add

    def add_and_tell(*row: Any) -> None:
        add(*row)
        os.write(tell, b".")

    Journal.add = add_and_tell  # type: ignore[method-assign]


@dataclass(frozen=True)
class Interrupted:
    """What became of a run after Ctrl-C or SIGTERM.

    Attributes:
        hung: it did not end.
        code: exit code, or minus the signal that ended it.
        kept: trials in the result file.
        wrong: of them, those that an undisturbed run counts otherwise; and what else is not as it must be.
        said: what it printed.
    """

    hung: bool
    code: int | None
    kept: int
    wrong: tuple[str, ...]
    said: str


def interrupt(
    trace: Path, folder: Path, reference: RunResult, jobs: int, draw: random.Random, span: float
) -> Interrupted:
    """Interrupt ``memsim run`` at a random moment by Ctrl-C or SIGTERM; `span` is what `usual_seconds` tells."""
    out, log = folder / "interrupted.h5", folder / "interrupted.txt"
    out.unlink(missing_ok=True)
    log.write_text("")
    command = ["run", str(trace), "--gpu", GPU, "--trials", str(MANY), "-j", str(jobs), "-o", str(out), "-q"]

    def run() -> None:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        with listening():  # both as the command's entry point does
            os.write(tell, b".")
            _telling(tell)
            try:
                app(command)
            except KeyboardInterrupt:
                raise SystemExit(130) from None

    began, tell = os.pipe()
    pid = forked(run, log)
    os.close(tell)
    os.read(began, 1)
    finished = _await_moment(began, draw, span)
    os.kill(pid, draw.choice((signal.SIGINT, signal.SIGTERM)))
    code = ended(pid, LONGEST)
    os.close(began)
    said, wrong, kept = log.read_text(), [], 0
    if code == 0:
        found = RunResult.load(out)
        kept, wrong = len(found.trials.trial), different(found, reference)
        if jobs == 1 and found.trials.trial.tolist() != list(range(kept)):
            wrong.append("trials are missing in between")
    elif code == 130:
        wrong = [] if not out.exists() else ["a result of a run that kept nothing"]
    elif code not in (None, -signal.SIGTERM, -signal.SIGINT):  # a signal before its handler is there ends the process
        wrong.append(f"exit code {code}")
    if code in (0, 130):
        wrong += ["finished trials are lost"] * (kept < finished)
        wrong += [f"{path.name} is left" for path in folder.glob(".*")]
    for path in folder.glob(".*journal*"):
        path.unlink()
    return Interrupted(code is None, code, kept, tuple(wrong), said)


def different(found: RunResult, reference: RunResult) -> list[str]:
    """In what the trials of a result differ from those of the same numbers in another, but for their times."""
    shared = np.intersect1d(found.trials.trial, reference.trials.trial)
    rows, others = (np.searchsorted(one.trials.trial, shared) for one in (found, reference))
    names = [name for name in Trial.columns(0) if name not in _TIMES]
    unlike = [
        n for n in names if not np.array_equal(getattr(found.trials, n)[rows], getattr(reference.trials, n)[others])
    ]
    twice = len(set(found.trials.trial.tolist())) < len(found.trials.trial)
    return unlike + ["a trial is there twice"] * twice


@dataclass(frozen=True)
class Killed:
    """What became of a run after kill -9.

    Attributes:
        finished: trials that it had reported.
        stored: trials that were on the disk.
        damaged: the output, or what was kept next to it, cannot be read.
        repeated: stored trials that were made again to go on.
        wrong: in what the result, once continued, differs from that of an undisturbed run.
    """

    finished: int
    stored: int
    damaged: bool
    repeated: int
    wrong: tuple[str, ...]

    @property
    def lost(self) -> int:
        return max(self.finished - self.stored, 0)


def kill(trace: Path, folder: Path, reference: RunResult, jobs: int, draw: random.Random, span: float) -> Killed:
    """Kill a run at a random moment; look at what is there, then go on with it. `span`: what `usual_seconds` tells."""
    out = folder / "killed.h5"
    out.unlink(missing_ok=True)
    reported, tell = os.pipe()

    def run() -> None:
        memsim.simulate(trace, GPU, trials=TRIALS, seed=1, jobs=jobs, out=out, progress=lambda _: os.write(tell, b"."))

    pid = forked(run)
    os.close(tell)
    finished = _await_moment(reported, draw, span)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    finished += _count(reported)
    try:
        times = _stored(out)
        result = memsim.simulate(trace, GPU, trials=TRIALS, seed=1, out=out, resume=True)
        wrong = different(RunResult.load(out), reference)
    except Exception as error:
        return Killed(finished, 0, True, 0, (f"{type(error).__name__}: {error}",))
    if result.trials.trial.tolist() != list(range(TRIALS)):
        wrong.append("other trials")
    wrong += [f"{path.name} is left" for path in folder.glob(".*")]
    again = sum(result.trials.wall_seconds[number] != seconds for number, seconds in times.items())
    return Killed(finished, len(times), False, again, tuple(wrong))


def _count(pipe: int) -> int:
    """Bytes in a pipe until all that write to it are gone: the killed process, and its workers a moment later."""
    count = 0
    while got := os.read(pipe, 4096):
        count += len(got)
    os.close(pipe)
    return count


def _stored(out: Path) -> dict[int, float]:
    """Trials on the disk, in the result or next to it, and the seconds that each took, which identify it."""
    times: dict[int, float] = {}
    if out.exists():
        trials = RunResult.load(out).trials
        times |= dict(zip(trials.trial.tolist(), trials.wall_seconds.tolist(), strict=True))
    if journal_path(out).exists():
        journal = Journal(journal_path(out), out)
        for task in journal.tasks():
            times |= {number: float(arrays["wall_seconds"]) for number, arrays in journal.rows(task)}
        journal.close()
    return times
