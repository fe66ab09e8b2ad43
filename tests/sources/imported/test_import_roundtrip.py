"""A trace that is exported to Accel-Sim's format and imported again has the same transactions and counters."""

import numpy as np
import pytest
from budget import drawn
from hypothesis import given
from hypothesis import strategies as st
from trace_programs import chunk

import memsim
from memsim.gpu.presets import load_gpu
from memsim.sources.imported.accelsim import export_accelsim, import_accelsim
from memsim.sources.imported.accelsim.export import FIRST_PC, PC_STEP
from memsim.support.errors import InputError
from memsim.trace.coalesce import coalesce
from memsim.trace.reader import Trace
from memsim.trace.schema import EXPLICIT, NO_OP, ArrayInfo, Flag, LaunchShape, OpKind, Space, StaticInstruction
from memsim.trace.writer import TraceWriter


def round_trip(trace, folder, **options):
    export_accelsim([trace], folder, **options)
    (back,) = import_accelsim(folder / "kernelslist.g", folder)
    return back


def original(trace):
    """Numbers of the exported trace's static instructions, by those of the imported one (in order of first use)."""
    return np.array([(int(op.text.split()[0], 16) - FIRST_PC) // PC_STEP for op in trace.ops], np.int64)


def assert_same_transactions(trace, back, gpu):
    ours, theirs = coalesce(trace, gpu), coalesce(back, gpu)
    for name in ("lines", "masks", "line_address", "first_instruction", "first_warp"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name)), name
    for name in ("first", "count", "kind", "flags", "slots", "compute_run"):
        assert np.array_equal(ours.instructions[name], theirs.instructions[name]), name
    numbers = np.append(original(back), np.full(NO_OP + 1 - len(back.ops), NO_OP))
    assert np.array_equal(ours.instructions["op"], numbers[theirs.instructions["op"]])


WORKLOADS = {
    "spmv": dict(rows=512, nnz_per_row=9),
    "transpose": dict(n=128),
    "reduction": dict(n=1 << 14),  # shared memory, barriers
    "histogram": dict(n=1 << 13),  # atomics
    "pointer_chase": {},
}


@pytest.mark.parametrize("name", WORKLOADS)
@pytest.mark.parametrize("gpu", ["tesla-c2050", "tesla-v100"])
def test_transactions_of_the_library(tmp_path, name, gpu):
    trace = memsim.trace(name, out=tmp_path / "t.h5", **WORKLOADS[name])
    assert_same_transactions(trace, round_trip(trace, tmp_path), load_gpu(gpu))


@pytest.mark.parametrize("name", ["spmv", "reduction"])
def test_counters(tmp_path, name):
    trace = memsim.trace(name, out=tmp_path / "t.h5", **WORKLOADS[name])
    back = round_trip(trace, tmp_path, pack=True)
    assert back.launch == trace.launch and back.kernel == trace.kernel
    ours, theirs = (memsim.simulate(each, "tesla-c2050", trials=2, seed=3).trials for each in (trace, back))
    assert np.array_equal(ours.cycles, theirs.cycles)
    numbers = original(back)
    assert np.array_equal(ours.counters[:, numbers], theirs.counters[:, : len(numbers)])
    assert np.array_equal(ours.latency_histogram[:, numbers], theirs.latency_histogram)


OPS = [
    StaticInstruction(OpKind.load, Space.global_, 4, 0, 1, 1, "k.py", "a"),
    StaticInstruction(OpKind.load, Space.global_, 16, 0, 2, 1, "k.py", "b", bypass_l1=True),
    StaticInstruction(OpKind.store, Space.global_, 1, 0, 3, 1, "k.py", "c"),
    StaticInstruction(OpKind.atomic, Space.global_, 8, 0, 4, 1, "k.py", "d"),
    StaticInstruction(OpKind.reduction, Space.global_, 2, 0, 5, 1, "k.py", "e"),
    StaticInstruction(OpKind.load, Space.shared, 4, 1, 6, 1, "k.py", "f"),
    StaticInstruction(OpKind.store, Space.shared, 8, 1, 7, 1, "k.py", "g"),
    StaticInstruction(OpKind.atomic, Space.shared, 4, 1, 8, 1, "k.py", "h"),
    StaticInstruction(OpKind.reduction, Space.shared, 4, 1, 9, 1, "k.py", "i"),
    StaticInstruction(OpKind.load, Space.constant, 4, 2, 10, 1, "k.py", "j"),
]
ARRAYS = [
    ArrayInfo("a", Space.global_, 1 << 30, 1 << 20, 4),
    ArrayInfo("s", Space.shared, 0, 4096, 4),
    ArrayInfo("c", Space.constant, 0, 64, 4),
]


@st.composite
def rows(draw):
    """Instructions of a warp: (op, flags, compute run, mask, base, stride, off_path, addresses); an access is last."""
    found = []
    fresh, loads = True, False  # whether a sequence must start here, and whether the sequence has a load so far
    for _ in range(draw(st.integers(1, 12))):
        compute_run = draw(st.integers(0, 3))
        if draw(st.integers(0, 7)) == 0:
            found.append((NO_OP, int(Flag.barrier | Flag.sequence), compute_run, 2**32 - 1, 0, 0, 0, []))
            fresh, loads = True, False
            continue
        op = draw(st.integers(0, len(OPS) - 1))
        mask = draw(st.integers(1, 2**32 - 1) | st.just(2**32 - 1) | st.just(0xFF00))
        listed = draw(st.booleans())
        stride = int(EXPLICIT) if listed else draw(st.sampled_from([0, 4, -4, 128, 1 << 20]))
        offsets = st.integers(0, 2**32 - 1 if OPS[op].space is Space.global_ else 1 << 14)
        lanes = mask.bit_count() if listed else 0
        addresses = draw(st.lists(offsets, min_size=lanes, max_size=lanes))
        starts = fresh or draw(st.booleans())
        waits = loads and not starts and OPS[op].kind is not OpKind.load and draw(st.booleans())
        flags = int(Flag.sequence) if starts else int(Flag.data) if waits else 0
        loads = OPS[op].kind in (OpKind.load, OpKind.atomic) or (loads and not starts)
        fresh = False
        found.append((op, flags, compute_run, mask, 1 << 30, stride, 0, [a - min(addresses) for a in addresses]))
    return [*found, (0, int(Flag.sequence), 0, 1, 1 << 30, 0, 0, [])]


@drawn(40)
@given(st.lists(rows(), min_size=4, max_size=4))
def test_any_trace(tmp_path_factory, programs):
    folder = tmp_path_factory.mktemp("trace")
    with TraceWriter(folder / "t.h5", kernel="k", source="k.py", parameters={}) as writer:
        writer.append(np.array([0, 1]), chunk(programs))
        writer.finish(LaunchShape((2, 1, 1), (64, 1, 1), shared_bytes=4096), OPS, ARRAYS)
    trace = Trace.open(folder / "t.h5")
    back = round_trip(trace, folder)
    assert_same_transactions(trace, back, load_gpu("tesla-v100"))
    for number, op in zip(original(back), back.ops, strict=True):
        expected = OPS[number]
        assert (op.kind, op.space, op.width, op.bypass_l1) == (
            expected.kind, expected.space, expected.width, expected.bypass_l1,
        )  # fmt: skip


def test_an_access_of_no_lane_is_an_instruction(tmp_path):
    """It has a compute run of 3, the access behind it one of 2: six instructions before that access."""
    warp = [(NO_OP, int(Flag.masked), 3, 0, 0, 0, 0, []), (0, int(Flag.sequence), 2, 1, 1 << 30, 4, 0, [])]
    with TraceWriter(tmp_path / "t.h5", kernel="k", source="k.py", parameters={}) as writer:
        writer.append(np.array([0]), chunk([warp]))
        writer.finish(LaunchShape((1, 1, 1), (32, 1, 1)), OPS[:1], ARRAYS[:1])
    (back,) = round_trip(Trace.open(tmp_path / "t.h5"), tmp_path).chunks()
    assert back.compute_run[back.op != NO_OP].tolist() == [6]


def test_a_snapshot_is_a_launch_of_its_blocks(tmp_path):
    trace = memsim.trace("saxpy", out=tmp_path / "t.h5", n=1 << 14, blocks="3:7")
    back = round_trip(trace, tmp_path)
    assert back.launch.grid == (4, 1, 1) and back.block_ids.tolist() == [0, 1, 2, 3]
    assert_same_transactions(trace, back, load_gpu("tesla-v100"))


def test_what_cannot_be_exported(tmp_path):
    with TraceWriter(tmp_path / "t.h5", kernel="k", source="k.py", parameters={}) as writer:
        writer.append(np.array([0]), chunk([[(0, 1, 2**31, 1, 512, 4, 0, [])], []]))
        writer.finish(LaunchShape((1, 1, 1), (64, 1, 1)), OPS[:1], ARRAYS[:1])
    with pytest.raises(InputError, match="instructions/compute_run holds 2147483648 non-memory instructions"):
        export_accelsim([Trace.open(tmp_path / "t.h5")], tmp_path / "out")
    assert not (tmp_path / "out").exists()
