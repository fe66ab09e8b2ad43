"""``memsim judge``: verdicts on candidates whose outcome is known."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import numpy as np
import pytest
from compilers import needs_capture
from typer.testing import CliRunner

import memsim
from experiments.judge.candidates import TASKS
from memsim import api
from memsim.cli import app
from memsim.cli.judge import _line
from memsim.judge.batch import PathLines
from memsim.judge.candidate import compared
from memsim.judge.sandbox import WALL
from memsim.judge.task import JudgeTask, read_task

SECONDS = 20.0
RACE = """__global__ void scale(float *out, const float *in, int n) {
  __shared__ float s[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[255 - threadIdx.x] = in[i];
  out[i] = 2.0f * s[255 - threadIdx.x] + 0.0f * s[0];
}
"""


RIGHT = """import numpy as np
grid = block = 1
arguments = {'a': np.zeros(3)}
expected = {'a': np.zeros(3)}"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "task.py").write_text(TASKS[0].task)
    (tmp_path / "c").mkdir()
    return tmp_path


@needs_capture
@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS[::2], ids=lambda one: one.name)
def test_verdicts_are_right_within_the_budget(task, folder):
    (folder / "task.py").write_text(task.task)
    right = {}
    for name, text, verdict in task.candidates(1):
        (folder / "c" / f"{name}.cu").write_text(text)
        right[name] = verdict
    found = list(api.judge(folder / "c", folder / "task.py", "a100", seconds=SECONDS))
    assert {Path(one["file"]).stem: one["verdict"] for one in found} == right
    keys = {tuple(one) for one in found}
    assert len(keys) == 1, "all documents have the same keys"
    for one in found:
        assert one["budget"]["used_seconds"] < WALL * SECONDS + 2 and one["budget"]["used_cpu_seconds"] < SECONDS + 2
        assert one["correct"] is (None if not one["ran"] else one["verdict"] in ("right", "slow"))
        if one["time_us"] is not None:
            assert 0 < one["best_us"] <= one["time_us"]["mean"]


@needs_capture
@pytest.mark.slow
def test_lines_of_errors_and_races_are_named(folder):
    texts = {
        "bad": TASKS[0].right.replace("2.0f", "two"),
        "outside": TASKS[0].right.replace("in[i]", "in[i + n]"),
        "race": RACE,
        "waiting": TASKS[0].right.replace("if (i < n)", "while (((volatile float *)in)[i] >= 0);"),
        "other": "__global__ void other(int *a) { *a = 1; }",
        "empty": "",
    }
    for name, text in texts.items():
        (folder / "c" / f"{name}.cu").write_text(text)
    done = CliRunner().invoke(app, ["judge", str(folder / "c"), "-t", str(folder / "task.py"), "--json"])
    assert done.exit_code == 1
    found = {Path(one["file"]).stem: one for one in map(json.loads, done.stdout.splitlines())}
    assert found["bad"]["verdict"] == "does not compile" and "two" in found["bad"]["error"]["text"]
    assert not {"compile", "--keep"} & {*found["bad"]["error"]["text"].replace(":", " ").split()}
    assert found["bad"]["error"]["line"] == 4 and found["outside"]["error"]["line"] == 3
    assert "0 bytes after in" in found["outside"]["error"]["text"]
    waiting = found["waiting"]
    assert (waiting["verdict"], waiting["error"]["kind"]) == ("endless", "deadlock")
    for name in ("other", "empty"):
        assert found[name]["verdict"] == "failed" and "no kernel scale" in found[name]["error"]["text"]
    (race,) = found["race"]["warnings"]
    assert found["race"]["verdict"] in ("right", "wrong")
    assert (race["kind"], race["line"]) == ("race", 4)


def test_a_line_says_what_is_wrong_and_slow():
    output = {"equal": False, "wrong": 1200, "elements": 4096, "first_wrong": 7}
    finding = {"cause": "scattered lanes", "line": 3, "gain": None, "upper_bound": 0.5, "hint": "stage rows"}
    document = {
        "file": "k.cu", "verdict": "wrong", "time_us": {"mean": 2.0}, "bound_by": {"part": "L2"}, "of_best": 0.5,
        "error": None, "outputs": {"a": output}, "findings": [finding], "warnings": [],
    }  # fmt: skip
    assert _line(document) == (
        "k.cu: wrong (1,200 of 4,096 elements of a, the first at 7), 2 µs, bound by L2, 50 % of the best possible "
        "speed; scattered lanes, line 3: time -50 % at most, not simulated: stage rows"
    )


@needs_capture
@pytest.mark.slow
def test_paths_are_judged_as_they_arrive(folder):
    """An agent waits for each answer before it sends the next candidate."""
    reading, writing = os.pipe()
    for name in "ab":
        (folder / "c" / f"{name}.cu").write_text(TASKS[0].right)
    documents = api.judge(PathLines(reading), folder / "task.py", "a100", jobs=2)
    feeder = threading.Timer(0, os.write, (writing, f"{folder / 'c' / 'a.cu'}\n".encode()))
    feeder.start()
    assert next(documents)["verdict"] == "right"
    os.write(writing, bytes(folder / "c" / "b.cu") + b"\n" + bytes(folder / "c" / "none.cu"))
    os.close(writing)
    found = {Path(one["file"]).name: one for one in documents}
    assert found["b.cu"]["verdict"] == "right" and found["none.cu"]["error"]["text"] == "file does not exist"
    os.close(reading)


@pytest.mark.parametrize(
    ("found", "expected", "tolerance", "wrong"),
    [
        ([1.0, 2.0], [1.0, 2.0], 0.0, 0),
        ([1.0, 2.001], [1.0, 2.0], 1e-3, 0),
        ([1.0, 2.1], [1.0, 2.0], 1e-3, 1),
        ([np.nan, 1.0], [np.nan, np.nan], 1.0, 1),
        ([np.inf, -np.inf], [np.inf, np.inf], 1.0, 1),
        ([0.0, 0.0], [0.0, np.nan], 1.0, 1),
        ([1 + 2j, 3 + 4j], [1 + 5j, 3 + 4j], 1e-3, 1),
    ],
)
def test_outputs_are_compared_by_tolerance(found, expected, tolerance, wrong):
    task = JudgeTask(Path(), "", (1, 1, 1), (1, 1, 1), 0, {}, {}, tolerance)
    result = compared(np.array(found, np.complex64 if np.iscomplexobj(found) else np.float32), np.array(expected), task)
    assert result["wrong"] == wrong and result["equal"] is (wrong == 0)
    json.dumps(result, allow_nan=False)


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("", "grid is not set"),
        ("grid = block = 1\narguments = {'a': 1}\nexpected = {}", "expected is not a dict"),
        ("grid = block = 1\narguments = {}\nexpected = {}", "arguments is not a dict"),
        ("grid = 0\nblock = 1\narguments = {'a': 1}\nexpected = {}", "grid is 0"),
        ("grid = block = 1\narguments = {'a': 1}\nexpected = {'a': 'x.npy'}", r"expected\['a'\] cannot be read"),
        ("grid = block = 1\narguments = {'a': 1}\nexpected = {'a': [1]}", r"expected\['a'\] is no array argument"),
        ("grid = block = 1\narguments = {'a': 1}\ndef expected(arguments): 1 / 0", "expected fails: ZeroDivision"),
        ("1 / 0", "fails: ZeroDivisionError"),
        (f"{RIGHT}\ntolerance = 'x'", "tolerance is 'x'; give a number of 0 or more"),
        (f"{RIGHT}\ntolerance = float('nan')", "tolerance is nan"),
        (f"{RIGHT}\ntime_limit_us = -1", "time_limit_us is -1"),
        (f"{RIGHT}\nshared_bytes = 'many'", "shared_bytes is 'many'; give a whole number"),
        (f"{RIGHT}\nshared_bytes = -5", "shared_bytes is -5"),
        (f"{RIGHT}\nblock = 64, 32", "block has 2048 threads; at most 1024"),
        (f"{RIGHT}\nkernel = 3", "kernel is 3"),
        (f"{RIGHT}\narguments['b'] = np.array(['x'])", r"arguments\['b'\] is an array of <U1; give one of numbers"),
        (f"{RIGHT}\narguments['b'] = np.array([None])", r"arguments\['b'\] is an array of object"),
        (f"{RIGHT}\nexpected = {{'a': ['x'] * 3}}", r"expected\['a'\] is an array of <U1 for one of float64"),
    ],
)
def test_wrong_task_is_refused_by_field(text, reported, tmp_path):
    (tmp_path / "task.py").write_text(text)
    with pytest.raises(memsim.InputError, match=reported):
        read_task(tmp_path / "task.py")


@pytest.mark.parametrize("value", ["nan", "inf", "0"])
@pytest.mark.parametrize("name", ["seconds", "memory"])
def test_budget_must_be_positive_and_finite(name, value, folder):
    done = CliRunner().invoke(app, ["judge", str(folder / "c"), "-t", str(folder / "task.py"), f"--{name}", value])
    assert done.exit_code == 2 and f"judge: {name} is {value}; give" in done.stderr


@needs_capture
def test_gpu_without_cuda_is_refused(folder):
    (folder / "c" / "a.cu").write_text(TASKS[0].right)
    done = CliRunner().invoke(app, ["judge", str(folder / "c"), "-t", str(folder / "task.py"), "--gpu", "mi300x"])
    assert done.exit_code == 2 and "gfx942, a processor of AMD" in done.stderr


def test_kernel_of_none_is_the_only_one(tmp_path):
    (tmp_path / "task.py").write_text(f"{RIGHT}\nkernel = None")
    assert read_task(tmp_path / "task.py").kernel == ""


def test_expected_arrays_may_lie_in_files(tmp_path):
    np.save(tmp_path / "right.npy", np.arange(3))
    text = "import numpy as np\ngrid = block = 1\narguments = {'a': np.zeros(3)}\nexpected = {'a': 'right.npy'}"
    (tmp_path / "task.py").write_text(text)
    assert read_task(tmp_path / "task.py").expected["a"].tolist() == [0, 1, 2]
