"""``memsim capture`` from the command line: programs run whole, their traces are right, and failures are one line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from compilers import needs_gxx

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
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
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
    assert done.stderr.splitlines() == [
        "memsim: first: grid 4, block 64, 512 accesses in launch 0 of 2 launches (captured)",
        "memsim: second: grid 1, block 64, 192 accesses in launch 0 of 1 launches",
    ]
    assert {name for name in files(app) - before if not name.startswith("kept/")} == {"t.h5"}
    assert (app / "kept" / "build.log").is_file()

    trace = Trace.open(app / "t.h5")
    assert (trace.launch.grid, trace.launch.block, trace.launch.registers) == ((4, 1, 1), (64, 1, 1), 20)
    assert trace.parameters == {"arguments": "4", "launch": 0, "order": 0, "registers_from": "--registers"}
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
    launched = "launched are first, second"
    assert done.stderr == f"memsim: --kernel: third is no kernel of the program; {launched}\n"
    done = captured(app, "-o", str(path), "-q", "--kernel", "first", "--launch", "2")
    assert (done.returncode, files(tmp_path)) == (2, set())
    assert "--launch: 2 never came" in done.stderr
    done = captured(app, "-o", str(tmp_path / "of"), "-q", "--kernel", "first,second", "--launch", "1,2")
    assert (done.returncode, files(tmp_path)) == (0, {"of/first-1.h5"})
    assert done.stderr.splitlines() == [
        "memsim: --launch: 2 of first never came",
        "memsim: --launch: 1, 2 of second never came",
    ]


def test_a_program_that_fails_leaves_no_trace(app, tmp_path):
    done = captured(app, "-o", str(tmp_path / "t.h5"), "--", "4", "7")
    assert (done.returncode, files(tmp_path)) == (2, set())
    assert done.stdout == "y[5] = 15\n"
    assert done.stderr == "memsim: app.cu: run ended with exit code 7; no trace was kept\n"


LONG = """
#include <cstdio>
#include <ctime>
#include <unistd.h>
__global__ void work(int *x) { x[blockIdx.x % 64] = threadIdx.x; }
__global__ void after(int *x) { x[threadIdx.x] = 1; }
int main(int argc, char **argv) {
    int *x;
    cudaMalloc(&x, 256);
    printf("begun\\n");
    work<<<BLOCKS, 64>>>(x);
    printf("COMPLETED SUCCESSFULLY\\n");
    fflush(stdout);
    after<<<1, 64>>>(x);
    sleep(SECONDS);
    return 7;
}
"""


@pytest.fixture(scope="module")
def long(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("long")
    (folder / "long.cu").write_text(LONG)
    return folder


def long_captured(long: Path, blocks: int, seconds: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    shape = ("-D", f"BLOCKS={blocks}", "-D", f"SECONDS={seconds}", "--registers", "20")
    return memsim(long, "long.cu", *shape, "-q", *arguments)


@pytest.mark.parametrize("times", [1, pytest.param(5, marks=pytest.mark.slow)])
def test_a_stopped_program_says_nothing_after_its_trace(long, tmp_path, times):
    """What it printed before is there, what it would have printed next never is."""
    for number in range(times):
        done = long_captured(long, 4, 0, "-o", str(tmp_path / f"{number}.h5"), "--stop")
        assert (done.returncode, done.stdout, done.stderr) == (0, "begun\n", "")
        assert list(Trace.open(tmp_path / f"{number}.h5").block_ids) == [0, 1, 2, 3]


@pytest.mark.parametrize("options", [("--blocks", "3:9"), ("--blocks", "0:1"), ("--blocks", "5:6", "--snapshot-only")])
def test_a_program_stops_when_the_last_wanted_block_has_run(long, tmp_path, options):
    """All two thousand million would take hours, and then the program sleeps."""
    path = tmp_path / "t.h5"
    done = long_captured(long, 2**31 - 1, 600, "-o", str(path), "--stop", *options)
    assert (done.returncode, done.stdout, done.stderr) == (0, "begun\n", "")
    first, last = map(int, options[1].split(":"))
    assert list(Trace.open(path).block_ids) == list(range(first, last))


def test_with_a_folder_a_program_stops_when_each_launched_kernel_has_its_trace(long, tmp_path):
    done = long_captured(long, 4, 600, "-o", str(tmp_path), "--stop")
    assert (done.returncode, done.stdout) == (0, "begun\nCOMPLETED SUCCESSFULLY\n")
    assert files(tmp_path) == {"work.h5", "after.h5"}


WRONG = "what the program printed or wrote after that is wrong and not to be read"


def test_results_of_a_snapshot_are_said_to_be_wrong(app, tmp_path):
    """Unless nothing was left out, or the program ended there."""
    only = ("-o", str(tmp_path / "t.h5"), "-q", "--kernel", "first", "--snapshot-only")
    done = captured(app, *only, "--blocks", "0:2", "--", "4")
    assert done.returncode == 0
    assert done.stderr == f"memsim: 2 of 4 blocks of first ran (--snapshot-only): {WRONG}; --stop ends it there\n"
    for options in ("--blocks", "0:4"), ("--blocks", "0:2", "--stop"):
        (tmp_path / "t.h5").unlink()
        done = captured(app, *only, *options, "--", "4")
        assert (done.returncode, done.stderr) == (0, "")


def test_a_program_that_fails_on_a_snapshots_data_is_not_blamed(app, tmp_path):
    options = ("-o", str(tmp_path / "t.h5"), "-q", "--kernel", "first", "--snapshot-only", "--blocks", "0:2")
    done = captured(app, *options, "--", "4", "7")
    assert (done.returncode, files(tmp_path)) == (2, set())
    wrong = "its data were wrong (2 of 4 blocks of first ran: --snapshot-only); --stop ends it before it uses them"
    assert done.stderr == f"memsim: app.cu: run ended with exit code 7; no trace was kept; {wrong}\n"


LAUNCHES = """
#include <cstdio>
namespace deep { template <class T> __global__ void smooth(T *x) { x[threadIdx.x] = 1; } }
__global__ void sharpen(float *x) { x[threadIdx.x] = 2; }
__global__ void unused(float *x) { x[threadIdx.x] = 3; }
#define RUN(kernel) kernel<<<1, 32>>>(x)
int main() {
    float *x;
    puts("ran");
    cudaMalloc(&x, 128);
    deep::smooth<float><<<1, 32>>>(x);
    RUN(sharpen);
    EXTRA
}
"""
POINTED = "void (*pointed)(float *) = unused; pointed<<<1, 32>>>(x);"
LISTED = "void (*all[])(float *) = {deep::smooth<float>, unused}; for (auto one : all) one<<<1, 32>>>(x);"
CALLED = "void *all[] = {&x}; cudaLaunchKernel((const void *)unused, dim3(1), dim3(32), all);"


@pytest.mark.parametrize(
    ("extra", "kernel", "runs", "told"),
    [
        ("", "smoth", False, "is no kernel of the program; did you mean smooth? launched are smooth, sharpen"),
        ("", "harden", False, "is no kernel of the program; did you mean sharpen? launched are smooth, sharpen"),
        ("", "deep::smooth", False, "is no kernel of the program; did you mean smooth? launched are smooth, sharpen"),
        ("", "unused", False, "is launched nowhere in the source; launched are smooth, sharpen"),
        (
            POINTED,
            "smoth",
            False,
            "is no kernel of the program; did you mean smooth? launched are smooth, sharpen, poi",
        ),
        (POINTED, "unused", True, None),
        (POINTED, "pointed", True, "was never launched; launched were smooth (1), sharpen (1), unused (1)"),
        (LISTED, "smooth", True, None),
        (LISTED, "unused", True, None),
        (CALLED, "unused", True, None),
        (CALLED, "smoth", True, "was never launched; launched were smooth (1), sharpen (1), unused (1)"),
        ("", "sharpen", True, None),
        ("", "smooth", True, None),
    ],
)
def test_a_kernel_that_cannot_come_is_refused_before_the_program_runs(tmp_path, extra, kernel, runs, told):
    (tmp_path / "app.cu").write_text(LAUNCHES.replace("EXTRA", extra))
    done = memsim(tmp_path, "app.cu", "-o", "t.h5", "-q", "--registers", "20", "--kernel", kernel)
    assert done.stdout == ("ran\n" if runs else "")
    if told is None:
        assert done.returncode == 0 and Trace.open(tmp_path / "t.h5").kernel == kernel
    else:
        assert done.returncode == 2 and done.stderr.startswith(f"memsim: --kernel: {kernel} {told}")
        assert files(tmp_path) == {"app.cu"}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["absent.cu", "-o", "x.h5"], "absent.cu: file does not exist; give CUDA C++ source"),
        (["app.cu", "-o", "absent/x.h5"], "absent/x.h5: folder absent does not exist; make it first"),
        (["app.cu", "-o", "x.h5"], "memsim: app.cu:4: code is not understood: 'scale.cuh' file not found"),
        (["app.cu", "-I", "inc", "-o", "x.h5"], "inc/scale.cuh:2: code is not understood: use of undeclared"),
        (["inc", "-o", "x.h5"], "inc: file is a folder; give CUDA C++ source"),
        (["app.cu", "-D", "5", "-o", "x.h5"], "-D: 5 is no macro; give NAME or NAME=VALUE"),
        (["app.cu", "--by", "source", "--use-fast-math", "-o", "x.h5"], "app.cu: --use-fast-math is of compiled code"),
    ],
)
def test_bad_input_is_one_line(app, arguments, told):
    done = memsim(app, *arguments)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and told in done.stderr
    assert not (app / "x.h5").exists()
