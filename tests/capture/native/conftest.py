"""The CUDA libraries, built once, and programs that run on them and a fake server."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_server import FakeServer

from memsim.capture.compilers import find_compiler
from memsim.capture.libraries import library_folder
from memsim.capture.library_build import HOST_MEMORY
from memsim.support.errors import InputError

PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture(scope="session")
def libraries() -> Path:
    """The folder with the libraries."""
    if shutil.which("g++") is None:
        pytest.skip("g++ is missing; it builds the CUDA libraries")
    return library_folder(stand_ins=True)


@pytest.fixture(scope="session")
def stand_in(libraries: Path) -> Callable[[str], ctypes.CDLL]:
    """Loads a stand-in library into this process."""
    return lambda name: ctypes.CDLL(str(libraries / name))


@pytest.fixture(scope="session")
def compile_program(libraries: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Compiles a program of ``programs/`` with nvcc, once per session."""
    folder = tmp_path_factory.mktemp("programs")
    try:
        nvcc = find_compiler()
    except InputError as error:
        pytest.skip(str(error))
    link = folder / "link"
    link.mkdir()
    (link / "libcudart.so").symlink_to(libraries / f"libcudart.so.{nvcc.version[0]}")
    (link / "libcuda.so.1").symlink_to(libraries / "libcuda.so.1")

    def build(*names: str, options: tuple[str, ...] = ()) -> Path:
        program = folder / Path(names[0]).stem
        if not program.exists():
            architecture = f"arch=compute_{nvcc.nearest(80)},code=compute_{nvcc.nearest(80)}"
            sources = [str(PROGRAMS / name) for name in names]
            command = [str(nvcc.path), "-cudart", "shared", f"-L{link}", "-gencode", architecture, *options]
            subprocess.run([*command, "-o", str(program), *sources], check=True, cwd=folder)
        return program

    return build


@pytest.fixture
def server(tmp_path: Path) -> FakeServer:
    fake = FakeServer(tmp_path)
    yield fake
    fake.close()


@pytest.fixture
def run(libraries: Path, server: FakeServer) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a command on the libraries and the fake server."""

    def start(*command: str | Path, preload: bool = False) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "LD_LIBRARY_PATH": str(libraries), "MEMSIM_GPU_SOCKET": str(server.path)}
        if preload:
            environment["LD_PRELOAD"] = str(library_folder() / HOST_MEMORY)
        words = [str(word) for word in command]
        done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60, check=False)
        server.settle()
        return done

    return start
