"""A study's numbers are those of single runs, whatever runs them, however often it is killed."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from budget import FIRST_SEED, cases
from places import ROOT
from typer.testing import CliRunner

import memsim
from experiments.robustness.studies import different, kill, small_study
from memsim.cli import app
from memsim.montecarlo import shared_stages, worker
from memsim.studies import run as running
from memsim.studies.store import is_study
from memsim.support.errors import InputError
from memsim.support.journal import journal_path

KERNEL = {"spmv": {"workload": "spmv", "parameters": {"rows": 2048, "nnz_per_row": 8}, "blocks": "1x"}}


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    return small_study().run(tmp_path_factory.mktemp("whole") / "study.h5")


def test_a_points_trials_are_those_of_a_run(complete, tmp_path):
    study = small_study()
    for point, ways in ((0, 4), (3, 12)):
        rows, size = study.points[point]["workload.rows"], study.points[point]["l1.size_bytes"]
        trace = memsim.trace("spmv", rows=rows, nnz_per_row=8, blocks="1x", out=tmp_path / f"{point}.h5")
        single = memsim.simulate(trace, "tesla-c2050", trials=6, settings={"l1.size_bytes": size, "l1.ways": ways})
        mine = complete.result(point).trials
        assert np.array_equal(mine.counters, single.trials.counters)
        assert np.array_equal(mine.cycles, single.trials.cycles)
        assert mine.about["gpu"] == single.trials.about["gpu"]


@pytest.mark.slow
def test_trials_of_an_earlier_run_are_not_replayed(complete, tmp_path, monkeypatch):
    from memsim.support import result_cache

    monkeypatch.setattr(result_cache, "cache_folder", lambda kind: tmp_path)
    monkeypatch.setenv(result_cache.VARIABLE, "10")
    first = small_study().run()
    assert not different(first, complete)
    monkeypatch.setattr(running, "replay", None)
    assert not different(small_study().run(), first)


@pytest.mark.slow
def test_workers_change_nothing(complete):
    assert not different(small_study().run(jobs=2), complete)


@pytest.mark.slow
def test_a_kernel_at_hand_can_be_studied(tmp_path):
    @memsim.workload
    def scale(n: int = 4096) -> memsim.Launch:
        def kernel(t, a):
            a[t.global_id] = 2 * a[t.global_id]

        return memsim.Launch(kernel, n // 256, 256, {"a": np.ones(n, np.float32)})

    study = memsim.Study(kernels={"scale": {"workload": scale}}, vary={"workload.n": [4096, 8192]}, trials=2)
    found = study.run(tmp_path / "study.h5", jobs=2)
    assert found.means("cycles")[1] > found.means("cycles")[0] > 0
    assert memsim.StudyResult.load(tmp_path / "study.h5").about["study"]["kernels"]["scale"]["workload"]


def test_points_that_agree_are_simulated_once(tmp_path):
    study = memsim.Study(kernels=KERNEL, gpus="tesla-c2050", vary={"mwp_cwp.issue_cycles": [4.0], "l1.ways": [4, 64]},
                         require=["l1.ways > 0"], trials=2)  # fmt: skip
    twice = memsim.Study(
        kernels=KERNEL | {"again": KERNEL["spmv"]}, gpus="tesla-c2050", vary={"l1.ways": [64]}, trials=2
    )
    assert study.run().about["jobs"] == 2
    found = twice.run(tmp_path / "twice.h5")
    assert found.about["jobs"] == 1 and len(found.trials) == 2
    assert not different(memsim.StudyResult.load(tmp_path / "twice.h5"), found)


@pytest.mark.slow
def test_only_what_changes_is_made_anew(monkeypatch):
    """Points that coalesce alike coalesce once; where only DRAM's timing changes, the layout stays too."""
    counts = {"coalesce": 0, "layout": 0}
    for name in counts:
        original = getattr(shared_stages, name)

        def counting(*args, name=name, original=original):
            counts[name] += 1
            return original(*args)

        monkeypatch.setattr(shared_stages, name, counting)
    memsim.Study(kernels=KERNEL, vary={"dram.timing.cl": [8, 12, 16]}, trials=1).run()
    assert counts == {"coalesce": 1, "layout": 1}
    memsim.Study(kernels=KERNEL, vary={"l1.ways": [4, 16, 64]}, trials=1).run()
    assert counts == {"coalesce": 2, "layout": 4}
    memsim.Study(kernels=KERNEL, vary={"l1.enabled": [True, False]}, trials=1).run()
    assert counts["coalesce"] == 4


@pytest.mark.slow
def test_same_trial_draws_same_at_every_point():
    """Differences between points vary far less than with independent seeds."""

    def ratios(seed):
        kernel = {"spmv": {"workload": "spmv", "parameters": {"rows": 8192, "nnz_per_row": 8}, "blocks": "1x"}}
        study = memsim.Study(kernels=kernel, vary={"l1.ways": [16, 64]}, trials=24, seed=seed)
        return study.run().output("l1_read")

    one, other = ratios(1), ratios(2)
    common = np.var(one[0] - one[1], ddof=1)
    independent = np.var(one[0] - other[1], ddof=1)
    assert common < independent / 2


@pytest.mark.slow
def test_a_point_stops_when_its_answer_is_known():
    data = {"kernels": KERNEL, "vary": {"l1.ways": [16, 64]}, "min_trials": 3, "max_trials": 12, "until_time": 1.0}
    easy = memsim.Study(**data, until=0.5).run()
    assert {len(trials.trial) for trials in easy.trials.values()} == {3} and easy.about["saved"] == 18
    hard = memsim.Study(**data, until=1e-6).run()
    assert {len(trials.trial) for trials in hard.trials.values()} == {12} and hard.about["saved"] == 0
    between = memsim.Study(**data, until=0.02).run(jobs=1), memsim.Study(**data, until=0.02).run(jobs=2)
    assert not different(*between)


def test_resume_goes_on_after_an_interrupt(complete, tmp_path):
    out, done = tmp_path / "study.h5", []

    def interrupt(state):
        done.append(state.trials)
        if state.trials == 9:
            raise KeyboardInterrupt

    partial = small_study().run(out, progress=interrupt)
    assert not partial.about["complete"] and not out.exists() and journal_path(out).exists()
    with pytest.raises(InputError, match="has 9 trials of a run that was ended; give --resume"):
        small_study().run(out)
    restored = []
    again = small_study().run(out, resume=True, progress=lambda state: restored.append(state.restored))
    assert restored[-1] == 9 and not different(again, complete) and not journal_path(out).exists()
    with pytest.raises(InputError, match="exists; give --resume"):
        small_study().run(out)
    small_study().run(out, resume=True, progress=lambda state: restored.append(state.trials - state.restored))
    assert restored[-1] == 0  # all are in the file


def test_a_damaged_journal_is_one_line(tmp_path):
    out = tmp_path / "study.h5"
    journal_path(out).write_bytes(b"no database" * 500)
    with pytest.raises(InputError, match="damaged"):
        small_study().run(out, resume=True)
    assert small_study().run(out, force=True).about["complete"]


@pytest.mark.slow
def test_a_killed_worker_loses_no_trial(complete, tmp_path):
    """Its trials are begun again, by another one."""
    killed = []

    def kill_one(state):
        if state.phase == "replaying" and not killed and state.trials > 3:
            children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
            killed.append(int(children[-1]))
            os.kill(killed[0], signal.SIGKILL)

    found = small_study().run(tmp_path / "study.h5", jobs=2, progress=kill_one)
    assert killed and not different(found, complete)


@pytest.mark.slow
def test_worker_that_is_always_killed_is_error(monkeypatch):
    monkeypatch.setattr(running, "replay", _suicide)
    with pytest.raises(InputError, match=r"lost the worker of trial \d of point \d 3 times"):
        small_study().run(jobs=2)


def _suicide(*_):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.random
def test_kills_lose_only_trials_in_progress(complete, tmp_path):
    draw = random.Random(FIRST_SEED)
    for jobs in (1, 2):
        for _ in range(cases(6)):
            found = kill(tmp_path, complete, jobs, draw, 1.6)
            assert not (found.damaged or found.wrong or found.lost or found.repeated), found


@pytest.mark.slow
def test_the_command(tmp_path):
    file = tmp_path / "study.toml"
    file.write_text(
        'kernels = { spmv = { workload = "spmv", parameters = { rows = 2048, nnz_per_row = 8 }, blocks = "1x" } }\n'
        'trials = 2\n[vary]\n"l1.ways" = [16, 64]\n"dram.channels" = [4, 6]\n'
    )
    out, figures, log = tmp_path / "study.h5", tmp_path / "figures", tmp_path / "log.txt"

    def ran(*arguments):
        done = CliRunner().invoke(app, [str(one) for one in arguments])
        assert done.exit_code == 0, done.output
        return done.output

    assert "4 runs of at most 2 trials" in ran("sweep", file, "--dry-run") and not out.exists()
    assert "4 points, 1 case, 8 trials" in ran("sweep", file, "-o", out, "--log", log)
    assert "described spmv" in log.read_text() and is_study(out)
    assert "4 points" in ran("show", out) and ran("show", out, "--csv").count("\n") == 5
    assert ran("plot", out, "-o", figures).count(".png") == 5
    document = json.loads(ran("show", out, "--json"))
    assert document["fields"] == ["l1.ways", "dram.channels"] and document["complete"]
    assert [one["fields"]["l1.ways"] for one in document["points"]] == [16, 16, 64, 64]
    found = memsim.StudyResult.load(out)
    assert document["points"][2]["outputs"]["cycles"]["mean"] == found.means("cycles")[2]
    why = CliRunner().invoke(app, ["show", str(out), "--why"])
    assert why.exit_code == 2 and "--why" in why.output
    bad = CliRunner().invoke(app, ["sweep", str(tmp_path / "none.toml")])
    assert bad.exit_code == 2 and "none.toml" in bad.output


FULL_DISK = """
import sys
from experiments.robustness.studies import small_study
from memsim.support.errors import InputError
from tests.support.full_disk import limit_files

limit_files(int(sys.argv[2]))
try:
    small_study().run(sys.argv[1], jobs=int(sys.argv[3]))
except InputError as error:
    print(error)
"""


@pytest.fixture(scope="module")
def trace_bytes(tmp_path_factory):
    """Of the larger trace of the small study."""
    path = tmp_path_factory.mktemp("trace") / "t.h5"
    memsim.trace("spmv", rows=4096, nnz_per_row=8, blocks="1x", gpu="tesla-c2050", out=path)
    return path.stat().st_size


@pytest.mark.slow
@pytest.mark.parametrize(("traces", "jobs"), [(0, 1), (0.1, 2), (1.1, 1), (1.1, 2), (1.3, 1)])
def test_full_disk_is_one_line_and_study_resumes(complete, trace_bytes, tmp_path, traces, jobs):
    """A disk with room for so many traces: none for the study's, or for that and some trials."""
    out, room = tmp_path / "study.h5", int(traces * trace_bytes)
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(out), str(room), str(jobs)], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0 and done.stderr == "" and done.stdout.count("\n") == 1, done
    assert "full" in done.stdout or "cannot be written" in done.stdout
    assert not out.exists()
    restored = []
    again = small_study().run(out, resume=True, progress=lambda state: restored.append(state.restored))
    assert not different(again, complete) and list(tmp_path.iterdir()) == [out]
    assert (restored[-1] > 0) == (traces > 1)  # trials that were finished before the disk was full


def _short_of_memory(*task):
    """The first trial that a worker gets finds no memory."""
    if not getattr(_short_of_memory, "again", False):
        _short_of_memory.again = True
        np.empty(1 << 60, np.uint8)
    return worker.replay(*task)


@pytest.mark.slow
def test_worker_short_of_memory_begins_its_trial_again(complete, monkeypatch):
    monkeypatch.setattr(running, "replay", _short_of_memory)
    lost = []
    found = small_study().run(jobs=2, progress=lambda state: lost.append(state.lost))
    assert lost[-1] == 2 and not different(found, complete)
