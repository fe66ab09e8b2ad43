"""The comparison of a capture on the host with one on a GPU, on two traces whose differences are known."""

from dataclasses import replace

import pytest

from experiments.capture_gpu.compare import compare
from memsim.trace.reader import Trace
from memsim.trace.schema import EXPLICIT
from memsim.trace.writer import TraceWriter
from tests.trace_programs import ARRAYS, OPS, chunk, shape

ALL, LISTED = 2**32 - 1, int(EXPLICIT)
A = ARRAYS[0].base
BARRIER = (0xFFFF, 2, 0, ALL, 0, 0, 0, [])


def load(base, mask=ALL, stride=4, addresses=()):
    return 0, 0, 0, mask, base, stride, 0, list(addresses)


def store(base, mask=ALL):
    return 1, 0, 0, mask, base, 4, 0, []


@pytest.fixture
def written(tmp_path):
    def write(*programs, moved=0):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.h5"
        arrays = [replace(ARRAYS[0], base=A + moved), ARRAYS[1]]
        with TraceWriter(path, kernel="k", source="k.cu", parameters={}) as writer:
            writer.append(range(len(programs) // 2), chunk(programs))
            writer.finish(shape(programs), OPS, arrays)
        return Trace.open(path)

    return write


def numbers(one, other):
    return {op.text[0]: (op.lanes, op.equal, op.accesses, op.instructions) for op in compare(one, other)}


def test_arrays_elsewhere_and_instructions_in_parts_are_the_same_accesses(written):
    host = written([load(A), BARRIER, store(0), load(A + 128)], [store(128)])
    high, low = ALL << 16 & ALL, 0xFFFF
    gpu = written(
        [store(64, low), load(A + 4096 + 64, high), load(A + 4096, low), store(128, high),
         load(A + 4096 + 128, ALL, LISTED, range(0, 128, 4))],
        [store(192)],
        moved=4096,
    )  # fmt: skip
    assert numbers(host, gpu) == {"a": (32, 32, (64, 64), (2, 3)), "s": (64, 64, (64, 64), (2, 3))}


def test_another_address_lane_or_order_is_seen(written):
    host = written([load(A), load(A + 128)], [load(A)])
    assert numbers(host, written([load(A), load(A + 132)], [load(A)]))["a"][:2] == (64, 32)
    assert numbers(host, written([load(A + 128), load(A)], [load(A)]))["a"][:2] == (64, 32)
    assert numbers(host, written([load(A), load(A + 128)], [load(A, 3)])) == {"a": (64, 34, (96, 66), (3, 3))}


def test_what_only_one_capture_has_is_seen(written):
    found = numbers(written([load(A)], []), written([load(A), store(0, 1)], []))
    assert found == {"a": (32, 32, (32, 32), (1, 1)), "s": (1, 0, (0, 1), (0, 1))}
