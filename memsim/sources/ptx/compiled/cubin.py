"""What a compiled kernel uses of an SM, read from its cubin by ``cuobjdump``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from memsim.sources.ptx.compiled.tools import ask, places_of
from memsim.support.scratch import Scratch

_FUNCTION = re.compile(r"Function (\S+?):\s*\n\s*REG:(\d+) STACK:(\d+) SHARED:(\d+) LOCAL:(\d+)")


@dataclass(frozen=True)
class Used:
    """What a kernel uses.

    Attributes:
        registers: of a thread.
        shared_bytes: static, of a block.
        spill_bytes: of a thread's stack, which holds what found no register (and arrays indexed at run time).
    """

    registers: int
    shared_bytes: int = 0
    spill_bytes: int = 0


def resources_of(cubin: bytes | Path, entry: str) -> Used | None:
    """What a kernel of a cubin uses; None where ``cuobjdump`` is not installed or cannot read it.

    Args:
        cubin: the file, or what is in it.
        entry: the kernel's name in it.
    """
    with Scratch() as folder:
        path = cubin
        if isinstance(cubin, bytes):
            path = Path(folder, "kernel.cubin")
            path.write_bytes(cubin)
        for tool in places_of("cuobjdump"):
            code, told = ask([tool, "--dump-resource-usage", str(path)], folder)
            if code == 0 and entry in (used := parse_usage(told)):
                return used[entry]
    return None


def parse_usage(told: str) -> dict[str, Used]:
    r"""What ``cuobjdump --dump-resource-usage`` says, by kernel.

    >>> parse_usage(" Function add:\n  REG:28 STACK:0 SHARED:512 LOCAL:0 CONSTANT[0]:400\n")
    {'add': Used(registers=28, shared_bytes=512, spill_bytes=0)}
    """
    return {name: Used(int(regs), int(shared), int(stack)) for name, regs, stack, shared, _ in _FUNCTION.findall(told)}
