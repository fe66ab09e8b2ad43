"""Branches that the assembler made predicates: found in machine code by hand, and what warps without lanes issue."""

import numpy as np
import pytest

from memsim.gpu.presets import load_gpu
from memsim.sources.ptx import DeviceMemory, PtxLaunch, trace_launch
from memsim.sources.ptx.compiled.predicated import predicated_branches
from memsim.sources.ptx.convert import converted
from memsim.sources.ptx.flow import basic_blocks
from memsim.sources.ptx.inline import flattened
from memsim.sources.ptx.module import Label
from memsim.sources.ptx.text import parse
from memsim.sources.sass.disassembly import SassInstruction
from memsim.trace.schema import NO_OP, Flag

# Threads below a limit double their number; all of them meet at the barrier.
PTX = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 limit)
{
.reg .b32 %r<5>; .reg .b64 %d<4>; .reg .pred %p<2>;
.file 1 "k.py"
.loc 1 10 1
ld.param.u64 %d1, [p];
ld.param.u32 %r1, [limit];
mov.u32 %r2, %tid.x;
mul.wide.u32 %d2, %r2, 4;
add.s64 %d3, %d1, %d2;
setp.ge.u32 %p1, %r2, %r1;
@%p1 bra $behind;
.loc 1 11 1
ld.global.u32 %r3, [%d3];
add.s32 %r4, %r3, %r3;
st.global.u32 [%d3], %r4;
$behind:
.loc 1 12 1
bar.sync 0;
ret;
}
"""
THREADS = 128


def machine(opcode, line, kind, operands="", labels=(), predicate=""):
    return SassInstruction(0, opcode, predicate, operands, "/home/u/k.py", line, kind, 1, 7, 7, 0, tuple(labels))


def code(branch: bool, predicate: str, last: str = "STG.E") -> tuple[SassInstruction, ...]:
    """The kernel's machine code: with a branch around the accesses or not, and these with a predicate or not.

    Args:
        last: the second access.
    """
    return (
        machine("S2R", 10, "control"),
        machine("ISETP", 10, "integer"),
        *([machine("BRA", 10, "control", "`(.L_x_0)", predicate="@P0")] if branch else []),
        machine("LDG.E", 11, "memory", predicate=predicate),
        machine("IADD3", 11, "integer", predicate=predicate),
        machine(last, 11, "memory", predicate=predicate),
        machine("BAR.SYNC", 12, "control", labels=[".L_x_0"]),
        machine("EXIT", 12, "control"),
    )


def body(ptx: str = PTX):
    module = parse(ptx, "k.ptx")
    (kernel,) = (one for one in module.functions.values() if one.entry)
    return flattened(module, kernel).body


def rows(tmp_path, limit: int, machine_code: tuple[SassInstruction, ...], ptx: str = PTX):
    """The trace's only chunk, and what the kernel stored."""
    memory, numbers = DeviceMemory(), np.arange(THREADS, dtype=np.uint32)
    launch = PtxLaunch(
        ptx, "k", (1, 1, 1), (THREADS, 1, 1), [memory.add(numbers, "p"), limit], machine_code=machine_code
    )
    trace = trace_launch(
        launch, memory, tmp_path / f"{len(machine_code)}.h5", load_gpu("a100"), blocks="all", check=True
    )
    (chunk,) = trace.chunks()
    return chunk, numbers


@pytest.mark.parametrize(("branch", "predicate", "is_one"), [(False, "@!P0", 1), (True, "@!P0", 0), (False, "", 0)])
def test_branch_becomes_predicate_unless_it_skips_accesses(branch, predicate, is_one):
    blocks = basic_blocks(body())
    found = predicated_branches(code(branch, predicate), blocks)
    assert len(found) == is_one
    assert all(id(block.instructions[-1]) in found for block in blocks[:is_one])


def test_what_branch_skipped_has_its_predicate_turned_round():
    before = body()
    after = converted(before, {id(one) for one in before if not isinstance(one, Label) and one.name == "bra"})
    assert [one.name for one in after][-5:] == ["ld", "add", "st", "bar", "ret"]  # no label: one block
    assert [one.guard is not None for one in after][-5:] == [True, True, True, False, False]
    assert len(basic_blocks(after)[0].instructions) == len(before) - 2


def test_branch_stays_if_block_changes_predicate_or_waits():
    together = ("bar.sync 1;", "fence.acq_rel.gpu;", "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r3}, [%r2];")
    for line in ("setp.eq.u32 %p1, %r3, 0;", "@%p1 add.s32 %r4, %r4, 1;", *together):
        before = body(PTX.replace("st.global", f"{line}\nst.global"))
        branches = {id(one) for one in before if not isinstance(one, Label) and one.name == "bra"}
        assert converted(before, branches) == list(before)


def test_warps_without_lanes_issue_accesses_all_same(tmp_path):
    """Of four warps, one has all lanes, one some, and two none: those have rows for two accesses of no lane."""
    chunk, numbers = rows(tmp_path, 40, code(False, "@!P0"))
    masked = chunk.flags & Flag.masked != 0
    assert np.add.reduceat(masked, chunk.first_instruction[:-1]).tolist() == [0, 0, 2, 2]
    assert (chunk.op[masked] == NO_OP).all() and not chunk.mask[masked].any()
    assert numbers.tolist() == [2 * k if k < 40 else k for k in range(THREADS)]
    assert np.add.reduceat(chunk.op != NO_OP, chunk.first_instruction[:-1]).tolist() == [2, 2, 0, 0]


def test_warp_without_lanes_issues_reduction_all_same(tmp_path):
    """The usual short branch around an atomic."""
    ptx = PTX.replace("st.global.u32 [%d3], %r4;", "red.global.add.u32 [%d3], %r4;")
    chunk, numbers = rows(tmp_path, 40, code(False, "@!P0", "RED.E.ADD"), ptx)
    masked = chunk.flags & Flag.masked != 0
    assert np.add.reduceat(masked, chunk.first_instruction[:-1]).tolist() == [0, 0, 2, 2]
    assert numbers.tolist() == [3 * k if k < 40 else k for k in range(THREADS)]


@pytest.mark.parametrize(
    ("access", "logged"),
    [
        ("atom.global.add.u32 %r4, [%d3], %r2;", True),
        ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r3];", True),
        ("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r3], {%r2};", True),
        ("cp.async.ca.shared.global [%r3], [%d3], 4;", True),
        ("st.local.u32 [stack], %r2;", True),
        ("ld.const.u32 %r4, [table];", False),  # another unit's
    ],
)
def test_predicated_ptx_access_occupies_load_store_unit(tmp_path, access, logged):
    """Two warps have all their lanes and two have none."""
    ptx = PTX.replace("@%p1 bra $behind;", f"mov.u32 %r3, tile;\n@!%p1 {access}\nbra $behind;")
    ptx = ptx.replace(".visible", ".const .b32 table[4] = {1, 2, 3, 4};\n.visible").replace(
        ".file", ".shared .align 16 .b8 tile[1024]; .local .align 4 .b8 stack[4];\n.file"
    )
    chunk, _ = rows(tmp_path, 64, (), ptx)
    masked = chunk.flags & Flag.masked != 0
    assert np.add.reduceat(chunk.op != NO_OP, chunk.first_instruction[:-1]).tolist() == [1, 1, 0, 0]
    assert np.add.reduceat(masked, chunk.first_instruction[:-1]).tolist() == [0, 0, logged, logged]


def test_warps_that_a_branch_skips_issue_nothing_there(tmp_path):
    chunk, _ = rows(tmp_path, 40, code(True, ""))
    assert not (chunk.flags & Flag.masked).any()
    assert np.add.reduceat(chunk.op != NO_OP, chunk.first_instruction[:-1]).tolist() == [2, 2, 0, 0]
