"""Static instructions of a trace: an instruction with the array it accesses, where it stands in the source."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from memsim.sources.ptx.device import KernelMachine
from memsim.sources.ptx.effects import addressed_by_data, effects
from memsim.sources.ptx.launch import PtxLaunch
from memsim.sources.ptx.lowering.memory import answers
from memsim.sources.ptx.module import Instruction, SourcePosition
from memsim.sources.ptx.program import LoweredKernel
from memsim.sources.ptx.text import type_bytes
from memsim.sources.ptx.textures import FETCHES, space_of_array
from memsim.trace.schema import OpKind, Space, StaticInstruction

_INSTALLED = frozenset(["site-packages", "dist-packages"])  # folders of packages, also where they lie below a program's
_BYPASSING = ("cg", "cv", "volatile", "mmio", "relaxed", "acquire")


def static_instructions(launch: PtxLaunch, device: KernelMachine, program: LoweredKernel) -> list[StaticInstruction]:
    """The ops that the machine has met, in the order of their numbers."""
    machine = device.machine
    frames = Frames(launch)
    by_data = addressed_by_data(program.origin) if program.facts is None else set()
    found = []
    for number, array in machine.made[: int(machine.n_made[0])].tolist():
        one = program.origin[number]
        info = device.arrays[array]
        position, inlined = frames.own(one.position)
        if program.facts is not None:
            width = device.texel_bytes(array) if one.name in FETCHES else program.facts.width(one)
            found.append(_of_machine_code(program, number, array, info.space, width, position, inlined))
            continue
        kind = kind_of(one)
        if kind is OpKind.atomic and not answers(one, program.builder.read):
            kind = OpKind.reduction
        read_only = info.space is Space.global_ and one.has("nc")
        space = space_of_array(info.space, one.name in FETCHES or read_only)
        found.append(
            StaticInstruction(
                kind,
                space,
                _width(device, one, array),
                array,
                position.line,
                position.column,
                position.file,
                one.text + inlined,
                bypasses(one),
                one.name == "cp" and kind is OpKind.load,
                id(one) in by_data,
            )  # fmt: skip
        )
    return found


def _of_machine_code(
    program: LoweredKernel, number: int, array: int, space: Space, width: int, position: SourcePosition, inlined: str
) -> StaticInstruction:
    one, facts = program.origin[number], program.facts
    return StaticInstruction(
        facts.kind(one), facts.space(one, space), width, array, position.line, position.column,
        position.file, one.text + inlined, facts.bypasses(one), facts.is_copy(one), facts.is_by_data(number),
    )  # fmt: skip


def _width(device: KernelMachine, one: Instruction, array: int) -> int:
    """Bytes of a lane's access; of a fetch, those of a texel."""
    return device.texel_bytes(array) if one.name in FETCHES else _width_of_access(one)


def kind_and_width(program: LoweredKernel, one: Any) -> tuple[OpKind, int]:
    """What an access of PTX or machine code does, and to how many bytes of a lane."""
    if program.facts is not None:
        return program.facts.kind(one), program.facts.width(one)
    return kind_of(one), _width_of_access(one)


def kind_of(one: Instruction) -> OpKind:
    """What an access does."""
    if one.name == "atom":
        return OpKind.atomic
    if one.name in ("red", "multimem"):
        return OpKind.reduction
    if one.name in ("st", "stmatrix", "sust"):
        return OpKind.store
    if one.name == "cp" and "global" in one.opcode and any("shared" in part for part in one.opcode):
        first = next(part for part in one.opcode if part == "global" or part.startswith("shared"))
        return OpKind.store if first == "global" else OpKind.load
    return OpKind.load


def bypasses(one: Instruction) -> bool:
    """Whether L1 is passed by: .cg, .cv and volatile loads, and bulk copies (PTX ISA 9.0, cache operators)."""
    if one.name == "cp":
        return one.has("cg", "bulk")
    return kind_of(one) is OpKind.load and effects(one).space == "global" and one.has(*_BYPASSING)


class Frames:
    """Finds the frame of inlined functions that is the user's own.

    That is the innermost frame in a file of the program. A kernel of a library has none; its own frame is the innermost
    one in the file of the kernel itself, so that no line of the compiler's headers stands for it.
    """

    def __init__(self, launch: PtxLaunch) -> None:
        self._launch = launch
        self._own: dict[str, bool] = {}  # by a file's name

    def own(self, position: SourcePosition) -> tuple[SourcePosition, str]:
        """The user's frame, and as text what is inlined into it there, the innermost frame first."""
        frames = position.frames
        own = (k for k, frame in enumerate(frames) if self._is_own(frame.file))
        at = next(own, None)
        if at is None:
            at = next(k for k, frame in enumerate(frames) if frame.file == frames[-1].file)
        chain = " < ".join(f"{PurePath(frame.file).name}:{frame.line}" for frame in frames[:at])
        return frames[at], f" ({chain})" if chain else ""

    def _is_own(self, file: str) -> bool:
        if file not in self._own:
            found = (path for path in self._launch.sources(file) if _INSTALLED.isdisjoint(path.parts))
            self._own[file] = any(True for _ in found)
        return self._own[file]


def _width_of_access(one: Instruction) -> int:
    """Bytes of a lane's access."""
    if one.name in ("ldmatrix", "stmatrix"):
        return 16
    if one.name == "cp":
        return _copy_bytes(one)
    if one.name in ("suld", "sust"):
        kind = next((part for part in one.opcode if part in ("b8", "b16", "b32", "b64")), "b32")
        count = next((int(part[1:]) for part in one.opcode if part in ("v2", "v4")), 1)
        return count * type_bytes(kind)
    count = next((int(part[1:]) for part in one.opcode if part in ("v2", "v4", "v8")), 1)
    return count * type_bytes(one.type)


def _copy_bytes(one: Instruction) -> int:
    """Bytes of a lane's asynchronous copy; bulk copies are logged as pieces of 16."""
    size = one.operands[2] if len(one.operands) > 2 and not one.has("bulk") else None
    return int(getattr(size, "value", 16))
