"""CuMAPz: the counts printed in the paper; all sums against an oracle that goes thread by thread; equations 4 and 5."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from trace_programs import ARRAYS, OPS, chunk

import memsim
from experiments.cumapz2011 import motivating, study
from experiments.cumapz2011.described import described
from experiments.cumapz2011.programs import PROGRAMS
from memsim.gpu.presets import load_gpu
from memsim.models.cumapz import Buffer, BufferFetch, CumapzProgram, Reference, Threads, estimate
from memsim.models.cumapz.accesses import SUMS
from memsim.models.cumapz.factors import FACTORS, first_blocks
from memsim.report.estimate import document
from memsim.report.estimate import text as estimate_text
from memsim.trace.reader import Trace
from memsim.trace.schema import NO_OP, Flag, KnownWaits, LaunchShape, OpKind, Space, StaticInstruction
from memsim.trace.writer import TraceWriter
from tests.oracles import coalesce as oracle

GPU = load_gpu("tesla-c1060")
MACHINE = oracle.Machine((1, 3), 128, 32, False)


@pytest.mark.parametrize(("fetched", "published"), [(0, 754_925_568), (1, 771_670_016), (2, 754_876_416)])
def test_table_i_to_the_last_access(fetched, published):
    """16384 x 16384; of 3 x 16384 x 16382 accesses."""
    assert estimate(motivating.program(fetched), GPU).counted.reused == published


def test_factors_of_the_motivating_example_worked_by_hand():
    """Per row of a block: 45 of 48 reads from the buffer, 3 of 4 bytes in two transactions of 32, the rest whole."""
    found = estimate(motivating.program(0, shared="rows"), GPU)
    assert found.data_reuse == pytest.approx(45 * 4 / 64, rel=1e-3)
    assert found.bw_util == pytest.approx((64 + 4 + 8 + 64) / (64 + 32 + 32 + 64), rel=1e-3)
    assert found.branch_eff == pytest.approx(1 / (1 + 2 + 2 + 1), rel=1e-3)  # two of four references diverge
    assert (found.lat_hiding, found.ch_skew, found.shm_eff) == (1, 1, 1)
    by_columns = estimate(motivating.program(0, shared="columns"), GPU)
    assert by_columns.shm_eff == pytest.approx(4 / (16 + 16 + 15 + 14), rel=1e-2)
    assert by_columns.mpe == pytest.approx(found.mpe * by_columns.shm_eff**0.5)
    assert estimate(motivating.program(0, stored="columns"), GPU).ch_skew == 8  # all blocks on one channel of eight


def threads_of(block: int, program: CumapzProgram, phase: int, step: int) -> list[Threads]:
    """A block's threads one by one, as Python's integers."""
    by, bx = divmod(block, program.grid[0])
    return [
        Threads(*map(np.int64, (bx, by, k % program.block[0], k // program.block[0], phase, step)))
        for k in range(program.threads)
    ]


def counted_by_hand(program: CumapzProgram) -> dict[str, int]:
    """Every sum, thread by thread; transactions and banks by the oracle of coalescing."""
    sums = dict.fromkeys(SUMS, 0)

    def move(lanes: dict[int, int]) -> int:
        if not lanes:
            return 0
        moved = sum(
            32 * mask.bit_count()
            for _, mask in oracle.transactions({k % 16: 4 * e for k, e in lanes.items()}, 4, OpKind.load, MACHINE)
        )
        sums["bytes_moved"] += moved
        sums["bytes_requested"] += 4 * len(set(lanes.values()))
        return moved

    def access(words: dict[int, int]) -> None:
        sums["shared"] += bool(words)
        sums["passes"] += max(len({word for word in words.values() if word % 16 == bank}) for bank in range(16))

    for block in range(program.blocks):
        split = set()
        for phase in range(program.phases):
            words: dict[tuple[str, int], int] = {}
            threads = threads_of(block, program, phase, 0)
            for buffer in program.buffers:
                for fetch in buffer.fetches:
                    for half in range(0, program.threads, 16):
                        lanes = range(half, min(half + 16, program.threads))
                        sums["bytes_buffered"] += move({k: int(fetch.index(threads[k])) for k in lanes})
                        access({k: int(fetch.place(threads[k])) + buffer.base for k in lanes})
                        for k in lanes:
                            key = buffer.array, int(fetch.index(threads[k]))
                            words.setdefault(key, int(fetch.place(threads[k])) + buffer.base)
            for number, reference in enumerate(program.references):
                for step in range(reference.steps):
                    threads = threads_of(block, program, phase, step)
                    served, missed = {}, {}
                    for k, thread in enumerate(threads):
                        if reference.where is None or reference.where(thread):
                            element = int(reference.index(thread))
                            held = (reference.array, element) in words
                            (served if held else missed)[k] = element
                    sums["reused"] += len(served)
                    for half in range(0, program.threads, 16):
                        move({k: e for k, e in missed.items() if half <= k < half + 16})
                        access({k: words[reference.array, e] for k, e in served.items() if half <= k < half + 16})
                    split |= {(number, k // 32) for k in served} & {(number, k // 32) for k in missed}
        sums["diverged"] += len(split)
    return sums


def product(block: tuple[int, int], pitch: int) -> CumapzProgram:
    """A tiled product of matrices of 32 x 32: loops, two buffers, and a reference that a buffer never serves."""
    n, side = 32, 16
    columns = range(0, side, block[0])
    a = tuple(
        BufferFetch(
            lambda t, i=i: (t.by * side + t.y) * n + t.phase * side + t.x + i, lambda t, i=i: t.y * pitch + t.x + i
        )
        for i in columns
    )
    return CumapzProgram(
        grid=(n // side, n // block[1]),
        block=block,
        references=(
            Reference("a", lambda t: (t.by * block[1] + t.y) * n + t.phase * side + t.step, steps=side),
            Reference("b", lambda t: (t.phase * side + t.step) * n + t.bx * side + t.x, steps=side),
        ),
        buffers=(Buffer("a", a, base=5),),
        phases=n // side,
    )


@pytest.mark.parametrize(
    "program",
    [
        *(motivating.program(fetched, shared=way, size=32) for fetched in (None, 1) for way in ("rows", "columns")),
        motivating.program(2, shared="padded", stored="columns", size=48),
        product((16, 16), 16), product((8, 16), 16), product((8, 6), 17),
    ],
)  # fmt: skip
def test_sums_against_an_oracle(program):
    counted = estimate(program, GPU).counted
    assert {name: getattr(counted, name) for name in SUMS} == counted_by_hand(program)


@pytest.mark.parametrize("fetched", [None, 1])
def test_rows_of_similar_blocks_count_like_all(fetched):
    short = motivating.program(fetched, size=128)
    assert short.alike > 1 and short.blocks >= first_blocks(GPU, 4, 16, 4)
    full, part = estimate(replace(short, alike=1), GPU), estimate(short, GPU)
    assert full.mpe == part.mpe and full.counted.reused == part.counted.reused


def test_blocks_that_use_all_channels_at_first():
    """Equation 4: 8 channels x min(resident blocks, 256 bytes / (16 x 4 bytes))."""
    assert first_blocks(GPU, resident=4, wide=16, element_bytes=4) == 32
    assert first_blocks(GPU, resident=2, wide=16, element_bytes=4) == 16


def test_mpe_follows_the_measured_times_of_each_table():
    """The paper's claim, 0.96, is a mean over programs; a constant estimate would give none."""
    for table, versions in study.TABLES.items():
        mpe = [estimate(study._program(version), GPU).mpe for version in versions]
        assert study.correlation(mpe, [version.measured for version in versions]) > 0.9, table


def traced(folder, **parameters) -> Trace:
    return memsim.trace("neighbours", gpu=GPU, blocks="all", n=128, out=folder / "trace.h5", **parameters)


def moved(program: CumapzProgram, elements: int) -> CumapzProgram:
    """The same with the array that is stored to so many elements further on, as it lies in a trace's memory."""
    stored = program.references[-1]
    away = replace(stored, index=lambda t: stored.index(t) + elements)
    return replace(program, references=(*program.references[:-1], away))


@pytest.mark.parametrize("fetched", [None, 0, 1, 2])
@pytest.mark.parametrize("layout", ["rows", "columns", "padded"])
@pytest.mark.parametrize("stored", ["rows", "columns"])
def test_factors_of_trace_are_those_of_references(tmp_path, fetched, layout, stored):
    """All versions of the motivating example: what is a fetch, an access and one reference is found in the trace."""
    if fetched is None and layout != "rows":
        return  # the layout is the buffer's
    trace = traced(tmp_path, fetched="none" if fetched is None else str(fetched), layout=layout, stored=stored)
    first, last = (trace.arrays[k].base for k in range(2))
    program = moved(motivating.program(fetched, shared=layout, stored=stored, size=128), (last - first) // 4)
    expected, found = estimate(program, GPU), memsim.estimate(trace, GPU).cumapz
    for name in FACTORS:
        assert getattr(found.factors, name) == pytest.approx(getattr(expected, name), rel=1e-12), name
    for name in SUMS:
        assert getattr(found.factors.counted, name) == getattr(expected.counted, name), name
    assert found.skew_seen and len(found.fetches) == (fetched is not None)


SMALL = {
    "Laplace": 48, "Wavelet": 4096, "MatrixMul": 32, "Transpose": 128,
    "Gaussian": 64, "LUD": 64, "Hotspot": 112, "BackProp": 1024,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("program", "size"), SMALL.items())
def test_so_are_those_of_the_papers_programs(tmp_path, program, size):
    """Loops, several buffers, fetches made together, references served in part: all versions of section 6.1."""
    for version, references in PROGRAMS[program](size).items():
        trace = memsim.trace(
            described, gpu=GPU, blocks="all", out=tmp_path / "t.h5", program=program, version=version, size=size
        )
        expected, found = estimate(references, GPU), memsim.estimate(trace, GPU).cumapz
        for name in FACTORS:
            assert getattr(found.factors, name) == pytest.approx(getattr(expected, name), rel=1e-12), (version, name)


def test_a_tiled_product_fetches_two_tiles_at_once(tmp_path):
    """Two loads of a sequence fill two buffers; all sixteen steps read both: 16 x 4 bytes for each of 4."""
    trace = memsim.trace("matmul", gpu=GPU, n=64, variant="tiled", blocks="all", out=tmp_path / "trace.h5")
    found = memsim.estimate(trace, GPU).cumapz
    assert (len(found.fetches), len(found.accesses), found.beyond) == (2, 2, [])
    assert found.fetches_together == 2 and found.factors.data_reuse == 16
    assert found.factors.bw_util == 1


def test_access_without_lanes_separates_no_load_from_store(tmp_path):
    """A load, an access that no lane makes, a store of what was loaded; then one that reads the buffer."""
    sequence, all_lanes = int(Flag.sequence), 2**32 - 1
    off = (NO_OP, int(Flag.masked), 0, 0, 0, 0, 0, [])
    load, store = (0, sequence, 0, all_lanes, 512, 4, 0, []), (1, int(Flag.data), 0, all_lanes, 0, 4, 0, [])
    read = (2, sequence, 0, all_lanes, 0, 4, 0, [])
    ops = [*OPS, StaticInstruction(OpKind.load, Space.shared, 4, 1, 5, 1, "kernel.py", "s[i]")]
    with TraceWriter(tmp_path / "t.h5", kernel="k", source="k.py", parameters={}) as writer:
        writer.append(np.array([0]), chunk([[load, off, store, read]]))
        writer.finish(LaunchShape((1, 1, 1), (32, 1, 1), shared_bytes=256), ops, ARRAYS)
    found = memsim.estimate(Trace.open(tmp_path / "t.h5"), GPU).cumapz
    assert (found.fetches, found.accesses, found.fetches_seen) == ([0], [2], True)


def test_code_without_marked_store_reports_unknown_fetch(tmp_path):
    """As traces of PTX have it: a load, and a store to shared memory that counts what it waits for."""
    all_lanes = 2**32 - 1
    load, store = (0, int(Flag.sequence), 0, all_lanes, 512, 4, 0, []), (1, 0, 0, all_lanes, 0, 4, 0, [])
    with TraceWriter(tmp_path / "t.h5", kernel="k", source="k.py", parameters={}) as writer:
        writer.append(np.array([0]), chunk([[load, store]]))
        writer.finish(LaunchShape((1, 1, 1), (32, 1, 1), shared_bytes=256), OPS, ARRAYS)
    trace = Trace.open(tmp_path / "t.h5")
    marked = memsim.estimate(trace, GPU)
    counted = memsim.estimate(replace(trace, issue=replace(trace.issue, dependence=KnownWaits.scoreboard)), GPU)
    assert marked.cumapz.fetches_seen and not counted.cumapz.fetches_seen
    assert "does not show what fills shared memory" in estimate_text(counted) and "1: no buffer" in estimate_text(
        marked
    )
    assert document(counted)["cumapz"]["data_reuse"] is None and document(marked)["cumapz"]["data_reuse"] == 1


def test_a_reduction_in_shared_memory_is_no_fetch(tmp_path):
    """What is loaded from shared memory and stored there again fills no buffer."""
    path = tmp_path / "scan.py"
    path.write_text(SUM)
    found = memsim.estimate(memsim.trace(path, gpu=GPU, blocks="all", out=tmp_path / "t.h5"), GPU).cumapz
    assert (found.fetches, found.accesses) == ([], []) and found.factors.data_reuse == 1
    assert found.factors.counted.shared and not found.skew_seen


SUM = """
import numpy as np
from memsim import Launch, workload

def tree(t, out):
    s = t.shared(64, np.float32)
    i = t.thread_idx.x
    s[i] = 1.0
    t.sync()
    with t.where(i < 32):
        s[i] = s[i] + s[i + 32]
    t.sync()
    with t.where(i == 0):
        out[t.block_idx.x] = s[i]

@workload
def total():
    return Launch(tree, grid=2, block=64, arguments=dict(out=np.zeros(2, np.float32)))
"""
