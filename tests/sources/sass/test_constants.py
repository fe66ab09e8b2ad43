"""Places of constant bank 0, read in the machine code of kernels that ask for what lies there."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
from sass_launches import VOLTA, as_machine_code, needs_machine_code

from memsim.sources.ptx import DeviceMemory, PtxLaunch, execute
from memsim.sources.sass.assemble import assemble
from memsim.sources.sass.constants import bank_offsets, reads_workspace
from memsim.sources.sass.disassembly import disassemble

pytestmark = needs_machine_code

HEAD = ".version 9.0\n.target sm_{architecture}\n.address_size 64\n"
KERNEL = """.visible .entry {name}(.param .u64 out)
{{
    .reg .b64 %a;
    .reg .b32 %v;
    ld.param.u64 %a, [out];
    mov.u32 %v, {register};
    st.global.u32 [%a], %v;
    ret;
}}
"""
REGISTERS = ("%ntid.x", "%ntid.y", "%ntid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z", "%dynamic_smem_size")
ENVIRONMENT = "mov.u32 %v, %envreg1; st.global.u32 [%a+4], %v; mov.u32"
WORKSPACE = 0x1234500010000


@cache
def _constants(architecture: int) -> dict[str, set[int]]:
    """By register, the offsets in bank 0 that a kernel reads which stores it."""
    names = {f"k{number}": register for number, register in enumerate(REGISTERS)}
    kernels = (KERNEL.format(name=name, register=register) for name, register in names.items())
    found = disassemble(assemble(HEAD.format(architecture=architecture) + "".join(kernels), architecture).cubin)
    return {register: _offsets(found[name]) for name, register in names.items()}


def _offsets(code) -> set[int]:
    operands = " ".join(one.operands for one in code).replace("[RZ]", "[0x0]")
    return {int(found, 16) for found in re.findall(r"c\[0x0\]\[(0x[0-9a-f]+)\]", operands)}


@pytest.mark.parametrize("architecture", [VOLTA, 75, 80, 86, 89, 90, 100, 120])
@pytest.mark.parametrize(
    ("register", "place", "word"),
    [("%ntid.x", "block", 0), ("%ntid.y", "block", 1), ("%ntid.z", "block", 2),
     ("%nctaid.x", "grid", 0), ("%nctaid.y", "grid", 1), ("%nctaid.z", "grid", 2)],
)  # fmt: skip
def test_extents_lie_where_kernels_read_them(architecture, register, place, word):
    assert getattr(bank_offsets(architecture), place) + 4 * word in _constants(architecture)[register]


@pytest.mark.parametrize("architecture", [VOLTA, 75, 80, 86, 89, 90])
def test_dynamic_shared_memory_lies_where_kernels_read_it(architecture):
    assert bank_offsets(architecture).dynamic in _constants(architecture)["%dynamic_smem_size"]


@pytest.mark.parametrize("architecture", [80, 90, 100, 120])
def test_workspace_of_a_grid_is_found(architecture):
    text = HEAD.format(architecture=architecture) + KERNEL.replace("mov.u32", ENVIRONMENT).format(
        name="k", register="%envreg2"
    )
    out = np.zeros(2, np.uint32)
    memory = DeviceMemory()
    launch = PtxLaunch(text, "k", (1, 1, 1), (1, 1, 1), [memory.add(out, "out")], workspace=WORKSPACE)
    launch = as_machine_code(launch, architecture)
    execute(launch, memory)
    assert out.tolist() == [WORKSPACE & 0xFFFFFFFF, WORKSPACE >> 32]
    assert reads_workspace(launch.sass)
