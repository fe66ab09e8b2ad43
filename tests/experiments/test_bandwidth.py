"""The walks of the study `bandwidth` read as many bytes as its figures divide by a time."""

import pytest

import memsim
from experiments.bandwidth.kernels import BYTES
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
