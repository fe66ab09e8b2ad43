"""Programs that call the driver by ctypes: started as a command, and with machine code alone."""

import subprocess
import sys

import pytest

import memsim
from memsim.sources.sass.tools import paths_of

PTX = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry fill(.param .u64 out)
{
    .reg .b32 %r<5>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    mul.wide.u32 %rd2, %r4, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r4;
    ret;
}
"""

# Loads `image`, and has memory for what its kernel stores.
START = """
import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
def call(name, *arguments):
    assert getattr(cuda, name)(*arguments) == 0, name
context, module, function, out = (ctypes.c_void_p() for _ in range(4))
call("cuInit", 0)
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
call("cuCtxSetCurrent", context)
call("cuModuleLoadData", ctypes.byref(module), image)
call("cuModuleGetFunction", ctypes.byref(function), module, b"fill")
call("cuMemAlloc_v2", ctypes.byref(out), 1 << 20)
arguments = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.byref(out), ctypes.c_void_p))
"""
PROGRAM = f"""
image = {PTX.encode()!r}
{START}
def launch(blocks):
    call("cuLaunchKernel", function, blocks, 1, 1, 256, 1, 1, 0, None, arguments, None)
launch(1)
call("memsim_benchmark", 0, 1, None, None)
launch(1024)
spent, count = ctypes.c_double(), ctypes.c_uint()
call("memsim_benchmark", 1, 0, ctypes.byref(spent), ctypes.byref(count))
open(sys.argv[1], "w").write(repr((spent.value, count.value)))
"""


@pytest.mark.slow
def test_started_python_gets_simulated_benchmark_times(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    ways = {"script": [script], "command": [sys.executable, script]}
    found = {}
    for name, command in ways.items():
        captured = memsim.capture(command, arguments=[str(tmp_path / name)], out=tmp_path / f"{name}.h5", to_end=True)
        found[name] = (tmp_path / name).read_text(), captured.launches
    assert found["script"] == found["command"]
    assert found["command"][1] == {"fill": 1}


MACHINE_CODE_PROGRAM = f"""
import sys
image = open(sys.argv[1], "rb").read()
{START}
host = (ctypes.c_uint32 * 1024)()
for blocks in (4, 3, 3, 3, 3):  # the last ones are not traced, as they access what the ones before access
    call("cuMemsetD32_v2", out, 7, 1024)
    call("cuLaunchKernel", function, blocks, 1, 1, 256, 1, 1, 0, None, arguments, None)
    call("cuMemcpyDtoH_v2", host, out, 4096)
    assert list(host) == [*range(256 * blocks), *[7] * (1024 - 256 * blocks)], blocks
"""


@pytest.mark.slow
@pytest.mark.skipif(not paths_of("ptxas"), reason="ptxas is not installed")
def test_untraced_launches_of_machine_code_store_results(tmp_path):
    (tmp_path / "fill.ptx").write_text(PTX)
    cubin = tmp_path / "fill.cubin"
    subprocess.run([paths_of("ptxas")[0], "-arch=sm_89", tmp_path / "fill.ptx", "-o", cubin], check=True)
    (tmp_path / "program.py").write_text(MACHINE_CODE_PROGRAM)
    captured = memsim.capture(
        tmp_path / "program.py", arguments=[str(cubin)], out=tmp_path / "t.h5", gpu="rtx4090", to_end=True
    )
    assert captured.exit_code == 0 and captured.launches == {"fill": 5}
