"""Cooperative launches: blocks that wait for each other run on the CPU, and are traced block by block."""

from __future__ import annotations

import numpy as np
import pytest
from compilers import needs_gxx, needs_nvcc
from places import DATA

import memsim
from memsim.support.errors import InputError
from memsim.trace.schema import INSTRUCTION_COLUMNS

pytestmark = needs_gxx

PROGRAM = DATA / "capture" / "grid_barrier.cu"


def captured(out, *definitions: str, by: str = "source", **more):
    return memsim.capture(PROGRAM, out=out, definitions=definitions, by=by, registers=20, **more)


@pytest.fixture(scope="module")
def cooperative(tmp_path_factory):
    """The program's own check has passed: it ends with 0."""
    return captured(tmp_path_factory.mktemp("grid") / "t.h5")


def test_the_trace_is_that_of_blocks_that_wait_for_themselves(cooperative, tmp_path):
    """The addresses are the same, so the parts between barriers are put together as if nobody had waited for others."""
    parts, plain = cooperative.trace, captured(tmp_path / "t.h5", "PLAIN").trace
    assert parts.n_blocks == plain.n_blocks == 37
    assert [op.kind for op in parts.ops] == [op.kind for op in plain.ops]
    for ours, theirs in zip(parts.chunks(), plain.chunks(), strict=True):
        for name in INSTRUCTION_COLUMNS:
            assert np.array_equal(getattr(ours, name), getattr(theirs, name)), name


def test_the_trace_says_that_blocks_do_not_wait_for_each_other(cooperative, tmp_path):
    assert cooperative.trace.parameters["grid_barriers"] == "each block's alone"
    assert any("no block waits for another there" in note for note in cooperative.notes)
    for waits_for_itself in ("PLAIN", "ALONE"):
        plain = captured(tmp_path / "t.h5", waits_for_itself)
        assert "grid_barriers" not in plain.trace.parameters
        assert not any("grid" in note for note in plain.notes)


def test_all_blocks_run_where_some_are_traced(tmp_path):
    assert captured(tmp_path / "t.h5", blocks="5:9", launch=0).trace.block_ids.tolist() == [5, 6, 7, 8]


def test_more_blocks_than_the_gpu_holds_do_not_run(tmp_path):
    """The program is told CUDA's error (its own check), and its next launch is the first."""
    assert captured(tmp_path / "t.h5", "LARGE").trace.n_blocks == 37


EARLY = "kernel sums: deadlock: 36 blocks wait at the grid's barrier, 1 have ended"


@pytest.mark.parametrize(
    ("definition", "said", "asked"),
    [
        ("NOT_COOPERATIVE", "the launch is not a cooperative one", {}),
        ("EARLY", EARLY, {}),
        ("EARLY", EARLY, {"blocks": "0:4", "stop": True}),
        ("SPLIT", r"deadlock in block \(0,0,0\): 64 of its 96 threads wait at the grid's barrier", {}),
        ("SHORT", r"deadlock in block \(0,0,0\): 95 of its 96 threads wait at the grid's barrier", {}),
        ("OWN", r"waits for ever .* \(blocks take turns at grid.sync\(\) alone", {"blocks": "1:2"}),
    ],
)
def test_what_would_hang_is_refused(tmp_path, definition, said, asked):
    with pytest.raises(InputError, match=said):
        captured(tmp_path / "t.h5", definition, **asked)
    assert not list(tmp_path.iterdir())


@needs_nvcc
def test_compiled_code_is_refused_by_name(tmp_path):
    with pytest.raises(InputError, match="barriers of the whole grid, which --by source runs"):
        captured(tmp_path / "t.h5", by="ptx")
