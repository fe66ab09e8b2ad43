"""Host TensorDescriptors of Triton: by TMA where the GPU has it, else by addresses; also boxes that reach outside."""

import importlib.util

import numpy as np
import pytest
from ptx_traces import accesses

import memsim
from memsim.trace.reader import Trace
from memsim.trace.schema import OpKind

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (importlib.util.find_spec("triton") and importlib.util.find_spec("torch")),
        reason="Triton or torch is not installed",
    ),
]

ROWS, COLUMNS, TILE = 100, 72, (16, 32)
CASES = ((0, 0, "f4"), (-5, 3, "f4"), (40, 50, "f2"), (200, 0, "f4"))

PROGRAM = """
import sys
from pathlib import Path
import numpy as np, torch, triton, triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

@triton.jit
def shift(x, out, down, right, BM: tl.constexpr, BN: tl.constexpr):
    i, j = tl.program_id(0) * BM, tl.program_id(1) * BN
    out.store([i, j], x.load([i + down, j + right]) + 1.0)

@triton.jit
def layers(x, out, BM: tl.constexpr, BN: tl.constexpr):
    i = tl.program_id(0)
    tile = x.load([i, 1, 2]).reshape(BM, BN)
    out.store([i, 0, 0], tile.reshape(1, BM, BN))

folder, (bm, bn) = Path(sys.argv[1]), TILE
for k, (down, right, dtype) in enumerate(CASES):
    x = torch.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS).to({"f4": torch.float32, "f2": torch.float16}[dtype])
    x = x.cuda()
    out = torch.zeros_like(x)
    of = TensorDescriptor(x, list(x.shape), [COLUMNS, 1], [bm, bn])
    to = TensorDescriptor.from_tensor(out, [bm, bn])
    shift[(triton.cdiv(ROWS, bm), triton.cdiv(COLUMNS, bn))](of, to, down, right, BM=bm, BN=bn)
    np.save(folder / f"shift-{k}.npy", out.cpu().numpy())

x = torch.from_numpy(np.random.default_rng(0).random((3, 20, 40), np.float32)).cuda()
out = torch.zeros((3, bm, bn), device="cuda")
of, to = (TensorDescriptor.from_tensor(one, [1, bm, bn]) for one in (x, out))
layers[(3,)](of, to, BM=bm, BN=bn)
np.save(folder / "layers.npy", out.cpu().numpy())
"""


@pytest.fixture(scope="module", params=["h100", "a100"])
def run(request, tmp_path_factory):
    """The GPU, and the folder with the traces and results of all launches of one program."""
    folder = tmp_path_factory.mktemp(request.param)
    constants = f"ROWS, COLUMNS, TILE, CASES = {ROWS}, {COLUMNS}, {TILE}, {CASES}\n"
    (folder / "program.py").write_text(constants + PROGRAM)
    memsim.capture(
        folder / "program.py",
        arguments=[str(folder)],
        out=folder / "traces",
        gpu=request.param,
        blocks="all",
        launch="all",
    )
    return request.param, folder


def _shifted(x, down, right):
    """Element by element, from the definition: what lies outside is 0."""
    out = np.ones_like(x)
    for i, j in np.ndindex(x.shape):
        if 0 <= i + down < x.shape[0] and 0 <= j + right < x.shape[1]:
            out[i, j] += x[i + down, j + right]
    return out


@pytest.mark.parametrize("case", range(len(CASES)))
def test_boxes_equal_numpy_inside_and_outside_bounds(run, case):
    gpu, folder = run
    down, right, dtype = CASES[case]
    x = np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS).astype(dtype)
    trace = Trace.open(folder / "traces" / f"shift-{case}.h5")
    assert (np.load(folder / f"shift-{case}.npy") == _shifted(x, down, right)).all()
    copies = [op for op in trace.ops if op.text.startswith("cp.async.bulk.tensor")]
    assert bool(copies) == (gpu == "h100")
    if copies:
        rows = max(0, min(ROWS, ROWS - down) - max(0, -down))
        _moves(trace, rows, max(0, COLUMNS - right), x.itemsize)


def _moves(trace, rows, columns, item):
    """Rows of 16 bytes per lane: what of the tensor the boxes cover, once; a piece more where a box begins amid one."""
    lanes = {OpKind.load: 0, OpKind.store: 0}
    for op, places in accesses(trace).items():
        if trace.ops[op].text.startswith("cp.async.bulk.tensor"):
            lanes[trace.ops[op].kind] += len(places)
    assert lanes[OpKind.store] * 16 == ROWS * COLUMNS * item
    boxes = -(-COLUMNS // TILE[1])
    assert rows * columns * item <= lanes[OpKind.load] * 16 <= rows * (columns * item + 16 * boxes)


def test_a_box_of_three_dimensions(run):
    x = np.random.default_rng(0).random((3, 20, 40), np.float32)
    want = x[:, 1:17, 2:34]
    assert (np.load(run[1] / "layers.npy") == want).all()
