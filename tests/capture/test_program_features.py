"""What CUDA C++ programs are made of, in one program that checks its own results and is captured once."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from compilers import needs_capture

import memsim
from memsim.capture.build import Sources, build
from memsim.gpu.presets import load_gpu
from memsim.support.errors import InputError
from memsim.trace.info import count
from memsim.trace.reader import Trace
from memsim.trace.schema import OpKind, Space

pytestmark = needs_capture
CHANGES = (OpKind.atomic, OpKind.reduction)

OUTSIDE = "__device__ inline void outside(int *x) { x[threadIdx.x] = 1; }\n"
INSIDE = "__device__ inline void inside(int *x) { x[threadIdx.x] = 1; }\n"
PROGRAM = """#include <cstdio>
#include "../outside.h"
#include "inside.h"
struct Pair { float* to; int shift; };
__constant__ float table[4];
__device__ int calls;
template <class T, int N> __global__ void fill(Pair where, T value, size_t n) {
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) where.to[i + where.shift] = value * table[N];
    if (i == 0) atomicAdd(&calls, 1);
}
__global__ void reverse(int* x) {
    __shared__ int tile[64];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = tile[63 - threadIdx.x];
}
__global__ void lanes(int* x) {
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    x[threadIdx.x] = lane;
}
__global__ void divide(float* x) { x[threadIdx.x] = x[threadIdx.x] / x[threadIdx.x + 32]; }
__global__ void both(int* x) { inside(x); outside(x + 32); }
__global__ void grow(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] += 1; }

int main() {
    float *x, host[4] = {1, 2, 3, 4}, got[300];
    int *y, numbers[64], total;
    cudaMalloc(&x, 4096 * sizeof(float));
    cudaMalloc(&y, sizeof numbers);
    cudaMemcpyToSymbol(table, host, sizeof host);
    fill<float, 1><<<2, 128>>>(Pair{x, 4}, 2, 200);
    fill<double, 3><<<2, 128>>>(Pair{x, 0}, 2.0, 4);
    cudaMemcpy(got, x, sizeof got, cudaMemcpyDeviceToHost);
    cudaMemcpyFromSymbol(&total, calls, sizeof total);
    if (got[4] != 4 || got[203] != 4 || got[0] != 8 || total != 2) return 1;
    lanes<<<1, 64>>>(y);
    reverse<<<1, 64>>>(y);
    cudaMemcpy(numbers, y, sizeof numbers, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 64; i++) if (numbers[i] != 31 - i % 32) return 2;
    divide<<<1, 32>>>(x);
    both<<<1, 32>>>(y);
    grow<<<1, 32>>>(x);
    grow<<<8, 256>>>(x);
    if (scanf("%d", &total) == 1) printf("read %d\\n", total);
    fputs("ran\\n", fopen("runs", "a"));
    return cudaDeviceSynchronize();
}
"""


def _write(folder: Path) -> Path:
    (folder / "app").mkdir()
    (folder / "outside.h").write_text(OUTSIDE)
    (folder / "app/inside.h").write_text(INSIDE)
    (folder / "app/app.cu").write_text(PROGRAM)
    return folder / "app/app.cu"


@pytest.fixture(scope="module")
def captured(tmp_path_factory) -> dict[str, list[Trace]]:
    """The traces of each kernel's launches, in order."""
    folder = tmp_path_factory.mktemp("features")
    command = [sys.executable, "-m", "memsim", "capture", _write(folder), "-o", "traces", "--launch", "all"]
    command += ["--blocks", "all", "-q"]
    done = subprocess.run(command, cwd=folder, input="7", capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("read 7\n"), "the program reads the standard input of the command"
    assert (folder / "runs").read_text() == "ran\n", "it runs once"
    traces = sorted(map(Trace.open, (folder / "traces").glob("*.h5")), key=lambda one: one.parameters["order"])
    kernels: dict[str, list[Trace]] = {}
    for trace in traces:
        kernels.setdefault(trace.kernel.partition("<")[0], []).append(trace)
    return kernels


def _accesses(trace: Trace) -> Counter[tuple[OpKind, Space]]:
    """Lane accesses by kind and space."""
    found: Counter[tuple[OpKind, Space]] = Counter()
    for op, number in zip(trace.ops, count(trace.chunks(), len(trace.ops)).lane_accesses.tolist(), strict=True):
        found[op.kind, op.space] += number
    return found


@pytest.mark.slow
def test_template_instances_are_separate_kernels(captured):
    first, second = captured["fill"]
    assert first.kernel != second.kernel
    assert [_accesses(one)[OpKind.store, Space.global_] for one in (first, second)] == [200, 4]
    for trace in (first, second):  # calls += 1 by one thread
        changes = {
            kind: number for (kind, _), number in _accesses(trace).items() if kind in (OpKind.atomic, OpKind.reduction)
        }
        assert sum(changes.values()) == 1


@pytest.mark.slow
def test_shared_arrays_have_their_own_names(captured):
    (trace,) = captured["reverse"]
    shared = [(one.name, one.bytes, one.element_bytes) for one in trace.arrays if one.space is Space.shared]
    assert shared == [("tile", 256, 4)]
    assert _accesses(trace) == {
        (kind, space): 64 for kind in (OpKind.load, OpKind.store) for space in (Space.global_, Space.shared)
    }


@pytest.mark.slow
def test_inline_ptx_runs_and_is_traced(captured):
    (trace,) = captured["lanes"]
    assert _accesses(trace) == {(OpKind.store, Space.global_): 64}


@pytest.mark.slow
def test_headers_in_the_programs_folder_are_quoted(captured):
    (trace,) = captured["both"]
    """An access in a header elsewhere is reported where the program's own file includes its function."""
    assert {Path(op.file).name for op in trace.ops} == {"inside.h", "app.cu"}
    assert [Path(op.file).name for op in trace.ops if "(outside.h:" in op.text] == ["app.cu"]
    assert sorted(Path(name).name for name in trace.sources) == ["app.cu", "inside.h"]


@pytest.mark.slow
def test_every_launch_has_its_own_trace(captured):
    assert [trace.launch.grid for trace in captured["grow"]] == [(1, 1, 1), (8, 1, 1)]
    assert [trace.parameters["launch"] for trace in captured["grow"]] == [0, 1]


@pytest.mark.slow
def test_fast_math_divides_with_fewer_instructions(tmp_path, captured):
    """CUDA C++ Programming Guide: IEEE division is a function, approximate division a few instructions."""
    file = _write(tmp_path)
    fast = memsim.capture(file, out=tmp_path / "t.h5", kernel="divide", blocks="all", fast_math=True).trace
    exact, approximate = (
        sum(int(chunk.compute_run.sum()) for chunk in one.chunks()) for one in (captured["divide"][0], fast)
    )
    assert approximate < exact - 4


def test_programs_that_do_not_compile_name_the_line(tmp_path):
    (tmp_path / "app.cu").write_text("__global__ void k(int* x) { *x = ; }\nint main() { return 0; }\n")
    with pytest.raises(InputError, match="app.cu:1"):
        memsim.capture(tmp_path / "app.cu", out=tmp_path / "t.h5")
    assert [path.name for path in tmp_path.iterdir()] == ["app.cu"]


@pytest.mark.slow
def test_linkable_programs_may_be_called_rdc(tmp_path):
    """Two files that share a device function are compiled with -rdc=true."""
    (tmp_path / "rdc.cu").write_text(
        "__device__ int next(int);\n__global__ void k(int* x) { *x = next(*x); }\n"
        "int main() { int* x; cudaMalloc(&x, 4); k<<<1, 1>>>(x); return cudaDeviceSynchronize(); }\n"
    )
    (tmp_path / "next.cu").write_text("__device__ int next(int n) { return n + 1; }\n")
    sources = Sources((tmp_path / "rdc.cu", tmp_path / "next.cu"))
    assert build(sources, load_gpu("a100")).name == "rdc"
    found = memsim.capture(sources.files, out=tmp_path / "t.h5")
    assert found.launches == {"k": 1}


@pytest.mark.slow
def test_faults_in_headers_name_the_users_line(tmp_path):
    """atomicAdd is a function of CUDA's headers."""
    (tmp_path / "app.cu").write_text(
        "__global__ void count(int* x) {\n  atomicAdd(x + (1 << 20), 1);\n}\n"
        "int main() { int* x; cudaMalloc(&x, 4); count<<<1, 1>>>(x); return cudaDeviceSynchronize() != 700; }\n"
    )
    with pytest.raises(
        InputError, match=r"app.cu:2: kernel count: atomic of 4 bytes at 0x\w+ by .* 4194300 bytes after"
    ):
        memsim.capture(tmp_path / "app.cu", out=tmp_path / "t.h5")


def test_openmp_is_linked_where_its_header_is(tmp_path):
    program = tmp_path / "threads.cu"
    program.write_text(
        "#include <omp.h>\n"
        "__global__ void set(int *x) { *x = 1; }\n"
        "int main() { int *x; omp_set_num_threads(3); cudaMalloc(&x, 4); set<<<1, 1>>>(x);\n"
        "  return cudaDeviceSynchronize() || omp_get_max_threads() != 3; }\n"
    )
    assert memsim.capture(program, to_end=True, out=tmp_path / "t.h5").exit_code == 0


def test_times_of_the_hosts_clock_are_noted(tmp_path):
    """They are the simulator's; those of events are simulated."""
    program = tmp_path / "clock.cu"
    program.write_text(
        "#include <chrono>\n__global__ void k(int* x) { *x = 1; }\n"
        "int main(int n, char**) { int* x; cudaMalloc(&x, 4); auto now = std::chrono::steady_clock::now();\n"
        "  k<<<1, 1>>>(x); cudaDeviceSynchronize(); return now == std::chrono::steady_clock::now(); }\n"
    )
    captured = memsim.capture(program, out=tmp_path / "t.h5", to_end=True)
    assert [note for note in captured.notes if "the host's clock" in note]
    program.write_text(program.read_text().replace("cudaDeviceSynchronize()", EVENT_TIME))
    captured = memsim.capture(program, out=tmp_path / "e.h5", to_end=True)
    assert not [note for note in captured.notes if "the host's clock" in note]


EVENT_TIME = "cudaEvent_t a; float t; cudaEventCreate(&a); cudaEventRecord(a); cudaEventElapsedTime(&t, a, a)"
