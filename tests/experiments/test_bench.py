"""The benchmarks run, and do the work they time. Times are not tested: they depend on the machine and its load."""

from __future__ import annotations

from contextlib import ExitStack
from time import sleep

import numpy as np
import pytest
from compilers import needs_gxx

pytest.importorskip("cachesim", reason="pycachesim is not installed: it needs a C compiler")
from experiments.bench import __main__ as bench  # noqa: E402
from experiments.bench.importing import SMALLER  # noqa: E402
from experiments.bench.lru import _stream  # noqa: E402
from experiments.bench.one_core import Clock  # noqa: E402
from experiments.bench.streaming import ENCODINGS, X, Y, write_streaming  # noqa: E402
from experiments.bench.table import Row, table  # noqa: E402
from experiments.bench.workload import QUICK, Size, prepared  # noqa: E402
from memsim.sources.imported.accelsim import import_accelsim  # noqa: E402
from memsim.trace.bits import popcounts  # noqa: E402
from memsim.trace.schema import NO_OP  # noqa: E402

TINY = Size(rows=256, nnz_per_row=4, trials=2, repeats=2, runs=1, captured=100, imported=8, n=16, growth={1: 1})


@needs_gxx
@pytest.mark.slow
def test_the_quick_form_does_the_work_it_times():
    """All parts but the first use, which compiles loops for a minute: `test_load_loops.py` does that."""
    with prepared(QUICK) as workload:
        transactions = len(workload.transactions.lines)
        lanes = sum(int(popcounts(chunk.mask[chunk.op != NO_OP]).sum()) for chunk in workload.trace.chunks())
    rows = bench.measure(QUICK, [part for part in bench.PARTS if part != "first_use"])
    work = {row.what: row.work for row in rows}
    assert work["transactions replayed per second and core"] == (1 + QUICK.trials) * transactions
    assert work["accesses per second of pycachesim's C backend"] == transactions
    assert work["lane accesses described per second, in memory"] == lanes
    assert work["lane accesses described per second, with the file"] == lanes
    assert work["two workers over one"] == 4 * QUICK.trials
    assert work["lane accesses captured per second, saxpy.cu"] == 3 * 256 * QUICK.captured
    for encoding in ENCODINGS:
        assert work[f"lane accesses imported per second, {encoding}"] == 3 * 256 * QUICK.imported // SMALLER
    assert work["Accel-Sim's time over import and replay, streaming"] == 96 * QUICK.imported
    # A block of 8 warps loads 2 tiles a step and stores one; a warp touches 4 sectors each time.
    tiles = QUICK.n // 16
    assert work["Accel-Sim's time over import and replay, tiled product"] == 32 * (2 * tiles**3 + tiles**2)
    assert all(row.measured > 0 for row in rows if row.what != "of the trace, copied by a worker")
    assert all(row.what in table(rows) for row in rows)


def test_merged_stream_takes_transactions_once_and_alternates_warps():
    with prepared(TINY) as workload:
        transactions, line_bytes = workload.transactions, workload.gpu.l1.line_bytes
        pieces = list(_stream(transactions, line_bytes))
        expected = []
        longest = int(np.diff(transactions.first_instruction).max())
        for k in range(longest):
            for first, end in zip(transactions.first_instruction, transactions.first_instruction[1:], strict=False):
                if first + k < end:
                    row = transactions.instructions[first + k]
                    lines = transactions.lines[int(row["first"]) : int(row["first"]) + int(row["count"])]
                    expected += [int(transactions.line_address[line]) * line_bytes for line in lines]
    assert np.concatenate([addresses for addresses, _ in pieces]).tolist() == expected
    stores = np.concatenate([store for _, store in pieces])
    assert stores.sum() == TINY.rows // 32  # each warp stores its y once, in one line
    assert not stores[: len(stores) // 2].any()


def test_streaming_kernel_is_same_in_every_encoding(tmp_path):
    whole = []
    for encoding in ENCODINGS:
        write_streaming(tmp_path / "kernel.traceg", 3, encoding)
        (trace,) = import_accelsim(tmp_path / "kernel.traceg", tmp_path / "kernel.h5")
        (chunk,) = trace.chunks()
        whole.append(
            [(*map(int, row),) for row in zip(chunk.op, chunk.compute_run, chunk.base, chunk.stride, strict=True)]
        )
        assert set(chunk.mask.tolist()) == {0xFFFFFFFF}
    assert whole[0] == whole[1] == whole[2]
    firsts = [128 * warp for warp in range(3 * 8)]
    expected = [[(0, 8, X + at, 4), (1, 0, Y + at, 4), (2, 1, Y + at, 4)] for at in firsts]
    assert whole[0] == [row for rows in expected for row in rows]


def test_clocks_count_time_of_wrapped_functions():
    class Waiter:
        def wait(self):
            sleep(0.02)

    with ExitStack() as stack:
        clock = Clock().on(stack, Waiter, "wait")
        Waiter().wait()
        Waiter().wait()
    spent = clock.spent
    assert spent.wall >= 0.04 and 0 <= spent.cpu < spent.wall
    Waiter().wait()
    assert clock.spent == spent


def test_the_table_says_what_is_reached():
    rows = [
        Row("speed", 12.3, "M/s", 4, 10, "how it was measured", 1),
        Row("share", 26.0, "%", 25, 10, "", 1, less_is_better=True),
        Row("compared", 3.0, "x", None, None, "", 1),
    ]
    lines = table(rows).splitlines()
    assert lines[2].split() == ["speed", "12.3", "M/s", ">=", "4", ">=", "10", "aim"]
    assert lines[3].strip() == "how it was measured"
    assert lines[4].split() == ["share", "26.0", "%", "<=", "25", "<=", "10", "missed"]
    assert lines[6].split() == ["compared", "3.00", "x"]
