"""``memsim check``: exit status, the file, and what stands on which line."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import memsim
from memsim import Launch, Thread, workload
from memsim.cli import app

GPU, N = "tesla-c2050", 1 << 12


def strided(t: Thread, a, b, stride):
    b[t.global_id] = a[stride * t.global_id % N]


@workload
def copy(stride: int = 1) -> Launch:
    """A copy of every strideth number."""
    import numpy as np

    arrays = dict(a=np.zeros(N, np.float32), b=np.zeros(N, np.float32), stride=stride)
    return Launch(strided, N // 256, 256, arrays, registers=16)


def call(*command, **environment):
    return CliRunner().invoke(app, [str(part) for part in command], env=environment)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("memsim.api.profile.MOST", 3)
    (tmp_path / "traces").mkdir()
    memsim.trace(copy, gpu=GPU, blocks="all", out=tmp_path / "traces" / "copy.h5")
    return tmp_path


@pytest.mark.slow
def test_baseline_passes_until_kernel_is_slower(folder):
    made = call("check", "--update", "traces", "--gpu", GPU)
    assert made.exit_code == 0, made.output
    text = (folder / "memsim-baseline.toml").read_text()
    assert 'kernel = "strided"' in text and "sectors_per_request = 4\n" in text
    same = call("check")
    assert same.exit_code == 0 and " ok" in same.stdout and "::error" not in same.stdout
    memsim.trace(copy, gpu=GPU, blocks="all", out=folder / "traces" / "copy.h5", stride=9)
    slower = call("check", GITHUB_ACTIONS="true", GITHUB_WORKSPACE=str(folder))
    assert slower.exit_code == 1
    line = next(n for n, one in enumerate(Path(__file__).read_text().splitlines(), 1) if "b[t.global_id] = a[" in one)
    assert f"test_check_command.py:{line}: strided on {GPU} is slower: " in slower.stdout
    assert "::error file=" in slower.stdout and f",line={line},title=" in slower.stdout
    assert call("check", "--update").exit_code == 0 and call("check").exit_code == 0
    assert call("check", "--update").exit_code == 0 and (folder / "memsim-baseline.toml").read_text() != text


def test_a_kernel_that_is_gone_fails(folder):
    assert call("check", "--update", "traces", "--gpu", GPU).exit_code == 0
    file = folder / "memsim-baseline.toml"
    file.write_text(file.read_text().replace('kernel = "strided"', 'kernel = "gone"'))
    done = call("check")
    assert (
        done.exit_code == 1 and f"{'gone'} on {GPU} is not launched any more" in done.stdout and " new" in done.stdout
    )


@pytest.mark.parametrize(
    ("command", "reported"),
    [
        (["check"], "memsim-baseline.toml: baseline does not exist"),
        (["check", "--gpu", GPU], "--gpu needs a program"),
        (["check", "--update"], "baseline does not exist"),
        (["check", "--update", "nothing.cu"], "nothing.cu: file does not exist"),
    ],
)
def test_bad_input_is_one_line(command, reported, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = call(*command)
    assert done.exit_code == 2 and reported in done.output and not list(tmp_path.iterdir())
