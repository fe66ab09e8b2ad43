"""The command line: the whole job in one run, and every bad input in one line with exit code 2."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import h5py
import pytest
import typer
from changing import changed
from full_disk import limit_files
from processes import LISTENING, are_gone
from typer.testing import CliRunner

import memsim
from memsim.cli import app
from memsim.cli.commands import application

SPMV = ["spmv", "-p", "rows=2048", "-p", "nnz_per_row=8"]


def call(*arguments: object) -> str:
    """What a command prints when it succeeds."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


def refused(*arguments: object) -> str:
    """The one line that a refused command prints to stderr."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 2, (done.output, done.exception)
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("memsim: ") and done.stdout == ""
    return lines[0]


def process(*arguments: object, **options) -> subprocess.Popen:
    command = [sys.executable, "-m", "memsim", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A trace and a result of three trials, made by the command line."""
    folder = tmp_path_factory.mktemp("cli")
    call("trace", *SPMV, "--gpu", "tesla-c2050", "-o", folder / "spmv.h5")
    call("run", folder / "spmv.h5", "--trials", 3, "--seed", 1, "-o", folder / "result.h5")
    return folder


def test_trace_and_info_show_the_kernel(files):
    text = call("info", files / "spmv.h5")
    for part in ("rows=2048", "grid 8x1x1, block 256x1x1", "spmv.py", "row_ptr[row + 1]", "y[ind]", "store"):
        assert part in text


def test_show_prints_what_run_printed(files):
    ran = call("run", files / "spmv.h5", "--trials", 3, "--seed", 1)
    shown = call("show", files / "result.h5")
    # The last line tells how fast it was.
    assert ran.splitlines()[:-1] == shown.splitlines()[:-1]
    assert "3 trials, seed 1" in shown and "y[ind]" in shown


def test_json_is_the_contract_from_run_and_show(files):
    ran = json.loads(call("run", files / "spmv.h5", "--trials", 3, "--seed", 1, "--json"))
    shown = json.loads(call("show", files / "result.h5", "--json"))
    for volatile in ("performance", "created"):
        del ran[volatile], shown[volatile]
    assert ran == shown
    assert shown["trials"] == 3 and shown["seed"] == 1 and 0 < shown["ratios"]["l1_read"]["mean"] < 1
    assert sum(load["share"] for load in shown["loads"]) == pytest.approx(1)


def test_csv_has_a_row_a_load(files):
    lines = call("show", files / "result.h5", "--csv").splitlines()
    assert len(lines) == 6 and lines[0].startswith("file,line,column,text,array,l1_hit")
    assert len(call("show", files / "result.h5", "--csv", "--by", "array").splitlines()) == 5


@pytest.mark.slow
def test_plot_writes_four_figures(files, tmp_path):
    printed = call("plot", files / "result.h5", "-o", tmp_path / "figs").split()
    assert sorted(printed) == sorted(str(path) for path in (tmp_path / "figs").iterdir()) and len(printed) == 4


@pytest.mark.slow
def test_plot_compares_several_results(files, tmp_path):
    (tmp_path / "other.h5").write_bytes((files / "result.h5").read_bytes())
    printed = call("plot", files / "result.h5", tmp_path / "other.h5", "-o", tmp_path / "figs").split()
    assert sorted(printed) == sorted(str(path) for path in (tmp_path / "figs").iterdir()) and len(printed) == 3


@pytest.mark.slow
def test_settings_reach_the_gpu(files):
    def l1(*more):
        return json.loads(call("run", files / "spmv.h5", "--trials", 1, "--json", *more))["ratios"]["l1_read"]["mean"]

    assert l1("--set", "l1.size_bytes=1024", "--set", "l1.ways=8") < l1()


@pytest.mark.slow
def test_accelsims_traces_run_as_they_are(files, tmp_path):
    """As imported before, load by load (a list also names arrays); a choice where there are several, and only there."""
    call("export", "accelsim", files / "spmv.h5", files / "spmv.h5", "-o", tmp_path, "-q")
    call("import", "accelsim", tmp_path / "kernel-2.traceg", "-o", tmp_path / "2.h5", "-q")
    ways = {"of a list": (tmp_path / "kernelslist.g", "-k", "2"), "alone": (tmp_path / "kernel-2.traceg",)}
    expected = json.loads(call("run", tmp_path / "2.h5", "--trials", 2, "--json", "-q"))
    for way in ways.values():
        found = json.loads(call("run", *way, "--trials", 2, "--json", "-q"))
        for load in found["loads"] + expected["loads"]:
            load.pop("array", None)
        assert found["ratios"] == expected["ratios"] and found["loads"] == expected["loads"]
    assert "are 2, kernel-1, kernel-2; choose one with --kernel" in refused("run", tmp_path / "kernelslist.g")
    assert "leave out --kernel" in refused("run", tmp_path / "2.h5", "-k", "2")


@pytest.mark.slow
def test_until_stops_at_a_narrow_interval(files):
    options = ("--until", 0.05, "--min-trials", 2, "--max-trials", 9, "--json")
    found = json.loads(call("run", files / "spmv.h5", *options))
    assert 2 <= found["trials"] <= 9
    if found["trials"] < 9:
        for ratio in found["ratios"].values():
            assert ratio["interval"] is None or ratio["interval"][1] - ratio["interval"][0] <= 0.05


@pytest.mark.slow
def test_without_number_it_stops_when_answer_is_known(files, tmp_path):
    """When all intervals are narrow, after three trials or more, or at the most; the first line says why."""
    same = [
        option
        for source in ("start_alignment", "arbitration", "warp_weights")
        for option in ("--set", f"stochastic.{source}=false")
    ]
    known, *_, last = call("run", files / "spmv.h5", *same, "-o", tmp_path / "r.h5").splitlines()
    assert last.startswith(f"stored in {tmp_path / 'r.h5'}; ") and last.endswith("--why")
    assert known == ("csr on tesla-c2050: 3 trials (time within 1 %, hit ratios with merges within 0.5 points), seed 0")
    until = json.loads(call("show", tmp_path / "r.h5", "--json"))["until"]
    assert until == {
        "width": 0.01, "convention": "traffic", "requested": False, "asked": False, "time": 0.02, "reached": True,
    }  # fmt: skip
    precise = call("run", files / "spmv.h5", *same, "--precise").splitlines()[0]
    assert precise == "csr on tesla-c2050: 8 trials (every hit ratio within 0.1 points), seed 0"
    most = call("run", files / "spmv.h5", "--precise", "--max-trials", 9).splitlines()[0]
    assert re.match(r"csr on tesla-c2050: 9 trials \(the most; L1 read's interval is 0.0\d+ wide\), seed 0", most)
    most = call("run", files / "spmv.h5", "--max-trials", 3).splitlines()[0]
    assert re.match(r"csr on tesla-c2050: 3 trials \(the most; the time is known within [\d.]+ %\), seed 0", most)
    assert "is 4, but until is given too; leave one out" in refused(
        "run", files / "spmv.h5", "--trials", 4, "--until", 0.1
    )


def test_quiet_prints_nothing(files, tmp_path):
    assert call("run", files / "spmv.h5", "--trials", 1, "-q", "-o", tmp_path / "r.h5") == ""
    assert (tmp_path / "r.h5").exists()


def test_gpus_and_version():
    assert "tesla-c2050" in call("gpus")
    one = call("gpus", "tesla-c2050")
    assert "l1.ways" in one and "measured" in one and "Baghsorkhi" in one
    assert call("--version") == f"memsim {memsim.__version__}\n"


@pytest.mark.parametrize("command", ["trace", "info", "run", "show", "plot", "gpus"])
def test_every_help_has_an_example(command):
    assert f"  memsim {command}" in call(command, "--help")


def test_help_loads_nothing_slow():
    slow = "{'numpy', 'scipy', 'numba', 'matplotlib', 'pandas', 'h5py', 'pydantic', 'simpy', 'rich'}"
    code = f"import sys, memsim.cli; print(sorted({slow} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"


def test_numpy_starts_no_threads_in_a_command():
    code = (
        "import os, memsim.cli.commands as commands\n"
        "def work():\n"
        "    import numpy\n"
        "    print(len(os.listdir('/proc/self/task')), 'OPENBLAS_NUM_THREADS' in os.environ)\n"
        "commands.application = lambda words: work\n"
        "commands.main()"
    )
    given = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    assert subprocess.check_output([sys.executable, "-c", code], text=True, env=given) == "1 False\n"


@pytest.mark.slow
def test_a_replay_loads_nothing_that_only_compiling_needs(files):
    """The loops are on disk: Numba's NumPy, for which it looks for SciPy's linear algebra, takes half a second."""
    trace = str(files / "spmv.h5")
    code = (
        "import sys; from memsim.cli import app; "
        f"app(['run', {trace!r}, '--trials', '1', '-q'], standalone_mode=False); "
        "print(sorted({'numba.np.arraymath', 'scipy.linalg', 'matplotlib'} & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"


def test_a_command_built_alone_has_the_same_options():
    every = typer.main.get_command(app).commands
    assert set(typer.main.get_command(application(["no-such-command"])).commands) == set(every)
    for name, command in every.items():
        alone = typer.main.get_command(application([name, "--help"])).commands
        assert list(alone) == [name] and type(alone[name]) is type(command)
        assert [one.opts for one in alone[name].params] == [one.opts for one in command.params]
        assert list(getattr(alone[name], "commands", ())) == list(getattr(command, "commands", ()))


def test_showing_a_result_loads_nothing_slow(files):
    code = (
        "import sys; from memsim.cli import app; "
        f"app(['show', {str(files / 'result.h5')!r}, '-q'], standalone_mode=False); "
        "print(sorted({'numba', 'matplotlib', 'simpy', 'pydantic', 'scipy'} & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).splitlines()[-1] == "[]"


def test_a_page_of_results_loads_nothing_slow(files):
    result, page = str(files / "result.h5"), str(files / "page.html")
    code = (
        "import sys; from memsim.cli import app; "
        f"app(['report', {result!r}, '--quick', '-o', {page!r}, '-f'], standalone_mode=False); "
        "print(sorted({'numba', 'simpy', 'scipy', 'matplotlib.pyplot'} & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).splitlines()[-1] == "[]"


KERNEL = """
from memsim import Launch, Thread, workload

def kernel(t: Thread, n):
    {body}

@workload
def made(n: int = 64) -> Launch:
    return Launch(kernel, grid=1, block=64, arguments=dict(n=n))
"""


def _truncated(files, folder, name):
    content = (files / name).read_bytes()
    (folder / "cut.h5").write_bytes(content[: len(content) // 2])
    return folder / "cut.h5"


def _foreign(folder):
    with h5py.File(folder / "foreign.h5", "w") as file:
        file["x"] = 1
    return folder / "foreign.h5"


def _newer(files, folder, name):
    (folder / "newer.h5").write_bytes((files / name).read_bytes())
    with changed(folder / "newer.h5") as file:
        file.attrs["version"] = (99, 0)
    return folder / "newer.h5"


def _written(folder, name, text):
    (folder / name).write_text(text)
    return folder / name


def _copied(files, folder, name):
    return Path(shutil.copy(files / name, folder / name))


def _pipe(folder):
    os.mkfifo(folder / "pipe")
    return folder / "pipe"


def _contents(folder):
    found = (path for path in folder.iterdir() if path.name != "__pycache__")
    return {path: path.read_bytes() if path.is_file() else None for path in found}


BAD = {
    "no such trace": lambda files, folder: ("info", folder / "none.h5"),
    "truncated trace": lambda files, folder: ("info", _truncated(files, folder, "spmv.h5")),
    "foreign trace": lambda files, folder: ("run", _foreign(folder)),
    "newer trace": lambda files, folder: ("run", _newer(files, folder, "spmv.h5")),
    "a result is no trace": lambda files, folder: ("run", files / "result.h5"),
    "a trace is no result": lambda files, folder: ("show", files / "spmv.h5"),
    "truncated result": lambda files, folder: ("plot", _truncated(files, folder, "result.h5")),
    "newer result": lambda files, folder: ("show", _newer(files, folder, "result.h5")),
    "text is no result": lambda files, folder: ("show", _written(folder, "text.h5", "hello")),
    "unknown workload": lambda files, folder: ("trace", "smpv", "-o", folder / "x.h5"),
    "unknown parameter": lambda files, folder: ("trace", "spmv", "-p", "row=3", "-o", folder / "x.h5"),
    "parameter without value": lambda files, folder: ("trace", "spmv", "-p", "rows", "-o", folder / "x.h5"),
    "kernel raises": lambda files, folder: (
        *("trace", _written(folder, "k.py", KERNEL.format(body="1 / 0")), "-o", folder / "x.h5"),
    ),
    "kernel is no Python": lambda files, folder: ("trace", _written(folder, "k.py", "def ("), "-o", folder / "x.h5"),
    "no folder to write to": lambda files, folder: ("trace", *SPMV, "-o", folder / "none" / "x.h5"),
    "a folder in the file's place": lambda files, folder: ("run", files / "spmv.h5", "-o", folder),
    "a pipe in the file's place": lambda files, folder: ("trace", *SPMV, "-o", _pipe(folder)),
    "the trace in the result's place": lambda files, folder: (
        *("run", _copied(files, folder, "spmv.h5"), "--trials", 1, "-o", folder / "spmv.h5"),
    ),
    "the kernel in the trace's place": lambda files, folder: (
        *("trace", _written(folder, "k.py", KERNEL.format(body="pass")), "-o", folder / "k.py"),
    ),
    "no blocks": lambda files, folder: ("trace", *SPMV, "--blocks", "0x", "-o", folder / "x.h5"),
    "a setting without a field": lambda files, folder: ("run", files / "spmv.h5", "--set", "=4"),
    "unknown gpu": lambda files, folder: ("run", files / "spmv.h5", "--gpu", "tesla-c2051"),
    "unknown key": lambda files, folder: ("run", files / "spmv.h5", "--set", "l1.wayz=4"),
    "zero ways": lambda files, folder: ("run", files / "spmv.h5", "--set", "l1.ways=0"),
    "odd line": lambda files, folder: ("run", files / "spmv.h5", "--set", "l1.line_bytes=96"),
    "sector above line": lambda files, folder: ("run", files / "spmv.h5", "--set", "l2.fetch_bytes=256"),
    "other warp size": lambda files, folder: ("run", files / "spmv.h5", "--set", "sm.warp_size=16"),
    "bad TOML": lambda files, folder: ("gpus", _written(folder, "gpu.toml", "[sm\ncount = 1")),
    "json and csv": lambda files, folder: ("show", files / "result.h5", "--json", "--csv"),
    "results of one name": lambda files, folder: (
        *("plot", files / "result.h5", files / "result.h5", "-o", folder / "figs"),
    ),
    "figures into a file": lambda files, folder: (
        *("plot", files / "result.h5", "-o", _written(folder, "figs", "a file")),
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line(files, tmp_path, case):
    arguments = BAD[case](files, tmp_path)
    before = _contents(tmp_path)
    refused(*arguments)
    assert _contents(tmp_path) == before


def test_missing_files_and_folders_are_named(tmp_path):
    assert refused("show", tmp_path / "none.h5").endswith(
        "none.h5: file does not exist; give the path of one that does"
    )
    assert "is a folder; give a file" in refused("show", tmp_path)


def test_dropped_interrupts_print_no_traceback():
    """Python reports what a weak reference's callback raises; Ctrl-C there is noted, and raised again later."""
    program = """
import sys, weakref
from memsim.cli import commands
def stop(_):
    raise {}
class Some: pass
def application(words):
    some = Some()
    kept = weakref.ref(some, stop)
    del some
    return lambda: None
commands.application = application
commands.main()
"""
    shown = {
        error: subprocess.run([sys.executable, "-c", program.format(error)], capture_output=True, text=True).stderr
        for error in ("KeyboardInterrupt", "ValueError")
    }
    assert shown["KeyboardInterrupt"] == "" and "Exception ignored" in shown["ValueError"]


def test_bad_number_of_jobs_is_always_an_error(files, monkeypatch):
    monkeypatch.setenv("MEMSIM_JOBS", "abc")
    assert "MEMSIM_JOBS: jobs is 'abc'" in refused("run", files / "spmv.h5", "--trials", 1)


@pytest.mark.parametrize("command", ["trace", "run"])
def test_full_disk_is_one_line_and_leaves_nothing(files, tmp_path, command):
    arguments = SPMV if command == "trace" else [files / "spmv.h5", "--trials", 1]
    running = process(command, *arguments, "-o", tmp_path / "x.h5", preexec_fn=partial(limit_files, 4096, 4096))
    _, errors = running.communicate()
    assert running.returncode == 2, errors
    assert errors.startswith("memsim: ") and errors.count("\n") == 1 and "cannot be written" in errors
    assert list(tmp_path.iterdir()) == []


def _wait_for_workers(pid):
    """Both workers of a run, which on a fresh machine start after the loops are compiled."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    if not children.exists():  # elsewhere than on Linux nobody tells
        time.sleep(30)
        return []
    for _ in range(600):
        time.sleep(0.1)
        workers = children.read_text().split()
        if len(workers) >= 2:
            return workers
    raise AssertionError("no worker has started in a minute")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("send", "how"),
    [(os.killpg, signal.SIGINT), (os.kill, signal.SIGTERM)],
    ids=["a terminal, to the workers too", "a batch system, to the command alone"],
)
def test_interrupting_keeps_the_finished_trials(files, tmp_path, send, how):
    out = tmp_path / "result.h5"
    running = process("run", files / "spmv.h5", "--trials", 100_000, "-j", 2, "-o", out, **LISTENING)
    workers = _wait_for_workers(running.pid)
    time.sleep(4)  # for trials to finish
    send(running.pid, how)
    printed, errors = running.communicate(timeout=180)
    assert "Traceback" not in errors
    assert running.returncode == 0, errors
    stored = memsim.Result.load(out)
    assert 1 <= len(stored.trials.trial) < 100_000 and f"{len(stored.trials.trial)} trials" in printed
    assert are_gone(workers)


def test_workers_end_with_a_command_that_is_killed(files):
    running = process("run", files / "spmv.h5", "--trials", 100_000, "-j", 2, **LISTENING)
    workers = _wait_for_workers(running.pid)
    running.kill()
    running.communicate()
    assert are_gone(workers)


def test_a_closed_pipe_is_no_error(files):
    running = process("show", files / "result.h5", "--json")
    running.stdout.close()
    assert "Traceback" not in running.stderr.read()
    running.wait()


def test_the_python_interface_does_the_same(files):
    recorded = memsim.trace("spmv", rows=2048, nnz_per_row=8, gpu="tesla-c2050")
    result = memsim.simulate(recorded, trials=3, seed=1)
    assert result.l2_read.mean == memsim.Result.load(files / "result.h5").l2_read.mean
    assert Path(recorded.path).exists()
