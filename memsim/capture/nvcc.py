"""``memsim nvcc``: NVIDIA's compiler, with the options that make a program capturable."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from memsim.capture.compilers import Compiler, find_compiler, nearest, wheel_includes, wheel_of
from memsim.capture.libraries import needs_stand_ins
from memsim.capture.linking import link_folder, toolkit_folder
from memsim.capture.nvcc_options import highest, number, rewrite
from memsim.capture.older_cuda import older_command
from memsim.gpu.defaults import DEFAULT_ARCHITECTURE
from memsim.support.errors import InputError

GPU_VARIABLE = "MEMSIM_GPU"
"""Environment variable with the name of a GPU: what ``memsim nvcc`` compiles for, whatever the build says."""

TOOLKIT_OPTION = "--memsim-toolkit"
BAD_INPUT = 2  # exit code
_SOURCES = (".cu", ".cpp", ".cc", ".cxx", ".c")
_NOT_FOUND = re.compile(rb"error: +(\S+): No such file or directory")
CMAKE_TEST = "CMakeCUDACompilerId"  # the program that CMake compiles to identify the compiler
CMAKE_QUESTION = "__cmake_determine_cuda"  # what CMake gives to nvcc -v to learn the toolkit's folder
_TOP = re.compile(rb"^#\$ TOP=.*$", re.MULTILINE)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run nvcc with the options of a user's build, made fit for a capture; returns its exit code.

    Args:
        arguments: of the command line; None: those of this process. The one option of memsim's own,
            ``--memsim-toolkit``, prints a folder for builds that look for a CUDA toolkit (``CUDA_PATH``), or whose
            ``bin`` goes first on PATH: its ``nvcc`` is this command.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if given == [TOOLKIT_OPTION]:
            print(toolkit_folder(find_compiler()))
            return 0
        command, environment = nvcc_command(given, os.environ)
    except InputError as error:
        print(f"memsim nvcc: {error}", file=sys.stderr)
        return BAD_INPUT
    return _run(command, environment)


def _run(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run nvcc, again with older_command if the program needs it; pass its messages on; returns its exit code.

    The wheels of headers that it did not find are named. CMake gets the folder of memsim's toolkit, so that
    ``CUDA::cudart_static``, which it gives to the linker by its path, is memsim's runtime.
    """
    done = subprocess.run(command, env=environment, stderr=subprocess.PIPE, check=False)
    while done.returncode:
        older = older_command(done.args, done.stderr.decode("utf-8", "replace"), Compiler(Path(command[0])))
        if older is None:
            break
        done = subprocess.run(older, env=environment, stderr=subprocess.PIPE, check=False)
    messages = done.stderr
    if CMAKE_QUESTION in command:
        top = os.fsencode(toolkit_folder(find_compiler()))
        messages = _TOP.sub(lambda _: b"#$ TOP=" + top, messages)
    sys.stderr.buffer.write(messages)
    sys.stderr.buffer.flush()
    for header in dict.fromkeys(one.decode("utf-8", "replace") for one in _NOT_FOUND.findall(done.stderr)):
        if wheel := wheel_of(header):
            print(f"memsim nvcc: {header} is part of the CUDA toolkit, or pip install {wheel}", file=sys.stderr)
    return done.returncode


def nvcc_command(
    given: Sequence[str], environment: dict[str, str] | os._Environ[str]
) -> tuple[list[str], dict[str, str]]:
    """The command line and the environment of the real nvcc.

    Args:
        given: the options of a user's build.
        environment: whose ``NVCC_PREPEND_FLAGS`` and ``NVCC_APPEND_FLAGS`` belong to the options, and whose
            ``MEMSIM_GPU`` names the GPU to compile for.

    Raises:
        InputError: there is no nvcc, or no GPU of that name.
    """
    compiler = find_compiler()
    passed = dict(environment)
    before, after = (shlex.split(passed.pop(f"NVCC_{position}_FLAGS", "")) for position in ("PREPEND", "APPEND"))
    choose = _choice(compiler, passed.get(GPU_VARIABLE))
    options = [*before, *given, *after]
    rewritten = rewrite(options, choose, None)
    if rewritten.links:
        rewritten = rewrite(options, choose, str(link_folder(compiler, _needs_stand_ins(options))))
    compiles = any(one.endswith(_SOURCES) for one in options)
    return [str(compiler.path), *rewritten.options, *(wheel_includes() if compiles else ())], passed


def _needs_stand_ins(options: Sequence[str]) -> bool:
    """Whether a link may take stand-ins for closed libraries.

    CMake links one test program to learn nvcc's folders, and gives these to the linker of programs in C++.
    """
    return needs_stand_ins(options) or any(CMAKE_TEST in one for one in options)


def _choice(compiler: Compiler, gpu: str | None) -> Callable[[Sequence[str]], str]:
    """How to choose an architecture: the named GPU's, else the newest of the build's that the default GPU runs."""
    known = compiler.architectures
    if gpu is None:
        pick = highest(DEFAULT_ARCHITECTURE)
        return lambda named: _known(pick(named), known)
    from memsim.gpu.presets import load_gpu

    target = nearest(load_gpu(gpu).architecture_number, known)
    return lambda named: next((one for one in named if one == f"{target}a"), str(target))


def _known(architecture: str, known: Sequence[int]) -> str:
    """An architecture as it is if nvcc knows it, else the nearest that it knows."""
    return architecture if number(architecture) in known else str(nearest(number(architecture), known))


if __name__ == "__main__":
    sys.exit(main())
