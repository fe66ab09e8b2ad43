"""What a captured Python program gets."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from memsim.capture.fatbin import section
from memsim.capture.library_build import NATIVE
from memsim.capture.python.environment import CHILD
from memsim.support.errors import InputError

PTX = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n"


def _run(code: str, folder: Path, **variables: str) -> str:
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": f"{CHILD}:{folder}", **variables}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    ).stdout


def test_hidden_sitecustomize_still_runs(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('mine')")
    assert _run("", tmp_path) == "mine\n"


def test_child_imports_nothing_of_memsim(tmp_path: Path) -> None:
    code = "import sys; print([m for m in sys.modules if m.split('.')[0] in ('memsim', 'numpy')])"
    assert _run(code, tmp_path, MEMSIM_GPU_SOCKET="none") == "[]\n"


def test_loaders_call_after_the_module_ran(tmp_path: Path) -> None:
    (tmp_path / "watched.py").write_text("value = 1")
    loader = "lambda module: setattr(module, 'value', module.value + 1)"
    code = f"from memsim_child import watch; watch.AFTER['watched'] = {loader}; import watched"
    assert _run(f"{code}; print(watched.value)", tmp_path, MEMSIM_GPU_SOCKET="none") == "2\n"


def test_no_time_divides_to_infinity(tmp_path: Path) -> None:
    code = "from memsim_child.timing import NoTime; t = NoTime(); print(t == 0, 1 / (t * 1e-3))"
    assert _run(code, tmp_path) == "True inf\n"


_REPORT = """
import types
from memsim_child import driver, timing
driver.report_begin = driver.report_end = lambda: None
driver.launches = lambda: {launches}
timing.milliseconds = lambda function, flushed: 7
module = types.SimpleNamespace(perf_report=lambda benchmarks: lambda function: function, do_bench=lambda fn: 0)
timing.take_triton(module)
tuner = {{"__name__": "triton.runtime.autotuner"}}
exec("tune = lambda timer: timer(None)", tuner)

def function():
    print("tuner", tuner["tune"](module.do_bench), end=" ")
    return module.do_bench(lambda: print("launch", end=" "))

measure = module.perf_report([])(function)
print(measure(), measure())
"""


@pytest.mark.parametrize(
    ("variables", "launches", "printed"),
    [
        ({}, 0, "tuner 7 tuner 7 7 7"),
        ({"MEMSIM_NO_REPORTS": "1"}, 2, "nan nan"),
        ({"MEMSIM_NO_REPORTS": "1"}, 0, "tuner 7 launch nan nan"),
    ],
)
def test_benchmark_functions_may_be_left_out(
    tmp_path: Path, variables: dict[str, str], launches: int, printed: str
) -> None:
    """Where the program has launched something; else they are called for that, and a tuner in them still measures."""
    assert _run(_REPORT.format(launches=launches), tmp_path, **variables) == f"{printed}\n"


def test_benchmark_functions_are_called_for_each_line(tmp_path: Path) -> None:
    code = """
import types
from memsim_child import driver, timing
count = [0]
driver.launches = lambda: count[0]
module = types.SimpleNamespace(perf_report=lambda benchmarks: lambda function: function)
timing.take_triton(module)

def measured(name):
    def function(size, provider):
        count[0] += 1
        print(name, size, provider, end=";")

    measure = module.perf_report([types.SimpleNamespace(line_arg="provider")])(function)
    return [measure(size=size, provider=one) for size in (1, 2) for one in ("a", "b")]

assert str(measured("forward") + measured("backward")) == str([float("nan")] * 8)
"""
    assert _run(code, tmp_path, MEMSIM_NO_REPORTS="1") == "forward 1 a;forward 1 b;backward 1 a;backward 1 b;"


@pytest.mark.parametrize("has_headers", [False, True])
def test_torch_gets_the_toolkit_behind_a_script(tmp_path: Path, has_headers: bool) -> None:
    """As it is where /usr/local/bin/nvcc calls the nvcc of another folder."""
    real, called = tmp_path / "cuda", tmp_path / "local"
    (called / "bin").mkdir(parents=True)
    (called / "bin" / "nvcc").write_text(f"#!/bin/sh\necho '#$ TOP={real}/bin/..' >&2\n")
    (called / "bin" / "nvcc").chmod(0o755)
    for folder in (real, called) if has_headers else (real,):
        (folder / "include").mkdir(parents=True)
        (folder / "include" / "cuda_runtime.h").touch()
    (real / "bin").mkdir()
    code = f"from memsim_child import torch_c; print(torch_c._toolkit({str(called)!r}))"
    assert _run(code, tmp_path) == f"{called if has_headers else real}\n"


def test_only_locks_of_interrupted_builds_are_removed(tmp_path: Path) -> None:
    for name in ("interrupted", "running"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "lock").touch()
    code = f"from memsim_child import torch_c; torch_c._remove_stale_locks({str(tmp_path)!r})"
    with (tmp_path / "running" / "lock").open():
        _run(code, tmp_path)
    assert [one.parent.name for one in tmp_path.glob("*/lock")] == ["running"]


@pytest.mark.parametrize(
    ("version", "library", "problem"),
    [
        ("2.5.1+cpu", "libtorch_cpu.so", "memsim: torch 2.5.1+cpu is not supported; install torch 2.6 to 2.13"),
        ("2.14.0+cpu", "libtorch_cpu.so", "memsim: torch 2.14.0+cpu is not supported; install torch 2.6 to 2.13"),
        (
            "2.9.1+cu128",
            "libtorch_cuda.so",
            "memsim: this torch is built for CUDA and cannot run on memsim; install the CPU build of torch",
        ),
    ],
)
def test_other_torch_builds_are_refused_in_one_line(tmp_path: Path, version, library, problem) -> None:
    torch = tmp_path / "torch"
    (torch / "lib").mkdir(parents=True)
    (torch / "lib" / library).touch()
    (torch / "version.py").write_text(f"__version__ = {version!r}\n")
    for name in ("__init__", "_C"):
        (torch / f"{name}.py").touch()
    with pytest.raises(subprocess.CalledProcessError) as failed:
        _run("import torch._C", tmp_path, MEMSIM_GPU_SOCKET="none")
    assert failed.value.stderr == f"{problem}\n"


TUNER = """
import types
from memsim_child import driver, tuning

sent = []
driver.report_tuned = sent.append
knobs = types.SimpleNamespace(autotuning=types.SimpleNamespace(listener=None))
tuning.listen(knobs)

@tuning.remembered
def do_bench(call):
    time = call()
    driver.benchmarks += 1
    return [time]

class Config:
    def __init__(self, n):
        self.n = n
    def all_kwargs(self):
        return {"N": self.n}

def tune(*calls):
    timings = {}
    for n, call in enumerate(calls):
        try:
            timings[Config(n)] = do_bench(call)
        except ZeroDivisionError:
            timings[Config(n)] = [float("inf")]
    return timings

"""


def test_tuned_configurations_name_their_benchmarks(tmp_path: Path) -> None:
    code = TUNER + (
        "do_bench(lambda: 7.0)\n"
        "timings = tune(lambda: 1.0, lambda: 1 / 0, lambda: 1.0)\n"
        "knobs.autotuning.listener(fn=tune, configs_timings=timings, key=(), cache_hit=False)\n"
        "knobs.autotuning.listener(fn=tune, configs_timings=timings, cache_hit=True)\n"
        "print(*sent)"
    )
    assert json.loads(_run(code, tmp_path)) == {
        "kernel": "tune",
        "configurations": [
            {"chosen": {"N": 0}, "benchmark": 1},
            {"chosen": {"N": 1}, "reason": "division by zero"},
            {"chosen": {"N": 2}, "benchmark": 2},
        ],
    }


def test_a_triton_without_a_listener_is_reported(tmp_path: Path) -> None:
    (tmp_path / "triton.py").write_text("__version__ = '3.7.0'")
    code = TUNER + (
        "del knobs.autotuning.listener\n"
        "tuning.listen(knobs)\n"
        "assert not sent\n"
        "tune(lambda: 1.0, lambda: 2.0)\n"
        "print(*sent)"
    )
    assert json.loads(_run(code, tmp_path)) == {"unreported": "Triton 3.7.0"}


def test_ptxas_wrapper_adds_the_ptx(tmp_path: Path) -> None:
    wrapper, real = tmp_path / "memsim-ptxas", tmp_path / "ptxas"
    subprocess.run(["g++", "-std=c++17", str(NATIVE / "tools" / "ptxas.cpp"), "-o", str(wrapper)], check=True)
    object_file = tmp_path / "empty.o"
    subprocess.run(["g++", "-x", "c++", "-c", "/dev/null", "-o", str(object_file)], check=True)
    real.write_text(f'#!/bin/sh\nfor last; do :; done\ncp {object_file} "$last"\n')
    real.chmod(0o755)
    (tmp_path / "k.ptx").write_text(PTX)
    command = [str(wrapper), "-v", str(tmp_path / "k.ptx"), "-o", str(tmp_path / "k.cubin")]
    subprocess.run(command, env={"MEMSIM_PTXAS": str(real), "PATH": "/usr/bin:/bin"}, check=True)
    assert section((tmp_path / "k.cubin").read_bytes(), ".memsim_ptx") == PTX.encode()


def test_ptxas_wrapper_passes_failures_on(tmp_path: Path) -> None:
    wrapper, real = tmp_path / "memsim-ptxas", tmp_path / "ptxas"
    subprocess.run(["g++", "-std=c++17", str(NATIVE / "tools" / "ptxas.cpp"), "-o", str(wrapper)], check=True)
    real.write_text("#!/bin/sh\nexit 3\n")
    real.chmod(0o755)
    done = subprocess.run([str(wrapper), "k.ptx", "-o", "k.cubin"], env={"MEMSIM_PTXAS": str(real)}, check=False)
    assert done.returncode == 3


def skip_without_cpu_torch() -> None:
    pytest.importorskip("triton", reason="Triton is not installed")
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if torch.version.cuda:
        pytest.skip("this torch is built for CUDA")


def test_triton_kernel_is_traced_with_its_lines(tmp_path: Path) -> None:
    skip_without_cpu_torch()
    from memsim.api import capture

    script = tmp_path / "add.py"
    script.write_text(
        "import torch, triton, triton.language as tl\n"
        "@triton.jit\n"
        "def add(x, n, y, BLOCK: tl.constexpr):\n"
        "    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
        "    tl.store(y + o, tl.load(x + o, mask=o < n) + 1, mask=o < n)\n"
        "x = torch.rand(1000, device='cuda')\n"
        "y = torch.empty_like(x)\n"
        "add[(1,)](x, 1000, y, BLOCK=1024)\n"
        "assert y.is_cuda and torch.equal(y, x + 1)\n"
    )
    captured = capture(script, out=tmp_path / "t.h5")
    assert captured.launches == {"add": 1}


@pytest.mark.slow
def test_torch_reports_faults_and_sparse_tensors_as_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The words are those of a CUDA build of torch; an error is sticky, as in CUDA."""
    skip_without_cpu_torch()
    from memsim.api import capture

    script = tmp_path / "wrong.py"
    script.write_text(
        "import torch, triton, triton.language as tl\n"
        "@triton.jit\n"
        "def wrong(x):\n"
        "    tl.store(x + 1000000000 + tl.arange(0, 128), 1.0)\n"
        "x = torch.zeros(128, device='cuda')\n"
        "def error(call):\n"
        "    try: call()\n"
        "    except RuntimeError as found: return str(found)\n"
        "for call in (x.to_sparse, lambda: torch.sparse_coo_tensor([[0], [1]], [1.0], device='cuda')):\n"
        "    assert error(call).startswith('memsim: sparse CUDA tensors are not supported')\n"
        "wrong[(1,)](x)\n"
        "for call in (torch.cuda.synchronize, x.cpu, lambda: x + 1):\n"
        "    assert error(call) == 'CUDA error: an illegal memory access was encountered'\n"
        "open('checked', 'w')\n"
    )
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="wrong.py:4: kernel wrong: write of (4|16) bytes"):
        capture(script, out=tmp_path / "t.h5")
    assert (tmp_path / "checked").exists()


def test_a_missing_interpreter_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from memsim.api import capture

    (tmp_path / "add.py").write_text("print(1)")
    monkeypatch.setenv("MEMSIM_PYTHON", "/nonexistent")
    with pytest.raises(InputError, match="MEMSIM_PYTHON: /nonexistent is not an executable"):
        capture(tmp_path / "add.py", out=tmp_path / "t.h5")


@pytest.mark.parametrize(
    ("version", "refused"), [("3.3.1", True), ("3.4.0", False), ("3.9.0", False), ("3.10.0", True)]
)
def test_other_triton_releases_are_refused_in_one_line(tmp_path: Path, version: str, refused: bool) -> None:
    (tmp_path / "triton.py").write_text(f"__version__ = '{version}'")
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": f"{CHILD}:{tmp_path}", "MEMSIM_GPU_SOCKET": "none"}
    done = subprocess.run(
        [sys.executable, "-c", "import triton"], env=environment, capture_output=True, text=True, check=False
    )
    line = f"memsim: Triton {version} is not supported; install Triton 3.4 to 3.9\n"
    assert (done.returncode, done.stderr) == ((1, line) if refused else (0, ""))


def test_warp_with_static_runtime_is_refused_with_advice(tmp_path: Path) -> None:
    package = tmp_path / "warp"
    (package / "bin").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    library = package / "bin" / "warp.so"
    done = []
    for data in (b"\0libnvrtc.so.13\0", b"\0libcudart.so.13\0libnvrtc.so.13\0"):
        library.write_bytes(data)
        environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": f"{CHILD}:{tmp_path}", "MEMSIM_GPU_SOCKET": "none"}
        command = [sys.executable, "-c", "import warp"]
        done.append(subprocess.run(command, env=environment, capture_output=True, text=True, check=False))
    assert [one.returncode for one in done] == [1, 0]
    assert done[0].stderr.endswith("--use-dynamic-cuda\n") and done[0].stderr.count("\n") == 1 and not done[1].stderr


def test_numba_kernels_get_line_numbers_unless_debugged(tmp_path: Path) -> None:
    code = """
import types, warnings
from memsim_child import packages
warnings.simplefilter("error")
config = types.SimpleNamespace(CUDA_DEBUGINFO_DEFAULT=0)
module = types.SimpleNamespace(config=config, jit=lambda *arguments, **named: named.get("lineinfo"))
packages.set_numba(module)
warnings.warn("libnvJitLink.so* is too old", RuntimeWarning)
print(module.jit(), module.jit(debug=True), module.jit(debug=False), module.jit(lineinfo=False))
"""
    assert _run(code, tmp_path) == "True None True False\n"


def test_raw_kernels_get_the_lines_of_their_file(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text("import sys\n\nSOURCE = r'''\n__global__ void k() {\n}\n'''\n")
    code = """
import types
import kernels
from memsim_child import packages

class _NVRTCProgram:
    def __init__(self, src, name="kern.cu"):
        self.src = src

    def compile(self, options=()):
        return options

packages.set_cupy(types.SimpleNamespace(_NVRTCProgram=_NVRTCProgram))
for source in (kernels.SOURCE, "__global__ void generated() {}", ""):
    program = _NVRTCProgram(source)
    print(program.src.partition(chr(10))[0], program.compile(("-I.",)), program.compile(("-lineinfo",)))
"""
    first, *others = _run(code, tmp_path).splitlines()
    assert first == f"#line 3 \"{tmp_path / 'kernels.py'}\" ('-I.', '-lineinfo') ('-lineinfo',)"
    assert others == ["__global__ void generated() {} ('-I.',) ('-lineinfo',)", " ('-I.',) ('-lineinfo',)"]


def test_cython_modules_offer_the_functions_of_another_library(tmp_path: Path) -> None:
    source = tmp_path / "runtime.c"
    source.write_text("int cudaGetDeviceCount(int *n) { *n = 7; return 0; }")
    subprocess.run(["gcc", "-shared", "-fPIC", str(source), "-o", str(tmp_path / "runtime.so")], check=True)
    code = (
        "import ctypes, types\n"
        "from memsim_child import static_runtime\n"
        "api = ctypes.pythonapi\n"
        "api.PyCapsule_New.restype = ctypes.py_object\n"
        "api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]\n"
        "api.PyCapsule_GetPointer.restype = ctypes.c_void_p\n"
        "api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]\n"
        "kind = b'cudaError_t (int *)'\n"
        "table = {name: api.PyCapsule_New(1, kind, None) for name in ('cudaGetDeviceCount', 'cudaOther', 'other')}\n"
        "module = types.SimpleNamespace(__pyx_capi__=table)\n"
        f"static_runtime.replace_functions(module, ctypes.CDLL({str(tmp_path / 'runtime.so')!r}))\n"
        "count = ctypes.c_int()\n"
        "address = api.PyCapsule_GetPointer(table['cudaGetDeviceCount'], kind)\n"
        "ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(address)(ctypes.addressof(count))\n"
        "print(count.value, [api.PyCapsule_GetPointer(table[name], kind) for name in ('cudaOther', 'other')])\n"
    )
    assert _run(code, tmp_path) == "7 [1, 1]\n"


def test_redirected_library_registers_its_kernels_again(tmp_path: Path) -> None:
    inside = """
        #include <stdio.h>
        #define HIDDEN __attribute__((noinline, visibility("hidden"), aligned(16)))
        HIDDEN int cudaRuntimeGetVersion(int *version) { *version = 13000; return 0; }
        HIDDEN void __cudaRegisterFatBinary(const char *name) { printf("NVIDIA %s\\n", name); fflush(stdout); }
        __attribute__((constructor, noinline)) static void __sti____cudaRegisterAll(void) {
          __cudaRegisterFatBinary("kernels");
        }
    """
    ours = """
        #include <stdio.h>
        void __cudaRegisterFatBinary(const char *name) { printf("memsim %s\\n", name); fflush(stdout); }
    """
    for name, text in (("module.so", inside), ("libcudart.so.13", ours)):
        source = tmp_path / f"{name}.c"
        source.write_text(text)
        subprocess.run(["gcc", "-O1", "-shared", "-fPIC", str(source), "-o", str(tmp_path / name)], check=True)
    (tmp_path / "linked").symlink_to(tmp_path, target_is_directory=True)  # as lib64 of a virtual environment
    path = str(tmp_path / "linked" / "module.so")
    code = (
        f"import ctypes; ctypes.CDLL({path!r})\n"
        f"from memsim_child import static_runtime; static_runtime.redirect({path!r})\n"
    )
    assert _run(code, tmp_path, LD_LIBRARY_PATH=str(tmp_path)) == "NVIDIA kernels\nmemsim kernels\n"


_NVCC = """#!/bin/sh
echo "$@" >> {calls}
[ "$1" = "-I{folder}" ] && [ -e {insufficient} ] && echo "torch::nn is missing" >&2 && exit 1
exit 0
"""


def test_extensions_compile_again_with_all_headers(tmp_path: Path) -> None:
    api = tmp_path / "torch" / "include" / "torch" / "csrc" / "api" / "include" / "torch"
    api.mkdir(parents=True)
    (api / "all.h").write_text("#pragma once\n#include <torch/autograd.h>\n#include <torch/nn.h>\n")
    (api / "python.h").write_text("#include <torch/nn/module.h>\n#include <torch/csrc/Device.h>\nint bind();\n")
    calls, insufficient, folder = tmp_path / "calls", tmp_path / "insufficient", tmp_path / "short"
    nvcc = tmp_path / "nvcc"
    nvcc.write_text(_NVCC.format(calls=calls, folder=folder, insufficient=insufficient))
    nvcc.chmod(0o755)
    arguments = ", ".join(repr(str(one)) for one in (tmp_path / "torch", nvcc, folder))
    program = _run(f"from memsim_child import extension_headers as e; print(e.write({arguments}))", tmp_path).strip()
    assert (folder / "torch" / "all.h").read_text() == "#pragma once\n#include <torch/autograd.h>\n"
    assert (folder / "torch" / "python.h").read_text() == "#pragma once\n#include <torch/csrc/Device.h>\n"
    for _ in range(2):
        done = subprocess.run([program, "-c", "a.cu"], capture_output=True, text=True, check=True)
        assert done.stderr == ""
        insufficient.touch()
    short = f"-I{folder} -c a.cu\n"
    assert calls.read_text() == short + short + "-c a.cu\n"
