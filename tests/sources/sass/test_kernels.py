"""Kernels of Triton, NVRTC and Numba leave the same memory as PTX and as machine code."""

from __future__ import annotations

import numpy as np
import pytest
from ptx_kernels import CASES, persistent_tma
from sass_launches import both_ways, needs_machine_code

ON_HOPPER = (
    "add", "layer_norm", "spmv", "transpose", "softmax", "matmul", "persistent", "grouped",
    "attention", "persistent_tma",
)  # fmt: skip
WHERE = [(name, 80) for name in CASES] + [(name, 90) for name in ON_HOPPER]
# div.full and ex2.approx are specified to two units in the last place (PTX ISA, section 9.7.3).
APPROXIMATE = {"softmax": 3e-7, "dropout": 3e-7}


@needs_machine_code
@pytest.mark.slow
@pytest.mark.parametrize(("name", "capability"), WHERE)
def test_a_kernel_leaves_the_memory_of_ptx(name, capability):
    def make():
        case = CASES.get(name, persistent_tma)()
        launch, memory = case.launch(capability)
        return launch, memory, case.arrays

    expected, found = both_ways(make, capability)
    for one, other in zip(expected, found, strict=True):
        if name in APPROXIMATE:
            assert np.allclose(one, other, rtol=APPROXIMATE[name], atol=0)
        else:
            assert one.tobytes() == other.tobytes()
