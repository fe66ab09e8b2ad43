"""cuda.bindings: programs for the CUDA driver API run as they are, and what is not done is refused by name."""

import importlib.util

import pytest

import memsim
from memsim.support.errors import InputError

pytestmark = pytest.mark.skipif(
    not all(map(importlib.util.find_spec, ("cuda", "cuda.bindings", "nvidia", "nvidia.cuda_nvrtc"))),
    reason="cuda-bindings or its NVRTC is not installed (memsim[cuda-bindings])",
)

PROGRAM = '''
import ctypes
import numpy as np
from cuda.bindings import driver, nvrtc

CODE = r"""
extern "C" __global__ void saxpy(float a, const float *x, float *y, size_t n) {
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"""

def check(result):
    assert result[0].value == 0, result[0]
    return result[1] if len(result) == 2 else result[1:]

check(driver.cuInit(0))
device = check(driver.cuDeviceGet(0))
about = driver.CUdevice_attribute
major = check(driver.cuDeviceGetAttribute(about.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device))
context = check(driver.cuDevicePrimaryCtxRetain(device))
check(driver.cuCtxSetCurrent(context))
program = check(nvrtc.nvrtcCreateProgram(CODE.encode(), b"saxpy.cu", 0, [], []))
check(nvrtc.nvrtcCompileProgram(program, 1, [b"--gpu-architecture=compute_%d0" % major]))
ptx = b" " * check(nvrtc.nvrtcGetPTXSize(program))
check(nvrtc.nvrtcGetPTX(program, ptx))
module = check(driver.cuModuleLoadData(np.char.array(ptx).ctypes.data))
kernel = check(driver.cuModuleGetFunction(module, b"saxpy"))

n = 1000
x, y, out = np.arange(n, dtype=np.float32), np.ones(n, np.float32), np.zeros(n, np.float32)
stream = check(driver.cuStreamCreate(0))
dx, dy = check(driver.cuMemAlloc(x.nbytes)), check(driver.cuMemAlloc(y.nbytes))
check(driver.cuMemcpyHtoDAsync(dx, x.ctypes.data, x.nbytes, stream))
check(driver.cuMemcpyHtoDAsync(dy, y, y.nbytes, stream))

values = [np.array([one], kind) for one, kind in ((2, "f4"), (int(dx), "u8"), (int(dy), "u8"), (n, "u8"))]
pointers = np.array([one.ctypes.data for one in values], np.uint64)
check(driver.cuLaunchKernel(kernel, 4, 1, 1, 256, 1, 1, 0, stream, pointers.ctypes.data, 0))
check(driver.cuMemcpyDtoH(out.ctypes.data, dy, out.nbytes))
assert (out == 2 * x + 1).all()

pair = (3.0, dx, dy, n), (ctypes.c_float, None, None, ctypes.c_size_t)
check(driver.cuLaunchKernel(kernel, 4, 1, 1, 256, 1, 1, 0, stream, pair, 0))
check(driver.cuStreamSynchronize(stream))
check(driver.cuMemcpyDtoH(out.ctypes.data, dy, out.nbytes))
assert (out == 5 * x + 1).all()
'''


def _program(tmp_path, more=""):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM + more)
    return path


def test_a_program_for_the_driver_api_runs_and_has_lines(tmp_path):
    captured = memsim.capture(_program(tmp_path), out=tmp_path / "t.h5", gpu="a100")
    assert captured.launches == {"saxpy": 2} and captured.trace.launch.grid == (4, 1, 1)
    assert {(op.kind.name, op.line) for op in captured.trace.ops} == {("load", 4), ("store", 4)}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("driver.cuMemHostAlloc(8, 0)", "cuMemHostAlloc is not done here"),
        ("driver.cuModuleLoadData(b'\\x7fELF')", "is given machine code; give PTX"),
        ("driver.cuModuleGetFunction(module, b'other')", "other is no kernel there; kernels are saxpy"),
        ("driver.cuMemcpyDtoH(out.ctypes.data, 7, 4)", "lie in no array"),
    ],
)
def test_what_is_not_done_is_one_line(tmp_path, more, said):
    with pytest.raises(InputError, match=said) as raised:
        memsim.capture(_program(tmp_path, more), out=tmp_path / "t.h5", gpu="a100")
    assert "\n" not in str(raised.value) and not (tmp_path / "t.h5").exists()


def test_times_between_events_are_nan_and_a_note_says_so(tmp_path):
    timed = "start, end = check(driver.cuEventCreate(0)), check(driver.cuEventCreate(0))\n"
    timed += "assert all(np.isnan(check(driver.cuEventElapsedTime(start, end))) for _ in range(2))\n"
    captured = memsim.capture(_program(tmp_path, timed), out=tmp_path / "t.h5", gpu="a100")
    assert [note for note in captured.notes if "cuEventElapsedTime are not simulated" in note] == captured.notes[-1:]


@pytest.mark.skipif(not importlib.util.find_spec("numba_cuda"), reason="memsim[numba-cuda] is not there")
def test_beside_numba_cuda_it_is_refused(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(f"import numba.cuda\n{PROGRAM}")
    with pytest.raises(InputError, match="cuda.bindings: cuInit is not caught once numba.cuda is imported"):
        memsim.capture(path, out=tmp_path / "t.h5", gpu="a100")
