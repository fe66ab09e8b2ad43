"""Machine code leaves for Accel-Sim with its own opcodes, and comes back with the same transactions."""

from __future__ import annotations

import re

import numpy as np
import pytest
from ptx_kernels import add, softmax
from sass_launches import as_machine_code, needs_machine_code, traced_code

from memsim.gpu.presets import load_gpu
from memsim.sources.imported.accelsim import export_accelsim, import_accelsim
from memsim.trace.coalesce import coalesce

pytestmark = needs_machine_code
# Of Accel-Sim's tracer, version 3: PC, mask, registers written, opcode, registers read, width of an access, addresses.
LINE = re.compile(
    r"([0-9a-f]+) ([0-9a-f]{8}) (?:0|1 R(\d+)) ([A-Z][\w.]*) (\d)((?: R\d+)*) "
    r"(?:0|(\d+) (?:1 0x[0-9a-f]+ -?\d+|2 0x[0-9a-f]+(?: -?\d+)*)) "
)


@pytest.mark.parametrize(("case", "exits"), [(add, 2), (softmax, 1)])
def test_each_line_is_an_instruction_of_the_code(case, exits, tmp_path):
    """Warps of the first end at its second EXIT, of the other at its first."""
    launch, memory = case().launch(80)
    trace, chunk = traced_code(launch, memory, tmp_path)
    code = as_machine_code(launch, 80).sass.code
    kernel, _ = export_accelsim([trace], tmp_path / "out")
    text = kernel.read_text()
    assert "-binary version = 80\n" in text
    warps = [part.split("\n") for part in re.findall(r"insts = \d+\n((?:[0-9a-f]{4}.*\n)+)", text)]
    assert len(warps) == len(chunk.warps)
    ends = [k for k, one in enumerate(code) if one.name == "EXIT"]
    executed = code[: ends[exits - 1] + 1]
    found = [LINE.fullmatch(line) for line in warps[0] if line]
    assert all(found)
    accesses = [one.opcode for one in executed if one.kind == "memory" and one.name != "ULDC"]
    masked = len(accesses) - sum(line[7] is not None for line in found)
    kept = iter(accesses)
    assert masked <= 2 and all(line[4] in kept for line in found if line[7])  # in the same order
    assert len([line for line in found if line[4] != "NOP"]) <= len(executed) <= len(found)
    assert sum(line[4] == "BAR.SYNC" for line in found) == sum(one.name == "BAR" for one in executed)
    assert [line[4] for line in found if line[4] == "EXIT"] == ["EXIT"]


def test_what_is_waited_for_is_read(tmp_path):
    """Each register that a load writes is read before another result takes it."""
    launch, memory = softmax().launch(80)
    trace, _ = traced_code(launch, memory, tmp_path)
    kernel, _ = export_accelsim([trace], tmp_path / "out")
    written, read = set(), set()
    for line in kernel.read_text().split("insts = ")[1].splitlines():
        if found := LINE.fullmatch(line):
            read |= {int(name) for name in re.findall(r"\d+", found[6])}
            if found[3]:
                assert int(found[3]) not in written - read
                written.add(int(found[3]))
    assert len(written) > 8 and written <= read


def test_imported_again_it_has_the_same_transactions(tmp_path):
    launch, memory = softmax().launch(80)
    trace, _ = traced_code(launch, memory, tmp_path)
    *_, listed = export_accelsim([trace], tmp_path / "out")
    (back,) = import_accelsim(listed, tmp_path)
    ours, theirs = coalesce(trace, load_gpu("a100")), coalesce(back, load_gpu("a100"))
    for name in ("lines", "masks", "line_address", "first_warp"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name)), name
