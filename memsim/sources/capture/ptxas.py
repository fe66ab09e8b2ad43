"""What NVIDIA's assembler and device linker print of the kernels they make, read."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ENTRY = re.compile(r"Compiling entry function '(\w+)'.*?Used (\d+) registers([^\n]*)", re.DOTALL)
_LINKED = re.compile(r"nvlink info\s*: Function properties for '(\w+)'[^\n]*\n[^\n]*used (\d+) registers([^\n]*)")
_SHARED = re.compile(r"(\d+) bytes smem")
_FIRST, _LENGTH = re.compile(r"_Z[NL]*(\d+)"), re.compile(r"L?(\d+)")


@dataclass(frozen=True)
class Needs:
    """What a kernel needs: registers of a thread, static shared memory of a block, and who says so."""

    registers: int
    shared_bytes: int
    source: str


def parse_report(told: str, source: str) -> dict[str, Needs]:
    """What kernels need, by mangled name.

    Args:
        told: by ``ptxas -v``, or by ``nvlink -v`` where the device code of several files was linked.
        source: who says so.

    >>> parse_report("Compiling entry function '_Z1kv' for 'sm_75'\\n ... Used 12 registers, 2048 bytes smem", "nvcc")
    {'_Z1kv': Needs(registers=12, shared_bytes=2048, source='nvcc')}
    """
    found = {}
    for name, registers, more in [*_ENTRY.findall(told), *_LINKED.findall(told)]:
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


def architecture(compute_capability: str) -> int:
    """The number in ``sm_86``.

    >>> architecture("8.6"), architecture("12.1")
    (86, 121)
    """
    major, minor = compute_capability.split(".")
    return 10 * int(major) + int(minor)
