"""The stand-ins for cuSOLVER, cuDNN, NCCL and NVTX, and what every stand-in has in common."""

from __future__ import annotations

import ctypes
import re
import subprocess

import numpy as np
import pytest
import scipy.linalg
import scipy.signal
import scipy.special

from memsim.capture.library_build import listed_names

UPPER = 1


def _pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


def _fortran(shape, seed=0):
    return np.asfortranarray(np.random.default_rng(seed).standard_normal(shape))


def test_cusolver_factors_and_solves(stand_in):
    solver, info = stand_in("libcusolver.so.12"), np.ones(1, np.int32)
    a, b = _fortran((9, 9)), _fortran((9, 2), 1)
    factors, x, pivots = a.copy("F"), b.copy("F"), np.zeros(9, np.int32)
    assert solver.cusolverDnDgetrf(None, 9, 9, _pointer(factors), 9, None, _pointer(pivots), _pointer(info)) == 0
    assert (
        solver.cusolverDnDgetrs(None, 0, 9, 2, _pointer(factors), 9, _pointer(pivots), _pointer(x), 9, _pointer(info))
        == 0
    )
    np.testing.assert_allclose(a @ x, b)
    positive = np.asfortranarray(a @ a.T + np.eye(9))
    factors, x = positive.copy("F"), b.copy("F")
    assert solver.cusolverDnDpotrf(None, UPPER, 9, _pointer(factors), 9, None, 0, _pointer(info)) == 0
    np.testing.assert_allclose(np.triu(factors), scipy.linalg.cholesky(positive))
    assert solver.cusolverDnDpotrs(None, UPPER, 9, 2, _pointer(factors), 9, _pointer(x), 9, _pointer(info)) == 0
    np.testing.assert_allclose(positive @ x, b)
    values = np.zeros(9)
    symmetric = positive.copy("F")
    assert (
        solver.cusolverDnDsyevd(None, 1, UPPER, 9, _pointer(symmetric), 9, _pointer(values), None, 0, _pointer(info))
        == 0
    )
    np.testing.assert_allclose(positive @ symmetric, symmetric * values)
    assert np.all(np.diff(values) >= 0) and info[0] == 0


def test_cusolver_qr(stand_in):
    solver, info = stand_in("libcusolver.so.12"), np.ones(1, np.int32)
    a = _fortran((8, 5))
    q, tau = a.copy("F"), np.zeros(5)
    assert solver.cusolverDnDgeqrf(None, 8, 5, _pointer(q), 8, _pointer(tau), None, 0, _pointer(info)) == 0
    r = np.triu(q[:5])
    assert solver.cusolverDnDorgqr(None, 8, 5, 5, _pointer(q), 8, _pointer(tau), None, 0, _pointer(info)) == 0
    np.testing.assert_allclose(q @ r, a)
    np.testing.assert_allclose(q.T @ q, np.eye(5), atol=1e-12)


@pytest.fixture(scope="module")
def cudnn(stand_in):
    return stand_in("libcudnn.so.9")


def _tensor(cudnn, shape, kind="Tensor"):
    made = ctypes.c_void_p()
    assert cudnn[f"cudnnCreate{kind}Descriptor"](ctypes.byref(made)) == 0
    assert cudnn[f"cudnnSet{kind}4dDescriptor"](made, 0, 0, *shape) == 0
    return made


def test_cudnn_convolution(cudnn):
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((2, 3, 9, 8)).astype(np.float32), rng.standard_normal((4, 3, 3, 3)).astype(np.float32)
    convolution = ctypes.c_void_p()
    assert cudnn.cudnnCreateConvolutionDescriptor(ctypes.byref(convolution)) == 0
    assert cudnn.cudnnSetConvolution2dDescriptor(convolution, 1, 1, 2, 2, 1, 1, 1, 0) == 0
    sizes = [ctypes.c_int() for _ in range(4)]
    x_descriptor, w_descriptor = _tensor(cudnn, x.shape), _tensor(cudnn, w.shape, "Filter")
    cudnn.cudnnGetConvolution2dForwardOutputDim(convolution, x_descriptor, w_descriptor, *map(ctypes.byref, sizes))
    y = np.zeros([size.value for size in sizes], np.float32)
    one, zero = ctypes.byref(ctypes.c_float(1)), ctypes.byref(ctypes.c_float(0))
    operands = (x_descriptor, _pointer(x), w_descriptor, _pointer(w), convolution, 0, None, ctypes.c_size_t(0))
    assert cudnn.cudnnConvolutionForward(None, one, *operands, zero, _tensor(cudnn, y.shape), _pointer(y)) == 0
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    expected = [[sum(scipy.signal.correlate2d(padded[n, c], w[k, c], "valid") for c in range(3))[::2, ::2]
                 for k in range(4)] for n in range(2)]  # fmt: skip
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-4)


def test_cudnn_softmax_and_activation(cudnn):
    x = np.random.default_rng(0).standard_normal((3, 5, 1, 1)).astype(np.float32)
    y, descriptor = np.zeros_like(x), _tensor(cudnn, x.shape)
    one, zero = ctypes.byref(ctypes.c_float(1)), ctypes.byref(ctypes.c_float(0))
    assert cudnn.cudnnSoftmaxForward(None, 1, 0, one, descriptor, _pointer(x), zero, descriptor, _pointer(y)) == 0
    np.testing.assert_allclose(y, scipy.special.softmax(x, axis=1), rtol=1e-5)
    activation = ctypes.c_void_p()
    assert cudnn.cudnnCreateActivationDescriptor(ctypes.byref(activation)) == 0
    assert cudnn.cudnnSetActivationDescriptor(activation, 1, 0, ctypes.c_double(0)) == 0
    assert (
        cudnn.cudnnActivationForward(None, activation, one, descriptor, _pointer(x), zero, descriptor, _pointer(y)) == 0
    )
    np.testing.assert_array_equal(y, np.maximum(x, 0))


def test_nccl_of_one_rank_copies(stand_in):
    nccl, communicator = stand_in("libnccl.so.2"), ctypes.c_void_p()
    assert nccl.ncclCommInitAll(ctypes.byref(communicator), 1, None) == 0
    x, y = np.arange(5.0), np.zeros(5)
    assert nccl.ncclAllReduce(_pointer(x), _pointer(y), ctypes.c_size_t(5), 8, 0, communicator, None) == 0
    np.testing.assert_array_equal(x, y)
    assert nccl.ncclCommInitAll(ctypes.byref(communicator), 2, None) == 5


def test_nvtx_does_nothing(stand_in):
    assert stand_in("libnvToolsExt.so.1").nvtxRangePushA(b"range") == 0


def test_symbols_have_the_versions_programs_ask_for(libraries):
    for soname, symbol in (("libcublas.so.12", "cublasSgemm_v2"), ("libcufft.so.11", "cufftExecC2C")):
        listed = subprocess.run(["nm", "-D", libraries / soname], capture_output=True, text=True, check=True).stdout
        assert f"{symbol}@@{soname}" in listed


@pytest.mark.parametrize(("name", "soname", "status"), [
    ("cusparse", "libcusparse.so.12", 10), ("cusolver", "libcusolver.so.12", 9),
    ("cudnn", "libcudnn.so.9", 3000), ("cufft", "libcufft.so.12", 16),
])  # fmt: skip
def test_missing_functions_say_not_supported(stand_in, libraries, name, soname, status):
    """Those that nobody implemented are weak symbols; one that is implemented must not be called without arguments."""
    listed = subprocess.run(["nm", "-D", libraries / soname], capture_output=True, text=True, check=True).stdout
    weak = set(re.findall(r" W (\w+)@@", listed))
    missing = [function for function in listed_names(name) if function in weak]
    assert len(missing) > 20
    assert {stand_in(soname)[function]() for function in missing} == {status}


def test_listed_answers_belong_to_listed_functions():
    lists = "driver cublas cublasLt cudnn cufft cupti curand cusolver cusparse nccl nvml"
    functions = {word.partition(":")[0] for name in lists.split() for word in listed_names(name)}
    answers = dict(word.split("=") for word in listed_names("answers"))
    targets = {name + answer if answer[0] == "_" else answer for name, answer in answers.items()}
    assert set(answers) | {target for target in targets if not target[0].isdigit()} <= functions


def test_listed_answers_are_written_where_parameters_point(stand_in):
    """The work spaces of cuFFT (the 11th parameter, a size_t) and cuSOLVER (the 12th, an int)."""
    size, n = ctypes.c_size_t(2**64 - 1), (ctypes.c_int * 2)(7, 7)
    assert stand_in("libcufft.so.12").cufftEstimateMany(*[None] * 10, ctypes.byref(size)) == 0
    assert stand_in("libcusolver.so.12").cusolverDnSormqr_bufferSize(*[None] * 11, n) == 0
    assert (size.value, list(n)) == (0, [1, 7])


@pytest.mark.parametrize(("m", "n", "job"), [(8, 5, "S"), (8, 5, "A"), (6, 6, "A")])
def test_cusolver_singular_values(stand_in, m, n, job):
    solver, info, a = stand_in("libcusolver.so.12"), np.ones(1, np.int32), _fortran((m, n))
    columns = m if job == "A" else n
    s, u, vt = np.zeros(n), np.zeros((m, columns), order="F"), np.zeros((n, n), order="F")
    jobs = (ctypes.c_char(job.encode()),) * 2
    given = a.copy("F")
    results = (_pointer(s), _pointer(u), m, _pointer(vt), n, None, 0, None, _pointer(info))
    assert solver.cusolverDnDgesvd(None, *jobs, m, n, _pointer(given), m, *results) == 0
    np.testing.assert_allclose(s, scipy.linalg.svdvals(a))
    np.testing.assert_allclose((u[:, :n] * s) @ vt, a, atol=1e-12)
    np.testing.assert_allclose(u.T @ u, np.eye(columns), atol=1e-12)
