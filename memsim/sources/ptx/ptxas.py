"""Reads what NVIDIA's assembler prints of the kernels it makes."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ENTRY = re.compile(r"Compiling entry function '(\w+)'.*?Used (\d+) registers([^\n]*)", re.DOTALL)
_SHARED = re.compile(r"(\d+) bytes smem")
_FIRST, _LENGTH = re.compile(r"_Z[NL]*(\d+)"), re.compile(r"L?(\d+)")

DEFAULT_REGISTERS = 32  # per thread, where no assembler reports them


@dataclass(frozen=True)
class Needs:
    """What a kernel needs: registers of a thread, and static shared memory of a block."""

    registers: int
    shared_bytes: int


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


def parse_report(report: str) -> dict[str, Needs]:
    """What kernels need, by mangled name.

    Args:
        report: by ``ptxas -v``.

    >>> parse_report("Compiling entry function '_Z1kv' for 'sm_75'\\n ... Used 12 registers, 2048 bytes smem")
    {'_Z1kv': Needs(registers=12, shared_bytes=2048)}
    """
    found = {}
    for name, registers, more in _ENTRY.findall(report):
        shared = _SHARED.search(more)
        found[name] = Needs(int(registers), int(shared[1]) if shared else 0)
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
