"""cuda.core on memsim's driver: PTX and machine code of NVRTC, memory, events and a graph, with results by NumPy."""

import pytest

import memsim

pytest.importorskip("cuda.core", reason="cuda.core is not installed")
pytestmark = pytest.mark.slow

PROGRAM = """
import ctypes
import numpy as np
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

CODE = '''
template <typename T>
__global__ void saxpy(const T a, const T *x, const T *y, T *out, size_t n) {
    for (size_t i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = a * x[i] + y[i];
}
'''
device = Device()
device.set_current()
stream = device.create_stream()
n, a = 1000, 3.0
x, y = np.arange(n, dtype=np.float32), np.ones(n, np.float32)

def bytes_of(buffer):
    return (ctypes.c_float * n).from_address(int(buffer.handle))  # memsim's device memory is the process's

for code_type in ("ptx", "cubin"):
    program = Program(CODE, "c++", ProgramOptions(std="c++17", arch=f"sm_{device.arch}"))
    kernel = program.compile(code_type, name_expressions=("saxpy<float>",)).get_kernel("saxpy<float>")
    buffers = [device.allocate(4 * n, stream=stream) for _ in range(3)]
    for buffer, values in zip(buffers, (x, y)):
        np.frombuffer(bytes_of(buffer), np.float32)[:] = values
    config = LaunchConfig(grid=4, block=128)
    arguments = (ctypes.c_float(a), *buffers, ctypes.c_size_t(n))
    begin = stream.record(options={"timing_enabled": True})
    launch(stream, config, kernel, *arguments)
    end = stream.record(options={"timing_enabled": True})
    end.sync()
    assert 0 < end - begin < 1, end - begin
    assert np.array_equal(np.frombuffer(bytes_of(buffers[2]), np.float32), a * x + y), code_type

builder = device.create_graph_builder().begin_building()
launch(builder, config, kernel, ctypes.c_float(a), buffers[2], buffers[1], buffers[0], ctypes.c_size_t(n))
graph = builder.end_building().complete()
graph.launch(stream)
stream.sync()
assert np.array_equal(np.frombuffer(bytes_of(buffers[0]), np.float32), a * (a * x + y) + y)
"""


def test_cuda_core_programs_run_unchanged(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    captured = memsim.capture(script, out=tmp_path / "t.h5", to_end=True)
    assert captured.exit_code == 0
    assert captured.launches == {"saxpy": 3}
    assert any("a * x[i] + y[i]" in str(text) for text in captured.trace.sources.values()), "lines of the script"
