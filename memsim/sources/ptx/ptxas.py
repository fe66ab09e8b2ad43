"""Reads what NVIDIA's assembler prints of the kernels it makes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memsim.gpu.config import GPU

_ENTRY = re.compile(r"Compiling entry function '(\w+)'.*?Used (\d+) registers([^\n]*)", re.DOTALL)
_SHARED = re.compile(r"(\d+) bytes smem")
# Resident warps of an SM (CUDA C++ Programming Guide 13.0, technical specifications per compute capability; sm_88's by
# the registers that ptxas gives); all others from 3.0 on hold 64.
_WARPS = {20: 48, 21: 48, 75: 32, 86: 48, 87: 48, 88: 48, 89: 48, 110: 48, 120: 48, 121: 48}
_FIRST, _LENGTH = re.compile(r"_Z[NL]*(\d+)"), re.compile(r"L?(\d+)")


DEFAULT_REGISTERS = 32  # per thread, where no assembler reports them


@dataclass(frozen=True)
class Needs:
    """What a kernel needs: registers of a thread, static shared memory of a block, and who says so."""

    registers: int
    shared_bytes: int
    source: str


def registers_of(needs: Needs | str, kernel: str) -> tuple[int, str]:
    """Registers per thread, and a note for the user; the note is empty unless the number is assumed.

    Args:
        needs: of the kernel, or why nobody knows.

    >>> registers_of("no ptxas", "add")
    (32, 'add: 32 registers per thread are assumed (no ptxas); give --registers N')
    """
    if not isinstance(needs, str):
        return needs.registers, ""
    note = f"{kernel}: {DEFAULT_REGISTERS} registers per thread are assumed ({needs}); give --registers N"
    return DEFAULT_REGISTERS, note


def parse_report(told: str, source: str) -> dict[str, Needs]:
    """What kernels need, by mangled name.

    Args:
        told: by ``ptxas -v``.
        source: who says so.

    >>> parse_report("Compiling entry function '_Z1kv' for 'sm_75'\\n ... Used 12 registers, 2048 bytes smem", "nvcc")
    {'_Z1kv': Needs(registers=12, shared_bytes=2048, source='nvcc')}
    """
    found = {}
    for name, registers, more in _ENTRY.findall(told):
        shared = _SHARED.search(more)
        found[name] = Needs(int(registers), int(shared[1]) if shared else 0, source)
    return found


def kernel_name(mangled: str) -> str:
    """A kernel's name without namespaces and template arguments (Itanium C++ ABI, 5.1.2: lengths and identifiers).

    >>> kernel_name("_Z5saxpyfPKfPfi"), kernel_name("_ZN2ns1kIfEEvPT_"), kernel_name("_ZL1kv"), kernel_name("saxpy")
    ('saxpy', 'k', 'k', 'saxpy')
    >>> kernel_name("_Z4fill6Matrixf")  # what follows a name that is not nested are the parameters' types
    'fill'
    """
    name, at = mangled, 0
    while found := (_FIRST if at == 0 else _LENGTH).match(mangled, at):
        at = found.end() + int(found[1])
        name = mangled[found.end() : at]
        if not mangled.startswith("_ZN"):
            break
    return name


def architecture(gpu: GPU) -> int:
    """The number of a GPU's architecture: 86 for compute capability 8.6, that of sm_86."""
    major, minor = gpu.compute_capability.split(".")
    return 10 * int(major) + int(minor)


def nearest(gpu: GPU, known: Sequence[int]) -> int:
    """The architecture to compile for: a GPU's own, else the nearest of those whose SMs hold as many warps.

    ptxas takes as many registers as let an SM be full: kernels that get 32 for sm_80 get 40 for sm_86, whose SMs hold
    48 warps, not 64, and 57 for sm_75, whose SMs hold 32.

    Args:
        gpu: that the kernels are to run on.
        known: architectures; where there are none, it is the GPU's own.

    >>> from memsim.gpu.presets import load_gpu
    >>> nearest(load_gpu("tesla-v100"), [75, 80, 86]), nearest(load_gpu("tesla-c2050"), [75, 80, 86])
    (80, 86)
    """
    wanted, warps = architecture(gpu), min(gpu.sm.max_warps, gpu.sm.max_threads // gpu.sm.warp_size)
    if wanted in known:
        return wanted
    return min(known, key=lambda one: (_WARPS.get(one, 64) != warps, abs(one - wanted), one), default=wanted)
