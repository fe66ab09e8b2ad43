"""Threads' logs merged into warp instructions: against an interpreter with masks, and by hand."""

import io
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from budget import drawn
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from memsim.sources.capture import merge
from memsim.sources.capture.lane_log import Array, Blocks, Free, Records, read_log
from memsim.sources.capture.merge import Merger
from memsim.sources.capture.parts import JOINED_WORDS, Parts, Place
from memsim.sources.capture.sites import Role, Site
from memsim.sources.capture.tables import ArrayTable
from memsim.sources.local_memory import local_address
from memsim.support.errors import InputError
from memsim.trace.schema import EXPLICIT, NO_OP, Flag, Kind, Space
from tests import capture_logs as log
from tests.oracles import ipdom, simt
from tests.oracles.simt_programs import (
    BASE,
    SIZE,
    Access,
    Barrier,
    Call,
    Condition,
    Exit,
    If,
    Loop,
    Program,
    lane_words,
)
from tests.simt_strategies import deep_programs, programs

ARRAY = log.array("a", BASE, SIZE)


def merged(sites, *messages, unroll=1):
    """The merger after some messages, and the chunks of their blocks."""
    merger = Merger(sites, unroll=unroll)
    chunks = [merger.take(message) for message in read_log(io.BytesIO(b"".join(messages)), "app.cu")]
    return merger, [chunk for chunk in chunks if chunk is not None]


def instructions(merger, chunk, warp=0):
    """A warp's instructions as the oracles give them: (line of the source, {lane: address}, flags)."""
    found, at = [], int(chunk.first_address[warp])
    for i in range(chunk.first_instruction[warp], chunk.first_instruction[warp + 1]):
        lanes = [lane for lane in range(32) if int(chunk.mask[i]) >> lane & 1]
        base, stride = int(chunk.base[i]), int(chunk.stride[i])
        if stride == EXPLICIT:
            addresses = [base + int(offset) for offset in chunk.addresses[at : at + len(lanes)]]
            at += len(lanes)
        else:
            addresses = [base + stride * (lane - lanes[0]) for lane in lanes]
        site = simt.BARRIER if chunk.op[i] == NO_OP else merger.ops[chunk.op[i]].line
        found.append((site, dict(zip(lanes, addresses, strict=True)), int(chunk.flags[i])))
    assert at == chunk.first_address[warp + 1]
    return found


def merged_program(program, n_threads):
    """The instructions of each warp of one block that runs a program."""
    variants = [log.variant(site.id, site.id) for site in program.sites if site.kind is not None]
    block = log.block(0, [lane_words(program, thread) for thread in range(n_threads)])
    merger, (chunk,) = merged(program.sites, *variants, ARRAY, log.launch(block=(n_threads, 1, 1)), block, log.end())
    return [instructions(merger, chunk, warp) for warp in range(len(chunk.warps))]


def masked_program(program, n_threads):
    """The same by the interpreter with masks."""
    warps = []
    for first in range(0, n_threads, 32):
        executed = simt.Warp(program, range(first, min(first + 32, n_threads))).executed
        warps.append([(site, {i - first: at for i, at in lanes.items()}, flags) for site, lanes, flags in executed])
    return warps


@drawn(150)
@given(programs(), st.sampled_from([1, 4, 32, 40]))
def test_order_masks_addresses_and_sequences_agree_with_masks(program, n_threads):
    assert merged_program(program, n_threads) == masked_program(program, n_threads)


@drawn(30)
@given(deep_programs(), st.sampled_from([4, 32]))
def test_lanes_in_many_calls_agree_with_masks(program, n_threads):
    assert merged_program(program, n_threads) == masked_program(program, n_threads)


@drawn(80)
@given(programs(plain=True))
def test_order_masks_and_addresses_agree_with_post_dominators(program):
    (warp,) = merged_program(program, 32)
    assert [instruction[:2] for instruction in warp] == ipdom.execute(program, range(32))


def test_a_break_inside_an_if_does_not_keep_the_others_apart():
    """Here, by design, the merge is not the textbook's stack: that one would load ``rest`` twice an iteration."""
    rest = Access()
    leave = If(Condition([None]), [If(Condition([None]), [Exit("break")], []), Access()], [])
    program = Program([[Loop("for", [leave, rest], most=3)]], seed=5)
    (warp,) = merged_program(program, 32)
    textbook = ipdom.execute(program, range(32))
    ours, theirs = ([i for i in order if i[0] == rest.site] for order in (warp, textbook))
    assert len(ours) <= 3 < len(theirs)
    assert {(i, at) for _, lanes, _ in ours for i, at in lanes.items()} == {
        (i, at) for _, lanes in theirs for i, at in lanes.items()
    }


def test_a_recursive_function_keeps_its_levels_apart():
    """f(n) { a[n]; if (n) f(n - 1); b[n]; } down to lane + 20: the deepest level's b comes first."""
    sites = [
        Site(1, Role.call, None, "app.cu", 1, 1, "f(n)"),
        Site(2, Role.access, Kind.load, "app.cu", 2, 1, "a[n]"),
        Site(3, Role.call, None, "app.cu", 3, 1, "f(n - 1)"),
        Site(4, Role.access, Kind.load, "app.cu", 4, 1, "b[n]"),
    ]

    def words(level):
        inner = [log.call(3), *words(level - 1), log.RETURNED] if level else []
        return [log.access(1, BASE + 4 * level), *inner, log.access(2, BASE + 4 * level + 1024)]

    threads = [[log.call(1), *words(lane + 20), log.RETURNED] for lane in range(3)]
    variants = log.variant(1, 2), log.variant(2, 4)
    merger, (chunk,) = merged(sites, ARRAY, *variants, log.launch(block=(3, 1, 1)), log.block(0, threads), log.end())
    found = [(line, sorted(lanes)) for line, lanes, _ in instructions(merger, chunk)]
    down = [(2, [0, 1, 2])] * 21 + [(2, [1, 2]), (2, [2])]
    assert found == down + [(4, lanes) for _, lanes in reversed(down)]


# Arrays and addresses.

LOAD, STORE = (
    Site(1, Role.access, Kind.load, "app.cu", 1, 1, "p[i]"),
    Site(2, Role.access, Kind.store, "app.cu", 2, 1, "q[i]"),
)
VARIANTS = log.variant(1, 1), log.variant(2, 2), log.variant(3, 1, width=8)


def accessed(threads, *messages, grid=1, **shape):
    """The merger, and the instructions of the one warp of one block, with arrays' names instead of flags."""
    start = log.launch(grid=(grid, 1, 1), block=(len(threads), 1, 1), **shape)
    merger, (chunk,) = merged([LOAD, STORE], *VARIANTS, *messages, start, log.block(grid - 1, threads), log.end())
    ops = [merger.arrays[merger.ops[number].array].name for number in chunk.op]
    found = instructions(merger, chunk)
    return merger, [(site, lanes, name) for (site, lanes, _), name in zip(found, ops, strict=True)]


def test_lanes_in_several_arrays_are_several_instructions():
    a, b = BASE, BASE + 4096
    at = [a, a + 4, b, b + 4, a + 64]
    _, found = accessed([[log.access(1, x)] for x in at], log.array("a", a, 1024), log.array("b", b, 1024))
    assert found == [(1, {0: a, 1: a + 4, 4: a + 64}, "a"), (1, {2: b, 3: b + 4}, "b")]


def test_an_address_in_no_array_is_kept():
    merger, found = accessed([[log.access(1, BASE + 1024)], [log.access(1, BASE)]], log.array("a", BASE, 1024))
    assert found == [(1, {0: BASE + 1024}, "(unknown)"), (1, {1: BASE}, "a")]
    assert [array.name for array in merger.arrays] == ["(unknown)", "a"]


def test_lanes_of_different_widths_are_different_instructions():
    merger, found = accessed([[log.access(1, BASE)], [log.access(3, BASE + 8)]], ARRAY)
    assert [(lanes, op.width) for (_, lanes, _), op in zip(found, merger.ops, strict=True)] == [
        ({0: BASE}, 4),
        ({1: BASE + 8}, 8),
    ]


def test_lanes_farther_apart_than_an_instruction_reaches_are_several():
    far = [0, 3 << 31, 4, 5 << 31, 1 << 31]
    _, found = accessed([[log.access(1, BASE + x)] for x in far], log.array("a", BASE, 1 << 40))
    together = {lane: at for _, lanes, _ in found for lane, at in lanes.items()}
    assert together == {lane: BASE + x for lane, x in enumerate(far)}
    assert all(max(lanes.values()) - min(lanes.values()) < 2**32 for _, lanes, _ in found)


def test_an_array_at_a_freed_ones_place_is_another():
    one, two = log.launch(block=(1, 1, 1)), log.launch(block=(1, 1, 1), index=1)
    block = log.block(0, [[log.access(1, BASE + 4)]])
    again = log.free(BASE), log.array("new", BASE, 64)
    merger, _ = merged([LOAD], VARIANTS[0], ARRAY, one, block, log.end(), *again, two, block, log.end(1))
    assert [(array.name, array.bytes) for array in merger.arrays] == [("new", 64)]


def test_an_array_that_comes_again_is_the_same():
    table = ArrayTable()
    for _ in range(1000):  # as when every iteration of a program allocates its scratch
        table.add(Array("scratch", Space.global_, BASE, 64))
        table.free(Free(BASE))
    assert len(table.known) == 2


def test_shared_arrays_lie_one_after_the_other_from_0():
    arrays = [log.array(n, BASE + at, size, "shared") for n, at, size in (("s", 4096, 20), ("t", 0, 8), ("u", 512, 64))]
    threads = [[log.access(1, BASE + 512 + 4 * lane), log.access(2, BASE + 4096 + 4)] for lane in range(2)]
    merger, found = accessed(threads, *arrays)
    assert found == [(1, {0: 32, 1: 36}, "u"), (2, {0: 4, 1: 4}, "s")]
    assert [(array.name, array.base, array.space) for array in merger.arrays] == [
        ("s", 0, Space.shared),
        ("u", 32, Space.shared),
    ]
    assert merger.launch_shape(20).shared_bytes == 96 and merger.launch_shape(20).registers == 20


def test_shared_arrays_that_a_kernel_declares_count_whether_used_or_not():
    arrays = [log.array(name, BASE + 512 * k, 24, "shared") for k, name in enumerate("stu")]
    block = log.block(0, [[log.access(1, BASE + 1024)]])
    start = log.launch(block=(1, 1, 1))
    freed = [log.free(BASE + 512 * k) for k in range(3)]
    again = log.launch(block=(1, 1, 1), index=1), arrays[1], log.block(0, [[log.access(1, BASE + 512)]]), log.end(1)
    merger, (chunk,) = merged([LOAD], VARIANTS[0], start, *arrays, block, *freed, log.end())
    assert chunk.base.tolist() == [64] and merger.launch_shape().shared_bytes == 88
    merger, (_, chunk) = merged([LOAD], VARIANTS[0], start, *arrays, block, *freed, log.end(), *again)
    assert chunk.base.tolist() == [0] and merger.launch_shape().shared_bytes == 24


def test_dynamic_shared_memory_counts_once():
    threads = [[log.access(1, BASE)]]
    dynamic = log.array("d", BASE, 100, "shared", dynamic=True)
    assert accessed(threads, dynamic, dynamic_shared=100)[0].launch_shape().shared_bytes == 100
    assert accessed(threads, ARRAY, dynamic_shared=100)[0].launch_shape().shared_bytes == 100
    assert accessed(threads, ARRAY, dynamic_shared=100)[0].launch_shape(shared_bytes=8).shared_bytes == 108


def test_words_of_local_memory_lie_side_by_side():
    stack = 5000
    local = log.array("local", BASE, 64 * stack, "local", stack_bytes=stack)
    threads = [
        [log.access(1, BASE + lane * stack + 128 + 4), log.access(3, BASE + lane * stack + 64)] for lane in range(32)
    ]
    _, found = accessed(threads, local, grid=3)
    (_, words, name), (_, doubles, _) = found
    assert name == "local" and words[0] == local_address(2, 0, 132, 4)
    assert [words[lane] - words[0] for lane in words] == [4 * lane for lane in range(32)]
    assert [doubles[lane] - doubles[0] for lane in doubles] == [8 * lane for lane in range(32)]
    assert not set(words.values()) & set(doubles.values())


# Records of a GPU.

LATCH = Site(3, Role.latch, None, "app.cu", 3, 1, "for (...)")
GLOBAL, SHARED, LOCAL = 0, 2, 3


def recorded(blocks, *rows, latch=LATCH, unroll=1):
    """The merger, and the chunk of what a GPU recorded of two warps a block."""
    merger = Merger([LOAD, STORE, latch], unroll=unroll)
    start = log.launch(grid=(4, 1, 1), block=(64, 1, 1), gpu=True)
    for message in read_log(io.BytesIO(b"".join([*VARIANTS, ARRAY, start, log.records(*rows), log.end()])), "app.cu"):
        if isinstance(message, Records):
            chunk = merger.records(message, blocks)
        else:
            merger.take(message)
    return merger, chunk


def test_records_of_warps_are_put_in_order():
    rows = [
        (3, 1, 1, 0b11, GLOBAL, [BASE, BASE + 8]),
        (2, 0, 3, 1 << 31, SHARED, [24]),
        (3, 1, log.BARRIER, 0xFFFFFFFF, 0, []),
        (2, 0, 2, 0b101, LOCAL, [64, 68]),
    ]
    merger, chunk = recorded(range(2, 4), *rows)
    assert [instructions(merger, chunk, warp) for warp in range(4)] == [
        [(1, {31: 24}, 1), (2, {0: local_address(4, 0, 64, 4), 2: local_address(4, 2, 68, 4)}, 0)],
        [],
        [],
        [(1, {0: BASE, 1: BASE + 8}, 1), (simt.BARRIER, dict.fromkeys(range(32), 0), Flag.barrier | Flag.sequence)],
    ]
    assert [(array.name, array.bytes) for array in merger.arrays] == [("a", SIZE), ("shared", 0), ("local", 0)]
    assert merger.launch_shape().shared_bytes == 0


def test_a_recorded_latch_ends_a_sequence_where_the_loop_goes_on():
    one = (0, 0, 1, 1, GLOBAL, [BASE])
    after = (0, 0, 2, 1, GLOBAL, [BASE])  # within the loop; a site before the latch
    latch = (0, 0, log.LATCH, 1, 3, [])
    merger, chunk = recorded(range(1), one, after, latch, latch, one, after, latch)
    assert [flags for _, _, flags in instructions(merger, chunk)] == [1, 0, 1, 0]


@pytest.mark.parametrize(
    ("unroll", "chosen", "first"), [(None, 1, [*range(6)]), (None, 4, [0, 4]), (3, 4, [0, 3]), (1, 4, [*range(6)])]
)
def test_back_edges_are_as_far_apart_as_the_loop_is_unrolled(unroll, chosen, first):
    """Six iterations of a load that waits for nothing: which of them begin a sequence, on the host and on a GPU."""
    latch = replace(LATCH, unroll=unroll)
    words = [word for k in range(6) for word in (log.access(1, BASE + 4 * k), log.latch(3))]
    block = log.block(0, [words])
    _, (host,) = merged(
        [LOAD, latch], *VARIANTS[:1], ARRAY, log.launch(block=(1, 1, 1)), block, log.end(), unroll=chosen
    )
    rows = [row for k in range(6) for row in ((0, 0, 1, 1, GLOBAL, [BASE + 4 * k]), (0, 0, log.LATCH, 1, 3, []))]
    _, gpu = recorded(range(1), *rows, latch=latch, unroll=chosen)
    for chunk in host, gpu:
        assert [k for k, flags in enumerate(chunk.flags) if flags & int(Flag.sequence)] == first


def test_records_of_blocks_nobody_asked_for_are_refused():
    with pytest.raises(InputError, match="records outside the blocks asked for"):
        recorded(range(2), (2, 0, 1, 1, GLOBAL, [BASE]))


# Streams.


def a_launch(program, n_blocks, n_threads):
    """Messages of a launch whose blocks all run a program, as one stream, and the place of each message in it."""
    variants = [log.variant(site.id, site.id) for site in program.sites if site.kind is not None]
    start = log.launch(grid=(n_blocks, 1, 1), block=(n_threads, 1, 1))
    blocks = [
        log.block(b, [lane_words(program, b * n_threads + thread) for thread in range(n_threads)])
        for b in range(n_blocks)
    ]
    return [ARRAY, *variants, start, *blocks, log.end()]


MIXED = Program(
    [
        [
            Access(),
            Loop(
                "for", [Access(stride=None), If(Condition([Access()]), [Call(1, []), Exit("continue")], []), Access()]
            ),
            Barrier(),
            Access(Kind.store),
        ],
        [Access(Kind.atomic)],
    ]
)


def test_batches_change_nothing():
    class Slow(io.BytesIO):
        """Gives a few bytes at a time."""

        def readinto1(self, buffer):
            return super().readinto1(memoryview(buffer)[:7777])

    stream = b"".join(a_launch(MIXED, 50, 70))

    def rows(file):
        merger = Merger(MIXED.sites)
        chunks = [chunk for message in read_log(file, "app.cu") if (chunk := merger.take(message))]
        return (
            len(chunks),
            [instructions(merger, chunk, warp) for chunk in chunks for warp in range(len(chunk.warps))],
            [warp for chunk in chunks for warp in chunk.warps],
        )

    few, expected, warps = rows(io.BytesIO(stream))
    assert few == 2 and warps == list(range(150))  # the first block comes alone, as the program waits for an answer
    assert rows(Slow(stream))[1] == expected


@drawn(100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(programs(), deep_programs()), st.sampled_from([1, 40]), st.data())
def test_a_block_in_parts_is_the_same_as_whole(monkeypatch, tmp_path, program, n_threads, data):
    """Whatever the parts, what is held of each lane, and what is handed on together."""
    threads = [lane_words(program, thread) for thread in range(n_threads)]
    times = data.draw(st.lists(st.lists(st.integers(0, 99), min_size=n_threads, max_size=n_threads), max_size=4))
    cuts = np.sort(np.array([[0] * n_threads, *times, [99] * n_threads]), axis=0) / 99
    pieces = [
        [
            words[int(first * len(words)) : int(last * len(words))]
            for words, first, last in zip(threads, *two, strict=True)
        ]
        for two in pairwise(cuts.tolist())
    ]
    monkeypatch.setattr(merge, "WINDOW_WORDS", data.draw(st.integers(1, 20)))
    monkeypatch.setattr(merge, "PIECE_ROWS", data.draw(st.integers(1, 50)))
    merger = Merger(program.sites, folder=tmp_path)
    variants = [log.variant(site.id, site.id) for site in program.sites if site.kind is not None]
    parts = [log.part(0, threads) for threads in pieces[:-1]]
    start = log.launch(block=(n_threads, 1, 1))
    stream = b"".join([*variants, ARRAY, start, *parts, log.block(0, pieces[-1]), log.end()])
    found = [[] for _ in range(-(-n_threads // 32))]
    for message in read_log(io.BytesIO(stream), "app.cu"):
        if isinstance(message, Blocks) and merger.is_in_parts(message):
            chunks = merger.joined(message)
        else:
            chunks = filter(None, [merger.take(message)])
        for chunk in chunks:
            for warp, known in enumerate(found):
                known += instructions(merger, chunk, warp)
    merger.close()
    assert found == masked_program(program, n_threads)
    assert list(tmp_path.iterdir()) == []


def test_small_parts_are_joined(tmp_path):
    """So many threads' offsets and reads are saved; the words come back in their order."""
    n_parts, words, file = 1000, [log.access(1, BASE), log.access(1, BASE + 128)], Parts(tmp_path)
    for k in range(n_parts):
        payload = np.array([7, 2, 0, 1, 3, words[0] + k, words[1] + k, words[1] - k])
        file.add(payload, last=k == n_parts - 1)
    room, place = np.empty(100, np.int64), Place()
    found: list[int] = []
    while not file.is_read(7, place):
        found += room[: file.read(7, 1, place, room)].tolist()
    file.close()
    assert found == [word for k in range(n_parts) for word in (words[1] + k, words[1] - k)]
    assert place.part <= 3 * n_parts / (JOINED_WORDS * 2) + 1


def test_blocks_in_parts_may_be_under_way_together(tmp_path):
    """As blocks are that wait for each other: each is put together from its own parts."""
    words = [[log.access(1, BASE + 128 * k)] for k in range(4)]
    parts = [log.part(0, [words[0]]), log.part(1, [words[1]]), log.block(0, [words[2]]), log.block(1, [words[3]])]
    start = log.launch(grid=(2, 1, 1), block=(1, 1, 1), cooperative=True)
    merger, found = Merger([LOAD], folder=tmp_path), {}
    for message in read_log(io.BytesIO(b"".join([VARIANTS[0], ARRAY, start, *parts, log.end()])), "app.cu"):
        if isinstance(message, Blocks):
            assert merger.is_in_parts(message)
            found[int(message.ids[0])] = [base for chunk in merger.joined(message) for base in chunk.base.tolist()]
        else:
            merger.take(message)
    merger.close()
    assert found == {0: [BASE, BASE + 256], 1: [BASE + 128, BASE + 384]}


def test_parts_of_a_block_have_as_many_threads(tmp_path):
    parts = log.part(0, [[log.access(1, BASE)]]), log.part(0, [[log.access(1, BASE)]] * 2)
    start = log.launch(grid=(2, 1, 1), block=(1, 1, 1))
    merger = Merger([LOAD], folder=tmp_path)
    with pytest.raises(InputError, match="parts of a block with other threads"):
        for message in read_log(io.BytesIO(b"".join([VARIANTS[0], ARRAY, start, *parts])), "app.cu"):
            merger.take(message)


def test_a_launch_does_not_end_before_its_blocks():
    start = log.launch(grid=(2, 1, 1), block=(1, 1, 1), cooperative=True)
    with pytest.raises(InputError, match="a launch that ends before its block 1"):
        list(read_log(io.BytesIO(b"".join([start, log.part(1, [[log.access(1, BASE)]]), log.end()])), "app.cu"))


def test_a_stream_that_ends_early_says_so():
    messages = a_launch(MIXED, 3, 4)
    whole = b"".join(messages)
    no_launch_yet = len(b"".join(messages[:-5]))  # the launch, three blocks and the end
    for length in range(no_launch_yet + 1, len(whole), 5):
        with pytest.raises(InputError, match="ends within a message|was not finished"):
            list(read_log(io.BytesIO(whole[:length]), "app.cu"))
    assert len(list(read_log(io.BytesIO(whole[:no_launch_yet]), "app.cu"))) == len(messages) - 5


@drawn(150)
@given(st.data())
def test_bytes_gone_wrong_end_in_one_line_or_another_trace(data):
    stream = bytearray(b"".join(a_launch(MIXED, 3, 4)))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(stream) - 1))
        stream[at] = data.draw(st.sampled_from([0, 1, 0x7F, 0x80, 0xFF, stream[at] ^ 1]))
    try:
        merged(MIXED.sites, bytes(stream))
    except InputError as error:
        assert "\n" not in str(error) and str(error).startswith(("app.cu", "the program"))


def test_a_file_of_something_else_is_named():
    with pytest.raises(InputError, match=r"app.cu: log, byte 0 is not what memsim's probes write: a message of kind"):
        list(read_log(io.BytesIO(b"#!/bin/sh\necho hello, world\n" * 9), "app.cu"))
