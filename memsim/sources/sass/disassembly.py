"""SASS with its source lines and control codes, as ``nvdisasm`` prints it.

Since Volta an instruction is 128 bits, whose bits 105 to 125 tell the hardware how to issue it: stall cycles, yield,
the scoreboards that its reads and its result release, and those it waits for (Jia et al., *Dissecting the NVIDIA Volta
GPU Architecture via Microbenchmarking*, 2018, section 2.1).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from memsim.sources.sass.opcode_class import opcode_class
from memsim.sources.sass.tools import ask, places_of
from memsim.support.scratch import Scratch

_SECTION = re.compile(r"^\.text\.(\S+):")
_LABEL = re.compile(r"^(\.L_\w+|\$\S+):")
_LINE = re.compile(r'//## File "(.*?)", line (\d+)')
_CODE = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(.*?);?\s*/\* 0x([0-9a-f]{16}) \*/")
_MORE = re.compile(r"^\s*/\* 0x([0-9a-f]{16}) \*/")
_CONTROL_BIT = 105 - 64
NO_SCOREBOARD = 7


@dataclass(frozen=True)
class SassInstruction:
    """One machine instruction.

    Attributes:
        address: in bytes from the kernel's start.
        opcode: with its modifiers, ``LDG.E.128``.
        predicate: ``@!P0``, or empty.
        operands: as printed.
        file, line: of the source; empty and 0 where unknown.
        kind: its class, one of :data:`~memsim.sources.sass.opcode_class.CLASSES`.
        stall: cycles until the warp's next instruction may issue.
        sets: scoreboard that its result releases; 7: none.
        reads: scoreboard that the reading of its operands releases; 7: none.
        waits: scoreboards that it waits for, a bit each.
        labels: that stand before it; those of functions begin with ``$``.
    """

    address: int
    opcode: str
    predicate: str
    operands: str
    file: str
    line: int
    kind: str
    stall: int
    sets: int
    reads: int
    waits: int
    labels: tuple[str, ...] = ()


def disassemble(cubin: bytes) -> dict[str, list[SassInstruction]]:
    """The instructions of a cubin's kernels by name; nothing where no ``nvdisasm`` is installed that knows its GPU."""
    with Scratch() as folder:
        path = Path(folder, "kernel.cubin")
        path.write_bytes(cubin)
        for tool in places_of("nvdisasm"):
            code, told = ask([tool, "-g", "-c", "-hex", "-ndf", str(path)], folder)
            if code == 0:
                return parse_sass(told)
    return {}


def parse_sass(told: str) -> dict[str, list[SassInstruction]]:
    """What ``nvdisasm -g -c -hex`` prints, by kernel."""
    kernels: dict[str, list[SassInstruction]] = {}
    current: list[SassInstruction] = []
    file, line, open_code = "", 0, None
    labels: list[str] = []
    for text in told.splitlines():
        if found := _SECTION.match(text):
            current = kernels.setdefault(found[1], [])
            file, line = "", 0
        elif found := _LABEL.match(text):
            labels.append(found[1])
        elif found := _LINE.search(text):
            file, line = found[1], int(found[2])
        elif found := _CODE.match(text):
            open_code = found
        elif open_code is not None and (found := _MORE.match(text)):
            current.append(_instruction(open_code, int(found[1], 16), file, line, tuple(labels)))
            open_code, labels = None, []
    return kernels


def _instruction(code: re.Match[str], upper: int, file: str, line: int, labels: tuple[str, ...]) -> SassInstruction:
    words = code[2].split(maxsplit=1 + code[2].startswith("@"))
    predicate = words.pop(0) if words[0].startswith("@") else ""
    opcode, operands = words[0], words[1] if len(words) > 1 else ""
    control = upper >> _CONTROL_BIT
    return SassInstruction(
        int(code[1], 16), opcode, predicate, operands.strip(), file, line, opcode_class(opcode),
        stall=control & 15, sets=control >> 5 & 7, reads=control >> 8 & 7, waits=control >> 11 & 63, labels=labels,
    )  # fmt: skip
