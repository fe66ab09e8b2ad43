"""Find nvcc: the CUDA toolkit on PATH, else NVIDIA's wheels."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from memsim.support.errors import InputError
from memsim.support.scratch import Scratch, leaving_in

INSTALL = "pip install 'memsim[cuda]'"
WRAPPER_MARK = ".memsim-nvcc"
"""A file in the folder whose ``nvcc`` is memsim's own wrapper; the search for the real one passes such folders over."""

_VERSION = re.compile(r"release (\d+)\.(\d+)")
_LIBRARY_HEADER = re.compile(r"(?:.*/)?(cublas|cufft|curand|cusolver|cusparse)\w*\.h(?:pp)?")
_ARCHITECTURE = re.compile(r"compute_(\d+)")
_COMPONENTS = {  # of a wheel's toolkit, and the wheel that brings each
    "nvvm/bin/cicc": "nvidia-nvvm",
    "include/crt/host_config.h": "nvidia-cuda-crt",
    "include/cuda_runtime.h": "nvidia-cuda-runtime",
    "include/cccl/cuda/std/version": "nvidia-cuda-cccl",
}


@dataclass(frozen=True)
class Compiler:
    """NVIDIA's compiler.

    Attributes:
        path: the executable.
    """

    path: Path

    @cached_property
    def version(self) -> tuple[int, int]:
        """Of its toolkit: (13, 0)."""
        found = _VERSION.search(self._ask("--version"))
        return (int(found[1]), int(found[2])) if found else (0, 0)

    @cached_property
    def architectures(self) -> tuple[int, ...]:
        """The virtual architectures that it compiles for, ascending: 75 for compute_75."""
        return tuple(sorted({int(one) for one in _ARCHITECTURE.findall(self._ask("--list-gpu-arch"))}))

    def nearest(self, architecture: int) -> int:
        """The virtual architecture to compile for, so that a GPU of `architecture` runs it.

        It is the newest that is not newer than the GPU. For a GPU older than all of them, it is the oldest: memsim runs
        that PTX for the older GPU as well.
        """
        return nearest(architecture, self.architectures)

    def _ask(self, option: str) -> str:
        try:
            with Scratch() as scratch:
                done = subprocess.run(
                    [str(self.path), option], capture_output=True, text=True, errors="replace", env=leaving_in(scratch)
                )
        except OSError as error:
            problem = f"does not run ({error.strerror}); install the CUDA toolkit, or {INSTALL}"
            raise InputError(self.path, "nvcc", problem) from None
        if done.returncode:
            lines = (done.stderr or done.stdout).strip().splitlines()[:1]
            raise InputError(self.path, "nvcc", f"does not run ({''.join(lines) or done.returncode})")
        return done.stdout


def nearest(architecture: int, known: Sequence[int]) -> int:
    """The newest of the known architectures that is not newer, else the oldest.

    >>> nearest(89, [75, 80, 90]), nearest(70, [75, 80]), nearest(89, [])
    (80, 75, 89)
    """
    older = [one for one in known if one <= architecture]
    return max(older) if older else min(known, default=architecture)


def find_compiler() -> Compiler:
    """The nvcc to use: the first on PATH, else that of NVIDIA's wheels.

    Raises:
        InputError: there is neither, or a wheel is missing; the message names the command that installs them.
    """
    if (found := next(_on_path(), None)) is not None:
        return Compiler(found)
    missing: list[str] = []
    for folder in _wheel_folders():
        missing = [wheel for component, wheel in _COMPONENTS.items() if not (folder / component).exists()]
        if not missing:
            return Compiler(folder / "bin" / "nvcc")
    if missing:
        raise InputError("nvcc", "wheels", f"are incomplete ({', '.join(missing)} missing); {INSTALL}")
    raise InputError("nvcc", "compiler", f"is not installed; {INSTALL}, or put a CUDA toolkit's bin folder on PATH")


def _on_path() -> Iterator[Path]:
    """Each nvcc on PATH that is not memsim's wrapper."""
    for folder in os.get_exec_path():
        if not Path(folder, WRAPPER_MARK).exists() and (found := shutil.which("nvcc", path=folder)):
            yield Path(found)


def wheel_of(header: str) -> str | None:
    """The wheel that brings a header of one of NVIDIA's libraries.

    >>> wheel_of("curand_kernel.h"), wheel_of("cublas_v2.h"), wheel_of("matrix.h")
    ('nvidia-curand', 'nvidia-cublas', None)
    """
    found = _LIBRARY_HEADER.fullmatch(header)
    return f"nvidia-{found[1]}" if found else None


def include_folders() -> list[str]:
    """Folders of headers that wheels installed: ``nvidia-cublas`` brings those of cuBLAS."""
    return [str(folder / "include") for folder in _wheel_folders("include")]


def wheel_includes() -> list[str]:
    """Options for headers that wheels installed, after the toolkit's own."""
    return [f"-Xcompiler=-idirafter,{folder}" for folder in include_folders()]


def _wheel_folders(component: str = "bin/nvcc") -> Iterator[Path]:
    """Toolkits that wheels installed (``nvidia/cu13``), or parts of one, the newest first."""
    spec = importlib.util.find_spec("nvidia")
    roots = spec.submodule_search_locations if spec else None
    for root in roots or ():
        yield from (one for one in sorted(Path(root).glob("cu[0-9]*"), reverse=True) if (one / component).exists())
