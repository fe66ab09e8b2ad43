"""``memsim capture`` from the command line: programs run whole, their traces are right, and failures are one line."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from compilers import needs_gxx
from processes import are_gone

from memsim.sources.capture.build import Sources
from memsim.sources.capture.resources import Needs, Resources
from memsim.support.compiled import LOADING
from memsim.trace.reader import Trace
from memsim.trace.schema import Kind, Space

pytestmark = needs_gxx

PROGRAM = """
#include <cstdio>
#include <cstdlib>
#include "scale.cuh"

__global__ void first(const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = scaled(x, i);
}

static __shared__ int box[64];

__global__ void second(int *count) {
    __shared__ int spare[8];
    box[threadIdx.x] = atomicAdd(count, 1);
    if (box[threadIdx.x] >= 64) spare[0] = 1;
}

int main(int argc, char **argv) {
    int blocks = argc > 1 ? atoi(argv[1]) : 4, n = blocks * 64, code = argc > 2 ? atoi(argv[2]) : 0;
    float *x, *y, *back = new float[n];
    int *count;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMalloc(&count, sizeof(int));
    for (int i = 0; i < n; i++) back[i] = i;
    cudaMemcpy(x, back, n * sizeof(float), cudaMemcpyHostToDevice);
    for (int repeat = 0; repeat < 2; repeat++) first<<<blocks, 64>>>(x, y);
    second<<<1, 64>>>(count);
    cudaMemcpy(back, y, n * sizeof(float), cudaMemcpyDeviceToHost);
    printf("y[5] = %g\\n", back[5]);
    return code;
}
"""
SCALE = """
__device__ float scaled(const float *x, int i) { return FACTOR * x[i]; }
"""


@pytest.fixture(scope="module")
def app(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("app")
    (folder / "inc").mkdir()
    (folder / "inc" / "scale.cuh").write_text(SCALE)
    (folder / "app.cu").write_text(PROGRAM)
    return folder


def memsim(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "memsim", "capture", *arguments]
    environment = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    done.stderr = done.stderr.replace(f"{LOADING}\n", "")  # on a busy machine, or the first time
    return done


def captured(app: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return memsim(app, "app.cu", "-I", "absent", "-I", "inc", "-D", "FACTOR=3", "--registers", "20", *arguments)


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_a_program_is_captured_by_one_command(app):
    before = files(app)
    done = captured(app, "-o", "t.h5", "--blocks", "1:3", "--keep", "kept", "--", "4")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("y[5] = 15\nfirst from app.cu\n")
    assert "captured first, launch 0; launched too: second (1); choose with --kernel" in done.stderr
    assert {name for name in files(app) - before if not name.startswith("kept/")} == {"t.h5"}
    assert (app / "kept" / "build.log").is_file()

    trace = Trace.open(app / "t.h5")
    assert (trace.launch.grid, trace.launch.block, trace.launch.registers) == ((4, 1, 1), (64, 1, 1), 20)
    assert trace.parameters == {"arguments": "4", "launch": 0, "registers_from": "--registers"}
    assert list(trace.block_ids) == [1, 2]
    assert [(op.kind, op.space, op.text, op.file, op.width) for op in trace.ops] == [
        (Kind.load, Space.global_, "x[i]", "inc/scale.cuh", 4),
        (Kind.store, Space.global_, "y[i]", "app.cu", 4),
    ]
    assert [trace.arrays[op.array].name for op in trace.ops] == ["x", "y"]
    base = {array.name: array.base for array in trace.arrays}
    chunk = next(iter(trace.chunks()))
    expected = [base[name] + 4 * 32 * warp for warp in range(2, 6) for name in ("x", "y")]
    assert chunk.base.tolist() == expected
    assert np.all(chunk.stride == 4) and np.all(chunk.mask == 0xFFFFFFFF)


def test_a_folder_gets_a_trace_of_every_kernel(app, tmp_path):
    done = captured(app, "-o", str(tmp_path), "-q")
    assert done.returncode == 0, done.stderr
    assert files(tmp_path) == {"first.h5", "second.h5"}
    trace = Trace.open(tmp_path / "second.h5")
    assert [(op.kind, op.space, trace.arrays[op.array].name) for op in trace.ops] == [
        (Kind.atomic, Space.global_, "count"),
        (Kind.store, Space.shared, "box"),
        (Kind.load, Space.shared, "box"),
    ]
    assert trace.launch.shared_bytes == 8 * 4 + 64 * 4, "what no thread of this run used is there too"


def test_which_kernel_and_launch_is_chosen(app, tmp_path):
    path = tmp_path / "t.h5"
    done = captured(app, "-o", str(path), "-q", "--kernel", "third")
    assert (done.returncode, files(tmp_path)) == (2, set())
    assert done.stderr == "memsim: --kernel: third was never launched; launched were first (2), second (1)\n"
    done = captured(app, "-o", str(path), "-q", "--kernel", "first", "--launch", "2")
    assert (done.returncode, files(tmp_path)) == (2, set())
    assert "--launch: 2 never came" in done.stderr


def test_a_program_that_fails_leaves_no_trace(app, tmp_path):
    done = captured(app, "-o", str(tmp_path / "t.h5"), "--", "4", "7")
    assert (done.returncode, files(tmp_path)) == (2, set())
    assert done.stdout == "y[5] = 15\n"
    assert done.stderr == "memsim: app.cu: run ended with exit code 7; no trace was kept\n"


def test_a_program_may_be_stopped_when_its_trace_is_complete(app, tmp_path):
    done = captured(app, "-o", str(tmp_path / "t.h5"), "-q", "--stop", "--", "4", "7")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert len(Trace.open(tmp_path / "t.h5").block_ids) == 4


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["absent.cu", "-o", "x.h5"], "absent.cu: file does not exist; give CUDA C++ source"),
        (["app.cu", "-o", "absent/x.h5"], "absent/x.h5: folder absent does not exist; make it first"),
        (["app.cu", "-o", "x.h5"], "memsim: app.cu:4: code is not understood: 'scale.cuh' file not found"),
        (["app.cu", "-I", "inc", "-o", "x.h5"], "inc/scale.cuh:2: code is not understood: use of undeclared"),
        (["inc", "-o", "x.h5"], "inc: file is a folder; give CUDA C++ source"),
        (["app.cu", "-D", "5", "-o", "x.h5"], "-D: 5 is no macro; give NAME or NAME=VALUE"),
    ],
)
def test_bad_input_is_one_line(app, arguments, told):
    done = memsim(app, *arguments)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and told in done.stderr
    assert not (app / "x.h5").exists()


NVCC = """#!/bin/sh
for one in "$@"; do case $one in *.cu)
    name=$(basename "$one" .cu)
    echo "ptxas info : Compiling entry function '_Z${#name}${name}v' for 'sm_75'"
    echo "ptxas info : Used 1${#name} registers, used 1 barriers, 2048 bytes smem, 360 bytes cmem[0]"
;; esac; done
touch "made-in-the-current-folder"
"""


def test_registers_come_from_nvcc_or_a_default_that_says_so(tmp_path, monkeypatch):
    """Every file's kernels are asked for, and nothing is left where the user is."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "nvcc").write_text(NVCC)
    (tmp_path / "bin" / "nvcc").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    sources = Sources((Path("one.cu"), Path("three.cu"), Path("host.cpp")))
    for path, expected in (f"{tmp_path}/bin:/usr/bin:/bin", Needs(15, 2048, "nvcc")), ("", Needs(32, 0, "default")):
        monkeypatch.setenv("PATH", path)
        resources = Resources(sources)
        assert resources.needs("three") == expected
        assert resources.needs("other") == Needs(32, 0, "default")
        resources.close()
    assert files(tmp_path) == {"bin/nvcc"}


SLOW_NVCC = """#!/bin/sh
mktemp -d
sleep 60 &
echo $! > "$OUT.part"
mv "$OUT.part" "$OUT"
wait
"""


def test_the_compilers_that_nvcc_started_end_with_it(tmp_path, monkeypatch):
    """When nobody waits for the report: none goes on, and what they wrote goes too."""
    (tmp_path / "nvcc").write_text(SLOW_NVCC)
    (tmp_path / "nvcc").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("OUT", str(tmp_path / "compiler"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    resources = Resources(Sources((Path("one.cu"),)))
    while not (tmp_path / "compiler").exists():
        time.sleep(0.01)
    resources.close()
    assert are_gone([int((tmp_path / "compiler").read_text())])
    assert list((tmp_path / "temporary").iterdir()) == []
