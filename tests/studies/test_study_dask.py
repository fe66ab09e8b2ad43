"""Two real dask workers over loopback, one of which is killed: the numbers are those of this process."""

from __future__ import annotations

import os
import signal

import pytest

from experiments.robustness.studies import different, small_study
from memsim.montecarlo import teams
from memsim.support.errors import InputError

distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")


@pytest.fixture(scope="module")
def cluster():
    workers = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**workers, silence_logs=50) as made:
        yield made


def _pids(cluster):
    with distributed.Client(cluster, set_as_default=False) as client:
        return list(client.run(os.getpid).values())


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_changes_nothing(cluster, tmp_path):
    workers, killed = _pids(cluster), []
    assert len(workers) == 2

    def kill_one(state):
        if state.phase == "replaying" and state.trials >= 5 and not killed:
            killed.append(workers[0])
            os.kill(workers[0], signal.SIGKILL)

    address = f"dask:{cluster.scheduler_address}"
    found = small_study().run(tmp_path / "study.h5", executor=address, progress=kill_one)
    assert killed and found.about["complete"]
    assert not different(found, small_study().run())


def test_scheduler_that_is_not_there_is_one_line(monkeypatch):
    monkeypatch.setattr(teams, "_PATIENCE", 1)
    with pytest.raises(InputError, match="dask:tcp://127.0.0.1:9 does not answer"):
        small_study().run(executor="dask:tcp://127.0.0.1:9")


@pytest.mark.parametrize("text", ["slurm", "local:3", ""])
def test_an_unknown_executor_is_named(text):
    with pytest.raises(InputError, match="is not known; give local, dask"):
        small_study().run(executor=text)
