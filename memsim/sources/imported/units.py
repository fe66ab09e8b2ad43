"""The class of a SASS instruction that is no access, and the multiply-accumulates of one for the tensor cores.

Shapes of HMMA, IMMA and DMMA stand in their second part as MMA's m, n and k; an HMMA.884 of Volta is one of four steps
(Jia et al., arXiv 1804.06826, section on tensor cores).
"""

from __future__ import annotations

from memsim.sources.sass.opcode_class import opcode_class
from memsim.trace.schema import INSTRUCTION_CLASSES, TENSOR_TYPES

UNITS = (*INSTRUCTION_CLASSES, "tensor")
_SHAPES = {
    "884": 8 * 8 * 4, "1684": 16 * 8 * 4, "1688": 16 * 8 * 8, "16816": 16 * 8 * 16, "16832": 16 * 8 * 32,
    "16864": 16 * 8 * 64, "8816": 8 * 8 * 16, "8832": 8 * 8 * 32, "8864": 8 * 8 * 64,
}  # fmt: skip


def unit_of(text: str) -> int:
    """Number of the class, of UNITS, of an opcode that is no access.

    >>> UNITS[unit_of("MUFU.RCP")], UNITS[unit_of("IADD3.X")]
    ('special', 'integer')
    """
    kind = opcode_class(text)
    return UNITS.index(kind if kind in UNITS else "control")


def tensor_work(text: str) -> tuple[int, int]:
    """Of a matrix instruction: the number of its type, of TENSOR_TYPES, and a warp's multiply-accumulates.

    >>> tensor_work("HMMA.16816.F32.BF16"), tensor_work("HMMA.1688.F32.TF32"), tensor_work("IMMA.16832.S8.S8")
    ((0, 2048), (1, 1024), (2, 4096))
    """
    name, *modifiers = text.split(".")
    kinds = {"I": "tensor_i8", "B": "tensor_i8", "D": "tensor_f64", "Q": "tensor_f8"}
    group = "tensor_group" if "GMMA" in name else "tensor"
    kind = "tensor_tf32" if "TF32" in modifiers else kinds.get(name[0], "tensor_f16")
    shape = next((_SHAPES[modifier] for modifier in modifiers if modifier in _SHAPES), None)
    return TENSOR_TYPES.index(kind.replace("tensor", group)), _group_shape(modifiers) if shape is None else shape


def _group_shape(modifiers: list[str]) -> int:
    """A quarter of a warp group's shape, 64xNxK, or nothing known."""
    for modifier in modifiers:
        numbers = modifier.split("x")
        if len(numbers) == 3 and all(number.isdigit() for number in numbers):
            return int(numbers[0]) * int(numbers[1]) * int(numbers[2]) // 4
    return 0
