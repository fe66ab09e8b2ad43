"""Classes of SASS opcodes, by the pipe that executes them.

Opcodes are those of the *CUDA Binary Utilities* manual (instruction set reference, Maxwell to Blackwell). What a pipe
executes is described in the Kernel Profiling Guide of Nsight Compute (section on pipelines) and by NVIDIA in its
Developer Forums (thread 302018). On an H100, counters of instructions by pipe
(``sm__inst_executed_pipe_alu`` and the like) put comparisons, minima and selections of floats, votes and I2FP on the
ALU, IMAD and VIADD on FMAHeavy, and FCHK and POPC on the XU (experiments/silicon).
"""

from __future__ import annotations

CLASSES = (
    "integer", "fp32", "half", "fp64", "special", "conversion", "control", "shuffle", "multiply", "uniform", "tensor",
    "barrier", "memory",
)  # fmt: skip
_NAMES = {
    "fp32": "FADD FADD32I FFMA FFMA32I FMUL FMUL32I FSWZADD FADD2 FFMA2 FMUL2 FHADD FHFMA IPA RRO",
    "half": "HADD2 HADD2_32I HFMA2 HFMA2_32I HMUL2 HMUL2_32I HSET2 HSETP2 HMNMX2",
    "fp64": "DADD DFMA DMUL DSETP DMNMX DSET",
    "multiply": "VIADD IMAD IMAD32I IMADSP IMUL IMUL32I XMAD IDP IDP4A",
    "special": "MUFU FCHK",
    "conversion": "F2F F2I I2F I2I I2IP FRND F2IP BREV FLO POPC",
    "control": (
        "BRA BRK BRX BRXU CONT JMP JMX JMXU CALL RET EXIT KILL NANOSLEEP NOP BSSY BSYNC BREAK BMOV BPT RPCMOV YIELD "
        "DEPBAR ERRBAR MEMBAR FENCE CCTL CCTLL CCTLT ELECT ENDCOLLECTIVE ACQBULK ACQSHMINIT PREEXIT S2R CS2R S2UR "
        "B2R R2B SETCTAID LEPC USETMAXREG PMTRIG GETLMEMBASE PBK PCNT PRET RTT SSY SYNC WARPSYNC"
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
    """The class of an opcode; what no table names is executed by the ALU, or with a U before it by the uniform path.

    >>> [opcode_class(one) for one in ("LDG.E.128", "FFMA.FTZ", "IMAD.WIDE", "FSETP.GT.AND", "UIADD3", "VOTEU.ANY")]
    ['memory', 'fp32', 'multiply', 'integer', 'uniform', 'uniform']
    """
    name = opcode.partition(".")[0]
    return _CLASS.get(name, "uniform" if name.startswith("U") or name == "VOTEU" else "integer")
