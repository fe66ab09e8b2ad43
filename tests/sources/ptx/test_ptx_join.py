"""Loads of neighbours in shared memory become wide ones: by hand, in traces, and as ptxas makes them."""

from __future__ import annotations

import struct
from collections import Counter

import numpy as np
import pytest
from compilers import assembled

from memsim.gpu.presets import load_gpu
from memsim.sources.ptx import DeviceMemory, PtxLaunch, trace_launch
from memsim.sources.ptx.alias import Places
from memsim.sources.ptx.alignment import multiples
from memsim.sources.ptx.flow import basic_blocks
from memsim.sources.ptx.join import joined
from memsim.sources.ptx.schedule import scheduled
from memsim.sources.ptx.text import parse

HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x)
{
.reg .pred %p<8>; .reg .b32 %r<64>; .reg .b64 %rd<16>; .reg .f32 %f<64>;
.shared .align 4 .b8 s[4096];
ld.param.u64 %rd1, [x]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
cvta.to.global.u64 %rd4, %rd3; mov.u32 %r2, s;
"""
SYMBOLS = {"s": 0}


def text_of(address: str, offsets: list[int], between: str = "") -> str:
    """A kernel that loads from `address`, made in %r9, at some offsets, and stores their sum."""
    loads = [f"ld.shared.f32 %f{k + 1}, [%r9+{offset}];" for k, offset in enumerate(offsets)]
    loads[1:1] = [between]
    sums = [f"fma.rn.f32 %f0, %f{k + 1}, %f{k + 1}, %f0;" for k in range(len(offsets))]
    return f"{HEAD} {address} mov.f32 %f0, 0f00000000;\n" + "\n".join(
        [*loads, *sums, "st.global.f32 [%rd4], %f0; ret;", "}"]
    )


def opcodes(text: str) -> list[str]:
    blocks = basic_blocks(parse(text, "t").functions["k"].body)
    every = [one for block in blocks for one in block.instructions]
    places, aligned = Places(every), multiples(every, SYMBOLS)
    issued = [one for block in blocks for one in joined(scheduled(block.instructions, places), aligned)]
    return [one.text for one in issued if one.name == "ld" and one.has("shared")]


ROWS = "shl.b32 %r8, %r1, {}; add.s32 %r9, %r2, %r8;"
WIDE, PAIR, ONE = "ld.shared.v4.f32", "ld.shared.v2.f32", "ld.shared.f32"
CASES = {
    "two pieces": (ROWS.format(5), [0, 4, 8, 12, 16, 20, 24, 28], [WIDE, WIDE]),
    "in any order": (ROWS.format(5), [12, 4, 0, 8], [WIDE]),
    "pairs": (ROWS.format(3), [0, 4, 8, 12], [PAIR, PAIR]),
    "alone": (ROWS.format(2), [0, 4, 8, 12], [ONE] * 4),
    "three of four": (ROWS.format(4), [4, 8, 12, 16], [WIDE, ONE]),
    "with a gap": (ROWS.format(4), [0, 4, 12], [WIDE]),
    "no pair that is aligned": (ROWS.format(4), [4, 8], [ONE, ONE]),
    "half": (ROWS.format(4), [8, 12, 16, 28], [PAIR, ONE, ONE]),
    "pairs and what is left": (ROWS.format(3), [0, 8, 12], [ONE, PAIR]),
}


@pytest.mark.parametrize("case", CASES)
def test_neighbours_in_an_aligned_piece_are_joined(case):
    address, offsets, expected = CASES[case]
    assert opcodes(text_of(address, offsets)) == expected


@pytest.mark.parametrize("case", CASES)
def test_ptxas_makes_the_same_of_them(case, tmp_path):
    address, offsets, expected = CASES[case]
    code = assembled(text_of(address, offsets), "sm_80", tmp_path)
    assert lds_widths(code.read_bytes()) == Counter({WIDE: 16, PAIR: 8, ONE: 4}[text] for text in expected)


def lds_widths(cubin: bytes) -> Counter:
    """Bytes of the shared-memory loads in the machine code of a cubin (64-bit ELF; 16 bytes an instruction)."""
    at, (size, count, names) = struct.unpack_from("<Q", cubin, 0x28)[0], struct.unpack_from("<HHH", cubin, 0x3A)
    sections = [struct.unpack_from("<IIQQQQ", cubin, at + k * size) for k in range(count)]
    found: Counter = Counter()
    for name, _, _, _, begin, length in sections:
        if cubin[sections[names][4] + name :].startswith(b".text.k\0"):
            for low, high in struct.iter_unpack("<QQ", cubin[begin : begin + length]):
                if low & 0xFFF == 0x984:  # LDS
                    found[{4: 4, 5: 8, 6: 16}[high >> 9 & 7]] += 1
    return found


def test_what_stands_between_keeps_loads_apart():
    address, offsets = ROWS.format(4), [0, 4, 8, 12]
    assert opcodes(text_of(address, offsets, "bar.sync 0;")) == [ONE, WIDE]
    assert opcodes(text_of(address, offsets, "st.shared.f32 [%r2+4], %f1;")) == [ONE, WIDE]
    assert opcodes(text_of(address, [0, 0, 4, 4])) == [PAIR, ONE, ONE]


FAR = "ld.global.f32 %f20, [%rd4+4]; fma.rn.f32 %f0, %f20, %f20, %f0;"


def test_load_of_far_memory_between_keeps_none_apart():
    address, offsets = ROWS.format(4), [0, 4, 8, 12]
    assert opcodes(text_of(address, offsets, FAR)) == [WIDE]
    late = "ld.global.u32 %r9, [%rd4+4]; add.s32 %r9, %r9, %r2;"  # another base from there on
    assert opcodes(text_of(address, offsets, late)) == [ONE] * 4


def test_load_overwriting_far_value_starts_anew():
    address = ROWS.format(6)
    far = "ld.global.f32 %f2, [%rd4+4];"  # as does the second of the loads
    assert opcodes(text_of(address, [48, 0, 4, 8, 12], far)) == [ONE, WIDE]


def test_ptxas_joins_them_too(tmp_path):
    code = assembled(text_of(ROWS.format(4), [0, 4, 8, 12], FAR), "sm_80", tmp_path)
    assert lds_widths(code.read_bytes()) == Counter({16: 1})


def test_alignment_through_a_loop():
    """A counter that steps by 32 stays a multiple of 32; one that steps by 4 is one of 4 alone."""
    for step, expected in ((32, [WIDE]), (4, [ONE] * 4)):
        loop = f"mov.u32 %r9, %r2; L: add.s32 %r9, %r9, {step}; setp.lt.u32 %p1, %r9, 2048;"
        assert opcodes(text_of(loop, [0, 4, 8, 12], "").replace("st.global", "@%p1 bra L; st.global")) == expected


def test_a_trace_has_the_wide_access(tmp_path):
    memory = DeviceMemory()
    text = text_of(ROWS.format(4), [0, 4, 8, 12])
    launch = PtxLaunch(text, "k", (1, 1, 1), (32, 1, 1), [memory.add(np.zeros(64, np.float32), "x")])
    trace = trace_launch(launch, memory, tmp_path / "t.h5", load_gpu("a100"), "all")
    [chunk] = trace.chunks()
    assert [(op.text, op.width) for op in trace.ops][0] == (WIDE, 16)
    assert chunk.base[0] == 0 and chunk.stride[0] == 16
