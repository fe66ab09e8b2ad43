"""Parameters of machine code lie where the assembler aligned them, which is not where PTX lays them out."""

from __future__ import annotations

import numpy as np
import pytest
from sass_launches import both_ways, needs_machine_code

from memsim.sources.ptx import DeviceMemory, PtxLaunch

pytestmark = needs_machine_code

# Behind 8 bytes, PTX aligns 64 bytes to offset 64; the bank's first place is a multiple of 16 alone.
KERNEL = """.version 8.7
.target sm_{architecture}
.address_size 64
.visible .entry k(.param .u64 words, .param .align 64 .b8 many[64], .param .u32 last)
{{
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [words];
    ld.param.u32 %r1, [many];
    ld.param.u32 %r2, [many+60];
    ld.param.u32 %r3, [last];
    st.global.u32 [%rd1], %r1;
    st.global.u32 [%rd1+4], %r2;
    st.global.u32 [%rd1+8], %r3;
    ret;
}}
"""


@pytest.mark.parametrize("architecture", [80, 90, 100])
def test_aligned_parameters_lie_where_the_cubin_says(architecture):
    def make():
        memory, words = DeviceMemory(), np.zeros(3, np.uint32)
        many = np.arange(100, 116, dtype=np.uint32).tobytes()
        given = [memory.add(words, "words"), many, 7]
        return PtxLaunch(KERNEL.format(architecture=architecture), "k", (1, 1, 1), (32, 1, 1), given), memory, [words]

    for (found,) in both_ways(make, architecture):
        assert found.tolist() == [100, 115, 7]
