"""Numbers of eight bits with an exponent: the same products and conversions as PTX and as machine code."""

from __future__ import annotations

import numpy as np
import pytest
from sass_launches import as_machine_code, both_ways, needs_machine_code

from memsim.sources.ptx import DeviceMemory, PtxLaunch

ADA = 89
HEADER = f".version 8.7\n.target sm_{ADA}\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{{\n"


def _launch(depth: int, total: str, left: str, right: str) -> tuple[PtxLaunch, DeviceMemory, list[np.ndarray]]:
    """One warp multiplies words from `in`, and stores its sums in `out`."""
    n_a, n_b, n_d = depth // 8, depth // 16, 4 if total == "f32" else 2
    sums, a, b, c = (
        ", ".join(f"%r{first + k}" for k in range(count))
        for first, count in ((30, n_d), (1, n_a), (10, n_b), (20, n_d))
    )
    loads = [*range(1, 1 + n_a), *range(10, 10 + n_b), *range(20, 20 + n_d)]
    ptx = (
        f"{HEADER}.reg .b32 %r<40>;\n.reg .b64 %rd<8>;\nmov.u32 %r0, %laneid;\nld.param.u64 %rd1, [in];\n"
        "ld.param.u64 %rd2, [out];\nmad.wide.u32 %rd3, %r0, 4, %rd1;\nmad.wide.u32 %rd4, %r0, 4, %rd2;\n"
        + "".join(f"ld.global.b32 %r{one}, [%rd3 + {128 * at}];\n" for at, one in enumerate(loads))
        + f"mma.sync.aligned.m16n8k{depth}.row.col.{total}.{left}.{right}.{total} "
        f"{{{sums}}}, {{{a}}}, {{{b}}}, {{{c}}};\n"
        + "".join(f"st.global.b32 [%rd4 + {128 * k}], %r{30 + k};\n" for k in range(n_d))
        + "ret;\n}\n"
    )
    words = np.random.default_rng(depth).integers(0, 256, (len(loads), 32, 4), np.uint8)
    words[: n_a + n_b] &= 0xBB  # no infinity, no NaN
    words[n_a + n_b :] &= 0x3F
    memory, out = DeviceMemory(), np.zeros((n_d, 32), np.uint32)
    arguments = [memory.add(words, "in"), memory.add(out, "out")]
    return PtxLaunch(ptx, "k", (1, 1, 1), (32, 1, 1), arguments), memory, [out]


@needs_machine_code
@pytest.mark.parametrize("depth", [16, 32])
@pytest.mark.parametrize("types", ["f32 e4m3 e5m2", "f32 e5m2 e5m2", "f16 e4m3 e4m3"])
def test_products_of_small_floats_leave_same_bits(depth, types):
    code = as_machine_code(_launch(depth, *types.split())[0], ADA).sass
    assert "QMMA" in [one.name for one in code.code]
    ((expected,), (found,)) = both_ways(lambda: _launch(depth, *types.split()), ADA)
    assert expected.any() and np.array_equal(expected, found)


@needs_machine_code
@pytest.mark.parametrize("kind", ["e4m3", "e5m2"])
def test_halves_become_same_small_floats(kind):
    """Numbers of all magnitudes and signs, infinities and NaNs among them."""

    def make() -> tuple[PtxLaunch, DeviceMemory, list[np.ndarray]]:
        ptx = (
            f"{HEADER}.reg .b16 %rs<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\nmov.u32 %r0, %tid.x;\n"
            "ld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\n"
            "mad.wide.u32 %rd3, %r0, 8, %rd1;\nmad.wide.u32 %rd4, %r0, 4, %rd2;\n"
            "ld.global.v2.b32 {%r1, %r2}, [%rd3];\n"
            f"cvt.rn.satfinite.{kind}x2.f16x2 %rs1, %r1;\ncvt.rn.satfinite.{kind}x2.f16x2 %rs2, %r2;\n"
            "mov.b32 %r3, {%rs1, %rs2};\nst.global.b32 [%rd4], %r3;\nret;\n}\n"
        )
        halves = np.random.default_rng(3).permutation(1 << 10).astype(np.uint16) << 6 | 5
        memory, out = DeviceMemory(), np.zeros(256, np.uint32)
        arguments = [memory.add(halves, "h"), memory.add(out, "o")]
        return PtxLaunch(ptx, "k", (1, 1, 1), (256, 1, 1), arguments), memory, [out]

    assert "UNPACK_B_MERGE_C" in {part for one in as_machine_code(make()[0], ADA).sass.code for part in one.modifiers}
    ((expected,), (found,)) = both_ways(make, ADA)
    assert expected.any() and np.array_equal(expected, found)
