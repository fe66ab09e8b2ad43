"""The compiled loops of describing are their own Python, and the log's encoding is exact."""

import numpy as np
import pytest
from describing import describe
from hypothesis import given
from hypothesis import strategies as st

from memsim.sources import batch_log as log
from memsim.sources import rows
from memsim.sources.describe import Recorder, batch, compiled, instruction_mixes, load_workload, waiting
from memsim.trace.schema import EXPLICIT, INSTRUCTION_COLUMNS

# Everywhere a loop is called from, by its name there.
COMPILED = [
    (module, name)
    for module in (compiled, instruction_mixes, waiting, rows, batch, log)
    for name in dir(module)
    if hasattr(getattr(module, name), "py_func")
]


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("spmv", dict(rows=70, nnz_per_row=4, block=64)),
        ("histogram", dict(n=200, bins=20, grid=2, block=32, variant="shared")),
        ("reduction", dict(n=100, block=64)),
    ],
)
def test_compiled_loops_are_their_python(name, parameters, monkeypatch):
    workload = load_workload(name)

    def chunk():
        launch = workload.build(workload.parameters(parameters))
        return Recorder(workload, launch).run(np.arange(launch.shape.n_blocks)), launch

    fast, fast_launch = chunk()
    assert {"log_access", "log_barrier", "gather", "scatter", "atomic", "sort_rows"} <= {name for _, name in COMPILED}
    for module, name in COMPILED:
        monkeypatch.setattr(module, name, getattr(module, name).py_func)
    slow, slow_launch = chunk()
    for column in (*INSTRUCTION_COLUMNS, "first_instruction", "first_address", "addresses"):
        np.testing.assert_array_equal(getattr(fast, column), getattr(slow, column), err_msg=column)
    for array, values in fast_launch.arguments.items():
        np.testing.assert_array_equal(values, slow_launch.arguments[array])


@given(
    st.lists(st.integers(0, 99), min_size=32, max_size=32)
    | st.tuples(st.integers(0, 9), st.integers(0, 2)).map(lambda line: [line[0] + line[1] * i for i in range(32)]),
    st.integers(1, 2**32 - 1),
)
def test_addresses_decode_to_what_was_accessed(index, mask):
    def kernel(t, index, mask, a):
        i = index[t.lane_id]
        with t.where(mask[t.lane_id]):
            a[i] = 1

    active = np.array([mask >> lane & 1 for lane in range(32)], bool)
    recorder, chunk = describe(kernel, index=np.array(index), mask=active, a=np.zeros(100, np.float64))
    assert chunk.mask[2] == mask
    base, stride = int(chunk.base[2]) - recorder.arrays[2].base, int(chunk.stride[2])
    lanes = np.flatnonzero(active)
    found = base + (chunk.addresses if stride == EXPLICIT else stride * (lanes - lanes[0]))
    assert found.tolist() == [8 * index[lane] for lane in lanes]
    distances = {(index[b] - index[a]) / (b - a) for a, b in zip(lanes, lanes[1:], strict=False)}
    affine = len(distances) <= 1 and all(distance == int(distance) for distance in distances)
    assert affine == (stride != EXPLICIT)
