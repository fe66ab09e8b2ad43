"""Opcodes have the pipes on which counters of an H100 found them (Nsight Compute, sm__inst_executed_pipe_*)."""

from __future__ import annotations

import pytest

from memsim.gpu.pipes import PIPES, PIPES_OF
from memsim.sources.imported.units import UNITS, tensor_work, unit_of
from memsim.sources.sass.opcode_class import CLASSES, opcode_class
from memsim.trace.schema import INSTRUCTION_CLASSES, TENSOR_TYPES

# One launch for each, whose counters rise by the number of its instructions (experiments/silicon).
MEASURED = {
    "alu": "IADD3 LOP3.LUT SHF.L.W.U32.HI IMNMX VIMNMX ISETP.NE.U32.AND VOTE.ANY I2FP.F32.S32 SEL FSETP.NEU.AND",
    "fma": "FADD FFMA FMUL IMAD IMAD.IADD IMAD.MOV.U32 IMAD.HI.U32 VIADD",
    "fma_heavy": "IMAD IMAD.IADD IMAD.MOV.U32 IMAD.HI.U32 VIADD",
    "xu": "POPC MUFU.EX2 MUFU.RSQ MUFU.RCP FCHK F2I.TRUNC.NTZ I2F.RP",
    "fp64": "DFMA",
    "uniform": "UIADD3 UMOV",
}


@pytest.mark.parametrize(("pipe", "opcode"), [(pipe, one) for pipe, names in MEASURED.items() for one in names.split()])
def test_opcode_occupies_its_measured_pipe(pipe, opcode):
    assert pipe in [name for name, _ in PIPES_OF[opcode_class(opcode)]]
    assert UNITS[unit_of(opcode)] == opcode_class(opcode)


def test_each_class_of_instructions_has_pipes():
    assert set(PIPES_OF) == set(INSTRUCTION_CLASSES) and {*INSTRUCTION_CLASSES, "tensor"} < set(CLASSES)
    assert {name for occupied in PIPES_OF.values() for name, _ in occupied} | {"tensor"} == set(PIPES)


def test_warp_group_matrix_instructions_have_own_types():
    works = [tensor_work(text) for text in ("HMMA.16816.F32", "HGMMA.64x128x16.F32", "QGMMA.64x8x32.F32.E4M3.E4M3")]
    assert [TENSOR_TYPES[kind] for kind, _ in works] == ["tensor_f16", "tensor_group_f16", "tensor_group_f8"]
