"""Classes of SASS opcodes, as the throughput table of the CUDA C++ Programming Guide groups them.

Opcodes are those of the *CUDA Binary Utilities* manual (instruction set reference, Volta to Blackwell).
"""

from __future__ import annotations

CLASSES = (
    "integer", "fp32", "half", "fp64", "special", "conversion", "control", "shuffle", "tensor", "barrier", "memory",
)  # fmt: skip
_NAMES = {
    "fp32": "FADD FADD32I FCHK FFMA FFMA32I FMNMX FMUL FMUL32I FSEL FSET FSETP FSWZADD FADD2 FFMA2 FMUL2 FHADD FHFMA",
    "half": "HADD2 HADD2_32I HFMA2 HFMA2_32I HMUL2 HMUL2_32I HSET2 HSETP2 HMNMX2",
    "fp64": "DADD DFMA DMUL DSETP DMNMX DSET",
    "special": "MUFU",
    "conversion": "F2F F2I I2F F2FP I2I I2IP FRND F2IP I2FP BREV FLO POPC UBREV UFLO UPOPC",
    "control": (
        "BRA BRX BRXU JMP JMX JMXU CALL RET EXIT KILL NANOSLEEP NOP BSSY BSYNC BREAK BMOV BPT RPCMOV WARPSYNC YIELD "
        "DEPBAR ERRBAR MEMBAR FENCE CCTL CCTLL CCTLT ELECT ENDCOLLECTIVE ACQBULK ACQSHMINIT PREEXIT S2R CS2R S2UR "
        "B2R R2B SETCTAID LEPC VOTE VOTEU PLOP3 PSETP P2R R2P UP2UR UR2UP UPLOP3 UPSETP USETMAXREG PMTRIG GETLMEMBASE"
    ),
    "shuffle": "SHFL MATCH REDUX CREDUX",
    "tensor": "HMMA IMMA BMMA DMMA QMMA OMMA HGMMA IGMMA QGMMA BGMMA WARPGROUP WARPGROUPSET UTCHMMA UTCIMMA UTCQMMA",
    "barrier": "BAR BARRIER CGABAR UCGABAR_ARV UCGABAR_WAIT",
    "memory": (
        "LD LDC LDCU LDG LDGDEPBAR LDGMC LDGSTS LDL LDS LDSM LDTM ST STG STL STS STSM STTM STAS ATOM ATOMG ATOMS RED "
        "REDG REDS REDAS QSPC ULDC SYNCS TEX TLD TLD4 TMML TXD TXQ SULD SUST SURED SUATOM UBLKCP UBLKPF UBLKRED "
        "UTMALDG UTMASTG UTMAREDG UTMAPF UTMACCTL UTMACMDFLUSH ARRIVES"
    ),
}
_CLASS = {name: kind for kind, names in _NAMES.items() for name in names.split()}


def opcode_class(opcode: str) -> str:
    """The class of an opcode; what no table names computes integers.

    >>> [opcode_class(one) for one in ("LDG.E.128", "FFMA.FTZ", "IMAD.WIDE", "HFMA2.MMA", "UIADD3")]
    ['memory', 'fp32', 'integer', 'half', 'integer']
    """
    return _CLASS.get(opcode.partition(".")[0], "integer")
