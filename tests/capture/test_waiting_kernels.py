"""A kernel that waits for the host and for other blocks, and one that fetches from textures, in whole programs."""

from __future__ import annotations

from pathlib import Path

import pytest
from compilers import needs_capture

import memsim
from memsim.trace.schema import OpKind, Space

PROGRAMS = Path(__file__).parents[1] / "data" / "capture"


pytestmark = [pytest.mark.slow, needs_capture]


def test_kernel_waits_for_the_host_and_for_blocks(tmp_path):
    found = memsim.capture(PROGRAMS / "host_flag.cu", out=tmp_path / "t.h5", to_end=True)
    assert found.exit_code == 0 and found.trace.n_blocks == 4
    assert found.trace.n_instructions < 2000  # polls in vain are left out


def test_textures_and_surfaces_give_what_cuda_documents(tmp_path):
    found = memsim.capture(PROGRAMS / "textures.cu", out=tmp_path / "t.h5", to_end=True)
    assert found.exit_code == 0
    assert [(op.kind, op.space) for op in found.trace.ops] == [
        (OpKind.load, Space.texture),
        (OpKind.load, Space.texture),
        (OpKind.store, Space.global_),  # of a surface
        (OpKind.store, Space.global_),
    ]
