"""The study of CUDAMicroBench's pairs runs the authors' programs from where the reader says, else describes them."""

from types import SimpleNamespace

import numpy as np
import pytest
from compilers import needs_gxx
from sass_launches import has_volta

from experiments.cudamicrobench2021.efficiency import execution_efficiency
from experiments.cudamicrobench2021.inside import PAIRS, time_of
from experiments.cudamicrobench2021.programs import PROGRAMS, REPOSITORY, captured
from memsim.trace.schema import NO_OP, OpKind

# Each thread loads one of n doubles and stores it; the slow version's threads walk eight apart.
PROGRAM = """
#include <cuda_runtime.h>
#include <stdlib.h>
__global__ void global_block(double *a, double *b) { b[threadIdx.x] = a[8 * threadIdx.x]; }
__global__ void shared_block(double *a, double *b) { b[threadIdx.x] = a[threadIdx.x]; }
int main(int count, char **words) {
  int n = atoi(words[1]);
  double *a, *b;
  cudaMalloc(&a, 8 * n * sizeof(double));
  cudaMalloc(&b, n * sizeof(double));
  global_block<<<1, n>>>(a, b);
  shared_block<<<1, n>>>(a, b);
  return cudaDeviceSynchronize();
}
"""

# Two kernels of WarpDivRedux, of which the fast one reads y too.
DEBUG_PTX = """
.version 6.0
.target sm_70
.address_size 64
"""
for _name, _vectors in (("_Z14warpDivergencePfS_S_", "x"), ("_Z16noWarpDivergencePfS_S_", "xy")):
    _loads = "".join(f"ld.param.u64 %at, [{v}]; ld.global.f32 %f, [%at]; st.global.f32 [%z], %f;" for v in _vectors)
    DEBUG_PTX += f"""
.visible .entry {_name}(.param .u64 x, .param .u64 y, .param .u64 z) {{
    .reg .b64 %at, %z; .reg .f32 %f;
    ld.param.u64 %z, [z];
    {_loads}
    ret;
}}
"""


def test_programs_are_pairs_of_the_study():
    assert set(PROGRAMS) <= set(PAIRS)


@pytest.mark.slow
@needs_gxx
def test_a_downloaded_program_is_captured_by_version(tmp_path):
    folder = tmp_path / REPOSITORY / "Shmem"
    folder.mkdir(parents=True)
    (folder / "mm_kernel.cu").write_text(PROGRAM, encoding="utf-8")
    (folder / "mm_omp_cuda.c").write_text("", encoding="utf-8")
    row = dict(benchmark="Shmem", gpu="tesla-v100", version="slow", n="64", microseconds="")
    assert time_of((row, True, tmp_path)).traced == "captured"
    assert time_of((row, True, tmp_path / "Shmem")).traced == "described"  # no repository there
    traces = [captured("Shmem", version, 64, "tesla-v100", tmp_path) for version in ("slow", "fast")]
    assert [trace.kernel.split("(")[0] for trace in traces] == ["global_block", "shared_block"]
    first = [next(iter(trace.chunks())) for trace in traces]
    strides = [chunk.stride[np.argmax(chunk.op != NO_OP)] for chunk in first]  # of the first access
    assert strides == [64, 8] and traces[0].launch.block == (64, 1, 1)


def test_without_a_download_pairs_are_described(tmp_path):
    assert captured("Shmem", "slow", 64, "tesla-v100", None) is None
    assert captured("Shmem", "slow", 64, "tesla-v100", tmp_path) is None
    assert captured("GSOverlap", "slow", 64, "rtx3080", tmp_path) is None


@pytest.mark.skipif(not has_volta, reason="no ptxas here knows sm_70 (pip install 'memsim[volta]')")
def test_debug_build_is_traced_from_published_ptx(tmp_path):
    """All threads read the first element of each vector; a third block has the last of 600 threads."""
    folder = tmp_path / REPOSITORY / "WarpDivRedux"
    folder.mkdir(parents=True)
    (folder / "warpDivergenceTest_cudakernel.ptx").write_text(DEBUG_PTX, encoding="utf-8")
    traces = [captured("WarpDivRedux", version, 600, "tesla-v100", tmp_path) for version in ("slow", "fast")]
    read = [{op.array for op in trace.ops if op.kind == OpKind.load} for trace in traces]
    assert [len(arrays) for arrays in read] == [1, 2]
    assert traces[0].launch.grid == (3, 1, 1) and traces[0].launch.block == (256, 1, 1)


def test_efficiency_weighs_lanes_by_instructions():
    """Three instructions and an access by 32 lanes, then one instruction by 16: (4 x 32 + 16) / (5 x 32)."""
    chunk = SimpleNamespace(
        mask=np.array([0xFFFFFFFF, 0xFFFF], np.uint32),
        compute_run=np.array([3, 1], np.uint32),
        op=np.array([0, NO_OP]),
    )
    assert execution_efficiency(SimpleNamespace(chunks=lambda: iter([chunk]))) == 90
