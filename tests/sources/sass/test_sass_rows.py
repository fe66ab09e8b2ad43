"""Rows of machine code have the waits, scoreboards and stall counts that nvdisasm prints."""

from __future__ import annotations

import numpy as np
from ptx_kernels import add, softmax
from sass_launches import as_machine_code, needs_machine_code, traced_code

from memsim.sources.sass.disassembly import SassInstruction
from memsim.trace.schema import NO_OP, NO_SCOREBOARD, RESULT_CLASSES, Flag, Instructions, KnownWaits

pytestmark = needs_machine_code
MEMORY = ("LDG", "STG", "LDS", "STS")


def rows_of(code: list[SassInstruction]) -> list[tuple[int, ...]]:
    """(compute run, stall cycles, waits, sets, stall, result) of the rows of instructions in this order."""
    rows, compute_run, stalls, waits, outstanding = [], 0, 0, 0, 0
    for one in code:
        if wait := one.waits & outstanding:
            if compute_run:
                rows.append((compute_run, stalls, waits, NO_SCOREBOARD, 0, 0))
                compute_run, stalls, waits = 0, 0, 0
            waits |= wait
            outstanding &= ~wait
        if one.sets != NO_SCOREBOARD:
            outstanding |= 1 << one.sets
        if one.name in MEMORY:
            rows.append((compute_run, stalls, waits, one.sets, one.stall, 0))
        elif one.sets != NO_SCOREBOARD:
            kind = "register" if one.name == "S2R" else one.kind
            rows.append((compute_run + 1, stalls, waits, one.sets, one.stall, RESULT_CLASSES.index(kind) + 1))
        else:
            compute_run, stalls = compute_run + 1, stalls + one.stall
            continue
        compute_run, stalls, waits = 0, 0, 0
    return [*rows, (compute_run, stalls, waits, NO_SCOREBOARD, 0, 0)]


def test_rows_have_waits_and_stalls_of_straight_code(tmp_path):
    launch, memory = add().launch(80)
    trace, chunk = traced_code(launch, memory, tmp_path)
    assert (trace.issue.dependence, trace.issue.instructions) == (KnownWaits.control_code, Instructions.machine_code)
    code = list(as_machine_code(launch, 80).sass.code)
    executed = code[: 1 + next(k for k, one in enumerate(code) if one.name == "EXIT" and not one.predicate)]
    assert not any(one.name in ("BRA", "BAR") for one in executed)
    first = slice(chunk.first_instruction[0], chunk.first_instruction[1])
    stalls = trace.issue.mixes["stall_cycles"][chunk.instruction_mix]
    columns = (chunk.compute_run, stalls, chunk.scoreboard_wait, chunk.scoreboard_set, chunk.stall, chunk.result)
    assert list(zip(*(column[first].tolist() for column in columns), strict=True)) == rows_of(executed)


def test_each_instruction_of_each_warp_is_counted(tmp_path):
    """Of a kernel with barriers, shuffles and special functions, all of whose lanes end at its first EXIT."""
    launch, memory = softmax().launch(80)
    _, chunk = traced_code(launch, memory, tmp_path)
    names = [one.name for one in as_machine_code(launch, 80).sass.code]
    end = names.index("EXIT")
    assert not {"BRA", "BSSY", "CALL"} & set(names[:end])
    issued = chunk.compute_run + ((chunk.op != NO_OP) | (chunk.flags & Flag.masked != 0))
    warps = np.add.reduceat(issued, chunk.first_instruction[:-1])
    assert warps.tolist() == [end + 1] * len(warps)
    assert {RESULT_CLASSES[k - 1] for k in chunk.result if k} == {"shuffle", "special", "register"}
