"""Where NVIDIA's binary tools are: a toolkit on the PATH, Triton's wheel, or NVIDIA's own wheels; none is required."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from memsim.support.scratch import leaving_in

# Packages whose folder holds binaries, and where; a PATH's toolkit comes first, as its user chose it.
_WHEELS = (
    ("triton", "backends/nvidia/bin"),
    ("nvidia", "cuda_nvcc/bin"),  # nvidia-cuda-nvcc-cu12
    ("nvidia", "cu13/bin"),  # nvidia-cuda-nvcc 13
)
LONGEST_SECONDS = 120


@cache
def paths_of(name: str) -> tuple[str, ...]:
    """All the places where a tool is, by preference; none if it is not installed.

    Args:
        name: ``ptxas`` or ``nvdisasm``.
    """
    on_path = shutil.which(name)
    found = [] if on_path is None else [on_path]
    for package, folder in _WHEELS:
        spec = importlib.util.find_spec(package)
        for root in spec.submodule_search_locations or () if spec else ():
            if (path := Path(root, folder, name)).is_file():
                found.append(str(path))
    return tuple(found)


def ask(command: Sequence[str], folder: str) -> tuple[int, str]:
    """Exit code and what a tool said, whose temporary files go to a folder; it does not outlive two minutes.

    >>> ask(["no such tool"], ".")[0]
    127
    """
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LONGEST_SECONDS,
            env=leaving_in(folder),
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return 127, f"{command[0]} does not run ({error})"
    return done.returncode, done.stdout + done.stderr
