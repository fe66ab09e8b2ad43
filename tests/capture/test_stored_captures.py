"""A capture is taken from the cache where all that it depends on is as it was, and only there."""

import json
import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from compilers import needs_capture, needs_gxx
from here import run_here

import memsim
from memsim.capture import stored_captures
from memsim.capture.libraries import library_folder
from memsim.capture.library_build import HOST_INPUTS
from memsim.capture.server import Captured
from memsim.capture.stored_captures import INPUTS_VARIABLE, StoredCapture
from memsim.gpu.presets import load_gpu
from memsim.sources.selection import CaptureSelection

CONTENT = b"a trace"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An empty cache, a program that was built from one file, an input file and a captured trace."""
    monkeypatch.setenv("MEMSIM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("MEMSIM_CACHE_MB", "10")
    monkeypatch.setattr(stored_captures, "Trace", SimpleNamespace(open=lambda path: SimpleNamespace(path=path)))
    monkeypatch.setattr(stored_captures, "_has_no_input", lambda: True)
    for name in ("app", "input"):
        (tmp_path / name).write_text("1")
    (tmp_path / "made_of.json").write_text(json.dumps({"app.cu": [1, 2, "0123"]}))
    (tmp_path / "captured.h5").write_bytes(CONTENT)
    return tmp_path


def _command(place, *arguments, wanted=None, cached=True, gpu="rtx4090"):
    return StoredCapture(place / "app", arguments, "app.cu", load_gpu(gpu), wanted or CaptureSelection(), cached)


def _keep(place, *lines, command=None, exit_code=None, mapped=None):
    """Keep a capture of a program that reported some lines."""
    command = command or _command(place)
    with command.reported() as variables:
        if variables:
            with open(variables[INPUTS_VARIABLE], "a") as report:
                report.write("".join(f"{line}\n" for line in lines))
        trace = SimpleNamespace(path=place / "captured.h5")
        program = frozenset([str(place / "app")]) if mapped is None else mapped
        command.add(Captured([trace], {"k": 1}, ["a note"], exit_code, mapped=program))


def _found(place, *arguments, **options):
    return _command(place, *arguments, **options).find(place / "again.h5")


def test_same_command_gets_same_bytes_and_says_so(place):
    _keep(place, f"R {place}/input", "E N", "R /nowhere", "R /dev/null")
    found = _found(place)
    assert (place / "again.h5").read_bytes() == CONTENT
    assert found.launches == {"k": 1}
    assert found.notes == ["a note", stored_captures.NOTE]


def test_changed_input_is_captured_anew(place):
    _keep(place, f"R {place}/input")
    (place / "input").write_text("2")
    assert _found(place) is None
    (place / "captured.h5").write_bytes(b"another")
    _keep(place, f"R {place}/input")
    assert _found(place) is not None and (place / "again.h5").read_bytes() == b"another"
    (place / "input").write_text("1")
    assert _found(place) is not None and (place / "again.h5").read_bytes() == CONTENT


@pytest.mark.parametrize("change", ["variable", "appeared", "argument", "gpu", "wanted", "header", "program", "flag"])
def test_all_dependences_are_compared(place, monkeypatch, change):
    _keep(place, "E N_ROWS", f"R {place}/missing")
    options, arguments = {}, ()
    if change == "variable":
        monkeypatch.setenv("N_ROWS", "7")
    elif change == "appeared":
        (place / "missing").touch()
    elif change == "argument":
        arguments = ("2",)
    elif change == "gpu":
        options = {"gpu": "a100"}
    elif change == "wanted":
        options = {"wanted": CaptureSelection(blocks="all")}
    elif change == "header":
        (place / "made_of.json").write_text(json.dumps({"app.cu": [1, 2, "4567"]}))
    elif change == "program":
        (place / "app").write_text("2")
    else:
        options = {"cached": False}
    assert _found(place, *arguments, **options) is None


@pytest.mark.parametrize("line", ["X the time of day", "R /proc/self/status", "R /tmp", "nonsense"])
def test_unpredictable_programs_are_not_kept(place, line):
    _keep(place, line)
    assert _found(place) is None


def test_program_that_ended_itself_is_not_kept(place):
    _keep(place, exit_code=0)
    _keep(place, mapped=frozenset())
    assert _found(place) is None


def test_input_that_changed_during_run_is_not_kept(place):
    command = _command(place)
    (place / "input").write_text("2")
    os.utime(place / "input", ns=(command._begun + 1, command._begun + 1))
    _keep(place, f"R {place}/input", command=command)
    assert _found(place) is None


def test_damaged_traces_are_not_taken(place):
    _keep(place)
    (kept,) = (place / "cache" / "captures").glob("*.h5")
    kept.write_bytes(b"damaged")
    assert _found(place) is None
    assert _found(place) is None and not (place / "again.h5").exists()


def test_stored_captures_are_bounded(place, monkeypatch):
    monkeypatch.setenv("MEMSIM_CACHE_MB", "1")
    for k in range(5):
        (place / "captured.h5").write_bytes(bytes([k]) * 400_000)
        _keep(place, command=_command(place, str(k)))
    assert sum(path.stat().st_size for path in (place / "cache" / "captures").iterdir()) <= 1_000_000
    assert _found(place, "4") is not None


READER = """#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <random>
#include <string>
int main(int n, char** arguments) {
    std::string what = arguments[1];
    if (what == "file") { std::ifstream f("input"); int x; f >> x; }
    if (what == "missing") fopen("/nowhere/input", "r");
    if (what == "variable") getenv("N_ROWS");
    if (what == "duration") std::chrono::steady_clock::now();
    if (what == "seed") srand(time(nullptr));
    if (what == "clock") std::chrono::system_clock::now();
    if (what == "random") std::random_device{}();
    if (what == "writes") std::ofstream("made") << 1;
    if (what == "other") (void)!system("true");
}
"""


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reader")
    (folder / "reader.cpp").write_text(READER)
    subprocess.run(["g++", "-std=c++17", "-O1", "reader.cpp", "-o", "reader"], cwd=folder, check=True)
    return folder / "reader"


@needs_gxx
@pytest.mark.slow
def test_programs_report_what_they_read(reader, tmp_path):
    def reported(what):
        report = tmp_path / what
        report.write_text("")
        variables = {**os.environ, "LD_PRELOAD": str(library_folder() / HOST_INPUTS), INPUTS_VARIABLE: str(report)}
        subprocess.run([str(reader), what], cwd=tmp_path, env=variables, check=True)
        return report.read_text().splitlines()

    assert reported("file") == [f"R {tmp_path}/input"]
    assert reported("missing") == ["R /nowhere/input"]
    assert reported("variable") == ["E N_ROWS"]
    assert reported("duration") == []
    for what in ("seed", "clock", "random", "writes", "other"):
        assert [line[0] for line in reported(what)][:1] == ["X"], what


PROGRAM = """#include <cstdio>
__global__ void fill(int* x, int n) { if (threadIdx.x < n) x[threadIdx.x] = n; }
int main() {
    int* x; int n = 0;
    cudaMalloc(&x, 128);
    if (FILE* file = fopen("n.txt", "r")) (void)!fscanf(file, "%d", &n);
    fill<<<1, 32>>>(x, n);
    cudaDeviceSynchronize();
}
"""


@needs_capture
@pytest.mark.slow
def test_second_capture_is_first_until_input_changes(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMSIM_CACHE_MB", "100")
    monkeypatch.chdir(tmp_path)
    Path("fill.cu").write_text(PROGRAM)

    def capture(number):
        Path("n.txt").write_text(str(number))
        done = run_here(tmp_path, ["capture", "fill.cu", "-o", "t.h5", "--force", "-q"])
        assert done.returncode == 0, done.stderr
        return Path("t.h5").read_bytes(), "taken from the cache" in done.stderr

    first, was_kept = capture(7)
    assert not was_kept
    assert capture(7) == (first, True)
    other, was_kept = capture(9)
    assert other != first and not was_kept
    assert capture(7) == (first, True)
    Path("t.h5").unlink()
    again = memsim.capture("fill.cu", out="t.h5", cached=False)
    assert Path("t.h5").read_bytes() == first and stored_captures.NOTE not in again.notes
