"""The driver API, called from a compiled program and from Python, while memsim's server runs the kernels."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memsim.capture.library_build import listed_names
from memsim.capture.server import serve
from memsim.gpu.presets import load_gpu
from memsim.sources.selection import CaptureSelection

HERE = Path(__file__).parent

PYTHON_PROGRAM = """
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
assert cuda.cuInit(0) == 0
name = ctypes.create_string_buffer(100)
assert cuda.cuDeviceGetName(name, 100, 0) == 0 and name.value
sms, device = ctypes.c_int(), 0
assert cuda.cuDeviceGetAttribute(ctypes.byref(sms), 16, device) == 0 and sms.value == 108
blas = ctypes.CDLL("libcublas.so.13")
x, result = (ctypes.c_float * 3)(1, 2, 2), ctypes.c_float()
for _ in range(2):
    assert blas.cublasSnrm2_v2(None, 3, x, 1, ctypes.byref(result)) == 0
assert result.value == 3
assert blas.cublasSgelsBatched() == 15
nvml = ctypes.CDLL("libnvidia-ml.so.1")
handle, memory = ctypes.c_void_p(), (ctypes.c_ulonglong * 3)()
assert nvml.nvmlInit_v2() == 0
assert nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(handle)) == 0
assert nvml.nvmlDeviceGetMemoryInfo(handle, memory) == 0 and memory[0] == 40 << 30
"""


def _run(command, libraries, tmp_path):
    environment = dict(os.environ, LD_LIBRARY_PATH=str(libraries))
    return serve(
        command, environment, load_gpu("a100"), CaptureSelection(launches=[0]), tmp_path / "traces", needs_trace=False
    )


@pytest.mark.slow
def test_a_compiled_program_runs(libraries, tmp_path, capfd):
    program = tmp_path / "program"
    command = ["g++", "-std=c++17", "-O1", str(HERE / "programs" / "driver_program.cpp"), "-o", str(program)]
    subprocess.run([*command, f"-L{libraries}", "-l:libcuda.so.1"], check=True)
    captured = _run([str(program)], libraries, tmp_path)
    assert capfd.readouterr().out == "all is well\n"
    assert captured.launches == {"scale": 7}
    assert any("cuMulticastCreate" in note for note in captured.notes)


def test_stand_ins_report_to_the_server(libraries, tmp_path):
    captured = _run([sys.executable, "-c", PYTHON_PROGRAM], libraries, tmp_path)
    assert "cuBLAS computed 2 calls on the host; their kernels are not in the trace" in captured.notes
    assert any("cublasSgelsBatched" in note for note in captured.notes)


def test_without_a_server_there_is_no_device(libraries):
    code = "import ctypes; print(ctypes.CDLL('libcuda.so.1').cuInit(0))"
    environment = {"LD_LIBRARY_PATH": str(libraries), "PATH": os.environ["PATH"]}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "100\n"


def test_every_listed_function_is_exported(libraries):
    listed = subprocess.run(["nm", "-D", libraries / "libcuda.so.1"], capture_output=True, text=True, check=True)
    exported = {line.split()[-1] for line in listed.stdout.splitlines()}
    suffixes = {"s": "_ptsz", "d": "_ptds"}
    words = [word.split(":") for word in listed_names("driver")]
    symbols = {name + suffixes[kind] for name, _, *kinds in words for kind in kinds} | {name for name, *_ in words}
    assert len(symbols) > 600
    assert symbols <= exported


def test_cuda_bindings_find_their_functions(libraries, tmp_path):
    pytest.importorskip("cuda.bindings")
    code = (
        "import ctypes; from cuda.bindings import driver as d; ok = d.CUresult.CUDA_SUCCESS\n"
        "assert d.cuInit(0)[0] == ok; error, device = d.cuDeviceGet(0); assert error == ok\n"
        "error, context = d.cuDevicePrimaryCtxRetain(device); assert d.cuCtxSetCurrent(context)[0] == ok\n"
        "error, address = d.cuMemAlloc(4096); assert d.cuMemsetD32(address, 7, 1024)[0] == ok\n"
        "host = (ctypes.c_uint32 * 1024)(); assert d.cuMemcpyDtoH(ctypes.addressof(host), address, 4096)[0] == ok\n"
        "assert list(host) == [7] * 1024\n"
        "assert d.cuMemFree(address)[0] == ok\n"
    )
    assert _run([sys.executable, "-c", code], libraries, tmp_path).exit_code == 0
