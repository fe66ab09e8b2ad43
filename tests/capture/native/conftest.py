"""memsim's CUDA libraries, built once per version of their sources."""

from __future__ import annotations

import ctypes
import shutil

import pytest

from memsim.capture.libraries import library_folder


@pytest.fixture(scope="session")
def cuda_libraries():
    if shutil.which("g++") is None:
        pytest.skip("g++ is missing; it builds memsim's CUDA libraries")
    return library_folder()


@pytest.fixture(scope="session")
def stand_in(cuda_libraries):
    """Loads a stand-in library by its SONAME."""
    return lambda soname: ctypes.CDLL(str(cuda_libraries / soname))
