"""memsim explore on a program whose tuner reports as Triton's does: traces, times and the end of the program."""

import pytest

from memsim.exploration import Effort, explore_tuned, is_program
from memsim.gpu.presets import load_gpu
from memsim.support.errors import InputError

# A kernel that reads one float per thread, with a stride between neighbouring threads.
PROGRAM = '''
import ctypes, json
from memsim_child import driver

PTX = b"""
.version 7.0
.target sm_80
.address_size 64
.visible .entry strided(.param .u64 x, .param .u32 stride)
{
 .reg .b32 %r<6>; .reg .b64 %d<4>;
 mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
 mad.lo.s32 %r1, %r1, %r2, %r3;
 ld.param.u32 %r4, [stride]; ld.param.u64 %d1, [x];
 mul.lo.s32 %r1, %r1, %r4; mul.wide.s32 %d2, %r1, 4; add.s64 %d3, %d1, %d2;
 ld.global.u32 %r5, [%d3]; add.s32 %r5, %r5, 1; st.global.u32 [%d3], %r5;
 ret;
}
"""
context, module, kernel, x = (ctypes.c_void_p() for _ in range(4))
driver.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
driver.call("cuCtxSetCurrent", context)
driver.call("cuModuleLoadData", ctypes.byref(module), PTX)
driver.call("cuModuleGetFunction", ctypes.byref(kernel), module, b"strided")
driver.call("cuMemAlloc_v2", ctypes.byref(x), ctypes.c_size_t(1 << 22))

def time(stride):
    driver.benchmark_begin(False)
    step = ctypes.c_uint(stride)
    values = (ctypes.c_void_p * 2)(ctypes.addressof(x), ctypes.addressof(step))
    driver.call("cuLaunchKernel", kernel, 128, 1, 1, 256, 1, 1, 0, None, values, None)
    assert driver.benchmark_end()[1] == 1
    return driver.benchmarks - 1

configurations = [{"chosen": {"STRIDE": n, "B": 256}, "benchmark": time(n)} for n in (32, 1)]
configurations.append({"chosen": {"STRIDE": 0, "B": 256}, "reason": "no stride"})
driver.report_tuned(json.dumps({"kernel": "strided", "configurations": configurations}))
print("not reached")
'''


@pytest.mark.slow
def test_reported_configurations_are_ranked(tmp_path, capfd):
    script = tmp_path / "tune.py"
    script.write_text(PROGRAM)
    found = explore_tuned(script, [], None, load_gpu("a100"), Effort(1, "2x", 1, 0, 1))
    assert found.workload == f"{script}:strided" and found.choices == {"STRIDE": (32, 1, 0)}
    assert [one.chosen for one in found.versions] == [{"STRIDE": 1}, {"STRIDE": 32}]
    assert [one.result is not None for one in found.versions] == [True, False]
    ((chosen, reason),) = found.rejected
    assert chosen == {"STRIDE": 0} and "no stride" in reason
    assert "not reached" not in capfd.readouterr().out


@pytest.mark.slow
def test_another_kernel_is_not_tuned(tmp_path):
    script = tmp_path / "tune.py"
    script.write_text(PROGRAM)
    with pytest.raises(InputError, match=r"other is not tuned; tuned are strided$"):
        explore_tuned(script, [], "other", load_gpu("a100"), Effort(0, "2x", 1, 0, 1))


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("import torch\n", True),
        ("from triton import jit\n", True),
        ("import numpy\n", False),
        ("import torch\nfrom memsim import workload\n@workload\ndef add(): ...\n", False),
    ],
)
def test_programs_import_triton_or_torch(tmp_path, text, program):
    (tmp_path / "file.py").write_text(text)
    assert is_program(tmp_path / "file.py") is program
