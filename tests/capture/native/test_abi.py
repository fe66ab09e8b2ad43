"""The binary interface: structures as in NVIDIA's headers, and every name that NVIDIA's libraries export."""

from __future__ import annotations

import ctypes
import importlib.util
import subprocess
from pathlib import Path

import pytest

from memsim.capture.library_build import NATIVE

PROGRAMS = Path(__file__).parent / "programs"


def _wheel_folders() -> list[Path]:
    """Folders with a runtime of NVIDIA's wheels: nvidia/cuda_runtime of CUDA 12, nvidia/cu13."""
    spec = importlib.util.find_spec("nvidia")
    places = [Path(place) for place in (spec.submodule_search_locations if spec else None) or ()]
    return [
        folder for place in places for folder in place.glob("*") if (folder / "include/cuda_runtime_api.h").exists()
    ]


def _toolkit() -> tuple[str, Path]:
    """The compiler, and the folder of its toolkit."""
    compilers = pytest.importorskip("memsim.capture.compilers")
    nvcc = str(compilers.find_compiler().path)
    dry_run = subprocess.run(
        [nvcc, "--dryrun", "-E", "-x", "cu", "/dev/null"], capture_output=True, text=True, check=True
    )
    top = [line.partition("TOP=")[2].strip() for line in dry_run.stderr.splitlines() if "TOP=" in line]
    return nvcc, Path(top[0])


def test_structures_have_the_layout_of_the_headers():
    nvcc, toolkit = _toolkit()
    for folder in {toolkit, *_wheel_folders()}:
        includes = [f"-I{folder}/include", f"-I{NATIVE}"]
        only_check = ["-c", "-o", "/dev/null", "-Xcompiler", "-fsyntax-only,-w"]
        command = [nvcc, "-std=c++17", "-x", "c++", *only_check, *includes, str(PROGRAMS / "abi.cpp")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{folder}: {done.stderr[:2000]}"


def _exported(library: Path) -> set[str]:
    lines = subprocess.run(["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=True)
    names = {line.split()[-1].partition("@")[0] for line in lines.stdout.splitlines()}
    return {name for name in names if name.startswith(("cuda", "__cuda"))}


def _real_runtimes(major: int) -> list[Path]:
    return [path for folder in (*_wheel_folders(), _toolkit()[1]) for path in folder.glob(f"lib*/libcudart.so.{major}")]


@pytest.mark.parametrize("major", [12, 13])
def test_every_name_of_the_real_library_is_there(libraries, major):
    real = _real_runtimes(major)
    ours = _exported(libraries / f"libcudart.so.{major}")
    assert {"cudaMalloc", "__cudaRegisterFatBinary", "cudaMemcpyAsync_ptsz"} <= ours
    for library in real:
        assert _exported(library) <= ours


def test_error_texts_are_those_of_the_real_library(libraries):
    ours = ctypes.CDLL(str(libraries / "libcudart.so.13"))
    ours.cudaGetErrorString.restype = ctypes.c_char_p
    texts = {ours.cudaGetErrorString(number) for number in range(1000)}
    assert b"invalid argument" in texts
    for library in _real_runtimes(13):
        real = library.read_bytes()
        assert [text for text in texts if text not in real] == []
