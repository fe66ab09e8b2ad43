"""Compilers that some tests need and that are not installed with memsim."""

import shutil
import subprocess
from pathlib import Path

import pytest

from memsim.capture.compilers import find_compiler
from memsim.sources.sass.tools import paths_of
from memsim.support.errors import InputError

needs_gxx = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed: nothing can be captured")
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")


def _captures() -> bool:
    try:
        find_compiler()
    except InputError:
        return False
    return shutil.which("g++") is not None


needs_capture = pytest.mark.skipif(not _captures(), reason="nvcc (toolkit or wheels) or g++ is not installed")


def assembled(text: str, architecture: str, folder: Path) -> Path:
    """The machine code that ptxas makes of PTX, a cubin; a test that asks for it is skipped where there is no ptxas."""
    if not paths_of("ptxas"):
        pytest.skip("no ptxas")
    source, made = folder / "k.ptx", folder / "k.cubin"
    source.write_text(text, encoding="utf-8")
    command = [paths_of("ptxas")[0], f"-arch={architecture}", str(source), "-o", str(made)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return made
