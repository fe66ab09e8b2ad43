"""Names of PTX types and modifiers as the machine's numbers."""

from __future__ import annotations

from memsim.sources.ptx.lowering.builder import Builder
from memsim.sources.ptx.machine import numbers
from memsim.sources.ptx.machine.codes import Type
from memsim.sources.ptx.module import Instruction

_ROUNDING = {
    "rn": numbers.NEAREST, "rz": numbers.ZERO, "rm": numbers.DOWN, "rp": numbers.UP, "rna": numbers.AWAY,
    "rni": numbers.NEAREST, "rzi": numbers.ZERO, "rmi": numbers.DOWN, "rpi": numbers.UP,
}  # fmt: skip
FLOATS = ("f16", "bf16", "f16x2", "bf16x2", "f32", "f64", "f32x2", "tf32", "e4m3", "e5m2", "e4m3x2", "e5m2x2")


def number_type(b: Builder, kind: str) -> int:
    """How the bits of a type are numbers.

    Raises:
        InputError: the type is not known.
    """
    name = kind.removesuffix("x2") if kind.startswith("e") else kind
    if name in Type.__members__:
        return int(Type[name])
    if kind[0] == "s":
        return int(Type.signed)
    if kind[0] in "ub":
        return int(Type.unsigned)
    raise b.error(f"has the type .{kind}, which memsim does not support")


def rounding(one: Instruction) -> int:
    """How an instruction rounds."""
    return next((_ROUNDING[part] for part in one.opcode if part in _ROUNDING), numbers.NEAREST)


def flags(one: Instruction) -> int:
    """.sat, .ftz, .relu, .satfinite as bits."""
    pairs = (("sat", numbers.SATURATE), ("ftz", numbers.FLUSH), ("relu", numbers.RELU), ("satfinite", numbers.FINITE))
    return sum(bit for name, bit in pairs if one.has(name))
