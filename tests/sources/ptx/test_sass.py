"""SASS as ``nvdisasm`` prints it is read right, and has as many accesses and barriers as the PTX it was made of."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from places import DATA

from memsim.sources.sass.assemble import assemble
from memsim.sources.sass.disassembly import disassemble, parse_sass
from memsim.sources.sass.tools import paths_of

needs_tools = pytest.mark.skipif(
    not paths_of("ptxas") or not paths_of("nvdisasm"),
    reason="ptxas and nvdisasm are not installed (memsim[machine-code])",
)

# Written by hand after the layout of nvdisasm -g -c -hex; control bits as Jia et al. 2018 name them.
PRINTED = """
.text.add:
	//## File "/home/u/add.py", line 6
        /*0100*/              @!P0 LDG.E R9, [R2.64] ;          /* 0x0000000402098981 */
                                                                /* 0x000ea2000c1e1900 */
        /*0110*/                   FADD R9, R9, R4 ;            /* 0x0000000409097221 */
                                                                /* 0x004fca0000000000 */
"""


def test_lines_predicates_and_scoreboards_are_read():
    load, add = parse_sass(PRINTED)["add"]
    assert (load.opcode, load.predicate, load.line, load.kind) == ("LDG.E", "@!P0", 6, "memory")
    assert (load.sets, load.waits) == (2, 0)  # its result releases scoreboard 2 ...
    assert (add.kind, add.waits, add.sets, add.stall) == ("fp32", 1 << 2, 7, 5)  # ... for which its use waits


_PTX = {
    "global load": r"\bld\.(?:volatile\.)?global",
    "global store": r"\bst\.global",
    "atomic": r"\b(?:atom|red)\.(?:[\w.]*\.)?global",
    "copy": r"\bcp\.async\.c[ag]",
    "barrier": r"\bbar(?:rier)?\.(?:cta\.)?(?:sync|red)",
}
_SASS = {
    "global load": ("LDG",), "global store": ("STG",), "atomic": ("ATOM", "ATOMG", "RED", "REDG"), "copy": ("LDGSTS",),
    "barrier": ("BAR",),
}  # fmt: skip


@needs_tools
@pytest.mark.parametrize(
    "name", ["add", "softmax", "dropout", "matmul", "attention"]
)  # ptxas unrolls the others' loops
def test_static_accesses_of_ptx_equal_those_of_sass(name):
    ptx = (DATA / "ptx" / f"{name}.sm_80.ptx").read_text()
    made = assemble(ptx, 80)
    assert made.problem is None
    (code,) = disassemble(made.cubin).values()
    names = Counter(one.opcode.partition(".")[0] for one in code)
    text = re.sub(r"//.*", "", ptx)
    assert {what: sum(names[one] for one in known) for what, known in _SASS.items()} == {
        what: len(re.findall(pattern, text)) for what, pattern in _PTX.items()
    }


@needs_tools
@pytest.mark.parametrize("architecture", [86, 89, 90])
def test_old_ptx_is_assembled_for_later_architectures(architecture):
    """Its `.version` may be older than the first one that knows the architecture."""
    made = assemble(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }\n", architecture)
    assert made.problem is None and made.architecture == architecture
