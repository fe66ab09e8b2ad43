"""Programs that use what CUDA 13 removed, built with CUDA 13."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from compilers import needs_capture

import memsim
from memsim.capture.compilers import find_compiler
from memsim.capture.older_cuda import older_headers

pytestmark = needs_capture

OLDER = """#include <cuda_runtime.h>
#include <cuda.h>
static_assert(sizeof(cudaDeviceProp) == SIZE, "the structure keeps its size");
__global__ void add(float *x) { x[threadIdx.x] += 1; }
int main() {
    cudaDeviceProp p, same;
    float *x;
    int clock, memory, version;
    cudaGetDeviceProperties(&p, 0);
    if (cudaGetDeviceProperties_v2(&same, 0) || same.clockRate != p.clockRate) return 4;
    cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, 0);
    cudaDeviceGetAttribute(&memory, cudaDevAttrMemoryClockRate, 0);
    if (!clock || p.clockRate != clock || p.memoryClockRate != memory || cuDriverGetVersion(&version)) return 1;
    cudaMallocManaged(&x, 128);
    if (cudaMemAdvise(x, 128, cudaMemAdviseSetPreferredLocation, 0) || cudaMemPrefetchAsync(x, 128, 0, NULL)) return 2;
    x[5] = 1;
    add<<<1, 32>>>(x);
    if (cudaThreadSynchronize() || cudaMemPrefetchAsync(x, 128, cudaCpuDeviceId)) return 3;
    return x[5] != 2;
}
"""

OLDER_TEMPLATES = """#include <cub/cub.cuh>
#include <thrust/device_vector.h>
#include <thrust/transform.h>
struct twice : public thrust::unary_function<int, int> {
    __host__ __device__ int operator()(int x) const { return 2 * x; }
};
int main() {
    thrust::device_vector<int> x(100, 3), y(100), sum(1);
    thrust::transform(x.begin(), x.end(), y.begin(), twice());
    cub::TransformInputIterator<int, twice, int*> doubled(thrust::raw_pointer_cast(y.data()), twice());
    size_t bytes = 0, edges = 7;
    cub::DeviceReduce::Reduce(nullptr, bytes, doubled, sum.begin(), 100, cub::Sum(), 0);
    thrust::device_vector<char> room(bytes);
    cub::DeviceReduce::Reduce(room.data().get(), bytes, doubled, sum.begin(), 100, cub::Sum(), 0);
    cudaGraph_t graph;
    cudaGraphNode_t nodes[2];
    cudaGraphCreate(&graph, 0);
    for (auto& one : nodes) cudaGraphAddEmptyNode(&one, graph, nullptr, 0);
    cudaGraphAddDependencies(graph, nodes, nodes + 1, 1);
    cudaGraphGetEdges(graph, nullptr, nullptr, &edges);
    return sum[0] != 1200 || edges != 1;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> Path:
    """The program, which knows the size of the toolkit's own structure."""
    folder = tmp_path_factory.mktemp("older")
    compiler = find_compiler()
    if older_headers(compiler) is None:
        pytest.skip("CUDA 12's toolkit has everything")
    size = folder / "size.cu"
    size.write_text("#include <cuda_runtime.h>\nchar size[sizeof(cudaDeviceProp) == 0 ? 1 : sizeof(cudaDeviceProp)];")
    made = folder / "size.o"
    subprocess.run([compiler.path, "-c", size, "-o", made], check=True)
    listed = subprocess.run(["nm", "-S", made], capture_output=True, text=True, check=True).stdout
    bytes_of_it = next(int(line.split()[1], 16) for line in listed.splitlines() if line.endswith(" size"))
    path = folder / "older.cu"
    path.write_text(OLDER.replace("SIZE", str(bytes_of_it)))
    return path


def test_program_for_cuda_12_runs_with_13(program, tmp_path):
    assert memsim.capture(program, to_end=True, out=tmp_path / "t.h5").trace


def test_builds_of_older_programs_compile_too(program, tmp_path):
    command = [sys.executable, "-m", "memsim", "nvcc", "-c", program, "-o", tmp_path / "older.o"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "error" not in done.stderr


def test_older_thrust_and_cub_compile_in_older_dialect(program, tmp_path):
    """What CCCL 3.0 removed, and signatures of graphs, in a build that asks for C++14."""
    source = tmp_path / "templates.cu"
    source.write_text(OLDER_TEMPLATES)
    command = [sys.executable, "-m", "memsim", "nvcc", "-std=c++14", source, "-o", tmp_path / "templates"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = memsim.capture(tmp_path / "templates", to_end=True, out=tmp_path / "t.h5")  # it checks its results
    assert found.trace


def test_other_errors_stay_as_nvcc_reports_them(program, tmp_path):
    wrong = tmp_path / "wrong.cu"
    wrong.write_text("#include <cuda_runtime.h>\nint main() { cudaDeviceProp p; return p.noSuchMember; }\n")
    done = subprocess.run(
        [sys.executable, "-m", "memsim", "nvcc", "-c", wrong, "-o", tmp_path / "w.o"], capture_output=True, text=True
    )
    assert done.returncode
    assert 'has no member "noSuchMember"' in done.stderr
