"""What profilers in a program find out, and products that programs repeat in order to time them."""

from __future__ import annotations

import os
import sys

import pytest

from memsim.capture.server import serve
from memsim.gpu.presets import load_gpu
from memsim.sources.selection import CaptureSelection

START = """
import ctypes
from ctypes import byref, c_float, c_int, c_size_t, c_uint, c_uint32, c_uint64, c_void_p, POINTER
cuda = ctypes.CDLL("libcuda.so.1", mode=ctypes.RTLD_GLOBAL)
context = c_void_p()
assert cuda.cuInit(0) == 0 and cuda.cuCtxCreate_v2(byref(context), 0, 0) == 0
"""
# Offsets are those of CUpti_ActivityKernel9 and CUpti_CallbackData in NVIDIA's cupti_activity.h and cupti_callbacks.h.
PROFILER = """
cupti = ctypes.CDLL("libcupti.so.12")
PTX = b".version 8.0\\n.target sm_80\\n.address_size 64\\n.visible .entry k() { ret; }\\n"
module, function, seen, records = c_void_p(), c_void_p(), [], []
assert cuda.cuModuleLoadData(byref(module), PTX) == 0 and cuda.cuModuleGetFunction(byref(function), module, b"k") == 0
def launch(blocks):
    assert cuda.cuLaunchKernel(function, blocks, 1, 1, 32, 1, 1, 0, None, None, None) == 0

@ctypes.CFUNCTYPE(None, c_void_p, c_int, c_uint32, c_void_p)
def callback(user, domain, number, data):
    site, correlation = c_int.from_address(data).value, c_uint32.from_address(data + 64).value
    seen.append((domain, number, site, correlation))
@ctypes.CFUNCTYPE(None, POINTER(c_void_p), POINTER(c_size_t), POINTER(c_size_t))
def request(buffer, size, most):
    room = ctypes.create_string_buffer(500)  # two records
    kept.append(room)
    buffer[0], size[0], most[0] = ctypes.addressof(room), 500, 0
@ctypes.CFUNCTYPE(None, c_void_p, c_uint32, c_void_p, c_size_t, c_size_t)
def complete(context, stream, buffer, size, used):
    record = c_void_p()
    while (status := cupti.cuptiActivityGetNextRecord(c_void_p(buffer), c_size_t(used), byref(record))) == 0:
        at = record.value
        start, end = c_uint64.from_address(at + 16).value, c_uint64.from_address(at + 24).value
        name = ctypes.c_char_p.from_address(at + 104).value
        records.append((c_int.from_address(at).value, c_int.from_address(at + 52).value,
                        c_uint32.from_address(at + 92).value, name, start, end))
    assert status == 12  # CUPTI_ERROR_MAX_LIMIT_REACHED

kept, subscriber, other = [], c_void_p(), c_void_p()
launch(1)
assert cupti.cuptiSubscribe(byref(subscriber), callback, None) == 0
assert cupti.cuptiSubscribe(byref(other), callback, None) == 39  # one subscriber alone
assert cupti.cuptiEnableCallback(1, subscriber, 1, 307) == 0
assert cupti.cuptiActivityEnable(10) == 0 and cupti.cuptiActivityRegisterCallbacks(request, complete) == 0
before, after = c_uint64(), c_uint64()
assert cupti.cuptiGetTimestamp(byref(before)) == 0
for blocks in (2, 3, 4):
    launch(blocks)
assert cuda.cuCtxSynchronize() == 0 and cupti.cuptiGetTimestamp(byref(after)) == 0
assert cupti.cuptiActivityFlushAll(0) == 0
numbers = [one[2] for one in records]
assert [one[:2] + one[3:4] for one in records] == [(10, blocks, b"k") for blocks in (2, 3, 4)]
assert seen == [(1, 307, site, number) for number in numbers for site in (0, 1)] and len(set(numbers)) == 3
assert all(before.value <= start < end <= after.value for *_, start, end in records)
assert all(a[5] <= b[4] for a, b in zip(records, records[1:]))
assert cupti.cuptiFinalize() == 0
launch(5)
assert cupti.cuptiActivityFlushAll(0) == 0 and len(records) == 3 and len(seen) == 6
assert cupti.cuptiPCSamplingStart(None) == 27
"""
PRODUCTS = """
lt, n = ctypes.CDLL("libcublasLt.so.13"), 8
handle, operation, layout, words = c_void_p(), c_void_p(), c_void_p(), (c_float * (n * n))
assert lt.cublasLtMatmulDescCreate(byref(operation), 68, 0) == 0  # CUBLAS_COMPUTE_32F, CUDA_R_32F
assert lt.cublasLtMatrixLayoutCreate(byref(layout), 0, c_uint64(n), c_uint64(n), ctypes.c_int64(n)) == 0
a, d = c_uint64(), c_uint64()
assert cuda.cuMemAlloc_v2(byref(a), c_size_t(4 * n * n)) == 0 and cuda.cuMemAlloc_v2(byref(d), c_size_t(4 * n * n)) == 0
def fill(value):
    assert cuda.cuMemcpyHtoD_v2(a, words(*[value] * (n * n)), c_size_t(4 * n * n)) == 0
def multiply(beta=0.0):
    one, keep, at, to = c_float(1), c_float(beta), c_void_p(a.value), c_void_p(d.value)
    assert lt.cublasLtMatmul(handle, operation, byref(one), at, layout, at, layout, byref(keep), to, layout, to, layout,
                             None, None, c_size_t(0), None) == 0
result = words.from_address(d.value)
fill(1)
multiply()
assert result[5] == n
result[5] = -1  # unseen, so the next product finds its result there
multiply()
assert result[5] == -1
fill(2)
multiply()
assert result[5] == 4 * n
multiply(beta=1.0)
multiply(beta=1.0)
assert result[5] == 12 * n
"""


@pytest.mark.parametrize("program", [PROFILER, PRODUCTS], ids=["profiler", "products"])
def test_programs_find_what_they_expect(libraries, tmp_path, program):
    environment = dict(os.environ, LD_LIBRARY_PATH=str(libraries))
    selection, command = CaptureSelection(launches=[0]), [sys.executable, "-c", START + program]
    captured = serve(command, environment, load_gpu("a100"), selection, tmp_path / "traces", needs_trace=False)
    assert captured.exit_code == 0
