"""Launches of Python programs are caught whole: PTX, extents and arguments, and results that numpy has too."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import textwrap
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from places import DATA

import memsim
from memsim.gpu.presets import load_gpu
from memsim.sources.ptx.launchers.capturing import Capturing
from memsim.sources.ptx.launchers.nvrtc import compile_string
from memsim.sources.ptx.launchers.strings import StringModule
from memsim.sources.ptx.launchers.warp.library import Library
from memsim.support.errors import InputError
from memsim.trace.schema import Kind


def _needs(module: str, extra: str):
    installed = importlib.util.find_spec(module.partition(".")[0]) and importlib.util.find_spec(module)
    return pytest.mark.skipif(not installed, reason=f"{module} is not installed (memsim[{extra}])")


needs_triton, needs_numba = _needs("triton", "triton"), _needs("numba_cuda", "numba-cuda")
needs_nvrtc = _needs("nvidia.cuda_nvrtc", "nvrtc")

TRITON = """
import numpy as np, triton, triton.language as tl

@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)

def main(n=3000):
    x, y = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
    out = np.zeros_like(x)
    add[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, out, n, BLOCK=512)
    assert (out == x + y).all()
    add[(1,)](x[3:], y, out, 100, BLOCK=128)  # a view, not aligned to 16 bytes
    assert (out[:100] == x[3:103] + 1).all()
"""


def _program(tmp_path, text):
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(text))
    return path


def _module(tmp_path, text):
    spec = importlib.util.spec_from_file_location("program", _program(tmp_path, text))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@needs_triton
def test_triton_launches_compute_what_numpy_does_and_name_arrays_and_lines(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))  # its PTX names where the kernel was at first
    script = _program(tmp_path, TRITON + "\nmain()\nprint('done')\n")
    captured = memsim.capture(script, out=tmp_path / "t.h5", gpu="a100")
    trace = captured.trace
    assert captured.launches == {"add": 2} and trace.launch.grid == (6, 1, 1)
    assert {(trace.arrays[op.array].name, op.kind, op.line) for op in trace.ops} == {
        ("x", Kind.load, 8), ("y", Kind.load, 8), ("out", Kind.store, 8)
    }  # fmt: skip
    assert [*trace.sources.values()] == [script.read_text().split("\n")]


@needs_triton
@pytest.mark.parametrize("gpu", ["a100", "h100"])
def test_capturing_in_python_catches_every_launch_of_the_block(tmp_path, gpu):
    path = _program(tmp_path, TRITON)
    spec = importlib.util.spec_from_file_location("program", path)
    module = importlib.util.module_from_spec(spec)
    with memsim.capturing(gpu=gpu, launch=1) as captured:
        spec.loader.exec_module(module)
        module.main()
    assert [(one.kernel, one.grid, one.block) for one in captured.launches] == [
        ("add", (6, 1, 1), (128, 1, 1)), ("add", (1, 1, 1), (128, 1, 1))
    ]  # fmt: skip
    assert captured.launches[1].where.endswith("program.py:15")
    assert captured.trace.launch.grid == (1, 1, 1)


@needs_triton
def test_traces_tell_the_order_of_all_launches(tmp_path):
    kernels = "".join(f"@triton.jit\ndef {name}(x):\n    tl.store(x, 1.0)\n" for name in ("up", "down"))
    launches = "x = np.zeros(4, np.float32)\nfor _ in range(2):\n    up[(1,)](x)\n    down[(1,)](x)\n"
    script = _program(tmp_path, f"import numpy as np, triton, triton.language as tl\n{kernels}{launches}")
    captured = memsim.capture(script, out=tmp_path / "t", gpu="a100", launch="all")
    orders = {trace.path.stem: trace.parameters["order"] for trace in captured.traces}
    assert orders == {"up-0": 0, "down-0": 1, "up-1": 2, "down-1": 3}


@needs_triton
def test_a_compiled_kernel_is_caught_by_the_capture_that_it_is_launched_in(tmp_path):
    module = _module(tmp_path, TRITON)
    for _ in range(2):
        with memsim.capturing(gpu="a100") as captured:
            module.main()
        assert [one.kernel for one in captured.launches] == ["add", "add"]


TUNED = TRITON.replace(
    "@triton.jit",
    "configs = [triton.Config({'BLOCK': b}, num_warps=w) for b, w in ((64, 1), (512, 4))]\n"
    "@triton.autotune(configs, key=['n'], cache_results=True)\n@triton.jit",
)
TUNED = TUNED.replace(", BLOCK=512", "").replace("    add[(1,)]", "    return\n    add[(1,)]")


@needs_triton
def test_a_tuner_is_told_simulated_times_and_its_kernel_runs_with_the_best(tmp_path):
    module = _module(tmp_path, TUNED)
    with memsim.capturing(gpu="a100") as captured:
        module.main()
    assert len(captured.tried) == 2 and len(captured.launches) == 1
    best = min(captured.tried, key=lambda one: one.milliseconds)
    assert captured.launches[0].block == best.caught.block
    assert "add tuned for a100" in captured.notes[0] and "2 configurations simulated" in captured.notes[0]


@needs_triton
def test_equal_configurations_are_one(tmp_path):
    module = _module(tmp_path, TUNED.replace("((64, 1), (512, 4))", "((64, 1), (512, 4), (64, 1))"))
    with memsim.capturing(gpu="a100") as captured:
        module.main()
    (tuned,) = captured.tuned
    assert [one["BLOCK"] for one in tuned.configurations] == [64, 512] and len(captured.timed) == 3
    assert [tried.caught.block[0] for (tried,) in tuned.calls] == [32, 128], "a warp, and four"


@needs_triton
def test_a_tuner_that_times_a_configuration_twice_is_refused(tmp_path):
    twice = "do_bench=lambda call, quantiles: [triton.testing.do_bench(call) for _ in range(2)]"
    module = _module(tmp_path, TUNED.replace("cache_results=True", twice))
    with (
        memsim.capturing(gpu="a100"),
        pytest.raises(InputError, match="add's tuner timed 2 calls for .*'BLOCK': 64.*once"),
    ):
        module.main()


@needs_triton
def test_a_tuner_of_which_nothing_can_be_launched_is_told_of(tmp_path):
    module = _module(tmp_path, TUNED.replace("    at = ", "    tl.static_assert(BLOCK < 8)\n    at = "))
    with memsim.capturing(gpu="a100") as captured, pytest.raises(Exception, match="static_assert|CompileTimeAssertion"):
        module.main()  # Triton launches the first all the same
    assert captured.notes == ["add is not tuned for a100: none of its 2 configurations can be launched there"]


@needs_triton
def test_what_a_tuner_found_for_one_gpu_is_no_answer_for_another(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    module = _module(tmp_path, TUNED)
    for gpu in ("a100", "h100"):
        with memsim.capturing(gpu=gpu) as captured:
            module.main()
        assert len(captured.tried) == 2 and f"tuned for {gpu}" in captured.notes[0]
    assert not module.add.cache, "simulated times are not what a GPU's tuner finds"
    assert module.add.cache_results and not list((tmp_path / "cache").rglob("*autotune*"))


@needs_triton
def test_a_benchmark_of_a_kernel_that_is_not_tuned_yet_is_of_the_best(tmp_path):
    from triton import testing

    module, x = _module(tmp_path, TUNED), np.zeros(3000, np.float32)
    with memsim.capturing(gpu="a100") as captured:
        time = testing.do_bench(lambda: module.add[(47,)](x, x, x, 3000))
    assert time == min(one.milliseconds for one in captured.tuned[0].calls[0] + captured.tuned[0].calls[1])


@needs_triton
def test_do_bench_is_told_simulated_times():
    from triton import testing

    spec = importlib.util.spec_from_file_location("triton_kernels", DATA / "ptx" / "triton_kernels.py")
    kernels = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(kernels)
    x, y, out = (np.zeros(4096, np.float32) for _ in range(3))
    own = testing.do_bench
    with memsim.capturing(gpu="a100") as captured:

        def launch():
            kernels.add[(8,)](x, y, out, 4096, BLOCK=512)

        mean = testing.do_bench(launch)
        quantiles = testing.do_bench(launch, quantiles=[0.5, 0.2, 0.8])
        every = testing.do_bench(launch, warmup=1, rep=1, return_mode="all")
        launch()
    assert [mean, quantiles[1], every[0]] == [one.milliseconds for one in captured.tried]
    assert len(quantiles) == 3 and mean > 0 and len(captured.launches) == 1
    assert testing.do_bench is own


@needs_numba
def test_numba_cuda_launches(tmp_path):
    script = _program(
        tmp_path,
        """
        import numpy as np
        from numba import cuda

        @cuda.jit
        def smooth(x, y, weight):
            i, j = cuda.grid(2)
            if 0 < i < x.shape[0] - 1 and j < x.shape[1]:
                y[i, j] = weight * (x[i - 1, j] + x[i + 1, j])

        x = np.random.rand(40, 50).astype(np.float32)
        y = cuda.device_array_like(x)
        smooth[(3, 4), (16, 16)](cuda.to_device(x), y, 0.5)
        assert np.allclose(y.copy_to_host()[1:-1], 0.5 * (x[:-2] + x[2:]))
        """,
    )
    trace = memsim.capture(script, out=tmp_path / "t.h5").trace
    assert trace.kernel.endswith("smooth") and trace.launch.block == (16, 16, 1)
    assert {trace.arrays[op.array].name for op in trace.ops} == {"x", "y"} and {op.line for op in trace.ops} == {9}
    assert [*trace.sources.values()] == [script.read_text().split("\n")]


CUPY = """
import cupy as cp, numpy as np
code = r'''
template <class T>
__device__ T twice(T x) { return x + x; }
extern "C" __global__ void scale(const float* x, float* y, int n, float a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = twice(x[i]) * a;
}
'''
kernel = cp.RawKernel(code, "scale")
x = cp.arange(1000, dtype=cp.float32)
y = cp.zeros_like(x)
kernel((8,), (128,), (x, y, np.int32(1000), np.float32(2)))
cp.cuda.Device().synchronize()
assert np.allclose(cp.asnumpy(y), 4 * np.arange(1000))
"""

CUDA_CORE = """
import numpy as np
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
code = "template <class T> __global__ void fill(T* x, size_t n, T a)" + r'''{
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = a;
}'''
device = Device()
device.set_current()
stream = device.create_stream()
program = Program(code, code_type="c++", options=ProgramOptions(std="c++17", arch=f"sm_{device.arch}"))
kernel = program.compile("cubin", name_expressions=("fill<float>",)).get_kernel("fill<float>")
x = device.allocate(4096, stream=stream)
launch(stream, LaunchConfig(grid=8, block=128), kernel, x, np.uint64(1024), np.float32(3))
stream.sync()
assert (x.array.view(np.float32) == 3).all()
"""


@needs_nvrtc
@pytest.mark.parametrize(("text", "kernel", "arrays"), [(CUPY, "scale", {"x", "y"}), (CUDA_CORE, "fill", {"x"})])
def test_kernels_in_strings(tmp_path, text, kernel, arrays):
    captured = memsim.capture(_program(tmp_path, text), out=tmp_path / "t.h5", gpu="tesla-v100")
    trace = captured.trace
    assert captured.launches == {kernel: 1}
    assert {op.kind for op in trace.ops} <= {Kind.load, Kind.store}
    if kernel == "scale":  # the lines of the string are those of the program
        assert {op.line for op in trace.ops} == {8} and trace.ops[0].file.endswith("program.py")
        assert [*trace.sources.values()] == [(tmp_path / "program.py").read_text().split("\n")]


@needs_nvrtc
def test_what_does_not_compile_is_one_line(tmp_path):
    with pytest.raises(InputError, match=r'k\.cu:1: code does not compile: identifier "y" is undefined'):
        compile_string("__global__ void k(int* x) { x[0] = y; }", memsim.load_gpu("a100"), where="k.cu")


PTX = """
.version 8.0
.target sm_70
.address_size 64
.visible .entry one(.param .u64 p) { .reg .b64 %rd<2>; .reg .b32 %r<2>;
 ld.param.u64 %rd1, [p]; mov.u32 %r1, 7; st.global.u32 [%rd1], %r1; ret; }
.visible .entry two(.param .u64 p) { ret; }
"""


@pytest.mark.parametrize(
    ("launch", "message"),
    [
        ("block, arguments = 1, []", "grid is not set"),
        ("grid, block, arguments, kernel = 0, 1, [], 'one'", "grid is 0; give one to three whole numbers"),
        ("grid, block, arguments, kernel = 1, 1, [], 'three'", "three is not in it; give one of one, two"),
        ("grid, block, arguments = 1, 1, []", "choose with --kernel"),
        ("grid = 1 / 0", r"launch.py:1: code fails: ZeroDivisionError"),
    ],
)
def test_a_launch_file_that_makes_no_sense_is_one_line(tmp_path, launch, message):
    (tmp_path / "k.ptx").write_text(PTX)
    (tmp_path / "launch.py").write_text(launch)
    with pytest.raises(InputError, match=message):
        memsim.capture_ptx(tmp_path / "k.ptx", tmp_path / "launch.py", out=tmp_path / "t.h5")
    assert not (tmp_path / "t.h5").exists()


def test_a_ptx_file_is_launched_as_its_python_file_says(tmp_path):
    (tmp_path / "k.ptx").write_text(PTX)
    (tmp_path / "launch.py").write_text(
        "import numpy as np\ngrid, block, kernel = 2, (32, 1), 'one'\narguments = {'x': np.zeros(4, np.int32)}"
    )
    trace = memsim.capture_ptx(tmp_path / "k.ptx", tmp_path / "launch.py", out=tmp_path / "t.h5", registers=8).trace
    assert trace.kernel == "one" and trace.launch.grid == (2, 1, 1) and trace.arrays[0].name == "x"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("raise ValueError('no')", "ended with exit code 1"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "was ended by SIGKILL"),
        ("import sys; sys.exit(4)", "ended with exit code 4"),
        ("print('nothing')", "launched no kernel"),
    ],
)
def test_a_program_that_fails_or_launches_nothing_leaves_no_trace(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        memsim.capture(_program(tmp_path, text), out=tmp_path / "t.h5")
    assert [path.name for path in tmp_path.iterdir()] == ["program.py"]


def test_an_exception_is_shown_from_the_programs_first_line_on(tmp_path):
    script = _program(tmp_path, "def fail():\n    return 1 / 0\n\nfail()\n")
    command = [sys.executable, "-m", "memsim", "capture", str(script), "-o", str(tmp_path / "t.h5")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and "memsim/cli" not in done.stderr
    assert 'program.py", line 2, in fail' in done.stderr and "ZeroDivisionError" in done.stderr


def test_what_is_not_installed_is_one_line(monkeypatch):
    monkeypatch.setattr("memsim.sources.ptx.launchers.nvrtc._in_wheels", lambda files: [])
    monkeypatch.setattr("memsim.sources.ptx.launchers.nvrtc._SYSTEM", ())
    from memsim.sources.ptx.launchers import nvrtc

    nvrtc._library.cache_clear()
    with memsim.capturing(gpu="a100") as captured, pytest.raises(InputError, match=r"pip install 'memsim\[nvrtc\]'"):
        StringModule(captured, "__global__ void k() {}").kernel("k")
    nvrtc._library.cache_clear()


def test_what_warps_device_does_not_know_is_refused_by_name():
    library = Library(ModuleType("warp"), Capturing(load_gpu("a100"), Path("t.h5")))
    with pytest.raises(InputError, match="wp_cuda_device_get_memory_info"):
        library.wp_cuda_device_get_memory_info(0, None, None)
