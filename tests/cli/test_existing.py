"""No command writes over a file without --force; what a run says of trials that are kept, missing or lost."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest
from compilers import needs_gxx
from places import ROOT
from typer.testing import CliRunner

import memsim
from memsim.cli import app

RUN = importlib.import_module("memsim.cli.run")  # memsim.cli has a function of this name

MADE = ["trace", "spmv", "-p", "rows=512", "-p", "nnz_per_row=4"]


def call(*arguments: object):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("existing")
    assert call(*MADE, "--gpu", "tesla-c2050", "-o", folder / "t.h5").exit_code == 0
    assert call("run", folder / "t.h5", "--trials", 2, "-o", folder / "r.h5").exit_code == 0
    assert call("export", "accelsim", folder / "t.h5", "-o", folder / "traces").exit_code == 0
    return folder


def _commands(files: Path, out: Path) -> dict[str, list[object]]:
    return {
        "trace": [*MADE, "-o", out / "t.h5"],
        "run": ["run", files / "t.h5", "--trials", 1, "-o", out / "r.h5"],
        "plot": ["plot", files / "r.h5", "-o", out / "figures"],
        "plot two": ["plot", files / "r.h5", _copy(files / "r.h5", files / "s.h5"), "-o", out / "figures"],
        "export": ["export", "accelsim", files / "t.h5", "-o", out / "exported"],
        "import a file": ["import", "accelsim", files / "traces/kernel-1.traceg", "-o", out / "one.h5"],
        "import a folder": ["import", "accelsim", files / "traces/kernelslist.g", "-o", out / "imported"],
        "explore": ["explore", "transpose", "-p", "n=256", "--keep", 0, "-o", out / "e.csv", "--figure", out / "e.png"],
        "capture a file": ["capture", ROOT / "traces/cuda/spmv.cu", "-o", out / "c.h5", "--", 256, 4],
        "capture a folder": [
            "capture",
            ROOT / "traces/cuda/spmv.cu",
            "-o",
            _made(out / "c"),
            "--",
            256,
            4,
        ],
    }


def _copy(path: Path, other: Path) -> Path:
    other.write_bytes(path.read_bytes())
    return other


def _made(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    return folder


def _contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


COMMANDS = ["trace", "run", "export", "import a file", "import a folder"]
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("plot", "plot two", "explore")]
CAPTURES = [pytest.param(name, marks=[needs_gxx, pytest.mark.slow]) for name in ("capture a file", "capture a folder")]


@pytest.mark.parametrize("name", COMMANDS + SLOW + CAPTURES)
def test_existing_files_are_overwritten_only_by_force(files, tmp_path, name):
    command = _commands(files, tmp_path)[name]
    force = [*command[: command.index("--")], "--force", *command[command.index("--") :]] if "--" in command else None
    assert call(*command).exit_code == 0
    before = _contents(tmp_path)
    assert before
    for path in before:
        path.write_bytes(b"precious")
    refused = call(*command)
    assert refused.exit_code == 2 and "exists; give --" in refused.stderr and refused.stderr.count("\n") == 1
    assert set(_contents(tmp_path).values()) == {b"precious"}
    assert call(*(force or [*command, "--force"])).exit_code == 0
    after = _contents(tmp_path)
    assert after.keys() == before.keys() and b"precious" not in after.values()


@pytest.mark.slow
def test_an_interval_that_is_not_reached_is_reported(files, tmp_path):
    command = ["run", files / "t.h5", "--until", 1e-6, "--min-trials", 2, "--max-trials", 3, "-o", tmp_path / "r.h5"]
    first = call(*command)
    assert first.exit_code == RUN.UNREACHED
    assert "note: --until 1e-06 was not reached in 3 trials: L" in "".join(first.stdout.splitlines()[-4:])
    assert "was not reached" in call("show", tmp_path / "r.h5").stdout
    found = call(*command, "--resume", "--json")
    until = json.loads(found.stdout)["until"]
    assert found.exit_code == 3 and until == {
        "width": 1e-6,
        "convention": "model",
        "requested": True,
        "asked": True,
        "reached": False,
    }
    assert "memsim: --until 1e-06 was not reached in 3 trials" in found.stderr
    met = call("run", files / "t.h5", "--until", 1, "--min-trials", 2, "-o", tmp_path / "r.h5", "--resume")
    assert met.exit_code == 0 and "not reached" not in met.stdout
    assert memsim.Result.load(tmp_path / "r.h5").until["reached"]


def test_a_long_run_without_output_is_reported(files, monkeypatch):
    times = iter((100.0, 107.0))
    monkeypatch.setattr(RUN, "LONG_SECONDS", 6)
    monkeypatch.setattr(RUN, "monotonic", lambda: next(times))
    done = call("run", files / "t.h5", "--trials", 1, "-q")
    assert "memsim: 1 trial took 7 s and is not stored; give -o to keep them" in done.stderr


@pytest.mark.parametrize("option", ["--resume", "--force"])
def test_options_of_a_file_need_one(files, option):
    assert "need a results file; give it with -o" in call("run", files / "t.h5", option).stderr


def test_go_on_or_begin_anew(files, tmp_path):
    done = call("run", files / "t.h5", "-o", tmp_path / "r.h5", "--resume", "--force")
    assert done.exit_code == 2 and "exclude each other" in done.stderr
