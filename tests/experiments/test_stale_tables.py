"""A study's tables are stale exactly when something that they depend on has changed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from experiments.harness import __main__ as papers
from experiments.harness import dependencies, schedule

DIGEST = dependencies.digest


def test_comments_and_docstrings_change_no_digest(tmp_path):
    plain = "def f(x):\n    return x + 1\n"
    (tmp_path / "plain.py").write_text(plain)
    (tmp_path / "same.py").write_text(
        '"""Of x."""\n\n\ndef f(x):  # a number\n    """One\n    more."""\n\n    return x + 1\n'
    )
    (tmp_path / "other.py").write_text(plain.replace("1", "2"))
    assert DIGEST(tmp_path / "plain.py") == DIGEST(tmp_path / "same.py") != DIGEST(tmp_path / "other.py")


def test_a_changed_or_missing_file_makes_tables_stale(tmp_path, monkeypatch):
    monkeypatch.setattr(dependencies, "ROOT", tmp_path)
    study = tmp_path / "experiments" / "s"
    study.mkdir(parents=True)
    (tmp_path / "a.toml").write_text("x = 1\n")
    (tmp_path / "b.csv").write_text("1\n")
    assert dependencies.changed(study) is None
    dependencies.keep(study, dependencies.digests([Path("a.toml"), Path("b.csv")]), seconds=12.4)
    assert dependencies.kept(study)[0] == 12 and dependencies.changed(study) == []
    (tmp_path / "a.toml").write_text("x = 2\n")
    assert dependencies.changed(study) == ["a.toml"]
    (tmp_path / "b.csv").unlink()
    assert dependencies.changed(study) == ["a.toml", "b.csv"]


# A described kernel on a GPU: it reads a preset and a workload, uses the machine, and captures nothing.
PROGRAM = """
import sys
from pathlib import Path
from experiments.harness.dependencies import Recorder
recorder = Recorder(Path(sys.argv[1]))
import memsim
from memsim.gpu.presets import load_gpu
load_gpu("gtx480")
memsim.trace("svm", gpu="gtx480", blocks="0:1")
print(*recorder.finish())
"""


@pytest.mark.slow
def test_what_ran_counts_and_what_was_only_imported_does_not(tmp_path):
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "log")]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, cwd=dependencies.ROOT).stdout.split()
    assert {"configs/gtx480.toml", "configs/_fermi.toml", "traces/svm.py", "memsim/gpu/presets.py"} <= set(ran)
    assert any(name.startswith("memsim/sources/describe/") for name in ran)
    assert not any(name.startswith(("memsim/capture", "memsim/sources/sass", "configs/a100")) for name in ran)


@pytest.mark.parametrize(("budget", "became"), [(None, ["done", "failed"]), (0.0, ["no time left", "no time left"])])
def test_studies_run_in_processes_within_a_budget(budget, became):
    commands = {"good": ["-c", ""], "bad": ["-c", "raise SystemExit(3)"]}
    found = schedule.run_all(["good", "bad"], commands.__getitem__, at_once=2, budget=budget)
    assert [found["good"], found["bad"]] == became


def test_the_list_names_what_changed(monkeypatch):
    found = {"scale": None, "dram": ["a", "b", "c", "d"], "triton": []}
    monkeypatch.setattr(dependencies, "changed", lambda folder: found[folder.name])
    lines = papers.stale_text(list(found)).splitlines()
    assert lines == [
        "scale: stale; its dependencies were never recorded",
        "dram: stale; changed: a, b, c and 1 more",
        "2 of 3 studies are stale",
    ]
