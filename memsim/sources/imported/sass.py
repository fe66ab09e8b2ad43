"""What a SASS opcode does to memory: kind, space and width, from its text alone.

The opcodes are those of NVIDIA's *CUDA Binary Utilities* manual (instruction set reference, Kepler to Hopper). Which of
them bypass L1, and that a width is the opcode's first numeric part, is how Accel-Sim reads them (its trace-driven front
end). Two widths differ from Accel-Sim's, which takes 4 bytes: signed and floating parts (``.S8``, ``.F64``) are
read like unsigned ones, and ``LDSM`` reads rows of 16 bytes whatever the size of its matrix elements.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum

from memsim.sources.imported.units import UNITS, tensor_work, unit_of
from memsim.trace.schema import OpKind, Space


class Does(IntEnum):
    """What an instruction means for the trace."""

    compute = 0  # nothing with memory: part of the next access's compute run
    wait = 1  # waits for loads under way, issues nothing
    end = 2  # ends the warp, issues nothing
    barrier = 3
    access = 4
    bulk = 5  # a bulk copy: names transfers, not lanes
    try_barrier = 6  # waits for an mbarrier's phase


class Where(IntEnum):
    """The memory an opcode names; the first four are those of :class:`Space`."""

    global_ = 0
    shared = 1
    local = 2
    constant = 3
    generic = 4  # the address decides
    both = 5  # LDGSTS names a shared address in one line and a global one in the next: the address decides


@dataclass(frozen=True)
class RecordedOpcode:
    """One opcode.

    Attributes:
        text: as disassembled, ``LDG.E.64.SYS``.
        does: what it means for the trace.
        kind, where, width: of an access; width in bytes per lane.
        bypass_l1: a load that L1 does not serve.
        unit, tensor, macs: which unit executes it (units.UNITS); of a matrix instruction, its type's number and work.
        known: False of an opcode that no table here knows; it must not come with addresses.
        commits: a warp group's matrix product, with which newer tracers say whether it ends a group.
    """

    text: str
    does: Does
    kind: OpKind = OpKind.load
    where: Where = Where.global_
    width: int = 4
    bypass_l1: bool = False
    known: bool = True
    commits: bool = False
    unit: int = 0
    tensor: int = 0
    macs: int = 0


_ACCESSES: dict[str, tuple[OpKind, Where]] = {
    "LDG": (OpKind.load, Where.global_),
    "LDS": (OpKind.load, Where.shared),
    "LDSM": (OpKind.load, Where.shared),
    "LDSLK": (OpKind.load, Where.shared),
    "LDL": (OpKind.load, Where.local),
    "LDC": (OpKind.load, Where.constant),
    "LD": (OpKind.load, Where.generic),
    "LDGSTS": (OpKind.load, Where.both),
    "STG": (OpKind.store, Where.global_),
    "STS": (OpKind.store, Where.shared),
    "STSCUL": (OpKind.store, Where.shared),
    "STL": (OpKind.store, Where.local),
    "ST": (OpKind.store, Where.generic),
    "ATOM": (OpKind.atomic, Where.generic),
    "ATOMG": (OpKind.atomic, Where.global_),
    "ATOMS": (OpKind.atomic, Where.shared),
    "RED": (OpKind.reduction, Where.generic),
    "REDG": (OpKind.reduction, Where.global_),
    "REDS": (OpKind.reduction, Where.shared),
}
_BULK = {
    "UTMALDG": OpKind.load,
    "UBLKCP": OpKind.load,
    "UTMASTG": OpKind.store,
    "UTMAREDG": OpKind.reduction,
    "UBLKRED": OpKind.reduction,
}
# These name an address, but move no data to where a warp sees it.
_NO_ACCESS = {"CCTL", "CCTLL", "CCTLT", "QSPC", "SYNCS", "ARRIVES", "UTMAPF", "UBLKPF"}
_NOT_ISSUED = {"EXIT", "REPLAY_START", "REPLAY_END"}  # the last two are marks of Accel-Sim's tracer
_KEPLER = 50  # below this binary version LD and ST are global (Accel-Sim's Kepler opcode table)
_NUMERIC = re.compile(r"[USF]?(\d+)")
WIDTHS = (1, 2, 4, 8, 16)


def decode(text: str, binary_version: int = 70) -> RecordedOpcode:
    """What the opcode does.

    Args:
        text: the opcode with its modifiers.
        binary_version: ten times the compute capability of the code.

    >>> op = decode("LDG.E.64.STRONG.GPU")
    >>> op.kind.name, op.where.name, op.width, op.bypass_l1
    ('load', 'global_', 8, True)
    >>> decode("LDG.E.U8.SYS").width, decode("STS.128").width, decode("FFMA").does.name
    (1, 16, 'compute')
    """
    name, *modifiers = text.split(".")
    if name in _ACCESSES:
        kind, where = _ACCESSES[name]
        if binary_version < _KEPLER and where is Where.generic:
            where = Where.global_
        width = 16 if name == "LDSM" else _width(modifiers)
        bypass = kind is OpKind.load and ({"STRONG", "GPU"} <= set(modifiers) or "BYPASS" in modifiers)
        return RecordedOpcode(text, Does.access, kind, where, width, bypass)
    if name == "BAR":
        control = UNITS.index("control")
        return RecordedOpcode(
            text, Does.compute if "ARV" in modifiers else Does.barrier, unit=control
        )  # BAR.ARV: no wait
    if name == "DEPBAR" or name in _NOT_ISSUED:
        return RecordedOpcode(text, Does.wait if name == "DEPBAR" else Does.end)
    if name in _BULK:
        kind = OpKind.store if name == "UBLKCP" and modifiers[:1] == ["G"] else _BULK[name]
        return RecordedOpcode(text, Does.bulk, kind, Where.global_, 16, bypass_l1=kind is OpKind.load)
    if name == "SYNCS" and "TRYWAIT" in modifiers:
        return RecordedOpcode(text, Does.try_barrier, unit=UNITS.index("control"))
    unit = unit_of(text)
    tensor, macs = tensor_work(text) if UNITS[unit] == "tensor" else (0, 0)
    known = name in _NO_ACCESS
    return RecordedOpcode(text, Does.compute, known=known, commits="GMMA" in name, unit=unit, tensor=tensor, macs=macs)


def space(where: Where) -> Space:
    """The space of an opcode that names one."""
    return Space(int(where))


def _width(modifiers: list[str]) -> int:
    for modifier in modifiers:
        if (found := _NUMERIC.fullmatch(modifier)) and int(found[1]) >= 8:
            return int(found[1]) // 8
    return 4
