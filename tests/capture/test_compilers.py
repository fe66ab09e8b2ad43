"""Where nvcc comes from, and which architectures it is asked for."""

from __future__ import annotations

import importlib.util
import os
import stat
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from memsim.capture import build, compilers, nvcc
from memsim.gpu.defaults import DEFAULT_ARCHITECTURE, DEFAULT_GPU
from memsim.gpu.presets import load_gpu
from memsim.support.errors import InputError

FAKE = """#!/bin/sh
case "$1" in
  --version) echo "Cuda compilation tools, release 13.1, V13.1.80" ;;
  --list-gpu-arch) printf 'compute_75\\ncompute_80\\ncompute_90\\ncompute_100\\n' ;;
  *) exit 3 ;;
esac
"""


def make_nvcc(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "nvcc"
    path.write_text(FAKE)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def make_wheels(place: Path, *missing: str) -> Path:
    path = make_nvcc(place / "cu13" / "bin")
    for part in compilers._COMPONENTS:
        if part not in missing:
            (place / "cu13" / part).parent.mkdir(parents=True, exist_ok=True)
            (place / "cu13" / part).touch()
    return path


@pytest.fixture
def bare(tmp_path, monkeypatch):
    """No nvcc on PATH, and wheels in a folder that a test may fill."""
    place = tmp_path / "nvidia"
    place.mkdir()
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    found = SimpleNamespace(submodule_search_locations=[str(place)])
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: found if name == "nvidia" else None)
    return tmp_path


def test_toolkit_on_path_comes_first(bare):
    make_wheels(bare / "nvidia")
    path = make_nvcc(bare / "bin")
    found = compilers.find_compiler()
    assert (found.path, found.version, found.architectures) == (path, (13, 1), (75, 80, 90, 100))


def test_wheels_serve_without_a_toolkit(bare):
    path = make_wheels(bare / "nvidia")
    assert compilers.find_compiler().path == path


def test_incomplete_wheels_are_named(bare):
    make_wheels(bare / "nvidia", "nvvm/bin/cicc")
    with pytest.raises(InputError, match=r"incomplete \(nvidia-nvvm missing\); pip install 'memsim\[cuda\]'"):
        compilers.find_compiler()


def test_headers_of_wheels_are_found_after_the_toolkits(bare):
    make_nvcc(bare / "bin")
    (bare / "nvidia/cu13/include").mkdir(parents=True)  # of nvidia-cublas, say, without a compiler
    command = build._Command(compilers.find_compiler(), build.Sources((bare / "a.cu",)), load_gpu("rtx4090"))
    assert command.options[-1] == f"-Xcompiler=-idirafter,{bare}/nvidia/cu13/include"
    missing = f"{bare}/a.cu(1): fatal error: cublas_v2.h: No such file or directory"
    assert "pip install nvidia-cublas" in str(build.first_error(missing, bare / "a.cu"))


def test_wrapper_finds_headers_of_wheels(bare):
    make_nvcc(bare / "bin")
    (bare / "nvidia/cu13/include").mkdir(parents=True)
    headers = f"-Xcompiler=-idirafter,{bare}/nvidia/cu13/include"
    assert nvcc.nvcc_command(["-c", "a.cpp"], {})[0][-1] == headers
    assert headers not in nvcc.nvcc_command(["--version"], {})[0]


def test_wrapper_names_the_wheel_of_a_missing_header(bare, capfd):
    make_nvcc(bare / "bin").write_text(
        FAKE.replace(
            "*) exit 3", "*) echo 'a.cu:1:10: fatal error: curand_kernel.h: No such file or directory' >&2; exit 3"
        )
    )
    assert nvcc.main(["-c", "a.cu"]) == 3
    first, last = capfd.readouterr().err.splitlines()
    assert first == "a.cu:1:10: fatal error: curand_kernel.h: No such file or directory"
    assert last.endswith("pip install nvidia-curand")


def test_no_compiler_is_one_line(bare, capsys):
    assert nvcc.main(["a.cu"]) == 2
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1 and "pip install 'memsim[cuda]'" in printed


@pytest.fixture
def libraries(bare, monkeypatch):
    """The folder with memsim's libraries, all empty."""
    monkeypatch.setenv("MEMSIM_CACHE", str(bare / "cache"))
    libraries = bare / "libraries"
    libraries.mkdir()
    for name in ("libcudart.so.12", "libcudart.so.13", "libcuda.so.1", "libcublas.so.12", "libcublas.so.13"):
        (libraries / name).touch()
    module = SimpleNamespace(library_folder=lambda stand_ins: libraries, needs_stand_ins=lambda names: False)
    monkeypatch.setitem(sys.modules, "memsim.capture.libraries", module)
    return libraries


def test_toolkit_folder_has_the_wrapper_and_memsims_libraries(bare, libraries, monkeypatch, capsys):
    real = make_nvcc(bare / "toolkit" / "bin")
    monkeypatch.setenv("PATH", f"{real.parent}:{os.environ['PATH']}")
    assert nvcc.main(["--memsim-toolkit"]) == 0
    folder = Path(capsys.readouterr().out.strip())
    assert (folder / "lib64" / "libcudart.so").resolve() == libraries / "libcudart.so.13"
    assert (folder / "lib64" / "libcublas.so").resolve() == libraries / "libcublas.so.13"
    assert str(libraries / "libcudart.so.13") in (folder / "lib64" / "libcudart_static.a").read_text()
    assert os.access(folder / "bin" / "nvcc", os.X_OK)
    monkeypatch.setenv("PATH", f"{folder / 'bin'}:{real.parent}")
    assert compilers.find_compiler().path == real


def test_toolkit_folder_has_headers_of_wheels(bare, libraries, capsys):
    real, wheel = bare / "real", bare / "nvidia/cu13/include"
    for folder, *headers in ((real, "cuda.h"), (wheel, "cuda.h", "cublas_v2.h")):
        folder.mkdir(parents=True)
        for name in headers:
            (folder / name).write_text(folder.name)
    make_nvcc(bare / "bin").write_text(FAKE.replace("*) exit 3", f"*) echo '#$ INCLUDES=\"-I{real}\"' >&2; exit 1"))
    assert nvcc.main(["--memsim-toolkit"]) == 0
    found = Path(capsys.readouterr().out.strip(), "include")
    assert {one.name: one.read_text() for one in found.iterdir()} == {"cuda.h": "real", "cublas_v2.h": "include"}


def test_cmake_finds_memsims_toolkit(bare, libraries, capfd):
    make_nvcc(bare / "bin").write_text(
        FAKE.replace("*) exit 3", "*) echo '#$ TOP=/real/bin/..\n#$ PTXAS_FLAGS=' >&2; exit 1")
    )
    assert nvcc.main(["-v", "__cmake_determine_cuda"]) == 1  # as CMake asks, of a file that does not exist
    top, rest = capfd.readouterr().err.splitlines()
    static = Path(top.removeprefix("#$ TOP=")) / "lib64" / "libcudart_static.a"
    assert str(libraries / "libcudart.so.13") in static.read_text() and rest == "#$ PTXAS_FLAGS="
    nvcc.main(["-v", "a.cu"])
    assert "#$ TOP=/real/bin/.." in capfd.readouterr().err


def test_default_architecture_is_the_default_gpus():
    assert load_gpu(DEFAULT_GPU).architecture_number == DEFAULT_ARCHITECTURE


@pytest.mark.parametrize(
    ("given", "gpu", "compiled"),
    [
        (["-arch=sm_52"], None, "75"),
        (["-arch=sm_80"], None, "80"),
        (["-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_90,code=sm_90"], None, "80"),
        ([], None, "80"),
        (["-arch=sm_90a"], None, "90a"),
        (["-arch=sm_80"], "h100", "90"),
        (["-arch=sm_90a"], "h100", "90a"),
        (["-arch=sm_80"], "tesla-v100", "75"),
    ],
)
def test_architecture_that_is_compiled_for(bare, given, gpu, compiled):
    real = make_nvcc(bare / "bin")
    environment = {} if gpu is None else {nvcc.GPU_VARIABLE: gpu}
    command, _ = nvcc.nvcc_command([*given, "-c", "a.cu"], environment)
    assert command[0] == str(real) and f"arch=compute_{compiled},code=compute_{compiled}" in command


def test_flags_in_the_environment_are_rewritten(bare):
    make_nvcc(bare / "bin")
    given = {"NVCC_PREPEND_FLAGS": "-arch=sm_80", "NVCC_APPEND_FLAGS": "-cudart static -DX='a b'"}
    command, passed = nvcc.nvcc_command(["-c", "a.cu"], given)
    assert command[-3:] == ["-c", "a.cu", "-DX=a b"] and "static" not in command
    assert not passed.keys() & given.keys()


def test_library_of_an_included_header_is_linked(monkeypatch, tmp_path):
    monkeypatch.setattr(build, "link_folder", lambda compiler, stand_ins: tmp_path / f"stand-ins-{stand_ins}")
    sources = build.Sources((tmp_path / "a.cu",), libraries=("m",))
    command = build._Command(compilers.Compiler(make_nvcc(tmp_path)), sources, load_gpu("rtx4090"))
    linked = command.link([], tmp_path / "a", False, ["/cuda/include/cublas_v2.h", "/cuda/include/cuda_runtime.h"])
    assert linked[-2:] == ["-lm", "-lcublas"] and str(tmp_path / "stand-ins-True") in linked
