"""Walks of the study `bandwidth` read the bytes that its figures divide by a time; its loops keep to L1's width."""

import pytest

import memsim
from experiments.bandwidth.kernels import BYTES, Pattern, cycles_a_load
from experiments.bandwidth.walks import Walk, traced
from memsim.trace.bits import popcounts
from memsim.trace.schema import NO_OP, OpKind


@pytest.mark.parametrize(
    "walk",
    [
        Walk("float", 64, 2, 1, 0, 64 * 70, 64, 70, laps=3),  # laps of both halves side by side, in a loop with a rest
        Walk("double", 32, 5, 3, 64, 32, 192, 4),  # parts, which five blocks take in turns
    ],
)
def test_a_walk_loads_the_bytes_that_are_counted(walk, tmp_path):
    trace = traced(walk, memsim.load_gpu("a100"), tmp_path / "walk.h5")
    loads = [number for number, op in enumerate(trace.ops) if op.kind is OpKind.load]
    lanes = 0
    for chunk in trace.chunks():
        mine = chunk.op != NO_OP
        mine &= [number in loads for number in chunk.op]
        lanes += int(popcounts(chunk.mask[mine]).sum())
    assert lanes * BYTES[walk.type] == walk.bytes_read
    assert sum(array.bytes for array in trace.arrays if array.name == "read") == walk.elements * BYTES[walk.type]


@pytest.mark.parametrize(("gpu", "bytes_per_cycle"), [("a100", 128), ("rtx-a6000", 64)])
def test_dense_loads_leave_l1_at_its_width(gpu, bytes_per_cycle):
    cycles = cycles_a_load(Pattern("float", [(0, 4), (8, 12), (20, 16), (24, 28)], (1024, 1)), memsim.load_gpu(gpu))
    least = 32 * BYTES["float"] / bytes_per_cycle
    assert 0.995 * least <= cycles <= 1.05 * least
