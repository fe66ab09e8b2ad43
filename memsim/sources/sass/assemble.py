"""PTX to SASS by NVIDIA's assembler, for the GPU that is simulated."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from memsim.gpu.config import GPU
from memsim.sources.ptx.ptxas import Needs, parse_report
from memsim.sources.sass.declarations import carried_cubin
from memsim.sources.sass.elf import read_cubin
from memsim.sources.sass.tools import ask, paths_of
from memsim.support.scratch import Scratch

_TARGET = re.compile(r"^(\s*\.target\s+sm_)(\d+)([a-z]?)", re.MULTILINE)
_VERSION = re.compile(r"^(\s*\.version\s+)(\d+)\.(\d+)", re.MULTILINE)
# The first version of PTX that knows an architecture (PTX ISA, release notes).
_FIRST_VERSION = {
    75: (6, 3), 80: (7, 0), 86: (7, 1), 87: (7, 4), 89: (7, 8), 90: (7, 8), 100: (8, 6), 103: (8, 8), 120: (8, 7),
    121: (8, 8),
}  # fmt: skip
_UNSUPPORTED = re.compile(r"Unsupported \.version (\d+\.\d+); current version is '(\d+\.\d+)'")


@dataclass(frozen=True)
class Assembled:
    """A module as its assembler made it.

    Attributes:
        cubin: the binary; empty if it could not be made.
        needs: registers and static shared memory by entry.
        architecture: 80 for sm_80.
        problem: why there is no binary, in one line; None: there is one.
    """

    cubin: bytes
    needs: dict[str, Needs]
    architecture: int
    problem: str | None = None


@lru_cache(16)
def assemble(ptx: str, architecture: int) -> Assembled:
    """Assemble a module for a GPU of compute capability ``architecture / 10`` by the first ptxas that can.

    PTX of a later architecture is taken for an earlier one if it uses nothing that this lacks: toolkits drop old
    targets, while their PTX for the next ones differs only where a program asks for its architecture.
    """
    if (cubin := carried_cubin(ptx)) is not None:
        return _carried(cubin, architecture)
    problem = "ptxas is not installed here (pip install 'memsim[machine-code]' brings one)"
    for tool in paths_of("ptxas"):
        text = retarget(ptx, architecture)
        for _ in range(2):
            done = _run(tool, text, architecture)
            if done.problem is None:
                return done
            problem = done.problem
            if not (older := _UNSUPPORTED.search(problem)):
                break
            text = _VERSION.sub(rf"\g<1>{older[2]}", text, count=1)
    return Assembled(b"", {}, architecture, problem)


def _carried(data: bytes, architecture: int) -> Assembled:
    """Machine code that a text carries, for a GPU of its own generation."""
    cubin = read_cubin(data)
    if cubin.architecture // 10 != architecture // 10 or cubin.architecture > architecture:
        problem = f"the machine code is for sm_{cubin.architecture}, not sm_{architecture}"
        return Assembled(b"", {}, architecture, problem)
    needs = {name: Needs(cubin.registers(name), cubin.static_shared(name)) for name in cubin.kernels}
    return Assembled(data, needs, cubin.architecture)


def needs_of(ptx: str, entry: str, gpu: GPU) -> Needs | str:
    """What a kernel needs on a GPU, or why nobody knows."""
    found = assembled_for(ptx, gpu)
    return found.needs.get(entry) or found.problem or f"ptxas reports no kernel {entry}"


def assembled_for(ptx: str, gpu: GPU) -> Assembled:
    """A module for a GPU; code that only a later architecture can run, for the one that it was made for."""
    found = assemble(ptx, gpu.architecture_number)
    if found.problem and (own := _TARGET.search(ptx)) and int(own[2]) != gpu.architecture_number:
        return assemble(ptx, int(own[2]))
    return found


def target(ptx: str) -> str:
    r"""The architecture that a PTX text is for; empty where it does not say.

    >>> target(".version 8.0\n.target sm_90a, debug\n")
    'sm_90a'
    """
    found = _TARGET.search(ptx)
    return found[0].split()[-1] if found else ""


def retarget(ptx: str, architecture: int) -> str:
    r"""PTX for another architecture, with a version that knows it; as it is if it is for this one.

    >>> retarget(".version 9.0\n.target sm_75\n", 70)
    '.version 9.0\n.target sm_70\n'
    >>> retarget(".version 7.0\n.target sm_70\n", 89)
    '.version 7.8\n.target sm_89\n'
    >>> retarget(".target sm_90a\n", 90)  # features of the architecture alone are kept
    '.target sm_90a\n'
    """
    found = _TARGET.search(ptx)
    if found is None or int(found[2]) == architecture:
        return ptx
    head = _VERSION.sub(lambda version: _at_least(version, architecture), ptx[: found.start()], count=1)
    return f"{head}{found[1]}{architecture}{ptx[found.end() :]}"


def _at_least(version: re.Match[str], architecture: int) -> str:
    """The line of a PTX version, raised to the first one that knows an architecture."""
    major, minor = max((int(version[2]), int(version[3])), _FIRST_VERSION.get(architecture, (0, 0)))
    return f"{version[1]}{major}.{minor}"


def _run(tool: str, text: str, architecture: int) -> Assembled:
    suffix = found[3] if (found := _TARGET.search(text)) else ""
    with Scratch() as folder:
        source, target = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(text)
        code, output = ask(
            [tool, "-v", "-lineinfo", f"-arch=sm_{architecture}{suffix}", str(source), "-o", str(target)], folder
        )
        if code == 0:
            return Assembled(target.read_bytes(), parse_report(output), architecture)
    line = next((line for line in output.splitlines() if "error" in line or "fatal" in line), output.strip()[-200:])
    return Assembled(b"", {}, architecture, " ".join(line.split()))
