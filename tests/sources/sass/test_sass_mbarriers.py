"""Threads that wait at mbarrier objects leave the same memory and the same phases as PTX and as machine code."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sass_launches import as_machine_code, both_ways, needs_machine_code

from memsim.gpu.presets import load_gpu
from memsim.sources.ptx import DeviceMemory, PtxLaunch, execute, trace_launch
from memsim.trace.schema import Flag

pytestmark = needs_machine_code
THREADS = 96
HEAD = """.version 8.7
.target sm_{architecture}
.address_size 64
.visible .entry k(.param .u64 words)
{{
    .shared .align 8 .b64 bar[2];
    .shared .align 16 .b32 data[96];
    .reg .b32 %r<20>;
    .reg .b64 %rd<20>;
    .reg .pred %p<8>;
    mov.u32 %r1, bar;
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, data;
    mad.lo.u32 %r4, %r2, 4, %r3;
    ld.param.u64 %rd1, [words];
    mad.wide.u32 %rd2, %r2, 4, %rd1;
    ld.global.u32 %r5, [%rd2];
    setp.eq.u32 %p1, %r2, 0;
    @%p1 mbarrier.init.shared.b64 [%r1], 96;
    bar.sync 0;
"""
# The neighbour's word, then the word behind that: phases by their state and by their parity.
PHASES = """
    st.shared.u32 [%r4], %r5;
    mbarrier.arrive.shared.b64 %rd3, [%r1];
first:
    mbarrier.test_wait.shared.b64 %p2, [%r1], %rd3;
    @!%p2 bra first;
    xor.b32 %r6, %r2, 32;
    mad.lo.u32 %r7, %r6, 4, %r3;
    setp.lt.u32 %p3, %r6, 96;
    @%p3 ld.shared.u32 %r5, [%r7];
    setp.lt.u32 %p4, %r2, 64;
    @%p4 mbarrier.arrive.shared.b64 %rd4, [%r1];
    @!%p4 mbarrier.arrive_drop.shared.b64 %rd4, [%r1];
    @!%p4 bra done;
second:
    mbarrier.test_wait.parity.shared.b64 %p2, [%r1], 1;
    @!%p2 bra second;
    st.shared.u32 [%r4], %r5;
    mbarrier.arrive.shared.b64 %rd3, [%r1];
    mbarrier.pending_count.b64 %r8, %rd3;
third:
    mbarrier.test_wait.parity.shared.b64 %p2, [%r1], 0;
    @!%p2 bra third;
    sub.u32 %r9, 63, %r2;
    mad.lo.u32 %r9, %r9, 4, %r3;
    ld.shared.u32 %r5, [%r9];
    setp.gt.u32 %p5, %r8, 64;
    @%p5 mov.u32 %r5, 0;
done:
    st.global.u32 [%rd2], %r5;
    ret;
}
"""
COPIES = """
    cp.async.ca.shared.global [%r4], [%rd2], 4;
    cp.async.mbarrier.arrive{noinc}.shared.b64 [%r1];
    {arrive}
wait:
    mbarrier.test_wait.parity.shared.b64 %p2, [%r1], 0;
    @!%p2 bra wait;
    sub.u32 %r9, 95, %r2;
    mad.lo.u32 %r9, %r9, 4, %r3;
    ld.shared.u32 %r5, [%r9];
    st.global.u32 [%rd2], %r5;
    ret;
}}
"""
# One thread copies all words at once; without a copy each thread would keep what lies there.
BULK = """
    @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 384;
    @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 384, [%r1];
    @!%p1 mbarrier.arrive.shared.b64 _, [%r1];
wait:
    mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0;
    @!%p2 bra wait;
    sub.u32 %r9, 95, %r2;
    mad.lo.u32 %r9, %r9, 4, %r3;
    ld.shared.u32 %r5, [%r9];
    bar.sync 0;
    st.global.u32 [%rd2], %r5;
    ret;
}
"""
# Two copies of an elected lane: the first, of an address that nothing has, is not made.
TWO_COPIES = """
    shr.u32 %r10, %r2, 5;
    setp.eq.u32 %p4, %r10, 0;
    elect.sync _|%p5, -1;
    and.pred %p5, %p4, %p5;
    setp.eq.u32 %p6, %r5, 7;
    and.pred %p6, %p6, %p5;
    mov.u64 %rd9, 0;
    @%p5 mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 384;
    @%p6 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd9], 384, [%r1];
    @%p5 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 384, [%r1];
    @!%p5 mbarrier.arrive.shared.b64 _, [%r1];
""" + BULK[BULK.index("wait:") :]
CASES = {
    "phases": PHASES,
    "copies": COPIES.format(noinc="", arrive="mbarrier.arrive.shared.b64 %rd3, [%r1];"),
    "copies_counted": COPIES.format(noinc=".noinc", arrive=""),
    "bulk": BULK,
    "two_copies": TWO_COPIES,
}
OF_HOPPER = ("bulk", "two_copies")
WHERE = [
    (name, architecture) for name in CASES for architecture in (80, 90) if architecture == 90 or name not in OF_HOPPER
]


def _make(name, architecture):
    memory, words = DeviceMemory(), np.random.default_rng(1).integers(0, 1 << 32, THREADS, np.uint32)
    address = memory.add(words, "words")
    text = HEAD.format(architecture=architecture) + CASES[name]
    return PtxLaunch(text, "k", (1, 1, 1), (THREADS, 1, 1), [address]), memory, [words]


@pytest.mark.parametrize(("name", "architecture"), WHERE)
def test_threads_find_what_others_wrote(name, architecture):
    (expected,), (found,) = both_ways(lambda: _make(name, architecture), architecture)
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("last", ["ELECT", "ISETP"])
def test_elect_of_a_later_copy_leaves_guards(last):
    """ptxas moves the ELECT of a later copy to before an earlier one; or its predicate has another use by then."""
    launch, memory, (words,) = _make("two_copies", 90)
    expected, code = words[::-1].tolist(), as_machine_code(launch, 90)
    instructions = list(code.sass.code)
    first = next(k for k, one in enumerate(instructions) if one.name == "UBLKCP")
    for k in (first - 2, first - 1):  # the two halves of the address that is not read
        assert instructions[k].name == "UMOV" and instructions[k].operands.endswith(", URZ")
    instructions[first - 2] = replace(instructions[first - 2], opcode="ELECT", predicate="", operands="P4, URZ, PT")
    if last == "ISETP":
        instructions[first - 1] = replace(
            instructions[first - 1], opcode="ISETP.NE.AND", predicate="", operands="P4, PT, RZ, RZ, PT"
        )
    execute(replace(code, sass=replace(code.sass, code=instructions)), memory)
    assert words.tolist() == expected


@pytest.mark.parametrize("architecture", [80, 90])
def test_warps_arrive_and_wait_in_the_trace(tmp_path, architecture):
    """Each warp arrives once at each phase it has, and waits for it once."""
    launch, memory, _ = _make("phases", architecture)
    code = as_machine_code(launch, architecture)
    trace = trace_launch(code, memory, tmp_path / "t.h5", load_gpu("a100"), blocks="0:1")
    (chunk,) = trace.chunks()
    arrivals, waits = (chunk.phase[chunk.flags & flag != 0] for flag in (Flag.arrives, Flag.awaits))
    assert sorted(arrivals.tolist()) == [1, 1, 1, 2, 2, 2, 3, 3]
    assert sorted(waits.tolist()) == [1, 1, 1, 2, 2, 3, 3]
