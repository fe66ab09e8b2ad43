"""The study of launches on a Quadro GV100 runs programs from where the reader says, and counts as the profiler."""

import pytest

from experiments.gv100_launches.predict import predict
from experiments.gv100_launches.programs import POLYBENCH, PROGRAMS, VARIABLE, WANTED, downloads
from experiments.gv100_launches.rows import ROWS, Row, measured
from memsim.support.errors import InputError

# Two warps load 32 floats each from 16 bytes before the end of a line on: five sectors of two lines. They store four.
PROGRAM = """
#include <cuda_runtime.h>
__global__ void gramschmidt_kernel1(float *a) {
  float sum = a[28 + 32 * (threadIdx.x / 32) + threadIdx.x % 32];
  a[1024 + threadIdx.x] = sum;
}
int main() {
  float *a;
  cudaMalloc(&a, 8192);
  gramschmidt_kernel1<<<1, 64>>>(a);
  return cudaDeviceSynchronize();
}
"""


def test_every_launch_is_measured_described_and_found():
    assert {row.kernel for row in ROWS} == set(measured()) == set(PROGRAMS)


@pytest.mark.slow
def test_a_downloaded_program_is_captured_and_counted(tmp_path, monkeypatch):
    file = tmp_path / POLYBENCH / "GRAMSCHM/gramschmidt.cu"
    file.parent.mkdir(parents=True)
    file.write_text(PROGRAM, encoding="utf-8")
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    found = predict(Row("gramschmidt_kernel1", "gram_schmidt"), downloads(WANTED), trials=1, jobs=1)
    assert (found.read_requests, found.write_requests, found.read_sectors, found.write_sectors) == (2, 2, 10, 8)
    assert found.l2_reads == 9 and found.l1_load == 0.1  # one sector of the second warp is the first one's
    assert found.dram_sectors >= 10  # a fetch is of two sectors


def test_a_folder_that_is_not_there_is_named(tmp_path, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    assert downloads(WANTED) is None
    monkeypatch.setenv(VARIABLE, str(tmp_path / "none"))
    with pytest.raises(InputError, match="is no folder; give the one that holds polybenchGpu and gpu-rodinia"):
        downloads(WANTED)
    with pytest.raises(InputError, match="is no folder; give the one that holds CUDAMicroBench"):
        downloads("CUDAMicroBench")
