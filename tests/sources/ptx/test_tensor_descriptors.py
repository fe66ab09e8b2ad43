"""Host TensorDescriptors of Triton: by TMA where the GPU has it, else by addresses; also boxes that reach outside."""

import importlib.util

import numpy as np
import pytest
from ptx_traces import accesses

import memsim
from memsim.trace.schema import Kind

pytestmark = pytest.mark.skipif(not importlib.util.find_spec("triton"), reason="triton is not installed")

ROWS, COLUMNS, TILE = 100, 72, (16, 32)

PROGRAM = """
import triton, triton.language as tl

@triton.jit
def shift(x, out, down, right, BM: tl.constexpr, BN: tl.constexpr):
    i, j = tl.program_id(0) * BM, tl.program_id(1) * BN
    out.store([i, j], x.load([i + down, j + right]) + 1.0)

@triton.jit
def layers(x, out, BM: tl.constexpr, BN: tl.constexpr):
    i = tl.program_id(0)
    tile = x.load([i, 1, 2]).reshape(BM, BN)
    out.store([i, 0, 0], tile.reshape(1, BM, BN))
"""


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    path = tmp_path_factory.mktemp("program") / "program.py"
    path.write_text(PROGRAM)
    spec = importlib.util.spec_from_file_location("program", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _shifted(x, down, right):
    """Element by element, from the definition: what lies outside is 0."""
    out = np.ones_like(x)
    for i, j in np.ndindex(x.shape):
        if 0 <= i + down < x.shape[0] and 0 <= j + right < x.shape[1]:
            out[i, j] += x[i + down, j + right]
    return out


@pytest.mark.parametrize("gpu", ["h100", "a100"])
@pytest.mark.parametrize(("down", "right", "dtype"), [(0, 0, "f4"), (-5, 3, "f4"), (40, 50, "f2"), (200, 0, "f4")])
def test_boxes_are_what_numpy_says_in_and_out_of_bounds(kernels, gpu, down, right, dtype):
    from triton.tools.tensor_descriptor import TensorDescriptor

    x = np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS).astype(dtype)
    out = np.zeros_like(x)
    with memsim.capturing(gpu=gpu, blocks="all") as captured:
        of = TensorDescriptor(x, list(x.shape), [COLUMNS, 1], list(TILE))
        to = TensorDescriptor.from_tensor(out, list(TILE))
        kernels.shift[(-(-ROWS // TILE[0]), -(-COLUMNS // TILE[1]))](of, to, down, right, BM=TILE[0], BN=TILE[1])
    assert (out == _shifted(x, down, right)).all()
    copies = [op for op in captured.trace.ops if op.text.startswith("cp.async.bulk.tensor")]
    assert bool(copies) == (gpu == "h100")
    if copies:
        rows = max(0, min(ROWS, ROWS - down) - max(0, -down))
        _moves(captured.trace, rows, max(0, COLUMNS - right), x.itemsize)


def _moves(trace, rows, columns, item):
    """Rows of 16 bytes a lane: what of the tensor the boxes cover, once; a piece more where a box begins amid one."""
    lanes = {Kind.load: 0, Kind.store: 0}
    for op, places in accesses(trace).items():
        if trace.ops[op].text.startswith("cp.async.bulk.tensor"):
            lanes[trace.ops[op].kind] += len(places)
    assert lanes[Kind.store] * 16 == ROWS * COLUMNS * item
    boxes = -(-COLUMNS // TILE[1])
    assert rows * columns * item <= lanes[Kind.load] * 16 <= rows * (columns * item + 16 * boxes)


def test_a_box_of_three_dimensions(kernels):
    from triton.tools.tensor_descriptor import TensorDescriptor

    x = np.random.default_rng(0).random((3, 20, 40), np.float32)
    out = np.zeros((3, *TILE), np.float32)
    with memsim.capturing(gpu="h100"):
        of, to = (TensorDescriptor.from_tensor(one, [1, *TILE]) for one in (x, out))
        kernels.layers[(3,)](of, to, BM=TILE[0], BN=TILE[1])
    want = x[:, 1:17, 2:34]
    assert (out == want).all()
