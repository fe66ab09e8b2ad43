"""``memsim run FOLDER``: a program's time is the sum of its launches'."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

import memsim
from memsim.cli import app
from memsim.cli.run_folder import folder_traces, until_interrupted
from memsim.sources.launch_list import write_program


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
    printed = re.search(r"2 launches take ([\d.]+)±[\d.]+ ms on tesla-c2050", done.output)
    assert printed is not None and float(printed[1]) == pytest.approx(sum(times), abs=1e-4)
    assert re.search(r"^\w+ +2 +[\d.]+ +100\.0 ", done.output, re.MULTILINE), "both are of one kernel"
    quiet = CliRunner().invoke(app, ["run", str(folder), "--gpu", "tesla-c2050", "--trials", "2", "--quiet"])
    assert quiet.exit_code == 0 and quiet.stdout == ""


def test_what_concerns_one_trace_is_refused(folder, tmp_path_factory):
    done = CliRunner().invoke(app, ["run", str(folder), "--uncertain"])
    assert done.exit_code == 2 and "has several traces, but --uncertain needs a single one" in done.stderr
    done = CliRunner().invoke(app, ["run", str(tmp_path_factory.mktemp("empty"))])
    assert done.exit_code == 2 and "has no trace (.h5)" in done.stderr


def test_unordered_traces_follow_numbers_in_their_names(tmp_path):
    for name in ("add-10", "add-2", "add"):
        memsim.trace("spmv", rows=32, nnz_per_row=4, out=tmp_path / f"{name}.h5")
    assert [one.path.stem for one in folder_traces(tmp_path, ())] == ["add", "add-2", "add-10"]


@pytest.mark.parametrize("option", [["--whole"], ["--sample"], ["--min-trials", "9"], ["--max-trials", "9"]])
def test_sequence_refuses_options_that_launches_do_not_follow(folder, option):
    done = CliRunner().invoke(app, ["run", str(folder), "--warm", *option])
    assert done.exit_code == 2 and f"--warm of a folder does not support {option[0]}; leave one out" in done.stderr


def test_nothing_is_written_that_force_could_be_for(folder):
    done = CliRunner().invoke(app, ["run", str(folder), "--force"])
    assert done.exit_code == 2 and "--force needs a folder of results; give it with -o" in done.stderr


def doubled(t: memsim.Thread, a):
    a[t.global_id] = 2 * a[t.global_id]


@memsim.workload
def launch(order: int = 0, n: int = 1 << 13) -> memsim.Launch:
    """A launch that knows its place in the program."""
    return memsim.Launch(doubled, n // 256, 256, {"a": np.zeros(n, np.float32)})


@pytest.mark.slow
@pytest.mark.parametrize("warm", [[], ["--warm"]])
def test_launches_are_printed_as_json_and_stored(tmp_path, warm):
    (traces := tmp_path / "traces").mkdir()
    for name, order in (("a", 1), ("b", 0)):
        memsim.trace(launch, order=order, blocks="all", out=traces / f"{name}.h5")
    out = tmp_path / "results"
    command = ["run", str(traces), "--gpu", "tesla-v100", "--trials", "2", *warm, "--json", "-o", str(out)]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    launches = json.loads(done.stdout)["launches"]
    assert [one["file"] for one in launches] == ["b.h5", "a.h5"]
    stored = [memsim.Result.load(out / one["file"]) for one in launches]
    for one, result in zip(launches, stored, strict=True):
        assert one["kernel_time_ms"]["mean"] == result.kernel_time.mean and one["trials"] == 2
    assert ("launches_before" in stored[1].trials.about) == bool(warm)
    reads = [one["counters"]["dram"]["sectors"]["reads"] for one in launches]
    assert reads[0] > 0 and (reads[1] == 0) == bool(warm)  # the second finds what the first has left in L2
    again = CliRunner().invoke(app, command)
    assert again.exit_code == 2 and "exists; give --force" in again.stderr
    assert CliRunner().invoke(app, [*command, "--force"]).exit_code == 0
    refused = CliRunner().invoke(app, [*command[:-1], str(traces), "--force"])
    assert refused.exit_code == 2 and "must differ from the folder" in refused.stderr


def test_alike_launches_are_sampled_unless_all_are_wanted(tmp_path):
    (traces := tmp_path / "traces").mkdir()
    for order in range(6):
        memsim.trace(launch, order=order, blocks="all", out=traces / f"{order}.h5")
    command = ["run", str(traces), "--gpu", "tesla-v100", "--warm", "--trials", "2", "--json"]
    sampled, every, stored = (
        json.loads(CliRunner().invoke(app, [*command, *more]).stdout)["launches"]
        for more in ([], ["--every-launch"], ["-o", str(tmp_path / "results")])
    )
    assert [one["sampled"] for one in sampled] == [False] + [True] * 5
    assert [one["file"] for one in sampled] == [one["file"] for one in every]
    times = [[one["kernel_time_ms"]["mean"] for one in launches] for launches in (sampled, every, stored)]
    assert times[1] == times[2] and times[0][0] == times[1][0] and not any(one["sampled"] for one in every)
    assert sum(times[0]) == pytest.approx(sum(times[1]), rel=0.01)


@pytest.mark.parametrize(("order", "names"), [([], ["a", "b"]), (["--warm"], ["a", "a.1", "b"])])
def test_a_trace_counts_for_each_launch(tmp_path, order, names):
    """Two launches share a trace: their times add up, and in order the second one finds what the first has left."""
    (traces := tmp_path / "traces").mkdir()
    recorded = [memsim.trace(launch, order=n, blocks="all", out=traces / f"{name}.h5") for n, name in enumerate("ab")]
    write_program(traces, recorded, [0, 0, 1], [])
    out = tmp_path / "results"
    command = ["run", str(traces), "--gpu", "tesla-v100", "--trials", "2", *order, "-o", str(out)]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0 and sorted(file.stem for file in out.iterdir()) == names, done.output
    times = [memsim.Result.load(out / f"{name}.h5").kernel_time.mean for name in names]
    total = sum(times) if order else 2 * times[0] + times[1]
    printed = re.search(r"3 launches take ([\d.]+)±", done.output)
    assert printed is not None and float(printed[1]) == pytest.approx(total, abs=1e-4)
    (traces / "b.h5").rename(traces / "c.h5")
    again = CliRunner().invoke(app, command[:6] + order)
    assert again.exit_code == (2 if order else 0), again.output
    assert ("names a trace that is not in the folder" in again.stderr) if order else ("3 launches take" in again.stdout)


@pytest.mark.parametrize("where", ["folder", "trace"])
def test_every_launch_concerns_folders_with_warm_caches(folder, where):
    done = CliRunner().invoke(app, ["run", str(folder if where == "folder" else folder / "a.h5"), "--every-launch"])
    assert done.exit_code == 2 and "--every-launch needs" in done.stderr


def test_launches_in_order_need_their_order(folder):
    done = CliRunner().invoke(app, ["run", str(folder), "--warm"])
    assert done.exit_code == 2 and "a.h5: parameters has no order" in done.stderr


def test_an_interrupt_ends_the_launches_that_are_left(capsys):
    replayed = []

    def replay(trace):
        replayed.append(trace)
        return SimpleNamespace(interrupted=len(replayed) == 2)

    assert len(until_interrupted([1, 2, 3], replay)) == 2 and replayed == [1, 2]
    assert "2 of 3 launches are in the table" in capsys.readouterr().err
