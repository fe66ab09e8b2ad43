"""CUDA C++ in a string to PTX, by NVRTC's library itself: it needs no driver, unlike the packages around it."""

from __future__ import annotations

import ctypes
import importlib.util
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from memsim.gpu.config import GPU
from memsim.sources.ptx.ptxas import architecture
from memsim.support.errors import InputError

_LIBRARIES = (  # of NVIDIA's wheels, and a toolkit's
    ("nvidia", "cuda_nvrtc/lib/libnvrtc.so.12"),
    ("nvidia", "cu13/lib/libnvrtc.so.13"),
)
_SYSTEM = ("libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so")
_ERROR = re.compile(r"^(.*?)\((\d+)\): (?:catastrophic )?error: (.*)$", re.MULTILINE)
_ARCHITECTURE = re.compile(r"^--?(gpu-architecture|arch)\b")
# Folders with CUDA's own headers (cuda_fp16.h and others), of wheels and toolkits.
_HEADERS = (("triton", "backends/nvidia/include"), ("nvidia", "cuda_runtime/include"), ("nvidia", "cu13/include"))
_TOOLKIT_HEADERS = "/usr/local/cuda/include"


@dataclass(frozen=True)
class Compiled:
    """A program's PTX, and what its templates' instances are called there.

    Attributes:
        ptx: the text.
        names: by name expression, ``k<float>``.
    """

    ptx: str
    names: dict[str, str] = field(default_factory=dict)


def compile_string(
    code: str, gpu: GPU, options: Sequence[str] = (), expressions: Sequence[str] = (), where: str = "kernel.cu"
) -> Compiled:
    """Compile CUDA C++ for a GPU.

    Args:
        code: the source; it includes nothing but what `options` or CUDA bring.
        gpu: whose architecture is compiled for, whatever `options` say.
        options: NVRTC's, ``-std=c++17``, ``-I FOLDER``.
        expressions: kernels that are instances of templates, ``k<float>``.
        where: the file that messages and line numbers name.

    Raises:
        InputError: NVRTC is not installed, or the code does not compile.
    """
    library = _library()
    program = ctypes.c_void_p()
    _check(library, library.nvrtcCreateProgram(ctypes.byref(program), code.encode(), where.encode(), 0, None, None))
    try:
        for expression in expressions:
            _check(library, library.nvrtcAddNameExpression(program, expression.encode()))
        given = [
            *_kept(options),
            "-lineinfo",
            f"--gpu-architecture=compute_{_architecture(library, gpu)}",
            *_includes(),
        ]
        array = (ctypes.c_char_p * len(given))(*(one.encode() for one in given))
        if library.nvrtcCompileProgram(program, len(given), array):
            raise _failure(_text(library, program, "ProgramLog"), where)
        names = {expression: _lowered(library, program, expression) for expression in expressions}
        return Compiled(_text(library, program, "PTX"), names)
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


@cache
def _library() -> ctypes.CDLL:
    for place in (*_in_wheels(_LIBRARIES), *_SYSTEM):
        try:
            return ctypes.CDLL(str(place))
        except OSError:
            continue
    raise InputError("memsim", "NVRTC", "is not installed; give it: pip install 'memsim[nvrtc]'")


def _in_wheels(files: Sequence[tuple[str, str]]) -> list[Path]:
    """Those of the files of installed packages that are there."""
    found = []
    for package, file in files:
        spec = importlib.util.find_spec(package)
        found += [Path(place, file) for place in spec.submodule_search_locations or ()] if spec else []
    return [path for path in found if path.exists()]


def _includes() -> list[str]:
    folders = [*_in_wheels(_HEADERS), *([_TOOLKIT_HEADERS] if Path(_TOOLKIT_HEADERS).exists() else [])]
    return [f"-I{folder}" for folder in folders]


def _kept(options: Sequence[str]) -> list[str]:
    """The options but for the architecture, which is the simulated GPU's."""
    kept = []
    given = iter(options)
    for option in given:
        if not _ARCHITECTURE.match(option):
            kept.append(option)
        elif "=" not in option:
            next(given, None)  # its value
    return kept


def _architecture(library: ctypes.CDLL, gpu: GPU) -> int:
    """The GPU's, or the nearest that this NVRTC compiles for."""
    count = ctypes.c_int()
    _check(library, library.nvrtcGetNumSupportedArchs(ctypes.byref(count)))
    known = (ctypes.c_int * count.value)()
    _check(library, library.nvrtcGetSupportedArchs(known))
    wanted = architecture(gpu)
    return min((one for one in known if one >= wanted), default=max(known))


def _text(library: ctypes.CDLL, program: ctypes.c_void_p, what: str) -> str:
    size = ctypes.c_size_t()
    _check(library, library[f"nvrtcGet{what}Size"](program, ctypes.byref(size)))
    text = ctypes.create_string_buffer(size.value)
    _check(library, library[f"nvrtcGet{what}"](program, text))
    return text.value.decode(errors="replace")


def _lowered(library: ctypes.CDLL, program: ctypes.c_void_p, expression: str) -> str:
    name = ctypes.c_char_p()
    _check(library, library.nvrtcGetLoweredName(program, expression.encode(), ctypes.byref(name)))
    return (name.value or b"").decode()


def _check(library: ctypes.CDLL, code: int) -> None:
    if code:
        library.nvrtcGetErrorString.restype = ctypes.c_char_p
        raise InputError("memsim", "NVRTC", f"fails: {library.nvrtcGetErrorString(code).decode()}")


def _failure(log: str, where: str) -> InputError:
    """The first thing that NVRTC complained of."""
    if found := _ERROR.search(log):
        return InputError(f"{found[1]}:{found[2]}", "code", f"does not compile: {found[3]} (NVRTC)")
    return InputError(where, "code", f"does not compile: {' '.join(log.split())[:300]} (NVRTC)")
