"""Programs around kernels: streams, copies, concurrent kernels, graphs, unified memory: laws and measured times."""

from __future__ import annotations

import heapq
import math

import numpy as np
import pytest
from budget import drawn
from hypothesis import given
from hypothesis import strategies as st

from memsim.gpu.presets import load_gpu, override
from memsim.host import Direction, Graph, HostProgram, KernelWork, Managed, Nested, Touch, simulate
from memsim.host.unified import BLOCK_BYTES, TREE_BYTES, batches, requested_blocks
from memsim.report.timeline import draw_timeline
from memsim.support.errors import InputError

V100 = load_gpu("tesla-v100")
FREE = {f"host.{name}": 1e-6 for name in ("call_us", "launch_us", "copy_us", "graph_call_us", "graph_node_us")}
IDEAL = override(V100, FREE)  # calls and launches take no time worth counting
COPY_US = (64 << 20) / 12.35e3

# Size in bytes, milliseconds: gpu-benches cuda-memcpy on a V100 PCIe 16 GB, pinned memory.
MEASURED_COPIES = ((1 << 18, 0.05), (1 << 19, 0.07), (1 << 20, 0.11), (1 << 21, 0.20), (1 << 22, 0.37), (1 << 23, 0.71),
                   (1 << 24, 1.38), (1 << 28, 21.75))  # fmt: skip


@pytest.mark.parametrize("nbytes, milliseconds", MEASURED_COPIES)
def test_copies_take_what_was_measured(nbytes, milliseconds):
    program = HostProgram()
    program.copy(nbytes, Direction.to_gpu)
    assert simulate(program, V100).microseconds == pytest.approx(1000 * milliseconds, rel=0.03, abs=5)  # printed to 10


def test_copies_overlap_kernels_and_opposite_copies():
    def chunked(gpu):
        program = HostProgram()
        for stream in [program.stream() for _ in range(4)]:
            program.copy(16 << 20, Direction.to_gpu, stream)
            program.kernel("k", KernelWork(1, 1, COPY_US / 4), stream)
            program.copy(16 << 20, Direction.to_host, stream)
        program.synchronize()
        return simulate(program, gpu).microseconds

    assert chunked(IDEAL) == pytest.approx(COPY_US * 6 / 4, rel=1e-3)  # a pipeline of three steps
    assert chunked(override(IDEAL, {"host.copy_engines": 1})) == pytest.approx(COPY_US * 8 / 4, rel=1e-3)


def test_stream_keeps_order_and_default_stream_waits():
    program = HostProgram()
    one, two = program.stream("one"), program.stream("two")
    program.kernel("a", KernelWork(1, 2, 10), one)
    program.kernel("b", KernelWork(1, 2, 10), one)
    program.kernel("c", KernelWork(1, 2, 10), two)
    program.kernel("d", KernelWork(1, 2, 10))
    program.kernel("e", KernelWork(1, 2, 10), two)
    program.synchronize()
    ends = {span.name: round(span.end) for span in simulate(program, IDEAL).of("kernel")}
    assert ends == {"a": 10, "c": 10, "b": 20, "d": 30, "e": 40}


def test_pageable_copies_hold_host_and_pinned_do_not():
    def busy_until(pinned):
        program = HostProgram()
        program.copy(1 << 24, Direction.to_gpu, program.stream(), pinned=pinned)
        program.work(1.0, "after")
        return next(span.end for span in simulate(program, V100).of("call") if span.name == "after")

    assert busy_until(True) == pytest.approx(2.5 + 1)
    assert busy_until(False) == pytest.approx(2.5 + 26 + (1 << 24) / 3.9e3 + 1)


def _leftover(works):
    """All kernels are there at once; an independent replay: blocks end, then the oldest kernel is served."""
    whole = math.lcm(*(work.wave_blocks for work in works))
    room, waiting, ends, last, now = whole, [work.blocks for work in works], [], [0] * len(works), 0
    while True:
        for k, work in enumerate(works):
            while waiting[k] and room >= whole // work.wave_blocks:
                room -= whole // work.wave_blocks
                waiting[k] -= 1
                heapq.heappush(ends, (now + int(work.block_us), k))
            if waiting[k]:
                break
        if not ends:
            return last
        now = ends[0][0]
        while ends and ends[0][0] == now:
            k = heapq.heappop(ends)[1]
            room, last[k] = room + whole // works[k].wave_blocks, now


@given(
    st.lists(st.builds(KernelWork, st.integers(1, 40), st.integers(1, 12), st.integers(1, 9)), min_size=1, max_size=6)
)
@drawn(60)
def test_concurrent_kernels_share_gpu_as_independent_replay_says(works):
    program = HostProgram()
    for number, work in enumerate(works):
        program.kernel(str(number), work, program.stream())
    program.synchronize()
    ends = {int(span.name): span.end for span in simulate(program, IDEAL).of("kernel")}
    expected = _leftover(works)
    assert [ends[k] for k in range(len(works))] == pytest.approx(expected, abs=1e-3)


def test_small_kernels_in_eight_streams_overlap():
    def taken(streams):
        program = HostProgram()
        row = [program.stream() for _ in range(streams)]
        for k in range(8):
            program.kernel(f"k{k}", KernelWork(1, 80, 10_000), row[k % streams])
        program.synchronize()
        return simulate(program, V100).microseconds

    assert taken(1) / taken(8) == pytest.approx(8, rel=0.01)


def test_a_graph_spares_the_host_its_calls():
    graph, program = Graph("steps"), HostProgram()
    last: list[int] = []
    for _ in range(100):
        last = [graph.kernel("k", KernelWork(80, 640, 2.9), after=last)]
    program.launch(graph)
    program.synchronize()
    one_by_one = HostProgram()
    for _ in range(100):
        one_by_one.kernel("k", KernelWork(80, 640, 2.9))
    one_by_one.synchronize()
    # NVIDIA's figures for such kernels on a V100: 3.8 microseconds a launch, 3.4 a node.
    assert simulate(one_by_one, V100).microseconds / 100 == pytest.approx(3.8, rel=0.02)
    assert simulate(program, V100).microseconds / 100 == pytest.approx(3.4, rel=0.04)


def test_independent_nodes_of_graph_run_side_by_side():
    graph, program = Graph("diamond"), HostProgram()
    first = graph.kernel("first", KernelWork(1, 2, 10))
    middle = [graph.kernel("left", KernelWork(1, 2, 10), [first]), graph.kernel("right", KernelWork(1, 2, 10), [first])]
    graph.kernel("end", KernelWork(1, 2, 10), middle)
    program.launch(graph)
    assert simulate(program, IDEAL).microseconds == pytest.approx(30, rel=1e-3)
    with pytest.raises(InputError, match=r"follows nodes \[9\]; there are 4 so far"):
        graph.kernel("x", KernelWork(1, 1, 1), [9])


def _tree(resident, faulting):
    """The prefetcher by recursion from the top: a subtree with more than half of its leaves wanted is wanted whole."""
    wanted = resident.copy()
    wanted[faulting] = True

    def complete(first, width):
        if width == 1:
            return
        complete(first, width // 2)
        complete(first + width // 2, width // 2)
        if 100 * wanted[first : first + width].sum() > 51 * width:
            wanted[first : first + width] = True

    for first in range(0, len(wanted), 32):
        complete(first, 32)
    return np.flatnonzero(wanted & ~resident)


@given(st.integers(0, 2**64 - 1), st.sets(st.integers(0, 63), min_size=1))
@drawn(100)
def test_the_prefetcher_is_a_tree(bits, faulting):
    resident = np.array([bits >> k & 1 for k in range(64)], bool)
    resident[list(faulting)] = False
    assert requested_blocks(resident, np.array(sorted(faulting))).tolist() == _tree(resident, sorted(faulting)).tolist()


@pytest.mark.parametrize("window", [1, 7, 1000])
@pytest.mark.parametrize("stride_pages, moved_share", [(1, 1), (16, 1), (1024, 16 / 1024)])
def test_every_page_comes_and_none_twice(window, stride_pages, moved_share):
    memory = Managed("x", 32 * TREE_BYTES)
    pages = np.arange(0, memory.bytes // 4096, stride_pages)
    resident = np.zeros(memory.bytes // BLOCK_BYTES, bool)
    moved = list(batches(resident, Touch(memory, pages, window), 256))
    assert resident[pages // 16].all()
    assert sum(batch.blocks for batch in moved) == resident.sum() == moved_share * memory.bytes / BLOCK_BYTES
    assert sum(batch.new_trees for batch in moved) == 32 * min(1, 512 / stride_pages)
    assert all(batch.runs <= batch.blocks for batch in moved)
    assert list(batches(resident, Touch(memory, pages, window), 256)) == []


def test_blocks_launch_children_and_parent_ends_last():
    """Two blocks at a time, launches last 1: 0 to 11, 11 to 22; then four children of one block: 22 to 27 to 32."""
    program, gpu = HostProgram(), override(IDEAL, {"host.device_launch_us": 1.0})
    program.kernel("parent", Nested(2, (10.0,) * 4, (KernelWork(1, 2, 5.0),) * 4))
    program.kernel("after", KernelWork(1, 1, 3.0))
    program.synchronize()
    ends = {span.name: span.end for span in simulate(program, gpu).of("kernel")}
    assert ends == {"parent": pytest.approx(32, rel=1e-3), "after": pytest.approx(35, rel=1e-3)}


@given(st.lists(st.tuples(st.integers(1, 9), st.booleans()), min_size=1, max_size=12), st.integers(1, 5))
@drawn(60)
def test_nested_kernels_do_all_their_work(blocks, wave):
    """Without idle room no schedule beats total work over the room, nor can any block be left out."""
    children = tuple(KernelWork(2, wave, 4.0) if launches else None for _, launches in blocks)
    nested = Nested(wave, tuple(float(us) for us, _ in blocks), children)
    program = HostProgram()
    program.kernel("parent", nested)
    taken = simulate(program, override(IDEAL, {"host.device_launch_us": 1e-6})).microseconds
    work = sum(us for us, _ in blocks) + sum(8.0 for child in children if child)
    longest = max(us for us, _ in blocks) + 8
    assert work / wave - 1e-3 <= taken <= work / wave + longest + 1e-3


def test_a_kernel_has_as_many_children_as_blocks():
    with pytest.raises(InputError, match="children are 1; give one for each of 2 blocks"):
        Nested(1, (1.0, 1.0), (None,))


@pytest.mark.parametrize(
    ("megabytes", "malloc", "free"), [(4.096, 117.5, 114.9), (40.96, 153.8, 140.9), (409.6, 427.8, 410.0)]
)
def test_allocations_take_what_was_measured(megabytes, malloc, free):
    """The quickest of twenty calls on a V100 (CUDAMicroBench, ReadOnlyMem_1D_Texture)."""
    program = HostProgram()
    program.allocate("x", int(1e6 * megabytes))
    taken = simulate(program, V100).microseconds
    program.free("x")
    assert taken == pytest.approx(malloc, rel=0.07)
    assert simulate(program, V100).microseconds - taken == pytest.approx(free, rel=0.07)


def test_small_allocations_share_a_chunk_of_the_drivers():
    program = HostProgram()
    for k in range(14):
        program.allocate(str(k), 4096)
    taken = simulate(program, V100).microseconds
    assert taken == pytest.approx(114 + 0.75 * 2.1 + 13 * 4, rel=0.01)
    for k in range(14):
        program.free(str(k))
    assert simulate(program, V100).microseconds == pytest.approx(2 * taken)
    with pytest.raises(InputError, match="x: free is not allocated; nothing is"):
        program.free("x")
    program.allocate("x", 1)
    with pytest.raises(InputError, match="x: allocate is allocated already"):
        program.allocate("x", 1)


def test_a_free_waits_for_the_gpu():
    program = HostProgram()
    program.allocate("x", 1 << 20)
    program.kernel("k", KernelWork(1, 1, 500.0))
    program.free("x")
    begin = next(span.start for span in simulate(program, V100).of("call") if span.name == "free x")
    assert begin >= 500


def test_figure_that_program_needs_must_be_stated():
    program = HostProgram()
    program.copy(1, Direction.to_gpu)
    with pytest.raises(InputError, match="tesla-c2050: host.concurrent_kernels is not stated"):
        simulate(program, load_gpu("tesla-c2050"))
    with pytest.raises(InputError, match="blocks is 0; give 1 or more"):
        KernelWork(0, 1, 1.0)
    with pytest.raises(InputError, match="bytes is -1; give 0 or more"):
        program.copy(-1, Direction.to_gpu)


def test_a_timeline_is_drawn(tmp_path):
    program = HostProgram()
    for stream in (program.stream(), program.stream()):
        program.copy(1 << 20, Direction.to_gpu, stream, name="x")
        program.kernel("k", KernelWork(4096, 640, 40), stream, [Touch(Managed("m", TREE_BYTES), np.arange(512), 64)])
    program.synchronize()
    timeline = simulate(program, V100)
    picture = draw_timeline(timeline, tmp_path / "timeline.png", "two streams")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert {span.row for span in timeline.spans} == {"host", "stream 1", "stream 2"}
