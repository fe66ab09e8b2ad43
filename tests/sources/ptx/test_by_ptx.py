"""CUDA C++ programs by their PTX: what no compiler may change is as in the source, and results are the program's."""

from __future__ import annotations

import shutil
import struct
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from compilers import needs_gxx, needs_nvcc
from places import ROOT

import memsim
from memsim.sources.capture.lane_log import Argument
from memsim.sources.ptx.cpp.entries import fitting
from memsim.sources.ptx.cpp.parameters import Parameter, packed
from memsim.support.errors import InputError
from memsim.trace.info import count
from memsim.trace.schema import Kind, Space

TWO = """
#include <cstdio>
struct Pair { float* to; int shift; };
__constant__ float table[4];
__device__ int calls;
template <class T, int N> __global__ void fill(Pair where, T value, size_t n) {
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) where.to[i + where.shift] = value * table[N];
    if (i == 0) atomicAdd(&calls, 1);
}
int main() {
    float *x, host[4] = {1, 2, 3, 4}, got[300];
    cudaMalloc(&x, 300 * sizeof(float));
    cudaMemcpyToSymbol(table, host, sizeof host);
    fill<float, 1><<<2, 128>>>(Pair{x, 4}, 2, 200);
    fill<double, 3><<<2, 128>>>(Pair{x, 0}, 2.0, 4);
    cudaMemcpy(got, x, sizeof got, cudaMemcpyDeviceToHost);
    return got[4] == 4 && got[203] == 4 && got[0] == 8 ? 0 : 1;
}
"""


def _moved(trace, kind):
    """Lane accesses of a kind to global memory, by source line."""
    lanes = count(trace.chunks(), len(trace.ops)).lane_accesses.tolist()
    found = {}
    for op, number in zip(trace.ops, lanes, strict=True):
        if op.kind is kind and op.space is Space.global_:
            found[op.line] = found.get(op.line, 0) + number
    return found


@needs_gxx
@needs_nvcc
def test_what_a_kernel_loads_and_stores_is_as_in_its_source(tmp_path, capfd):
    traces = [
        memsim.capture(ROOT / "traces/cuda/transpose.cu", out=tmp_path / f"{by}.h5", by=by, blocks="3:7").trace
        for by in ("source", "ptx")
    ]
    assert _moved(traces[0], Kind.load) == _moved(traces[1], Kind.load)
    assert _moved(traces[0], Kind.store) == _moved(traces[1], Kind.store)
    assert [one.name for one in traces[1].arrays] == ["a", "b"]
    assert traces[1].parameters["by"] == "ptx" and "PASSED" in capfd.readouterr().out


@needs_gxx
@needs_nvcc
@pytest.mark.parametrize(("launch", "stores"), [(0, 200), (1, 4)])
def test_instances_structures_and_variables_of_a_program(tmp_path, launch, stores):
    (tmp_path / "two.cu").write_text(TWO)
    trace = memsim.capture(tmp_path / "two.cu", out=tmp_path / "t.h5", by="ptx", launch=launch, blocks="all").trace
    assert sum(_moved(trace, Kind.store).values()) == stores
    kinds = {(op.kind, op.space) for op in trace.ops}
    assert (Kind.store, Space.global_) in kinds and kinds & {
        (Kind.atomic, Space.global_), (Kind.reduction, Space.global_)
    }  # fmt: skip


@needs_gxx
@needs_nvcc
def test_a_librarys_header_that_nvcc_lacks_stops_no_program(tmp_path):
    (tmp_path / "cublas.cu").write_text("#include <cublas_v2.h>\n" + TWO)
    trace = memsim.capture(tmp_path / "cublas.cu", out=tmp_path / "t.h5", by="ptx", launch=1, blocks="all").trace
    assert sum(_moved(trace, Kind.store).values()) == 4


@needs_gxx
@needs_nvcc
def test_of_the_files_of_a_program_those_in_its_folders_are_quoted(tmp_path):
    (tmp_path / "app").mkdir()
    for folder, name in (("", "outside"), ("app", "inside")):
        put = f"__device__ inline void {name}(int *x) {{ x[threadIdx.x] = 1; }}"
        (tmp_path / folder / f"{name}.h").write_text(put)
    program = """#include "../outside.h"
    #include "inside.h"
    __global__ void both(int *x) { inside(x); outside(x + 32); }
    int main() { int *x; cudaMalloc(&x, 256); both<<<1, 32>>>(x); return cudaDeviceSynchronize(); }"""
    (tmp_path / "app/app.cu").write_text(program)
    trace = memsim.capture(tmp_path / "app/app.cu", out=tmp_path / "t.h5", by="ptx").trace
    assert {Path(op.file).name for op in trace.ops} == {"inside.h", "outside.h"}
    assert [Path(name).name for name in trace.sources] == ["inside.h"]


def test_arguments_become_the_parameters_as_cpp_converts_them():
    given = [Argument("i", struct.pack("<i", -2)), Argument("f", struct.pack("<d", 2.5)), Argument("s", b"ab")]
    wanted = [Parameter("u64", 8, 8), Parameter("f32", 4, 4), Parameter("b8", 1, 2)]
    assert packed(given, wanted) == struct.pack("<qf2s", -2, 2.5, b"ab")
    assert packed(given[:2], wanted) is None and packed([given[2], *given[1:]], wanted) is None


def test_an_overloaded_kernel_is_told_by_its_arguments_and_template():
    ptx = "".join(
        f".visible .entry {name}(\n.param .{kind} p\n)\n{{ ret; }}\n"
        for name, kind in (("_Z1kIfLi2EEvT_", "f32"), ("_Z1kIfLi4EEvT_", "f32"), ("_Z1kPf", "u64"))
    )
    real, pointer = Argument("f", bytes(4)), Argument("p", bytes(8))
    assert fitting(ptx, "k", "k<float, 4>", [real]) == ["_Z1kIfLi4EEvT_"]
    assert fitting(ptx, "k", "k", [pointer]) == ["_Z1kPf"]
    assert len(fitting(ptx, "k", "k<T, N>", [real])) == 2


@needs_gxx
def test_without_nvcc_it_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    (tmp_path / "two.cu").write_text(TWO)
    with pytest.raises(InputError, match="nvcc is not installed here"):
        memsim.capture(tmp_path / "two.cu", out=tmp_path / "t.h5", by="ptx")


@needs_gxx
@needs_nvcc
def test_a_mistake_in_the_program_is_told_before_the_loops_are_compiled(tmp_path, monkeypatch):
    from memsim.sources.ptx.cpp import session

    end, waited = threading.Event(), []
    monkeypatch.setattr(session, "load_loops", lambda: waited.append(end.wait(60)))
    (tmp_path / "app.cu").write_text("__global__ void k(int* x) { *x = ; }\nint main() { return 0; }\n")
    with pytest.raises(InputError, match="app.cu:1"):
        memsim.capture(tmp_path / "app.cu", out=tmp_path / "t.h5", by="ptx")
    assert not waited
    end.set()


@needs_gxx
@needs_nvcc
def test_shared_arrays_have_their_own_names(tmp_path):
    kernel = "__global__ void k(int* x) { __shared__ int tile[64]; tile[threadIdx.x] = x[threadIdx.x]; __syncthreads();"
    program = kernel + "x[threadIdx.x] = tile[63 - threadIdx.x]; }"
    launch = "int main() { int* x; cudaMalloc(&x, 256); k<<<1, 64>>>(x); return 0; }"
    (tmp_path / "app.cu").write_text(f"{program}\n{launch}\n")
    trace = memsim.capture(tmp_path / "app.cu", out=tmp_path / "t.h5", by="ptx").trace
    assert [(one.name, one.bytes, one.element_bytes) for one in trace.arrays if one.space is Space.shared] == [
        ("tile", 256, 4)
    ]


SMALL_THEN_LARGE = """
__global__ void warm(float* x) { x[threadIdx.x] = 0; }
__global__ void work(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
int main() {
    float* x;
    cudaMalloc(&x, 4096 * sizeof(float));
    warm<<<1, 32>>>(x);
    work<<<1, 32>>>(x);
    work<<<8, 256>>>(x);
    return 0;
}
"""


@needs_gxx
@needs_nvcc
def test_the_compiled_code_of_the_largest_launch_is_what_auto_means(tmp_path):
    (tmp_path / "app.cu").write_text(SMALL_THEN_LARGE)
    captured = memsim.capture(tmp_path / "app.cu", out=tmp_path / "t.h5", by="auto", blocks="all")
    assert captured.trace.kernel == "work" and captured.trace.launch.grid == (8, 1, 1)
    assert captured.trace.parameters["by"] == "ptx" and captured.launches == {"warm": 1, "work": 2}
    assert any("traced by its compiled code" in note for note in captured.notes)
    exact = memsim.capture(tmp_path / "app.cu", out=tmp_path / "u.h5", by="auto", kernel="work", launch=0, blocks="all")
    assert exact.trace.launch.grid == (1, 1, 1) and exact.trace.parameters["by"] == "ptx"


ONE = """
#include <cstdio>
__global__ void once(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
int main() {
    float* x;
    int n = 0;
    if (scanf("%d", &n) == 1) printf("read %d, ", n);
    printf("ran\\n");
    fflush(stdout);
    cudaMalloc(&x, 4096 * sizeof(float));
    once<<<8, 256>>>(x);
    cudaFree(x);
    float* y;
    cudaMalloc(&y, 4096 * sizeof(float));
    cudaMemset(y, 0, 4096);
    return 0;
}
"""


@needs_gxx
@needs_nvcc
def test_a_program_of_one_launch_runs_once(tmp_path, capfd):
    """Its trace is that of the launch by number, though what it allocates later has the place of its array."""
    (tmp_path / "one.cu").write_text(ONE)
    digests = [
        memsim.capture(tmp_path / "one.cu", out=tmp_path / f"{launch}.h5", by="auto", launch=launch).trace.digest
        for launch in (None, 0)
    ]
    assert digests[0] == digests[1] and capfd.readouterr().out == 2 * "ran\n"


@needs_gxx
@needs_nvcc
def test_input_that_can_be_read_once_is_read_by_the_run_that_counts_accesses(tmp_path):
    """A run that may have to be given up, as a second launch comes, must not take it away."""
    (tmp_path / "one.cu").write_text(ONE)
    command = [sys.executable, "-m", "memsim", "capture", "one.cu", "-o", "t.h5", "-q"]
    told = subprocess.run(command, cwd=tmp_path, input="7", capture_output=True, text=True, check=True).stdout
    assert told.startswith("read 7, ran")


@needs_gxx
@needs_nvcc
@pytest.mark.parametrize(("launch", "files"), [(None, ["warm", "work"]), ("all", ["warm-0", "work-0", "work-1"])])
def test_a_folder_holds_the_compiled_code_of_every_kernel(tmp_path, launch, files):
    (tmp_path / "app.cu").write_text(SMALL_THEN_LARGE)
    captured = memsim.capture(tmp_path / "app.cu", out=tmp_path / "t", by="auto", launch=launch, blocks="all")
    assert sorted(path.stem for path in (tmp_path / "t").iterdir()) == files
    assert {trace.parameters["by"] for trace in captured.traces} == {"ptx"}
    assert [trace.parameters["order"] for trace in captured.traces] == ([0, 2] if launch is None else [0, 1, 2])
    assert captured.launches == {"warm": 1, "work": 2} and captured.traces[-1].launch.grid == (8, 1, 1)


@needs_gxx
@needs_nvcc
@pytest.mark.parametrize("launch", [None, "all"])
def test_of_a_kernel_whose_code_cannot_be_run_the_source_is_traced(tmp_path, monkeypatch, launch):
    from memsim.sources.ptx.cpp import session

    def but_warm(run, *args, **more):
        if run.name == "warm":
            raise InputError("app.cu:2", "ptx", "is not taken here")
        return trace_launch(run, *args, **more)

    (tmp_path / "app.cu").write_text(SMALL_THEN_LARGE)
    trace_launch = session.trace_launch
    monkeypatch.setattr(session, "trace_launch", but_warm)
    captured = memsim.capture(tmp_path / "app.cu", out=tmp_path / "t", by="auto", launch=launch, blocks="all")
    warm, *work = captured.traces
    assert warm.kernel == "warm" and "by" not in warm.parameters and {one.parameters["by"] for one in work} == {"ptx"}
    assert [one.parameters["order"] for one in captured.traces] == ([0, 2] if launch is None else [0, 1, 2])
    assert "warm: traced by its source: app.cu:2: ptx is not taken here" in captured.notes
    with pytest.raises(InputError, match="is not taken here"):
        memsim.capture(tmp_path / "app.cu", out=tmp_path / "u", by="ptx", launch=launch, blocks="all")
    assert not (tmp_path / "u").exists()


@needs_gxx
@pytest.mark.parametrize("stop", [False, True])
def test_auto_falls_back_to_the_source_and_says_why(tmp_path, monkeypatch, stop):
    from memsim.sources.ptx.cpp import best, session

    def refused(*args):
        raise InputError("app.cu:2", "ptx", "is not taken here")

    (tmp_path / "app.cu").write_text(SMALL_THEN_LARGE)
    monkeypatch.setattr(session.Listener, "_trace", refused)
    monkeypatch.setattr(best.shutil, "which", lambda name: "/usr/bin/true")
    captured = memsim.capture(tmp_path / "app.cu", out=tmp_path / "t.h5", by="auto", stop=stop)
    assert captured.trace.path == tmp_path / "t.h5" and "by" not in captured.trace.parameters
    assert f"{captured.trace.kernel}: traced by its source: app.cu:2: ptx is not taken here" in captured.notes
    assert captured.trace.kernel == ("warm" if stop else "work")
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".h5" or path.name.startswith(".")] == ["t.h5"]


@needs_gxx
def test_auto_without_nvcc_is_the_source(tmp_path, monkeypatch):
    from memsim.sources.ptx.cpp import best

    monkeypatch.setattr(best.shutil, "which", lambda name: None)
    (tmp_path / "app.cu").write_text(SMALL_THEN_LARGE)
    captured = memsim.capture(tmp_path / "app.cu", out=tmp_path / "t.h5", by="auto", fast_math=True)
    assert "traced by its source: nvcc is not installed here" in captured.notes
    assert "what is traced by its source is as without --use-fast-math" in captured.notes


@pytest.mark.parametrize(("program", "by"), [("app.cu", "source"), ("app.py", "auto")])
def test_fast_math_is_refused_where_nvcc_compiles_nothing(tmp_path, program, by):
    with pytest.raises(InputError, match="--use-fast-math is"):
        memsim.capture(tmp_path / program, out=tmp_path / "t.h5", by=by, fast_math=True)


ASSEMBLY = """
__global__ void lanes(int *out) {
    unsigned lane;
    for (int i = 0; i < 2; i++) asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    out[blockIdx.x * blockDim.x + threadIdx.x] = lane;
}
int main() {
    int *out;
    cudaMalloc(&out, 64 * sizeof(int));
    lanes<<<1, 64>>>(out);
}
"""


@needs_gxx
@needs_nvcc
def test_inline_ptx_is_traced_by_compiled_code_and_ends_the_program(tmp_path):
    (tmp_path / "asm.cu").write_text(ASSEMBLY)
    captured = memsim.capture(tmp_path / "asm.cu", out=tmp_path / "t.h5", registers=20, by="auto")
    assert _moved(captured.trace, Kind.store) == {5: 64}
    assert "the source has inline PTX, so the program was ended with the trace" in captured.notes[-1]
    with pytest.raises(InputError, match="runs inline PTX .*asm.cu:4.*--stop ends the program before it"):
        memsim.capture(tmp_path / "asm.cu", out=tmp_path / "u.h5", registers=20, by="ptx")


@needs_gxx
def test_the_folder_may_be_the_current_one(tmp_path, monkeypatch):
    from memsim.sources.ptx.cpp import best

    monkeypatch.setattr(best.shutil, "which", lambda name: None)
    (tmp_path / "app.cu").write_text(SMALL_THEN_LARGE)
    monkeypatch.chdir(tmp_path)
    memsim.capture("app.cu", out=".")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["app.cu", "warm.h5", "work.h5"]


@needs_gxx
@needs_nvcc
def test_nothing_is_left_where_neither_code_nor_source_can_be_run(tmp_path, monkeypatch):
    from memsim.sources.ptx.cpp import session

    def but_warm(self, seen):
        if seen.launch.kernel == "warm":
            raise InputError("app.cu:2", "ptx", "is not taken here")
        return trace(self, seen)

    trace = session.Listener._trace
    monkeypatch.setattr(session.Listener, "_trace", but_warm)
    program = SMALL_THEN_LARGE.replace("x[threadIdx.x] = 0;", 'asm volatile("membar.gl;"); x[threadIdx.x] = 0;')
    (tmp_path / "app.cu").write_text(program)
    with pytest.raises(InputError, match="is not taken here"):
        memsim.capture(tmp_path / "app.cu", out=tmp_path / "t.h5", kernel="warm", launch=0, stop=True)
    assert [path.name for path in tmp_path.iterdir()] == ["app.cu"]


DIVIDING = """
__global__ void divide(float* x) { x[threadIdx.x] = x[threadIdx.x] / x[threadIdx.x + 32]; }
int main() {
    float* x;
    cudaMalloc(&x, 64 * sizeof(float));
    divide<<<1, 32>>>(x);
    return cudaDeviceSynchronize();
}
"""


@needs_gxx
@needs_nvcc
def test_fast_math_is_traced_as_nvcc_makes_it(tmp_path):
    """CUDA C++ Programming Guide: a division rounded as IEEE asks is a function, the other a few instructions."""
    (tmp_path / "divide.cu").write_text(DIVIDING)
    gaps = [
        sum(int(chunk.gap.sum()) for chunk in memsim.capture(
            tmp_path / "divide.cu", out=tmp_path / f"{fast}.h5", by="ptx", blocks="all", fast_math=fast
        ).trace.chunks())
        for fast in (False, True)
    ]  # fmt: skip
    assert gaps[1] < gaps[0] - 4


ENDS_WITHOUT_RETURN = """
#include <vector>
bool tell(int n) { std::vector<int> all(n); }
__global__ void store(float* x) { x[threadIdx.x] = 1; }
int main() { float* x; cudaMalloc(&x, 128); tell(3); store<<<1, 32>>>(x); return tell(4), 0; }
"""


@needs_gxx
@needs_nvcc
def test_a_host_function_without_its_return_goes_back(tmp_path):
    """As where nothing is optimized: Parboil's sgemm reads its matrices so."""
    (tmp_path / "app.cu").write_text(ENDS_WITHOUT_RETURN)
    trace = memsim.capture(tmp_path / "app.cu", out=tmp_path / "t.h5", by="ptx", blocks="all").trace
    assert [op.kind for op in trace.ops] == [Kind.store]
