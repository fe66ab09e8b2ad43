"""mbarriers of PTX in traces: who arrives at which phase, who waits for it, and what that costs in time."""

from __future__ import annotations

import numpy as np
import pytest
from tensor_map import tensor_map

from memsim.gpu.presets import load_gpu, override
from memsim.hierarchy.system import System
from memsim.sources.ptx import DeviceMemory, PtxLaunch, trace_launch
from memsim.trace.coalesce import coalesce
from memsim.trace.schema import NO_OP, NO_WAIT, Flag

ARRIVES, AWAITS = int(Flag.arrives), int(Flag.awaits)
REGISTERS = ".reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>; .reg .f32 %f<16>;"
WAIT = "{name}: mbarrier.try_wait.parity.shared::cta.b64 %p3, [{object}], {parity}; @!%p3 bra {name};"
COPY = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd{source}], {size}, [{object}];"
LONG_WORK = "mov.u32 %r9, 0; K: add.u32 %r9, %r9, 1; setp.lt.u32 %p4, %r9, 2000; @%p4 bra K;"  # past all copies


def trace_of(body: str, tmp_path, warps: int = 2, cluster=(1, 1, 1), shared: str = ""):
    """Of blocks in which warp 0 goes to PRODUCER; %rd1 is a global array, %p1 the first lane of a warp.

    %rd15 is a tensor map of that array: 64 columns, boxes of 32 columns in 4 rows. `shared` is declared, too.
    """
    text = f""".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(
    .param .u64 x, .param .align 64 .b8 map[128])\n{{\n{REGISTERS} {shared}
    .shared .align 128 .b8 s[16384]; .shared .align 8 .b8 full[64]; .shared .align 8 .b8 empty[64];
    ld.param.u64 %rd1, [x]; mov.b64 %rd15, map; cvta.param.u64 %rd15, %rd15;
    mov.u32 %r1, %tid.x; setp.lt.u32 %p0, %r1, 32; and.b32 %r2, %r1, 31;
    setp.eq.s32 %p1, %r2, 0; setp.eq.s32 %p2, %r1, 0;
    @%p2 mbarrier.init.shared::cta.b64 [full], 1; @%p2 mbarrier.init.shared::cta.b64 [empty], {32 * (warps - 1)};
    bar.sync 0;
    @%p0 bra PRODUCER;
    {body}
    ret;\n}}\n"""
    memory = DeviceMemory()
    grid = (cluster[0], 1, 1)
    address = memory.add(np.zeros(65536, "f4"), "x")
    given = [address, tensor_map(address, 4, (64, 1024), (256,), (32, 4))]
    launch = PtxLaunch(text, "k", grid, (32 * warps, 1, 1), given, cluster=cluster)
    return trace_launch(launch, memory, tmp_path / "t.h5", load_gpu("h100"), "all")


def signals(trace):
    """By warp (what a row does, whether it is a copy, the phase) of all rows that have one."""
    [chunk] = trace.chunks()
    found = []
    for a, b in zip(chunk.first_instruction[:-1], chunk.first_instruction[1:], strict=True):
        rows = [i for i in range(a, b) if chunk.phase[i]]
        names = {ARRIVES: "arrives", AWAITS: "awaits"}
        does = [(names[int(chunk.flags[i]) & (ARRIVES | AWAITS)], bool(chunk.op[i] != NO_OP)) for i in rows]
        found.append([(*one, int(chunk.phase[i])) for one, i in zip(does, rows, strict=True)])
    return found


def one_copy(size: int) -> str:
    """The producer's lane 0 copies, all other warps wait."""
    wait = WAIT.format(name="W", object="full", parity=0)
    expect = f"@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], {size};"
    return (
        f"{wait} ld.shared.f32 %f1, [s]; ret; PRODUCER: {expect} @%p1 {COPY.format(source=1, size=size, object='full')}"
    )


def test_a_copys_rows_arrive_and_other_warps_wait(tmp_path):
    """1 KB is two rows of 32 pieces; with the thread's own arrival three arrive at the phase."""
    trace = trace_of(one_copy(1024), tmp_path, warps=3)
    producer = [("arrives", False, 1), ("arrives", True, 1), ("arrives", True, 1)]
    assert signals(trace) == [producer, [("awaits", False, 1)], [("awaits", False, 1)]]
    [chunk] = trace.chunks()
    assert set(chunk.wait_copies.tolist()) == {NO_WAIT}


def time_of(trace, **changes) -> int:
    gpu = override(load_gpu("h100"), {"sm.count": 1, **{name.replace("__", "."): v for name, v in changes.items()}})
    return int(System(coalesce(trace, gpu), gpu, 1, np.random.SeedSequence(1)).run().cycles)


@pytest.mark.parametrize("later", [50, 400])
def test_a_consumer_begins_when_the_copy_has_landed(tmp_path, later):
    """By what DRAM answers later the block ends later: nothing of it lies before its data are there."""
    trace = trace_of(one_copy(1024), tmp_path)
    dram = load_gpu("h100").dram
    before, after = time_of(trace), time_of(trace, dram__latency_cycles=dram.latency_cycles + later)
    assert after == before + later


def test_phases_of_a_ring(tmp_path):
    """Two turns through one buffer: the second copy waits for both consumers' release."""
    expect = "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 512;"
    copies = f"@%p1 {COPY.format(source=1, size=512, object='full')}"
    release = "mbarrier.arrive.shared::cta.b64 _, [empty];"
    turns = [
        f"{WAIT.format(name=f'W{k}', object='full', parity=k)} ld.shared.f32 %f1, [s]; {release}" for k in range(2)
    ]
    body = f"""{turns[0]} {turns[1]} ret;
    PRODUCER: {expect} {copies} {WAIT.format(name="E", object="empty", parity=0)} {expect} {copies}"""
    full, empty = [1, 3], 2  # as their first arrivals come
    found = signals(trace_of(body, tmp_path, warps=3))
    turn = [[("arrives", False, number), ("arrives", True, number)] for number in full]
    assert found[0] == [*turn[0], ("awaits", False, empty), *turn[1]]
    releases = [number for _, _, number in found[1][1::2]]
    assert found[1] == found[2] and [number for _, _, number in found[1][::2]] == full
    assert releases[0] == empty and releases[1] not in (*full, empty)


def test_phase_without_predecessor_is_not_waited_for(tmp_path):
    """A producer's first wait for an empty buffer passes by its parity."""
    body = f"ret; PRODUCER: {WAIT.format(name='E', object='empty', parity=1)} ld.shared.f32 %f1, [s];"
    assert signals(trace_of(body, tmp_path)) == [[], []]


OWN_16_BYTES = """mul.wide.u32 %rd2, %r2, 16; add.s64 %rd3, %rd1, %rd2; shl.b32 %r3, %r2, 4; mov.u32 %r4, s;
    add.s32 %r3, %r3, %r4;"""


@pytest.mark.parametrize(
    ("arrive", "itself"),
    [
        ("cp.async.mbarrier.arrive.noinc.shared.b64 [empty];", []),
        ("mov.u64 %rd6, empty; cvta.shared.u64 %rd6, %rd6; cp.async.mbarrier.arrive.noinc.b64 [%rd6];", []),
        (
            "cp.async.mbarrier.arrive.shared.b64 [empty]; mbarrier.arrive.shared::cta.b64 %rd5, [empty];",
            [("arrives", False, 1)],
        ),
    ],
)
def test_copies_by_threads_arrive_when_they_answer(tmp_path, arrive, itself):
    """cp.async.mbarrier.arrive, counted by the object (noinc) or not: copies arrive, and the thread continues."""
    body = f"""{WAIT.format(name="W", object="empty", parity=0)} {LONG_WORK} ret;
    PRODUCER: {OWN_16_BYTES}
    cp.async.cg.shared.global [%r3], [%rd3], 16; cp.async.cg.shared.global [%r3+512], [%rd3+512], 16;
    {arrive} ld.shared.f32 %f2, [s];"""
    trace = trace_of(body, tmp_path)
    assert signals(trace) == [[*[("arrives", True, 1)] * 2, *itself], [("awaits", False, 1)]]
    [chunk] = trace.chunks()
    assert set(chunk.wait_copies.tolist()) == {NO_WAIT}
    assert time_of(trace, dram__latency_cycles=load_gpu("h100").dram.latency_cycles + 400) == time_of(trace) + 400


@pytest.mark.parametrize(("place", "fills"), [("before", 2), ("after", 1)])
def test_older_copy_is_waited_for_behind_newest(tmp_path, place, fills):
    """What the first copy brought the last one finds in L2, while another is under way in DRAM.

    The consumer's long work ends later by each fill that it waits for, and by no copy that comes after the arrival.
    """
    slow = "cp.async.cg.shared.global [%r3+512], [%rd3+32768], 16;"
    body = f"""{WAIT.format(name="W", object="empty", parity=0)} {LONG_WORK} ret;
    PRODUCER: {OWN_16_BYTES}
    cp.async.cg.shared.global [%r3], [%rd3], 16; cp.async.wait_all;
    {slow if place == "before" else ""} cp.async.cg.shared.global [%r3+1024], [%rd3], 16;
    cp.async.mbarrier.arrive.noinc.shared.b64 [empty]; {slow if place == "after" else ""}"""
    trace, dram = trace_of(body, tmp_path), load_gpu("h100").dram
    assert time_of(trace, dram__latency_cycles=dram.latency_cycles + 400) == time_of(trace) + fills * 400


def test_copies_arrive_once(tmp_path):
    """What arrived at one object is no news for the next: its own copies arrive there, or the warp when it has none."""
    arrive = "cp.async.mbarrier.arrive.noinc.shared.b64 [{}];"
    body = f"""ret; PRODUCER: {OWN_16_BYTES} cp.async.cg.shared.global [%r3], [%rd3], 16; {arrive.format("empty")}
    cp.async.cg.shared.global [%r3+512], [%rd3+512], 16; {arrive.format("full")} {arrive.format("full+8")}"""
    first, second, third = signals(trace_of(body, tmp_path))[0]
    assert (first, second, third) == (("arrives", True, 1), ("arrives", True, 2), ("arrives", False, 3))


EVEN_AND_ODD = "shl.b32 %r5, %r2, 31; shr.u32 %r5, %r5, 28; mov.u32 %r6, full; add.s32 %r6, %r6, %r5;"


@pytest.mark.parametrize("both", [True, False])
def test_lanes_wait_for_two_objects(tmp_path, both):
    """An object once, also where at the first look only the even lanes' is there."""

    def filled(name):
        expect = f"@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [{name}], 512;"
        return f"{expect} @%p1 {COPY.format(source=1, size=512, object=name)}"

    body = f"""{EVEN_AND_ODD} bar.sync 1, 64;
    mbarrier.test_wait.parity.shared::cta.b64 %p4, [%r6], 0; bar.sync 1, 64;
    {WAIT.format(name="W", object="%r6", parity=0)} ld.shared.f32 %f1, [s]; ret;
    PRODUCER: @%p1 mbarrier.init.shared::cta.b64 [full+8], 1;
    {filled("full")} {filled("full+8") if both else ""} bar.sync 1, 64;
    bar.sync 1, 64; {"" if both else filled("full+8")}"""
    trace = trace_of(body, tmp_path)
    again = [("awaits", False, 1), ("awaits", False, 2)] * both  # a wait after the look
    assert signals(trace)[1] == [("awaits", False, 1), ("awaits", False, 2), *again]


def test_lanes_arrive_at_two_objects(tmp_path):
    """The warp arrives once at each, however its lanes alternate."""
    body = f"""{EVEN_AND_ODD} bar.sync 1, 64; mbarrier.arrive.shared::cta.b64 _, [%r6]; ret;
    PRODUCER: @%p1 mbarrier.init.shared::cta.b64 [full], 16; @%p1 mbarrier.init.shared::cta.b64 [full+8], 16;
    bar.sync 1, 64; {WAIT.format(name="V", object="full", parity=0)}
    {WAIT.format(name="W", object="full+8", parity=0)}"""
    does = [[(what, number) for what, _, number in warp] for warp in signals(trace_of(body, tmp_path))]
    assert does == [[("awaits", 1), ("awaits", 2)], [("arrives", 1), ("arrives", 2)]]


@pytest.mark.parametrize(
    ("count", "drop"),
    [
        (2, "mbarrier.arrive_drop.shared::cta.b64 _, [full+8];"),
        (3, "mbarrier.arrive_drop.shared::cta.b64 _, [full+8], 2;"),
        (2, "mbarrier.arrive_drop.expect_tx.shared::cta.b64 _, [full+8], 512; @%p1 " + COPY.format(
            source=1, size=512, object="full+8")),
    ],
)  # fmt: skip
def test_who_drops_out_is_not_expected_again(tmp_path, count, drop):
    """After the first phase one arrival is enough for the second."""
    arrive = "@%p1 mbarrier.arrive.shared::cta.b64 _, [full+8];"
    waits = [WAIT.format(name=f"W{k}", object="full+8", parity=k) for k in range(2)]
    body = f"""bar.sync 1, 64; {waits[0]} bar.sync 1, 64; {waits[1]} ret;
    PRODUCER: @%p1 mbarrier.init.shared::cta.b64 [full+8], {count}; bar.sync 1, 64;
    @%p1 {drop} {arrive} bar.sync 1, 64; {arrive}"""
    producer, consumer = signals(trace_of(body, tmp_path))
    copies = int("expect_tx" in drop)
    assert [number for _, _, number in producer] == [1] * (2 + copies) + [2]
    assert sum(copy for _, copy, _ in producer) == copies and {what for what, _, _ in producer} == {"arrives"}
    assert consumer == [("awaits", False, 1), ("awaits", False, 2)]


def test_bytes_that_a_thread_completes_arrive(tmp_path):
    """Until then the phase is not over: a look at it before would trap."""
    part = "@%p1 mbarrier.{}.relaxed.cta.shared::cta.b64 [full], 512;"
    body = f"""bar.sync 1, 64; mbarrier.test_wait.parity.shared::cta.b64 %p4, [full], 0; @%p4 trap;
    bar.sync 1, 64; {WAIT.format(name="W", object="full", parity=0)} ret;
    PRODUCER: {part.format("expect_tx")} @%p1 mbarrier.arrive.shared::cta.b64 _, [full]; bar.sync 1, 64;
    bar.sync 1, 64; {part.format("complete_tx")}"""
    assert signals(trace_of(body, tmp_path)) == [[("arrives", False, 1)] * 2, [("awaits", False, 1)]]


def test_a_tensor_copys_rows_arrive(tmp_path):
    """A box of 4 rows of 128 bytes is one row of 32 pieces."""
    body = f"""{WAIT.format(name="W", object="full", parity=0)} {LONG_WORK} ret;
    PRODUCER: mov.u32 %r5, 0; @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 512;
    @%p1 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes
    [s], [%rd15, {{%r5, %r5}}], [full];"""
    trace = trace_of(body, tmp_path)
    assert signals(trace) == [[("arrives", False, 1), ("arrives", True, 1)], [("awaits", False, 1)]]
    assert time_of(trace, dram__latency_cycles=load_gpu("h100").dram.latency_cycles + 400) == time_of(trace) + 400


def test_cluster_blocks_with_unaligned_shared_memory(tmp_path):
    odd = ".shared .align 1 .b8 odd[3];"
    body = f"ld.shared.u8 %r9, [odd]; {one_copy(512)}"
    found = signals(trace_of(body, tmp_path, cluster=(2, 1, 1), shared=odd))
    assert [[what for what, _, _ in warp] for warp in found] == [["arrives"] * 2, ["awaits"]] * 2
    assert found[1][0][2] == found[0][0][2] != found[2][0][2] == found[3][0][2]


def test_another_blocks_mbarrier_is_not_waited_for(tmp_path):
    """Of two copies of a block, one tells the other block of its cluster, which waits for its own thread's arrival."""
    expect = "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 512;"
    meet = "barrier.cluster.arrive; barrier.cluster.wait;"
    body = f"""{meet} {WAIT.format(name="W", object="full", parity=0)} ld.shared.f32 %f1, [s]; ret;
    PRODUCER: {expect} {meet}
    mov.u32 %r5, %cluster_ctarank; setp.eq.s32 %p4, %r5, 0; and.pred %p5, %p4, %p1; @!%p5 bra DONE;
    mapa.shared::cluster.u32 %r6, full, 1; mov.u32 %r7, s; mapa.shared::cluster.u32 %r8, %r7, 1;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r8], [%rd1], 512, [%r6];
    {COPY.format(source=1, size=512, object="full")}
    DONE:"""
    found = signals(trace_of(body, tmp_path, cluster=(2, 1, 1)))
    assert found[0] == [("arrives", False, found[0][0][2]), ("arrives", True, found[0][0][2])]
    assert found[2] == [("arrives", False, found[2][0][2])] and found[3] == [("awaits", False, found[2][0][2])]
