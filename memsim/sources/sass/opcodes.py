"""The table of opcodes that memsim runs: how each is lowered, its unit, and the modifiers that are known.

An opcode that is not here, or a modifier that its row does not name, has the kernel run as PTX.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from memsim.sources.sass.builder import SassBuilder
from memsim.sources.sass.kernel import UnknownMachineCode
from memsim.sources.sass.lowering import (
    bulk,
    control,
    conversions,
    floats,
    integers,
    matrices,
    mbarriers,
    memory,
    predicates,
    runtime,
    special_functions,
    tensors,
    textures,
    warpgroups,
)
from memsim.sources.sass.opcode_class import opcode_class

_ROUND = "FTZ SAT RN RZ RM RP"
GROUP_SHAPE = "64xNxK"  # stands for every shape of a warpgroup's product
_GROUP_SHAPE = re.compile(r"64x\d+x\d+")
_ORDER = "F LT EQ LE GT NE GE T NUM NAN LTU EQU LEU GTU NEU GEU AND OR XOR FTZ"
_SCOPE = "STRONG WEAK GPU SYS SM CTA"
_CACHE = f"{_SCOPE} E EF EL LU EU NA CONSTANT LTC64B LTC128B LTC256B U8 S8 U16 S16 64 128 PRIVATE MMIO"
_ATOMIC = (
    f"{_SCOPE} E ADD MIN MAX AND OR XOR EXCH CAS CAST SPIN INC DEC POPC 32 S32 U32 S64 U64 64 "
    "F32 F64 F16x2 BF16x2 BF16_V2 FTZ RN ARRIVE"
)
_CONVERT = "F16 F32 F64 BF16 U8 S8 U16 S16 U32 S32 U64 S64 TRUNC FLOOR CEIL NTZ FTZ RN RZ RM RP RP SAT"


@dataclass(frozen=True)
class Opcode:
    """What is known of an opcode.

    Attributes:
        lower: emits its micro-ops.
        modifiers: that it may have.
    """

    lower: Any
    modifiers: frozenset[str]

    @property
    def meaning(self) -> str:
        """One line on what it does, for the reference."""
        return (self.lower.__doc__ or "").strip().split("\n")[0]


def _row(lower: Any, modifiers: str = "") -> Opcode:
    return Opcode(lower, frozenset(modifiers.split()))


_BOTH: dict[str, Opcode] = {  # of the vector and, with a U before the name, of the uniform unit
    "IADD3": _row(integers.add, "X 64"),
    "IMAD": _row(integers.multiply_add, "MOV U32 SHL IADD X WIDE HI LO S32"),
    "LOP3": _row(integers.lookup, "LUT"),
    "SHF": _row(integers.shift, "L R U32 S32 U64 S64 HI W"),
    "LEA": _row(integers.load_effective_address, "HI X SX32"),
    "IMNMX": _row(integers.extreme, "U32 S64 U64"),
    "IABS": _row(integers.absolute),
    "PRMT": _row(integers.permute, "F4E B4E RC8 ECL ECR RC16"),
    "POPC": _row(integers.count_bits),
    "BREV": _row(integers.reverse),
    "FLO": _row(integers.find_leading, "U32 SH"),
    "BMSK": _row(integers.bit_mask, "W"),
    "SGXT": _row(integers.extend_sign, "U32 W"),
    "SEL": _row(integers.choose, "64"),
    "MOV": _row(integers.move, "64"),
    "ISETP": _row(predicates.compare, "F LT EQ LE GT NE GE T U32 S32 U64 S64 AND OR XOR EX"),
    "PLOP3": _row(predicates.logic, "LUT"),
}
OPCODES: dict[str, Opcode] = _BOTH | {f"U{name}": one for name, one in _BOTH.items()}
OPCODES |= {
    "P2R": _row(predicates.to_register, "B1 B2 B3"),
    "UP2UR": _row(predicates.to_register, "B1 B2 B3"),
    "R2P": _row(predicates.from_register, "B1 B2 B3"),
    "UR2UP": _row(predicates.from_register, "B1 B2 B3"),
    "VIADD": _row(integers.add_two, "16x2"),
    "IADD": _row(integers.add_two, "64 X"),
    "UIADD": _row(integers.add_two, "64 X"),
    "UVIADD": _row(integers.add_two),
    "VIADDMNMX": _row(integers.add_and_compare, "U32 RELU"),
    "VIMNMX": _row(integers.extreme, "U32 S32 S16x2 U16x2 RELU"),
    "VIMNMX3": _row(integers.extreme_of_three, "U32"),
    "IDP": _row(integers.dot, "4A 2A U8 S8 U16 S16 LO HI"),
    "VABSDIFF": _row(integers.difference, "U32"),
    "VABSDIFF4": _row(integers.packed_difference, "U8 S8 ACC"),
    "R2UR": _row(integers.to_uniform, "OR FILL BROADCAST"),
    "MOV32I": _row(integers.move),
    # Constants, loads and stores.
    "LDC": _row(memory.load_constant, "64 U8 S8 U16 S16 128"),
    "ULDC": _row(memory.load_constant, "64 U8 S8 U16 S16 128"),
    "LDCU": _row(memory.load_constant, "64 U8 S8 U16 S16 128"),
    "LD": _row(memory.load, _CACHE),
    "LDG": _row(memory.load, _CACHE),
    "LDS": _row(memory.load, "U U8 S8 U16 S16 64 128"),
    "LDL": _row(memory.load, "LU EL EF U8 S8 U16 S16 64 128"),
    "ST": _row(memory.store, _CACHE),
    "STG": _row(memory.store, _CACHE),
    "STS": _row(memory.store, "U8 S8 U16 S16 64 128"),
    "STL": _row(memory.store, "LU EL EF U8 S8 U16 S16 64 128"),
    "ATOM": _row(memory.atomic, _ATOMIC),
    "ATOMG": _row(memory.atomic, _ATOMIC),
    "ATOMS": _row(memory.atomic, _ATOMIC),
    "RED": _row(memory.atomic, _ATOMIC),
    "REDG": _row(memory.atomic, _ATOMIC),
    "LDSM": _row(memory.matrix_load, "16 M88 MT88 2 4"),
    "STSM": _row(memory.matrix_load, "16 M88 MT88 2 4"),
    "MOVM": _row(matrices.transpose, "16 MT88"),
    "LDGSTS": _row(memory.copy_async, "E BYPASS LTC64B LTC128B LTC256B 64 128 ZFILL"),
    "LDGDEPBAR": _row(memory.commit),
    "DEPBAR": _row(memory.wait_group, "LE"),
    "QSPC": _row(memory.find_space, "E S L G D"),
    # mbarrier objects and bulk copies.
    "ARRIVES": _row(mbarriers.arrive_after_copies, "LDGSTSBAR 64 TRANSCNT ARVCNT"),
    "SYNCS": _row(
        mbarriers.synchronize,
        "EXCH 64 CCTL IV PHASECHK TRYWAIT TRANS64 ARRIVE A1T0 ART0 A0TR A0TX A0T1 RED OPTOUT IVALL",
    ),
    "UBLKCP": _row(bulk.copy, "S G"),
    "UTMALDG": _row(bulk.load_box, "1D 2D 3D 4D 5D"),
    "UTMASTG": _row(bulk.store_box, "1D 2D 3D 4D 5D"),
    # Textures and surfaces.
    "TEX": _row(textures.fetch, "SCR B LL LZ"),
    "TLD": _row(textures.fetch, "SCR B LL LZ CL"),
    "TLD4": _row(textures.fetch, "SCR R G B A"),
    "TXQ": _row(textures.query, "B"),
    "SULD": _row(textures.surface, f"D BA 1D 2D 3D 1D_ARRAY 2D_ARRAY U8 S8 U16 S16 64 128 TRAP IGN {_SCOPE}"),
    "SUST": _row(textures.surface, f"D BA 1D 2D 3D 1D_ARRAY 2D_ARRAY U8 S8 U16 S16 64 128 TRAP IGN {_SCOPE}"),
    # Single, double and half precision.
    "FADD": _row(floats.add_single, _ROUND),
    "FMUL": _row(floats.multiply_single, _ROUND),
    "FFMA": _row(floats.fuse_single, _ROUND),
    "FADD2": _row(floats.add_two_singles, _ROUND),
    "FMUL2": _row(floats.multiply_two_singles, _ROUND),
    "FFMA2": _row(floats.fuse_two_singles, _ROUND),
    "FMNMX": _row(floats.extreme_single, "FTZ NAN XORSIGN"),
    "FSEL": _row(floats.choose_single),
    "FSETP": _row(floats.compare_single, _ORDER),
    "FSET": _row(floats.set_single, f"{_ORDER} BF"),
    "FCHK": _row(special_functions.check_division, "DIVIDE"),
    "MUFU": _row(special_functions.special_function, "RCP RSQ SQRT EX2 LG2 SIN COS TANH RCP64H RSQ64H F16 BF16"),
    "DADD": _row(floats.add_double, "RN RZ RM RP"),
    "DMUL": _row(floats.multiply_double, "RN RZ RM RP"),
    "DFMA": _row(floats.fuse_double, "RN RZ RM RP"),
    "DSETP": _row(floats.compare_double, f"{_ORDER} MIN MAX"),
    "HADD2": _row(floats.add_or_convert_halves, "FTZ SAT RN BF16_V2 F32"),
    "HMUL2": _row(floats.multiply_halves, "FTZ SAT RN BF16_V2"),
    "HFMA2": _row(floats.fuse_or_move, "FTZ SAT RN RELU BF16_V2 BF16 MMA V2"),
    "HMNMX2": _row(floats.extreme_halves, "FTZ NAN BF16_V2 XORSIGN"),
    "VHMNMX": _row(floats.extreme_of_three_halves, "FTZ NAN BF16_V2"),
    "HSETP2": _row(floats.compare_halves, f"{_ORDER} BF16_V2 H1_AND"),
    "F2I": _row(conversions.to_integer, _CONVERT),
    "I2F": _row(conversions.from_integer, _CONVERT),
    "I2FP": _row(conversions.from_integer, _CONVERT),
    "F2F": _row(conversions.between_floats, _CONVERT),
    "FRND": _row(conversions.round_to_integer, _CONVERT),
    "F2FP": _row(
        conversions.pack,
        "PACK_AB PACK_B F32 F16 BF16 RN RZ RELU FTZ SATFINITE E4M3 E5M2 PACK_AB_MERGE_C UNPACK_B UNPACK_B_MERGE_C",
    ),
    "F2IP": _row(conversions.pack_bytes, "U8 S8 F32 NTZ TRUNC FLOOR CEIL"),
    "I2I": _row(conversions.saturate_integer, "U8 S8 U16 S16 S32 U32 SAT"),
    # Tensor cores.
    "HMMA": _row(tensors.multiply_halves, "16816 1688 1684 F32 F16 BF16 TF32"),
    "QMMA": _row(tensors.multiply_small_floats, "16832 16816 F32 F16 E4M3 E5M2"),
    "IMMA": _row(tensors.multiply_bytes, "16816 16832 8816 U8 S8 SAT"),
    "BMMA": _row(tensors.multiply_bits, "168256 AND POPC"),
    "DMMA": _row(tensors.multiply_doubles, "8x8x4"),
    "HGMMA": _row(warpgroups.multiply, f"{GROUP_SHAPE} F32 F16 BF16 TF32"),
    "IGMMA": _row(warpgroups.multiply, f"{GROUP_SHAPE} U8 S8"),
    "QGMMA": _row(warpgroups.multiply, f"{GROUP_SHAPE} F32 F16 E4M3 E5M2"),
    # Control and what lanes do together.
    "BRA": _row(control.branch, "U DIV CONV ANY"),
    "BRX": _row(control.jump_by_register),
    "CALL": _row(runtime.call, "REL ABS NOINC"),
    "LEPC": _row(runtime.own_address),
    "RET": _row(control.back, "REL ABS NODEC"),
    "EXIT": _row(control.end, "KEEPREFCOUNT"),
    "KILL": _row(control.end),
    "BPT": _row(control.trap, "TRAP"),
    "BSSY": _row(control.begin_region, "RECONVERGENT RELIABLE"),
    "BSYNC": _row(control.end_region, "RECONVERGENT RELIABLE"),
    "BREAK": _row(control.leave_region, "RECONVERGENT RELIABLE"),
    "BMOV": _row(control.move_region, "32 CLEAR"),
    "YIELD": _row(control.give_way),
    "NANOSLEEP": _row(control.give_way, "WARP SYNCS"),
    "WARPSYNC": _row(control.meet, "ALL COLLECTIVE EXCLUSIVE"),
    "BAR": _row(control.barrier, "SYNC ARV RED AND OR POPC DEFER_BLOCKING"),
    "B2R": _row(control.barrier_result, "RESULT"),
    "SHFL": _row(control.shuffle, "UP DOWN BFLY IDX"),
    "MATCH": _row(control.match, "ALL ANY U32 U64"),
    "REDUX": _row(control.reduce, "SUM MIN MAX AND OR XOR S32 U32"),
    "CREDUX": _row(control.reduce, "MIN MAX S32"),
    "VOTE": _row(predicates.vote, "ALL ANY EQ"),
    "VOTEU": _row(predicates.vote, "ALL ANY EQ"),
    "ELECT": _row(control.elect),
    "S2R": _row(control.special, "32"),
    "S2UR": _row(control.special, "32"),
    "CS2R": _row(control.special, "32"),
    "CS2UR": _row(control.special, "32"),
}
# The uniform unit of sm_100 and sm_120 has instructions on floating-point numbers.
_UNIFORM_FLOATS = (
    "FADD", "FMUL", "FFMA", "FMNMX", "FSEL", "FSETP", "FSET", "FRND", "F2I", "F2F", "F2FP", "I2F", "I2FP", "VIMNMX",
)  # fmt: skip
OPCODES |= {f"U{name}": OPCODES[name] for name in _UNIFORM_FLOATS}
OPCODES |= {
    name: _row(control.ignore, modifiers)
    for name, modifiers in {
        "NOP": "", "ENDCOLLECTIVE": "", "ACQBULK": "", "PREEXIT": "",
        "MEMBAR": "SC ALL CTA GPU SYS VC", "ERRBAR": "", "CCTL": "IVALL E PF1 PF2",
        "PMTRIG": "", "WARPGROUP": "ARRIVE DEPBAR LE", "CGAERRBAR": "", "UTMACMDFLUSH": "", "UTMACCTL": "PF",
        "FENCE": "VIEW ASYNC S G T",
    }.items()
}  # fmt: skip


def lower(b: SassBuilder) -> None:
    """Emit the micro-ops of the builder's present instruction.

    Raises:
        UnknownMachineCode: naming the opcode, the modifier or the form that is not known.
    """
    one = b.one
    row = OPCODES.get(one.name)
    if row is None:
        raise UnknownMachineCode(f"{one.name} is not supported")
    modifiers = (GROUP_SHAPE if _GROUP_SHAPE.fullmatch(part) else part for part in one.modifiers)
    if strange := [part for part in modifiers if part not in row.modifiers]:
        raise UnknownMachineCode(f"{one.opcode} has .{strange[0]}, which memsim does not support")
    row.lower(b)
    if b.one in b.kernel.phase_tests:
        mbarriers.follow_test(b)


def reference() -> list[tuple[str, str, str, str]]:
    """Of each opcode its name, class, modifiers and meaning, for the manual."""
    return [
        (name, opcode_class(name), " ".join(sorted(one.modifiers)), one.meaning)
        for name, one in sorted(OPCODES.items())
    ]
