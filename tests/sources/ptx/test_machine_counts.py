"""Machine code's counts laid onto PTX: by hand, as the disassembly of committed kernels, and in a trace."""

from collections import Counter

import numpy as np
import pytest
from places import DATA

from memsim.gpu.presets import load_gpu
from memsim.sources.ptx import DeviceMemory, PtxLaunch, trace_launch
from memsim.sources.ptx.compiled.counts import charges
from memsim.sources.ptx.flow import basic_blocks
from memsim.sources.ptx.inline import flattened
from memsim.sources.ptx.text import parse
from memsim.sources.sass.assemble import assemble
from memsim.sources.sass.disassembly import SassInstruction, disassemble
from memsim.sources.sass.tools import places_of
from memsim.trace.schema import INSTRUCTION_CLASSES, Instructions

needs_tools = pytest.mark.skipif(
    not places_of("ptxas") or not places_of("nvdisasm"),
    reason="ptxas and nvdisasm are not installed (memsim[machine-code])",
)
INTEGER, FP32, CONTROL = (INSTRUCTION_CLASSES.index(name) for name in ("integer", "fp32", "control"))
LOOP = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
.reg .b32 %r<4>; .reg .f32 %f<3>; .reg .b64 %d<2>; .reg .pred %p<2>;
.file 1 "k.py"
.loc 1 10 1
ld.param.u64 %d1, [p];
mov.u32 %r1, 0;
$again:
.loc 1 11 1
ld.global.f32 %f1, [%d1];
.loc 1 12 1
add.f32 %f2, %f1, %f1;
add.s32 %r1, %r1, 1;
setp.lt.s32 %p1, %r1, 4;
@%p1 bra $again;
.loc 1 13 1
st.global.f32 [%d1], %f2;
ret;
}
"""


def machine(opcode, line, kind, operands="", labels=(), predicate=""):
    return SassInstruction(0, opcode, predicate, operands, "/home/u/k.py", line, kind, 1, 7, 7, 0, tuple(labels))


CODE = [
    machine("IMAD.MOV.U32", 10, "integer"),
    machine("ULDC.64", 10, "memory"),  # a constant: it has no row, but is issued
    machine("LDG.E", 11, "memory", labels=[".L_x_0"]),
    machine("FADD", 12, "fp32"),
    machine("IADD3", 12, "integer"),
    machine("IADD3", 12, "integer"),
    machine("ISETP", 12, "integer"),
    machine("BRA", 12, "control", "`(.L_x_0)", predicate="@P0"),
    machine("STG.E", 13, "memory"),
    machine("EXIT", 13, "control"),
    machine("BRA", 13, "control", "`(.L_x_1)", labels=[".L_x_1"]),  # to itself, behind the end
    machine("NOP", 13, "control"),
]


def of(ptx):
    module = parse(ptx, "k.ptx")
    (kernel,) = (one for one in module.functions.values() if one.entry)
    return basic_blocks(flattened(module, kernel).body)


def test_instructions_of_line_are_matched_in_order():
    blocks = of(LOOP)
    found = charges(CODE, blocks)
    by_name = {one.name + str(k): found[id(one)] for k, one in enumerate(one for b in blocks for one in b.instructions)}
    assert by_name == {
        "ld0": {}, "mov1": {INTEGER: 1, CONTROL: 1}, "ld2": {}, "add3": {FP32: 1, INTEGER: 1}, "add4": {INTEGER: 1},
        "setp5": {INTEGER: 1}, "bra6": {CONTROL: 1}, "st7": {}, "ret8": {CONTROL: 1},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ([one for one in CODE if one.opcode != "BRA"], "0 loops"),
        (
            [*CODE[:3], machine("LDG.E", 11, "memory"), *CODE[3:]],
            "2 memory instructions of kind LDG in loop 1",
        ),  # unrolled
        (
            [one for one in CODE if one.opcode != "STG.E"],
            "0 memory instructions of kind STG outside of loops",
        ),
    ],
)
def test_what_the_assembler_changed_is_not_guessed(code, why):
    assert charges(code, of(LOOP)) == f"its machine code has {why}, its PTX 1"


def test_a_function_for_rare_numbers_is_not_counted():
    """A division calls it for denormals; another function, as 64-bit divisions have, is always called."""
    rare = "$__internal_0_$__cuda_sm3x_div_rn_noftz_f32_slowpath"
    function = [
        machine("SHF", 12, "integer", labels=[rare]),
        machine("FFMA", 12, "fp32"),
        machine("RET", 12, "control"),
    ]
    usual = [machine("IMAD", 12, "integer", labels=["$__internal_1_$__cuda_sm20_div_u64"])]
    total = [sum(sum(each.values()) for each in charges([*CODE, *more], of(LOOP)).values())
             for more in ([], function, [*function, *usual])]  # fmt: skip
    assert total[0] == total[1] == total[2] - 1


KERNELS = ["add.sm_80", "softmax.sm_90", "dropout.sm_80", "attention.sm_80", "matmul.sm_80", "persistent.sm_90"]


@needs_tools
@pytest.mark.parametrize("name", KERNELS)
def test_charges_add_up_to_the_disassembly(name):
    ptx = (DATA / "ptx" / f"{name}.ptx").read_text()
    ((_, code),) = disassemble(assemble(ptx, int(name[-2:])).cubin).items()
    found = charges(code, of(ptx))
    total = sum((Counter(each) for each in found.values()), Counter())
    rows = ("LDG", "LDS", "LDSM", "LDGSTS", "STG", "STS", "STSM", "BAR", "HMMA", "HGMMA", "NOP")
    end = max(k for k, one in enumerate(code) if one.opcode != "NOP")  # the branch to itself
    issued = [one for one in code[:end] if one.opcode.split(".")[0] not in rows and one.predicate != "@!PT"]
    assert sum(total.values()) == len(issued)
    assert total[FP32] == sum(one.kind == "fp32" for one in issued)


@needs_tools
def test_a_warp_issues_what_the_disassembly_has(tmp_path):
    """A kernel without loops: the gaps of every warp's rows are all of its machine code but accesses."""
    ptx, gpu = (DATA / "ptx" / "add.sm_80.ptx").read_text(), load_gpu("a100")
    code = tuple(disassemble(assemble(ptx, 80).cubin)["add"])
    memory = DeviceMemory()
    arguments = [*(memory.add(np.zeros(2048, np.float32), name) for name in "xyz"), 2048, 0, 0]
    launch = PtxLaunch(ptx, "add", (4, 1, 1), (128, 1, 1), arguments, machine_code=code)
    trace = trace_launch(launch, memory, tmp_path / "t.h5", gpu, blocks="all")
    assert trace.issue.instructions is Instructions.compiled
    (chunk,) = trace.chunks()
    straight = code[: next(k for k, one in enumerate(code) if one.opcode == "BRA")]  # until the branch to itself
    accesses = sum(one.opcode.startswith(("LDG", "STG")) for one in straight)
    issued = np.add.reduceat(chunk.gap, chunk.first_instruction[:-1])
    assert issued.tolist() == [len(straight) - accesses] * 16
