"""Where the headers of Thrust and libcu++ are: NVIDIA's wheel, or the toolkit of nvcc; neither is required."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from memsim.support.scratch import Scratch, leaving_in

_IN_WHEELS = ("cuda_cccl/include", "cu13/include/cccl")  # of nvidia-cuda-cccl-cu12, and of nvidia-cuda-cccl
_BUILT_IN = re.compile(r'"-isystem" "([^"]+)"')


@cache
def cccl_folders() -> tuple[Path, ...]:
    """The folder to include ``thrust/...`` and ``cuda/std/...`` from; none, if they are not installed.

    A folder that has CUDA's runtime beside them (toolkits before 13) is not taken: memsim has a runtime of its own.
    """
    found = (one for one in (*_wheels(), *_toolkit()) if (one / "thrust").is_dir())
    return tuple(one for one in found if not (one / "cuda_runtime.h").exists())[:1]


def _wheels() -> Iterator[Path]:
    spec = importlib.util.find_spec("nvidia")
    for place in spec.submodule_search_locations or () if spec else ():
        yield from (Path(place, folder) for folder in _IN_WHEELS)


def _toolkit() -> Iterator[Path]:
    """What nvcc includes by itself."""
    compiler = shutil.which("nvcc")
    if compiler is None:
        return
    command = [compiler, "--dryrun", "-E", "-x", "cu", "/dev/null"]
    with Scratch() as folder:
        environment = leaving_in(folder)
        told = subprocess.run(command, capture_output=True, text=True, errors="replace", env=environment).stderr
    yield from map(Path, dict.fromkeys(_BUILT_IN.findall(told)))
