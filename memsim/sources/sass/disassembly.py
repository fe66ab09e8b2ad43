"""SASS with its source lines and control codes, as ``nvdisasm`` prints it.

Since Volta an instruction is 128 bits, whose bits 105 to 125 control how the hardware issues it: stall cycles, yield,
the scoreboards that its reads and its result release, and those it waits for (Jia et al., *Dissecting the NVIDIA Volta
GPU Architecture via Microbenchmarking*, 2018, section 2.1).
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from pathlib import Path

from memsim.sources.sass.opcode_class import opcode_class
from memsim.sources.sass.tools import ask, paths_of
from memsim.support.scratch import Scratch

_SECTION = re.compile(r"^\.text\.(\S+):")
_LABEL = re.compile(r"^(\.L_\w+|\$\S+):")
_FLAGS_AT = 0x30  # in the header of an ELF file; the lowest and third bytes are the architecture
_VOLTA, _TURING = (70, 72), 75
_LINE = re.compile(r'//## File "(.*?)", line (\d+)(?: inlined at "(.*?)", line (\d+))?')
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
        file, line: of the source, where inlined code begins innermost; empty and 0 where unknown.
        kind: its class, one of :data:`~memsim.sources.sass.opcode_class.CLASSES`.
        stall: cycles until the warp's next instruction may issue.
        sets: scoreboard that its result releases; 7: none.
        reads: scoreboard that the reading of its operands releases; 7: none.
        waits: scoreboards that it waits for, a bit each.
        labels: that stand before it; those of functions begin with ``$``.
        callers: file and line of each call that inlining took the instruction through, the innermost first.
        word: its 128 bits.
        yields: whether the scheduler should turn to another warp.
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
    callers: tuple[tuple[str, int], ...] = ()
    word: int = 0
    yields: bool = False

    @property
    def name(self) -> str:
        """The opcode without modifiers."""
        return self.opcode.partition(".")[0]

    @property
    def modifiers(self) -> tuple[str, ...]:
        """The opcode's modifiers, in the order of the text."""
        return tuple(self.opcode.split(".")[1:])


def disassemble(cubin: bytes) -> dict[str, list[SassInstruction]]:
    """The instructions of a cubin's kernels by name; nothing where no ``nvdisasm`` is installed that knows its GPU."""
    with Scratch() as folder:
        path = Path(folder, "kernel.cubin")
        for data in filter(None, (cubin, as_turing(cubin))):
            path.write_bytes(data)
            for tool in paths_of("nvdisasm"):
                for lines in (["-gi"], []):  # of PTX that names no source, nvdisasm 13 prints nothing with lines
                    code, output = ask([tool, *lines, "-c", "-hex", "-ndf", str(path)], folder)
                    if code == 0 and (found := parse_sass(output)):
                        return found
    return {}


def as_turing(cubin: bytes) -> bytes | None:
    """A cubin of Volta, marked as one of Turing; None: it is of another architecture, or none.

    Turing's instructions are encoded as Volta's, and nvdisasm 13 knows Turing's alone.
    """
    if len(cubin) < _FLAGS_AT + 4:
        return None
    (flags,) = struct.unpack_from("<I", cubin, _FLAGS_AT)
    if flags & 0xFF not in _VOLTA:
        return None
    marked = flags & ~0xFF00FF | _TURING << 16 | _TURING
    return cubin[:_FLAGS_AT] + struct.pack("<I", marked) + cubin[_FLAGS_AT + 4 :]


def parse_sass(output: str) -> dict[str, list[SassInstruction]]:
    """What ``nvdisasm -gi -c -hex`` prints, by kernel."""
    kernels: dict[str, list[SassInstruction]] = {}
    current: list[SassInstruction] = []
    state = _SourceState()
    open_code = None
    labels: list[str] = []
    for text in output.splitlines():
        if found := _SECTION.match(text):
            current = kernels.setdefault(found[1], [])
            state = _SourceState()
        elif found := _LABEL.match(text):
            labels.append(found[1])
        elif found := _LINE.search(text):
            state.note(found)
        elif found := _CODE.match(text):
            open_code = found
        elif open_code is not None and (found := _MORE.match(text)):
            current.append(_instruction(open_code, int(found[1], 16), state, tuple(labels)))
            open_code, labels, state.ended = None, [], True
    return kernels


class _SourceState:
    """Where the instructions that follow come from: one line of the disassembly for each level of inlining."""

    def __init__(self) -> None:
        self.file, self.line = "", 0
        self.callers: list[tuple[str, int]] = []
        self.ended = False

    def note(self, found: re.Match[str]) -> None:
        """Take in a line; the first one behind an instruction begins anew."""
        if self.ended or not self.line:
            self.file, self.line, self.callers, self.ended = found[1], int(found[2]), [], False
        if found[3]:
            self.callers.append((found[3], int(found[4])))


def _instruction(code: re.Match[str], upper: int, state: _SourceState, labels: tuple[str, ...]) -> SassInstruction:
    words = code[2].split(maxsplit=1 + code[2].startswith("@"))
    predicate = words.pop(0) if words[0].startswith("@") else ""
    opcode, operands = words[0].rstrip(";"), words[1] if len(words) > 1 else ""
    control = upper >> _CONTROL_BIT
    return SassInstruction(
        int(code[1], 16), opcode, predicate, operands.strip(), state.file, state.line, opcode_class(opcode),
        stall=control & 15, sets=control >> 5 & 7, reads=control >> 8 & 7, waits=control >> 11 & 63, labels=labels,
        callers=tuple(state.callers), word=upper << 64 | int(code[3], 16), yields=not control >> 4 & 1,
    )  # fmt: skip
