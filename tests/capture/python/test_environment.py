"""The variables of captured Python programs."""

import os
import subprocess

from memsim.capture.python.environment import python_variables
from memsim.gpu.presets import load_gpu


def test_extensions_are_built_apart_with_line_numbers(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMSIM_CACHE", str(tmp_path / "cache"))
    given = {"PATH": "/bin", "NVCC_APPEND_FLAGS": "-O3"}
    found = python_variables(given, tmp_path, tmp_path, load_gpu("a100"))
    assert found["TORCH_EXTENSIONS_DIR"].startswith(str(tmp_path / "cache"))
    assert found["NVCC_APPEND_FLAGS"] == "-O3 -lineinfo"


def test_the_users_folder_for_extensions_stays(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMSIM_CACHE", str(tmp_path / "cache"))
    given = {"PATH": "/bin", "TORCH_EXTENSIONS_DIR": "mine"}
    found = python_variables(given, tmp_path, tmp_path, load_gpu("a100"))
    assert found["TORCH_EXTENSIONS_DIR"] == "mine"


def test_stand_in_headers_are_found_last(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMSIM_CACHE", str(tmp_path / "cache"))
    real = tmp_path / "toolkit"
    real.mkdir()
    (real / "cublas_v2.h").write_text("enum { FROM_THE_TOOLKIT };")
    given = {"PATH": os.environ["PATH"], "CPLUS_INCLUDE_PATH": str(real)}
    found = python_variables(given, tmp_path, tmp_path, load_gpu("a100"))
    source = "#include <cublas_v2.h>\n#include <cusparse.h>\nint x = FROM_THE_TOOLKIT; cusparseHandle_t handle;"
    command = ["g++", "-fsyntax-only", "-x", "c++", "-"]
    subprocess.run(command, input=source, text=True, env=found, check=True)
