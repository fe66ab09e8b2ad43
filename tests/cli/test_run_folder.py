"""``memsim run FOLDER``: a program's time is the sum of its launches'."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

import memsim
from memsim.cli import app
from memsim.cli.run_folder import folder_traces, until_interrupted


@pytest.fixture
def folder(tmp_path):
    for name, rows in ("a", 1024), ("b", 2048):
        arguments = ["trace", "spmv", "-p", f"rows={rows}", "-p", "nnz_per_row=4", "-o", str(tmp_path / f"{name}.h5")]
        assert CliRunner().invoke(app, arguments).exit_code == 0
    return tmp_path


def test_the_total_is_the_sum_of_the_launches(folder):
    done = CliRunner().invoke(app, ["run", str(folder), "--gpu", "tesla-c2050", "--trials", "2"])
    assert done.exit_code == 0, done.output
    times = [memsim.simulate(one, "tesla-c2050", trials=2).kernel_time.mean for one in folder.glob("*.h5")]
    told = re.search(r"2 launches take ([\d.]+)±[\d.]+ ms on tesla-c2050", done.output)
    assert told is not None and float(told[1]) == pytest.approx(sum(times), abs=1e-4)
    assert re.search(r"^\w+ +2 +[\d.]+ +100\.0 ", done.output, re.MULTILINE), "both are of one kernel"
    quiet = CliRunner().invoke(app, ["run", str(folder), "--gpu", "tesla-c2050", "--trials", "2", "--quiet"])
    assert quiet.exit_code == 0 and quiet.stdout == ""


def test_what_concerns_one_trace_is_refused(folder, tmp_path_factory):
    done = CliRunner().invoke(app, ["run", str(folder), "--json"])
    assert done.exit_code == 2 and "has several traces, which --json does not concern" in done.stderr
    done = CliRunner().invoke(app, ["run", str(tmp_path_factory.mktemp("empty"))])
    assert done.exit_code == 2 and "has no trace (.h5)" in done.stderr


def test_traces_that_tell_no_order_are_in_that_of_their_names_numbers(tmp_path):
    for name in ("add-10", "add-2", "add"):
        memsim.trace("spmv", rows=32, nnz_per_row=4, out=tmp_path / f"{name}.h5")
    assert [one.path.stem for one in folder_traces(tmp_path, ())] == ["add", "add-2", "add-10"]


@pytest.mark.parametrize("option", [["--whole"], ["--min-trials", "9"], ["--max-trials", "9"]])
def test_what_launches_in_turn_do_not_heed_is_refused(folder, option):
    done = CliRunner().invoke(app, ["run", str(folder), "--warm", *option])
    assert done.exit_code == 2 and f"which {option[0]} (with --warm) does not concern" in done.stderr


def test_nothing_is_written_that_force_could_be_for(folder):
    done = CliRunner().invoke(app, ["run", str(folder), "--force"])
    assert done.exit_code == 2 and "which --force does not concern" in done.stderr


def test_launches_in_turn_must_tell_their_order(folder):
    done = CliRunner().invoke(app, ["run", str(folder), "--warm"])
    assert done.exit_code == 2 and "a.h5: parameters has no order" in done.stderr


def test_an_interrupt_ends_the_launches_that_are_left(capsys):
    replayed = []

    def replay(trace):
        replayed.append(trace)
        return SimpleNamespace(interrupted=len(replayed) == 2)

    assert len(until_interrupted([1, 2, 3], replay)) == 2 and replayed == [1, 2]
    assert "2 of 3 launches are in the table" in capsys.readouterr().err
