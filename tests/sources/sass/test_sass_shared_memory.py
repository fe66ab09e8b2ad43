"""Shared memory of a block of machine code, as an SM with the driver's own kilobyte holds it."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from sass_launches import as_machine_code, needs_machine_code

from memsim.gpu.occupancy import occupancy
from memsim.gpu.presets import load_gpu
from memsim.sources.ptx import DeviceMemory, PtxLaunch, trace_launch

MEASURED = Path(__file__).parents[3] / "experiments" / "silicon" / "h100" / "mechanisms.csv"
PTX = """
.version 9.0
.target sm_{architecture}
.address_size 64
.shared .align 4 .b8 fixed[4000];
.extern .shared .align 16 .b8 room[];
.visible .entry k(.param .u64 out)
{{
    .reg .b64 %a;
    .reg .b32 %v, %t, %s;
    ld.param.u64 %a, [out];
    mov.u32 %t, %tid.x;
    shl.b32 %t, %t, 2;
    mov.u32 %s, {array};
    add.u32 %s, %s, %t;
    st.volatile.shared.u32 [%s], %t;
    ld.volatile.shared.u32 %v, [%s];
    st.global.u32 [%a], %v;
    ret;
}}
"""


def traced(folder, architecture: int, array: str, dynamic: int):
    memory = DeviceMemory()
    text = PTX.format(architecture=architecture, array=array)
    out = memory.add(np.zeros(1, np.uint32), "out")
    launch = PtxLaunch(text, "k", (1, 1, 1), (32, 1, 1), [out], shared_bytes=dynamic)
    code = as_machine_code(launch, architecture)
    return trace_launch(code, memory, folder / "t.h5", load_gpu("h100"), blocks="all")


@needs_machine_code
@pytest.mark.parametrize(("array", "static"), [("fixed", 4000), ("room", 0)])
def test_a_block_asks_for_its_own_shared_memory(tmp_path, array, static):
    """ptxas -v says 4000 bytes; the section of the cubin has 1024 more, and addresses begin behind those."""
    trace = traced(tmp_path, 90, array, 8192)
    assert trace.launch.shared_bytes == static + 8192
    (shared,) = (one for one in trace.arrays if one.name in ("fixed", "shared", "room"))
    assert shared.base == 1024


@needs_machine_code
def test_the_largest_block_fits(tmp_path):
    trace = traced(tmp_path, 90, "room", 227 << 10)
    assert occupancy(load_gpu("h100"), 32, trace.launch.registers, trace.launch.shared_bytes).blocks == 1


def test_blocks_by_shared_memory_are_the_profiler_s():
    """Of the share of an SM's memory that the driver chose for each launch."""
    gpu = load_gpu("h100")
    with MEASURED.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["group"] == "carve"]
    assert len(rows) == 78
    for row in rows:
        held = occupancy(gpu, int(row["a"]), int(row["registers"]), int(row["b"]) << 10)
        assert int(row["blocks_by_shared"]) == int(row["shared_of_sm"]) // held.shared_per_block
