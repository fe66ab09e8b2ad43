"""Studies that are killed at random moments: nothing is lost but the trials under way, nothing is made twice."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import numpy as np

import memsim
from experiments.robustness.interrupts import Killed, forked
from memsim.hierarchy.trial import Trial
from memsim.studies.run import State
from memsim.support.errors import InputError
from memsim.support.journal import Journal, journal_path

_TIMES = ("wall_seconds", "compiled_seconds")


def small_study() -> memsim.Study:
    """Four points whose trials take some hundredths of a second each."""
    return memsim.Study(
        kernels={"spmv": {"workload": "spmv", "parameters": {"nnz_per_row": 8}, "blocks": "1x"}},
        gpus="tesla-c2050",
        vary={"l1.size_bytes": [16384, 49152], "workload.rows": [2048, 4096]},
        follow={"l1.ways": "l1.size_bytes // (l1.line_bytes * 32)"},
        trials=6,
    )


def different(found: memsim.StudyResult, reference: memsim.StudyResult) -> list[str]:
    """In what the trials of two studies differ, but for their times."""
    if found.trials.keys() != reference.trials.keys():
        return ["other points"]
    names = ["trial", *(name for name in Trial.columns(0) if name not in _TIMES)]
    return [
        f"{name} of point {key[0]}"
        for key, trials in found.trials.items()
        for name in names
        if not np.array_equal(getattr(trials, name), getattr(reference.trials[key], name))
    ]


def kill(folder: Path, reference: memsim.StudyResult, jobs: int, draw: random.Random, span: float) -> Killed:
    """Kill a study at a random moment of its first `span` seconds; look at what is there, then go on with it."""
    out = folder / "killed.h5"
    out.unlink(missing_ok=True)
    reported, tell = os.pipe()
    counted = [0]

    def progress(state: State) -> None:
        os.write(tell, b"." * (state.trials - counted[0]))
        counted[0] = state.trials

    pid = forked(lambda: small_study().run(out, jobs=jobs, progress=progress) and None)
    os.close(tell)
    time.sleep(draw.uniform(0.02, span))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    finished = 0
    while got := os.read(reported, 4096):  # until its workers are gone, too
        finished += len(got)
    os.close(reported)
    try:
        times = _stored(out)
        result = small_study().run(out, resume=True)
    except InputError as error:
        return Killed(finished, 0, True, 0, (str(error),))
    wrong = different(memsim.StudyResult.load(out), reference)
    wrong += [f"{path.name} is left" for path in folder.glob(".*")]
    made = {float(seconds) for trials in result.trials.values() for seconds in trials.wall_seconds}
    return Killed(finished, len(times), False, len(set(times) - made), tuple(wrong))


def _stored(out: Path) -> list[float]:
    """The seconds that each trial on the disk took, by which one tells it again; two may have taken equally long."""
    if out.exists():
        trials = memsim.StudyResult.load(out).trials.values()
        return [float(seconds) for one in trials for seconds in one.wall_seconds]
    if not journal_path(out).exists():
        return []
    journal = Journal(journal_path(out), out)
    times = [float(arrays["wall_seconds"]) for task in journal.tasks() for _, arrays in journal.rows(task)]
    journal.close()
    return times
