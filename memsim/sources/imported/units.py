"""Which unit of an SM executes a SASS instruction, and the multiply-accumulates of one for the tensor cores.

The opcodes are those of NVIDIA's *CUDA Binary Utilities* manual. What no table here names is an integer instruction.
Shapes of HMMA, IMMA and DMMA stand in their second part as MMA's m, n and k; an HMMA.884 of Volta is one of four steps
(Jia et al., arXiv 1804.06826, section on tensor cores).
"""

from __future__ import annotations

from memsim.trace.schema import INSTRUCTION_CLASSES, TENSOR_TYPES

UNITS = (*INSTRUCTION_CLASSES, "tensor")
_NAMES = {
    "fp32": "FADD FADD32I FMUL FMUL32I FFMA FFMA32I FMNMX FSEL FSET FSETP FCMP FCHK FSWZADD IPA RRO",
    "half": "HADD2 HADD2_32I HMUL2 HMUL2_32I HFMA2 HFMA2_32I HSET2 HSETP2 HMNMX2",
    "fp64": "DADD DMUL DFMA DMNMX DSET DSETP",
    "special": "MUFU",
    "conversion": "F2F F2I I2F I2I FRND F2FP F2IP I2FP",
    "control": "BRA BRX BRXU BRK BPT BMOV BREAK BSSY BSYNC CALL CONT CS2R ERRBAR JMP JMX JMXU KILL LDGDEPBAR MATCH "
    "MEMBAR NANOSLEEP NOP P2R PBK PCNT PLOP3 PRET PSETP R2P R2UR RET RTT S2R S2UR SSY SYNC VOTE VOTEU WARPSYNC YIELD",
    "shuffle": "SHFL REDUX",
    "tensor": "HMMA IMMA DMMA BMMA QMMA HGMMA IGMMA QGMMA",
}
_UNIT_OF = {name: UNITS.index(unit) for unit, names in _NAMES.items() for name in names.split()}
_SHAPES = {
    "884": 8 * 8 * 4, "1684": 16 * 8 * 4, "1688": 16 * 8 * 8, "16816": 16 * 8 * 16, "16832": 16 * 8 * 32,
    "16864": 16 * 8 * 64, "8816": 8 * 8 * 16, "8832": 8 * 8 * 32, "8864": 8 * 8 * 64,
}  # fmt: skip


def unit_of(text: str) -> int:
    """Number of the unit, of UNITS, that executes an opcode.

    >>> UNITS[unit_of("MUFU.RCP")], UNITS[unit_of("IADD3.X")]
    ('special', 'integer')
    """
    return _UNIT_OF.get(text.split(".")[0], UNITS.index("integer"))


def tensor_work(text: str) -> tuple[int, int]:
    """Of a matrix instruction: the number of its type, of TENSOR_TYPES, and a warp's multiply-accumulates.

    >>> tensor_work("HMMA.16816.F32.BF16"), tensor_work("HMMA.1688.F32.TF32"), tensor_work("IMMA.16832.S8.S8")
    ((0, 2048), (1, 1024), (2, 4096))
    """
    name, *modifiers = text.split(".")
    kinds = {"I": "tensor_i8", "B": "tensor_i8", "D": "tensor_f64", "Q": "tensor_f8"}
    kind = "tensor_tf32" if "TF32" in modifiers else kinds.get(name[0], "tensor_f16")
    shape = next((_SHAPES[modifier] for modifier in modifiers if modifier in _SHAPES), None)
    return TENSOR_TYPES.index(kind), _group_shape(modifiers) if shape is None else shape


def _group_shape(modifiers: list[str]) -> int:
    """A quarter of a warp group's shape, 64xNxK, or nothing known."""
    for modifier in modifiers:
        numbers = modifier.split("x")
        if len(numbers) == 3 and all(number.isdigit() for number in numbers):
            return int(numbers[0]) * int(numbers[1]) * int(numbers[2]) // 4
    return 0
