"""Workloads of the library: their results against numpy, their traces against scalar threads."""

import copy

import numpy as np
import pytest

from memsim.sources.describe import Recorder, load_workload
from memsim.support import library
from memsim.trace.schema import EXPLICIT, NO_OP, Flag
from tests.oracles import describe as oracle

WORKLOADS = [
    ("spmv", dict(rows=300, nnz_per_row=9, block=96)),
    ("spmv", dict(rows=256, nnz_per_row=4, distribution="fixed", structure="block_diagonal", block=64)),
    ("spmv", dict(rows=200, nnz_per_row=5, distribution="spread", structure="hashed", block=64)),
    ("stencil", dict(n=32, planes=4)),
    ("saxpy", dict(n=1000, block=100)),
    ("saxpy", dict(n=1000, block=64, offset=3, dtype="float64")),
    ("saxpy", dict(n=1000, block=64, grid=3, variant="block")),
    ("saxpy", dict(n=1000, block=64, grid=3, variant="cyclic")),
    ("transpose", dict(n=64)),
    ("transpose", dict(n=64, variant="tiled")),
    ("transpose", dict(n=32, variant="padded")),
    ("reduction", dict(n=700, block=128)),
    ("reduction", dict(n=300, block=64, variant="sequential")),
    ("reduction", dict(n=300, block=64, variant="interleaved")),
    ("warp_divergence", dict(n=256, block=128)),
    ("warp_divergence", dict(n=256, block=64, variant="warps")),
    ("histogram", dict(n=1000, bins=40, grid=2, block=64)),
    ("histogram", dict(n=1000, bins=40, grid=2, block=64, variant="shared", skew=1.0)),
    ("pointer_chase", dict(bytes=1024, stride=64, order="random", grid=3, lists=2, threads=40)),
    ("matmul", dict(n=32)),
    ("matmul", dict(n=32, variant="tiled")),
    ("matmul", dict(n=16, rows=2, columns=8)),
    ("matmul", dict(n=16, rows=8, columns=2, variant="tiled")),
    ("matmul", dict(n=16, rows=2, columns=8, variant="tiled")),
    ("transpose", dict(n=64, variant="diagonal")),
    ("gemv", dict(rows=70, columns=9, block=64)),
    ("gemv", dict(rows=9, columns=70, order="transposed", block=64)),
    ("atax", dict(rows=5, columns=70, block=32)),
    ("atax", dict(rows=70, columns=9, block=32, variant="rows")),
    ("atax", dict(rows=9, columns=70, block=32, variant="columns")),
    ("gram_schmidt", dict(n=20, k=3)),
    ("conv2d", dict(n=32, radius=2)),
    ("conv2d", dict(n=32, radius=1, variant="tiled")),
    ("conv2d", dict(n=32, radius=3, variant="tiled")),
    ("conv3d", dict(n=32, planes=3)),
    ("scan", dict(tiles=2, block=64, variant="doubling")),
    ("scan", dict(tiles=2, block=32, variant="tree")),
    ("scan", dict(tiles=2, block=64, variant="padded")),
    ("gather_scatter", dict(n=320, block=64)),
    ("gather_scatter", dict(n=320, pattern="strided", variant="scatter", block=64)),
    ("gather_scatter", dict(n=320, pattern="local", variant="scatter", block=64)),
    *(("stream", dict(n=192, variant=v, block=64)) for v in ("copy", "scale", "add", "triad")),
    *(("stream", dict(n=192, variant=v, block=64)) for v in ("vector_triad", "init", "read")),
    ("matrix_add", dict(n=24, rows=4, columns=12)),
    ("neighbours", dict(n=32)),
    ("random_copy", dict(n=32, rows=16, columns=2)),
    ("spmv", dict(rows=130, nnz_per_row=9, variant="vectorized", block=64)),
    ("spmv", dict(rows=130, nnz_per_row=3, variant="masked", block=64)),
    ("spmv", dict(rows=100, nnz_per_row=9, variant="masked", structure="dense_blocks", block=64)),
    ("black_scholes", dict(n=300, grid=2, block=64)),
    ("fft", dict(n=64, signals=3)),
    ("fft", dict(n=64, signals=2, variant="global", span=4, block=16)),
    ("merge_sort", dict(n=256, tile=64)),
    ("merge_sort", dict(n=256, tile=64, variant="global", block=32)),
    ("lbm", dict(width=32, height=2, depth=3, block=32)),
    ("lbm", dict(width=24, height=3, depth=2, block=8, padding=8, order="pull", layout="aos")),
    ("backprop", dict(inputs=48)),
    ("backprop", dict(inputs=48, variant="adjust")),
    ("hotspot", dict(n=30)),
    ("hotspot", dict(n=17, steps=1)),
    ("srad", dict(rows=21, columns=19, block=64)),
    ("srad", dict(rows=21, columns=19, variant="update", block=64)),
    ("lud", dict(n=48, variant="diagonal")),
    ("lud", dict(n=48, variant="internal")),
    ("gaussian", dict(n=40, variant="multipliers")),
    ("gaussian", dict(n=40, step=1)),
    ("pathfinder", dict(columns=500, steps=3)),
    ("bfs", dict(n=700, degree=3, source=33)),
    ("sepia", dict(pixels=300, block=64)),
    ("linear_filter", dict(width=19, height=11, block=64, extra=2)),
    *(("svm", dict(n=100, features=9, variant=v, block=32)) for v in ("naive", "constant", "optimized")),
    ("svm", dict(n=64, features=9, steps=5, block=64, extra=3)),
    ("sgemm", dict(m=128, n=32, k=16, beta=0.5)),
    ("kmeans", dict(points=300, features=5, centres=4, block=128)),
    ("fast_walsh", dict(n=512, length=128)),
    ("fast_walsh", dict(n=512, length=256)),
    ("fast_walsh", dict(n=512, variant="global", stride=32, block=64)),
    ("mri_q", dict(voxels=128, samples=20, block=64)),
    ("dct8x8", dict(n=32)),
    ("dct8x8", dict(n=32, variant="pixels")),
    ("matmul", dict(n=16, rows=4, columns=8, unroll=4)),
    ("matmul", dict(n=16, rows=4, columns=8, unroll=2, variant="tiled")),
    ("histogram64", dict(n=16 * 1000)),
    ("quasirandom", dict(n=300, grid=2)),
    ("quasirandom", dict(n=200, variant="normal", grid=2)),
    ("sobol", dict(points_a_dimension=300, dimensions=2, row=2)),
    ("btree", dict(keys=1000, queries=3, width=300)),
    ("btree", dict(keys=1000, queries=3, width=300, variant="range")),
    ("tensor_gemm", dict(m=64, n=32, k=64, side=32, variant="persistent", multiply=True, grid=1, beta=0.5)),
    ("warp_sum", dict(n=512, block=64, variant="memory")),
    ("texture_add", dict(n=16, block=8)),
    ("texture_add", dict(n=16, block=8, variant="texture")),
    ("staged_axpy", dict(n=192, block=64)),
    ("staged_axpy", dict(n=192, block=64, variant="async")),
    ("sparse_product", dict(rows=5, nnz=25, columns=5, grid=2, block=32)),
    ("sparse_product", dict(rows=5, nnz=25, columns=4, grid=2, block=32, variant="csr")),
]
# Their lanes take both branches of one statement in different iterations: scalar threads do not show the order.
RESULTS_ALONE = [
    ("neighbours", dict(n=32, fetched="1", layout="columns", stored="columns")),
    ("neighbours", dict(n=32, fetched="2", layout="padded")),
    ("sparse_product", dict(rows=40, nnz=90, columns=40, grid=2, block=32)),
    ("sparse_product", dict(rows=20, nnz=30, columns=4, grid=2, block=32, variant="csr")),
    ("lud", dict(n=48, variant="perimeter")),
    ("merge_intervals", dict(n=1024, run=256)),  # a function of the kernel's own
    ("tensor_gemm", dict(m=32, n=20, k=128, side=32, multiply=True)),  # a list of variables
    ("warp_sum", dict(n=1024, block=64)),  # its lanes read each other's registers
]
IDS = ["-".join(map(str, (name, *parameters.values()))) for name, parameters in WORKLOADS]
# A large workload of each kind, of which smaller ones are compared, too.
LARGE = {"matmul-32", "conv2d-32-3-tiled", "tensor_gemm-64-32-64-32-persistent-True-1-0.5"}


def recorded(launch, workload, batch):
    recorder = Recorder(workload, launch)
    blocks = np.arange(launch.shape.n_blocks)
    chunks = [recorder.run(blocks[i : i + batch]) for i in range(0, len(blocks), batch)]
    return recorder, chunks


def decoded(recorder, chunks):
    """Each warp's memory instructions as the oracle gives them."""
    ops, arrays, warps = recorder.ops, recorder.arrays, []
    for chunk in chunks:
        for warp in range(len(chunk.warps)):
            address, order = chunk.first_address[warp], []
            for i in range(chunk.first_instruction[warp], chunk.first_instruction[warp + 1]):
                lanes = [lane for lane in range(32) if int(chunk.mask[i]) >> lane & 1]
                if chunk.op[i] == NO_OP:
                    continue
                base, stride = int(chunk.base[i]), int(chunk.stride[i])
                if stride == EXPLICIT:
                    addresses = [base + int(a) for a in chunk.addresses[address : address + len(lanes)]]
                    address += len(lanes)
                    assert min(addresses) == base
                else:
                    addresses = [base + stride * (lane - lanes[0]) for lane in lanes]
                op = ops[chunk.op[i]]
                name = oracle.Op(op.line, op.column, op.text, arrays[op.array].name)
                order.append((name, dict(zip(lanes, addresses, strict=True))))
            warps.append(order)
    return warps


def check_results(launch, expected):
    for array, values in expected.items():
        scale = np.abs(values).max()
        np.testing.assert_allclose(launch.arguments[array], values, rtol=1e-4, atol=1e-6 * scale)


@pytest.mark.parametrize(("name", "parameters"), RESULTS_ALONE)
def test_results_agree_with_numpy(name, parameters):
    workload = load_workload(name)
    launch = workload.build(workload.parameters(parameters))
    recorded(launch, workload, batch=3)
    check_results(launch, launch.expected())


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        pytest.param(*row, id=name, marks=pytest.mark.slow if name in LARGE else ())
        for row, name in zip(WORKLOADS, IDS, strict=True)
    ],
)
def test_traces_agree_with_scalar_threads_and_numpy(name, parameters):
    workload = load_workload(name)
    launch = workload.build(workload.parameters(parameters))
    again = copy.deepcopy(launch)
    recorder, chunks = recorded(launch, workload, batch=2)
    check_results(launch, launch.expected())
    bases = {array.name: array.base for array in recorder.arrays}
    with np.errstate(over="ignore"):  # unsigned integers wrap, which numpy warns of in scalars only
        expected = oracle.run(again, bases)
    found = decoded(recorder, chunks)
    assert len(found) == len(expected)
    for warp, (ours, theirs) in enumerate(zip(found, expected, strict=True)):
        assert ours == theirs, f"warp {warp}"
    for name, ours in launch.arguments.items():
        if isinstance(ours, np.ndarray):
            theirs = again.arguments[name]
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6 * np.abs(theirs).max(initial=0), err_msg=name)


def test_every_workload_of_the_library_is_checked():
    assert {name for name, _ in WORKLOADS + RESULTS_ALONE} == set(library.names("traces", ".py"))


def test_passes_of_the_fft_make_the_transform():
    workload = load_workload("fft")
    n, signals = 64, 2
    given = points = workload.build(workload.parameters(dict(n=n, signals=signals))).arguments["source"]
    for span in (1 << level for level in range(n.bit_length() - 1)):
        launch = workload.build(workload.parameters(dict(n=n, signals=signals, variant="global", span=span)))
        launch.arguments["source"][:] = points
        recorded(launch, workload, batch=signals)
        points = launch.arguments["target"]
    np.testing.assert_allclose(points.view(np.complex64), np.fft.fft(given.view(np.complex64)), atol=1e-4)


@pytest.mark.parametrize("name", ["spmv", "histogram", "reduction"])
def test_batches_do_not_change_the_trace(name):
    workload = load_workload(name)
    parameters = workload.parameters({"rows": 500} if name == "spmv" else {"n": 3000})
    traces = []
    for batch in (1, 1000):
        recorder, chunks = recorded(workload.build(parameters), workload, batch)
        traces.append((decoded(recorder, chunks), np.concatenate([c.flags for c in chunks]), recorder.ops))
    assert traces[0][0] == traces[1][0] and traces[0][2] == traces[1][2]
    np.testing.assert_array_equal(traces[0][1], traces[1][1])
    assert (traces[0][1] & Flag.sequence).any()
