"""What there is to choose from: GPUs and workloads, as text, JSON and files."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from memsim.cli import app
from memsim.gpu.config import fields
from memsim.gpu.presets import load_gpu, names, provenance
from memsim.support import library


def _run(*arguments):
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize("name", names())
def test_a_gpu_as_a_file_is_the_gpu(name, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(_run("gpus", name, "--toml"))
    assert load_gpu(path) == load_gpu(name) and provenance(path) == provenance(name)


def test_gpu_of_file_is_shown_like_preset(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(_run("gpus", "a100", "--toml"))
    assert _run("gpus", str(path), "--json") == _run("gpus", "a100", "--json")


def test_a_gpu_says_what_each_value_is():
    text, document = _run("gpus", "a100"), json.loads(_run("gpus", "a100", "--json"))
    assert set(document) == set(fields())
    assert not [field for field, of in document.items() if not of["description"]]
    assert document["l2.size_bytes"]["value"] == 41943040 and document["l2.size_bytes"]["source"].startswith("mt4g")
    assert document["l1.ways"]["description"] in text and max(map(len, text.splitlines())) <= 100


def test_every_workload_is_listed_with_what_it_does():
    lines = _run("workloads").splitlines()[2:]
    assert [line.split()[0] for line in lines] == library.names("traces", ".py")
    assert all(len(line.split()) > 3 and "…" not in line for line in lines)  # a pipe gets all of it


def test_workload_shows_parameters_and_trace_command():
    text = _run("workloads", "spmv")
    assert "nnz_per_row" in text and "51" in text and "one of poisson, fixed, spread" in text
    command = text.splitlines()[-1].split()[1:]
    assert command[:2] == ["trace", "spmv"] and "rows=86016" in command


@pytest.mark.parametrize("arguments", [("gpus", "--toml"), ("gpus", "a100", "--toml", "--json"), ("workloads", "spvm")])
def test_bad_requests_are_one_line(arguments):
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 2 and len(done.output.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("memsim cali", {"calibrate"}),
        ("memsim run t.h5 --gpu rtx40", {"rtx4060-laptop", "rtx4070", "rtx4080", "rtx4090"}),
        ("memsim trace spm", {"spmv"}),
        ("memsim trace spmv --gpu tesla-v", {"tesla-v100"}),
        ("memsim workloads sax", {"saxpy"}),
    ],
)
def test_the_shell_completes(typed, offered, monkeypatch):
    words = typed.split()
    environment = {"_MEMSIM_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(len(words) - 1)}
    done = CliRunner().invoke(app, [], env=environment, prog_name="memsim")
    assert set(done.output.split()) == offered
