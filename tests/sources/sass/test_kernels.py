"""Kernels of Triton, NVRTC and Numba leave the same memory as PTX and as machine code."""

from __future__ import annotations

import pytest
from ptx_kernels import CASES
from sass_launches import both_ways, needs_machine_code

WHERE = [(name, capability) for name in CASES for capability in (80, 90)]


@needs_machine_code
@pytest.mark.parametrize(("name", "capability"), WHERE)
def test_a_kernel_leaves_the_memory_of_ptx(name, capability):
    def make():
        case = CASES[name]()
        launch, memory = case.launch(capability)
        return launch, memory, case.arrays

    expected, found = both_ways(make, capability)
    for one, other in zip(expected, found, strict=True):
        assert one.tobytes() == other.tobytes()
