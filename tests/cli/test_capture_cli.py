"""``memsim capture`` from the command line: traces are right, programs end when they should, failures are one line."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path
from uuid import uuid4

import pytest
from compilers import needs_capture
from here import run_here

from memsim.capture import build
from memsim.capture.compilers import find_compiler
from memsim.capture.linking import link_folder
from memsim.jit.compiled import LOADING
from memsim.trace.reader import Trace
from memsim.trace.schema import NO_OP, OpKind, Space

pytestmark = needs_capture

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
BUSY = re.compile(rf"{re.escape(LOADING)}|memsim: it has run for|^(compiling|tracing|loops): ")
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
    done = run_here(folder, ["capture", *arguments])
    # A busy machine may take long, as may the first time: then it says so.
    lines = [one for one in done.stderr.splitlines(keepends=True) if not BUSY.search(one)]
    done.stderr = "".join(lines)
    return done


def captured(app: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return memsim(app, "app.cu", "-I", "absent", "-I", "inc", "-D", "FACTOR=3", "--registers", "20", *arguments)


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_a_program_is_captured_by_one_command(app):
    before = files(app)
    done = captured(app, "-o", "t.h5", "--blocks", "1:3", "--keep", "kept", "--to-end", "--", "4")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("y[5] = 15\nfirst from app.cu\n")
    assert done.stderr.splitlines() == [
        "memsim: first: grid 4, block 64, 512 accesses in launch 0 of 2 launches (captured)",
        "memsim: second: grid 1, block 64, 64 accesses in launch 0 of 1 launches",
    ]
    assert {name for name in files(app) - before if not name.startswith("kept/")} == {"t.h5"}
    assert (app / "kept" / "build.log").is_file()

    trace = Trace.open(app / "t.h5")
    assert (trace.launch.grid, trace.launch.block, trace.launch.registers) == ((4, 1, 1), (64, 1, 1), 20)
    given = {name: trace.parameters[name] for name in ("arguments", "launch", "order", "compiled_for")}
    assert given == {"arguments": "4", "launch": 0, "order": 0, "compiled_for": "sm_89"}
    assert list(trace.block_ids) == [1, 2]
    assert [(op.kind, op.space, op.file, op.width) for op in trace.ops] == [
        (OpKind.load, Space.global_, "inc/scale.cuh", 4),
        (OpKind.store, Space.global_, "app.cu", 4),
    ]
    assert [trace.arrays[op.array].name for op in trace.ops] == ["x", "y"]
    base = {array.name: array.base for array in trace.arrays}
    found = [
        (int(at), int(stride), int(mask))
        for chunk in trace.chunks()
        for op, at, stride, mask in zip(chunk.op, chunk.base, chunk.stride, chunk.mask, strict=True)
        if op != NO_OP
    ]
    expected = [base[name] + 4 * 32 * warp for warp in range(2, 6) for name in ("x", "y")]
    assert found == [(at, 4, 0xFFFFFFFF) for at in expected]


@pytest.mark.slow
def test_a_folder_gets_a_trace_of_every_kernel(app, tmp_path):
    done = captured(app, "-o", str(tmp_path), "-q")
    assert done.returncode == 0, done.stderr
    assert files(tmp_path) == {"first.h5", "second.h5"}
    trace = Trace.open(tmp_path / "second.h5")
    assert [(op.kind, op.space, trace.arrays[op.array].name) for op in trace.ops][:2] == [
        (OpKind.atomic, Space.global_, "count"),
        (OpKind.store, Space.shared, "box"),
    ]
    assert trace.launch.shared_bytes >= 64 * 4


@pytest.mark.slow
def test_which_kernel_and_launch_is_chosen(app, tmp_path):
    path = tmp_path / "t.h5"
    done = captured(app, "-o", str(path), "-q", "--kernel", "third")
    assert (done.returncode, files(tmp_path)) == (2, set())
    assert done.stderr == "memsim: --kernel: third was never launched; launched kernels: first (2), second (1)\n"
    done = captured(app, "-o", str(path), "-q", "--kernel", "first", "--launch", "2")
    assert (done.returncode, files(tmp_path)) == (2, set())
    assert "--launch: 2 was never launched" in done.stderr
    done = captured(app, "-o", str(tmp_path / "of"), "-q", "--kernel", "first,second", "--launch", "1,2")
    assert (done.returncode, files(tmp_path)) == (0, {"of/first-1.h5"})
    assert done.stderr.splitlines() == [
        "memsim: --launch: 2 of first was never launched",
        "memsim: --launch: 1, 2 of second was never launched",
    ]


@pytest.mark.slow
def test_alike_launches_share_a_trace_by_default(app, tmp_path):
    done = captured(app, "-o", str(tmp_path / "shared"), "--launch", "all", "-q")
    assert (done.returncode, files(tmp_path / "shared")) == (0, {"first-0.h5", "second-0.h5", "launches.json"})
    assert done.stderr.startswith("memsim: 2 of 3 launches are traced; they represent the others")
    done = captured(app, "-o", str(tmp_path / "each"), "--launch", "all", "-q", "--every-launch")
    assert (done.returncode, done.stderr) == (0, "")
    assert files(tmp_path / "each") == {"first-0.h5", "first-1.h5", "second-0.h5", "launches.json"}
    refused = captured(app, "-o", str(tmp_path / "one.h5"), "--every-launch")
    assert refused.returncode == 2 and "--every-launch needs all launches" in refused.stderr


@pytest.mark.slow
def test_a_program_that_fails_leaves_no_trace(app, tmp_path):
    done = captured(app, "-o", str(tmp_path / "t.h5"), "--to-end", "--", "4", "7")
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


ENDED = (
    "memsim: captured launch 0 of work and ended the program there; --to-end runs it to its end and captures the "
    "launch with the most accesses, --kernel NAME captures another kernel\n"
)


@pytest.mark.slow
def test_a_stopped_program_says_nothing_after_its_trace(long, tmp_path):
    """What it printed before is there, what it would have printed next never is."""
    for number in range(5):
        done = long_captured(long, 4, 0, "-o", str(tmp_path / f"{number}.h5"))
        assert (done.returncode, done.stdout, done.stderr) == (0, "begun\n", ENDED)
        assert list(Trace.open(tmp_path / f"{number}.h5").block_ids) == [0, 1, 2, 3]


@pytest.mark.slow
@pytest.mark.parametrize("options", [("--blocks", "3:9"), ("--blocks", "0:1"), ("--blocks", "5:6", "--snapshot-only")])
def test_program_stops_when_last_requested_block_has_run(long, tmp_path, options):
    """All two thousand million would take hours, and then the program sleeps."""
    path = tmp_path / "t.h5"
    done = long_captured(long, 2**31 - 1, 600, "-o", str(path), *options)
    assert (done.returncode, done.stdout, done.stderr) == (0, "begun\n", ENDED)
    first, last = map(int, options[1].split(":"))
    assert list(Trace.open(path).block_ids) == list(range(first, last))


@pytest.mark.slow
def test_program_stops_when_each_named_kernel_is_traced(long, tmp_path):
    done = long_captured(long, 4, 600, "-o", str(tmp_path), "--kernel", "work,after")
    assert (done.returncode, done.stdout) == (0, "begun\nCOMPLETED SUCCESSFULLY\n")
    assert files(tmp_path) == {"work.h5", "after.h5"}


WRONG = "what the program printed or wrote after that is wrong"


@pytest.mark.slow
def test_wrong_results_of_sampled_blocks_are_reported(app, tmp_path):
    """Unless nothing was left out."""
    only = ("-o", str(tmp_path / "t.h5"), "-q", "--kernel", "first", "--snapshot-only", "--to-end")
    done = captured(app, *only, "--blocks", "0:2", "--", "4")
    assert done.returncode == 0
    assert done.stderr == f"memsim: 2 of 4 blocks of first ran (--snapshot-only): {WRONG}\n"
    (tmp_path / "t.h5").unlink()
    done = captured(app, *only, "--blocks", "0:4", "--", "4")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_program_failing_on_sampled_data_is_not_blamed(app, tmp_path):
    options = ("-o", str(tmp_path / "t.h5"), "-q", "--kernel", "first", "--snapshot-only", "--blocks", "0:2")
    done = captured(app, *options, "--to-end", "--", "4", "7")
    assert (done.returncode, files(tmp_path)) == (2, set())
    wrong = "its data were wrong (2 of 4 blocks of first ran: --snapshot-only)"
    assert done.stderr == f"memsim: app.cu: run ended with exit code 7; no trace was kept; {wrong}\n"


NAMES = """
namespace deep { template <class T> __global__ void smooth(T *x) { x[threadIdx.x] = 1; } }
template <class T> __global__ void sharpen(T *x) { x[threadIdx.x] = 2; }
__global__ void pointed(float *x) { x[threadIdx.x] = 3; }
int main() {
    float *x;
    cudaMalloc(&x, 256);
    deep::smooth<float><<<1, 32>>>(x);
    sharpen<float><<<1, 32>>>(x);
    sharpen<double><<<1, 32>>>((double *)x);
    void (*pointer)(float *) = pointed;
    pointer<<<1, 32>>>(x);
    void *all[] = {&x};
    cudaLaunchKernel((const void *)pointed, dim3(1), dim3(32), all);
}
"""


@pytest.mark.slow
def test_kernels_have_their_names_without_namespaces(tmp_path):
    (tmp_path / "app.cu").write_text(NAMES)
    done = memsim(tmp_path, "app.cu", "-o", "t", "-q", "--registers", "20")
    assert done.returncode == 0, done.stderr
    assert {Trace.open(path).kernel for path in (tmp_path / "t").iterdir()} == {
        "smooth", "sharpen<float>", "sharpen<double>", "pointed",
    }  # fmt: skip
    assert "pointed: grid 1, block 32, 32 accesses in launch 0 of 2 launches (captured)" in done.stderr
    done = memsim(tmp_path, "app.cu", "-o", "t.h5", "-q", "--registers", "20", "--kernel", "smooth")
    assert done.returncode == 0 and Trace.open(tmp_path / "t.h5").kernel == "smooth"


@pytest.fixture(scope="module")
def executable(app) -> Path:
    made = app / "app"
    options = ["-I", "inc", "-DFACTOR=3", "app.cu", "-o", str(made)]
    subprocess.run([sys.executable, "-m", "memsim", "nvcc", "-arch=sm_80", *options], cwd=app, check=True)
    return made


@pytest.mark.slow
def test_executable_is_captured_with_its_own_options(executable, app, tmp_path):
    """As with ncu, what stands after the program's name is the program's."""
    done = memsim(app, "-o", str(tmp_path / "t.h5"), "-q", "--kernel", "second", "./app", "6", "0")
    assert done.returncode == 0, done.stderr
    trace = Trace.open(tmp_path / "t.h5")
    assert (trace.kernel, trace.parameters["arguments"]) == ("second", "6 0")
    done = memsim(app, "./app", "-o", str(tmp_path / "u.h5"), "-q", "--to-end", "--", "6", "7")
    assert (done.returncode, done.stderr) == (2, "memsim: ./app: run ended with exit code 7; no trace was kept\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-arch=sm_80"], "links the static CUDA runtime"),
        (["-cudart", "shared", "-gencode", "arch=compute_80,code=sm_80"], "has no PTX, and no machine code for sm_90"),
    ],
)
def test_uncapturable_executable_is_refused_before_it_runs(app, tmp_path, options, message):
    """The message names the flags that help."""
    compiler = find_compiler()
    if "shared" in options:
        options = [*options, "-L", str(link_folder(compiler))]  # NVIDIA's wheels have no libcudart.so
    command = [str(compiler.path), "-I", "inc", "-DFACTOR=3", *options, "app.cu", "-o", str(tmp_path / "app")]
    subprocess.run(command, cwd=app, check=True)
    done = memsim(tmp_path, "-o", "t.h5", "--gpu", "h100", "./app")
    assert (done.returncode, done.stdout, files(tmp_path)) == (2, "", {"app"})
    assert done.stderr.startswith(f"memsim: ./app: program {message}") and done.stderr.count("\n") == 1
    assert "-cudart shared" in done.stderr and "CMAKE_CUDA_ARCHITECTURES=89-virtual" in done.stderr


@pytest.mark.slow
def test_executable_without_ptx_runs_as_machine_code(app, tmp_path):
    """Its own check of its results passes, printed text and variables included."""
    compiler = find_compiler()
    options = ["-cudart", "shared", "-gencode", "arch=compute_86,code=sm_86", "-L", str(link_folder(compiler))]
    command = [str(compiler.path), "-I", "inc", "-DFACTOR=3", *options, "app.cu", "-o", str(tmp_path / "app")]
    subprocess.run(command, cwd=app, check=True)
    done = memsim(tmp_path, "-o", "t.h5", "-q", "--gpu", "rtx3080", "--to-end", "./app", "6", "0")
    assert done.returncode == 0, done.stderr
    assert Trace.open(tmp_path / "t.h5").parameters["code"] == "machine code for sm_86"


@pytest.mark.slow
def test_changed_header_compiles_the_program_again(app, tmp_path):
    for name in ("app.cu", "inc/scale.cuh"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text((app / name).read_text())
    shown = []
    for factor in ("x[i]", "2 * x[i]", "x[i]"):
        (tmp_path / "inc" / "scale.cuh").write_text(SCALE.replace("x[i]", factor))
        done = captured(tmp_path, "-o", "t.h5", "-qf", "--kernel", "first", "--launch", "1", "--to-end")
        shown.append(done.stdout)
    assert shown == ["y[5] = 15\n", "y[5] = 30\n", "y[5] = 15\n"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["absent.cu", "-o", "x.h5"], "absent.cu: file does not exist; give CUDA C++ source"),
        (["app.cu", "-o", "absent/x.h5"], "absent/x.h5: folder absent does not exist; create it first"),
        (["app.cu", "-o", "x.h5"], "memsim: app.cu:4: code does not compile: scale.cuh: No such file or directory"),
        (["app.cu", "-I", "inc", "-o", "x.h5"], "inc/scale.cuh:2: code does not compile: identifier"),
        (["inc", "-o", "x.h5"], "inc: program is a folder; give an executable, CUDA C++ files or a Python file"),
        (["absent", "-o", "x.h5"], "absent: program does not exist; give an executable, CUDA C++ files or"),
        (["app.cu", "-D", "5", "-o", "x.h5"], "-D: 5 is not a macro; give NAME or NAME=VALUE"),
        (["-D", "N=1", "-o", "x.h5", "/bin/true"], "/bin/true: -D is for CUDA C++ files"),
        (["-o", "x.h5", "/bin/true"], "/bin/true: run launched no kernel"),
    ],
)
def test_bad_input_is_one_line(app, arguments, message):
    done = memsim(app, *arguments)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and message in done.stderr
    assert not (app / "x.h5").exists()


@pytest.mark.slow
def test_a_compilation_that_takes_long_is_a_line(tmp_path, monkeypatch):
    """Each phase that lasts over three seconds says so where there is no terminal."""
    compile_ = build._Log.run
    monkeypatch.setattr(build._Log, "run", lambda *given: (time.sleep(3.2), compile_(*given)))
    (tmp_path / "slow.cu").write_text(
        f"// {uuid4()}: no executable is in the cache\n"
        "__global__ void k(float *x) { x[threadIdx.x] = 1; }\n"
        "int main() { float *x; cudaMalloc(&x, 4096); k<<<1, 64>>>(x); return cudaDeviceSynchronize(); }\n"
    )
    done = run_here(tmp_path, ["capture", "slow.cu", "-o", "t.h5"])
    assert done.returncode == 0 and "compiling: 3 s so far\n" in done.stderr
