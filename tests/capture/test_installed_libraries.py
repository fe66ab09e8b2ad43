"""The CUDA libraries that an installation builds into the package, and those that are built when they are needed."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

libraries = importlib.import_module("memsim.capture.libraries")
library_build = importlib.import_module("memsim.capture.library_build")
ROOT = Path(__file__).parents[2]
# A g++ that makes the file that its options name.
COMPILER = """#!/bin/sh
while [ $# -gt 1 ]; do [ "$1" = -o ] && echo made > "$2"; shift; done
"""


def _build_libraries(folder, path):
    """Run the command that an installation runs for the libraries, with a PATH."""
    command = [sys.executable, "setup.py", "build_libraries", "--build-lib", str(folder)]
    environment = {**os.environ, "PATH": str(path)}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)


def test_an_installation_builds_every_library(tmp_path):
    compiler = tmp_path / "bin" / "g++"
    compiler.parent.mkdir()
    compiler.write_text(COMPILER)
    compiler.chmod(0o755)
    _build_libraries(tmp_path, f"{compiler.parent}:{os.environ['PATH']}")
    (made,) = (tmp_path / "memsim" / "capture" / "built").iterdir()
    assert made.name == library_build.native_digest()
    names = {path.name for path in made.iterdir()}
    assert {"libcuda.so.1", "libcudart.so.13", "libcublas.so.12", library_build.HOST_MEMORY, "memsim-ptxas"} <= names
    assert not [name for name in names if name.endswith((".o", ".cpp", ".def"))]


def test_without_a_compiler_an_installation_builds_none_and_says_so(tmp_path):
    done = _build_libraries(tmp_path, tmp_path)
    assert "g++" in done.stdout + done.stderr
    assert not list(tmp_path.rglob("*.so*"))


@pytest.fixture
def built(monkeypatch, tmp_path):
    """A package's folder for libraries, a cache without any, and builds that are counted."""
    monkeypatch.setenv("MEMSIM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(libraries, "BUILT", tmp_path / "built")
    monkeypatch.setattr(library_build.LibraryBuilder, "core", lambda self: (self.folder / "libcuda.so.1").touch())
    libraries.library_folder.cache_clear()
    yield tmp_path / "built"
    libraries.library_folder.cache_clear()


def test_installed_libraries_of_these_sources_are_used(built):
    folder = built / library_build.native_digest()
    folder.mkdir(parents=True)
    assert libraries.library_folder() == libraries.library_folder(stand_ins=True) == folder


def test_installed_libraries_of_other_sources_are_not_used(built):
    (built / "0123456789abcdef0123").mkdir(parents=True)
    folder = libraries.library_folder()
    assert not folder.is_relative_to(built)
    assert (folder / "libcuda.so.1").exists()
