"""`sm.pipes.guard_cycles`, `operand_cycles`, `branch_cycles` and `control_cycles` are what stall counts leave."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

import pytest
from places import DATA

from memsim.gpu.presets import load_gpu
from memsim.sources.sass.assemble import assemble
from memsim.sources.sass.disassembly import NO_SCOREBOARD, SassInstruction, disassemble
from memsim.sources.sass.tools import paths_of

needs_tools = pytest.mark.skipif(
    not paths_of("ptxas") or not paths_of("nvdisasm"),
    reason="ptxas and nvdisasm are not installed (memsim[machine-code])",
)
REGISTER = re.compile(r"\bR\d+\b|\bP\d\b")
ACCESSES = ("LDG", "LDS", "LDL", "STG", "STS", "STL")


@pytest.mark.slow
@needs_tools
@pytest.mark.parametrize(
    ("architecture", "gpu"),
    [(75, "tesla-v100"), (80, "a100"), (86, "rtx3080"), (89, "rtx4090"), (90, "h100"), (100, "b200")],
)
def test_links_of_chains_take_what_assembler_leaves(architecture, gpu):
    """A control link is a branch with the time from its comparison on, less the comparison's own link."""
    least: dict[str, list[int]] = defaultdict(list)
    for path in sorted((DATA / "ptx").glob("*.sm_80.ptx")):
        made = assemble(path.read_text(), architecture)
        for code in disassemble(made.cubin).values() if made.problem is None else ():
            for link, cycles in links(code):
                least[link].append(cycles)
    pipes = load_gpu(gpu).sm.pipes
    found = {link: min(cycles) for link, cycles in least.items()}
    assert found == {
        "guard": pipes.guard_cycles,
        "operand": pipes.operand_cycles,
        "branch": pipes.branch_cycles,
    }
    assert found["guard"] - pipes.integer_cycles + found["branch"] == pipes.control_cycles


def links(code: list[SassInstruction]) -> Iterator[tuple[str, int]]:
    """Cycles from arithmetic results of a basic block to accesses and guards that use them; and from branches on."""
    clock, written = 0, {}
    for one in code:
        if one.labels:
            written = {}
        results, sources = operands(one)
        decides = REGISTER.findall(one.predicate)
        yield from (("guard", clock - written[name]) for name in decides if name in written)
        if one.opcode.startswith(ACCESSES):
            yield from (("operand", clock - written[name]) for name in sources if name in written)
        if one.opcode == "BRA" and one.predicate:
            yield "branch", one.stall
        fixed = one.kind in ("integer", "fp32") and one.sets == NO_SCOREBOARD and not one.opcode.startswith("U")
        written = {name: at for name, at in written.items() if name not in results}
        if fixed:
            written |= dict.fromkeys(results, clock)
        clock += max(one.stall, 1)


def operands(one: SassInstruction) -> tuple[list[str], list[str]]:
    """Registers that an instruction writes, as far as they are printed, and those that it reads."""
    printed = [REGISTER.findall(each) for each in one.operands.split(",")]
    n_results = 0 if one.opcode.startswith("ST") else 2 if "SETP" in one.opcode else 1
    return sum(printed[:n_results], []), sum(printed[n_results:], [])
