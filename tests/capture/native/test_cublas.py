"""The cuBLAS stand-in compared with numpy and scipy."""

from __future__ import annotations

import ctypes
import time

import numpy as np
import pytest
import scipy.linalg

TYPES = {"S": np.float32, "D": np.float64, "C": np.complex64, "Z": np.complex128}
N, T, C = 0, 1, 2
LOWER, UPPER = 0, 1
LEFT, RIGHT = 0, 1
R_32F, R_64F, R_16F, R_8I, R_32I, R_16BF = 0, 1, 2, 3, 10, 14


@pytest.fixture(scope="module")
def cublas(stand_in):
    return stand_in("libcublas.so.13")


def _random(dtype, *shape, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(shape)
    if np.issubdtype(dtype, np.complexfloating):
        values = values + 1j * rng.standard_normal(shape)
    return np.asfortranarray(values.astype(dtype))


def _arguments(arguments):
    """Arrays and numpy scalars as pointers, integers as 32-bit integers."""
    for value in arguments:
        if isinstance(value, np.ndarray):
            yield ctypes.c_void_p(value.ctypes.data)
        elif isinstance(value, np.generic):
            yield ctypes.c_void_p(np.atleast_1d(value).ctypes.data)
        else:
            yield value


def _call(function, *arguments):
    kept = [np.atleast_1d(a) if isinstance(a, np.generic) else a for a in arguments]
    assert function(None, *_arguments(kept)) == 0


def _op(matrix, operation):
    return (matrix, matrix.T, matrix.conj().T)[operation]


def _close(found, expected):
    single = found.dtype in (np.float32, np.complex64)
    np.testing.assert_allclose(found, expected, rtol=2e-4 if single else 1e-11, atol=2e-4 if single else 1e-11)


@pytest.mark.parametrize("letter", TYPES)
@pytest.mark.parametrize("ta", (N, T, C))
@pytest.mark.parametrize("tb", (N, T, C))
def test_gemm(cublas, letter, ta, tb):
    dtype, m, n, k = TYPES[letter], 37, 21, 300
    a, b = _random(dtype, *((m, k) if ta == N else (k, m))), _random(dtype, *((k, n) if tb == N else (n, k)), seed=1)
    c = _random(dtype, m + 3, n, seed=2)
    alpha, beta = dtype(1.5), dtype(-0.5)
    expected = c.copy()
    expected[:m] = alpha * (_op(a, ta) @ _op(b, tb)) + beta * c[:m]
    _call(cublas[f"cublas{letter}gemm_v2"], ta, tb, m, n, k, alpha, a, a.shape[0], b, b.shape[0], beta, c, m + 3)
    _close(c, expected)


def test_gemm_skips_c_when_beta_is_zero(cublas):
    a, c = _random(np.float32, 5, 5), np.full((5, 5), np.nan, np.float32, order="F")
    _call(cublas.cublasSgemm_v2, N, N, 5, 5, 5, np.float32(1), a, 5, a, 5, np.float32(0), c, 5)
    _close(c, a @ a)


def test_a_large_gemm_takes_less_than_a_second(cublas):
    a, b, c = (
        _random(np.float32, 1024, 1024),
        _random(np.float32, 1024, 1024, seed=1),
        np.zeros((1024, 1024), np.float32, "F"),
    )
    begin = time.process_time()
    _call(cublas.cublasSgemm_v2, N, N, 1024, 1024, 1024, np.float32(1), a, 1024, b, 1024, np.float32(0), c, 1024)
    assert time.process_time() - begin < 1
    np.testing.assert_allclose(c, a @ b, rtol=1e-3, atol=1e-3)


def test_half_precision_sums_are_single_precision(cublas):
    a = _random(np.float16, 64, 2048)
    c = np.zeros((64, 64), np.float16, "F")
    one, zero = np.float32(1), np.float32(0)
    _call(cublas.cublasGemmEx, N, T, 64, 64, 2048, one, a, R_16F, 64, a, R_16F, 64, zero, c, R_16F, 64, 68, -1)
    wide = a.astype(np.float32)
    np.testing.assert_allclose(c, (wide @ wide.T).astype(np.float16), rtol=2e-3, atol=0.1)


def test_integer_products_are_exact(cublas):
    rng = np.random.default_rng(3)
    a, b = (np.asfortranarray(rng.integers(-128, 128, (40, 40), np.int8)) for _ in range(2))
    c = np.zeros((40, 40), np.int32, "F")
    _call(
        cublas.cublasGemmEx, N, N, 40, 40, 40, np.int32(1), a, R_8I, 40, b, R_8I, 40, np.int32(0), c, R_32I, 40, 72, -1
    )
    np.testing.assert_array_equal(c, a.astype(np.int32) @ b.astype(np.int32))


def test_batches_by_stride_and_by_pointer(cublas):
    a, b = _random(np.float64, 4, 5, 7), _random(np.float64, 5, 6, 7, seed=1)
    expected = np.stack([a[..., i] @ b[..., i] for i in range(7)], -1)
    c = np.zeros((4, 6, 7), order="F")
    strided = cublas.cublasDgemmStridedBatched
    one, zero = np.array([1.0]), np.array([0.0])
    size = ctypes.c_longlong
    assert strided(None, N, N, 4, 6, 5, *_arguments([one, a]), 4, size(20), *_arguments([b]), 5, size(30),
                   *_arguments([zero, c]), 4, size(24), 7) == 0  # fmt: skip
    _close(c, expected)
    c[:] = 0
    pointers = [(ctypes.c_void_p * 7)(*(m.ctypes.data + i * m.strides[2] for i in range(7))) for m in (a, b, c)]
    assert cublas.cublasDgemmBatched(None, N, N, 4, 6, 5, *_arguments([one]), pointers[0], 4, pointers[1], 5,
                                     *_arguments([zero]), pointers[2], 4, 7) == 0  # fmt: skip
    _close(c, expected)


@pytest.mark.parametrize("letter", TYPES)
def test_vectors(cublas, letter):
    dtype = TYPES[letter]
    real = dtype(0).real.dtype.type
    x, y = _random(dtype, 100), _random(dtype, 100, seed=1)
    old, alpha = y.copy(), dtype(2.5)
    _call(cublas[f"cublas{letter}axpy_v2"], 50, alpha, x, 2, y, 1)
    _close(y[:50], alpha * x[::2] + old[:50])
    for name, expected in (("u", x @ y), ("c", x.conj() @ y)) if letter in "CZ" else (("", x @ y),):
        result = np.zeros(1, dtype)
        _call(cublas[f"cublas{letter}dot{name}_v2"], 100, x, 1, y, 1, result)
        _close(result, [expected])
    norm, total, index = np.zeros(1, real), np.zeros(1, real), np.zeros(1, np.int32)
    prefix = {"S": "S", "D": "D", "C": "Sc", "Z": "Dz"}[letter]
    _call(cublas[f"cublas{prefix}nrm2_v2"], 100, x, 1, norm)
    _call(cublas[f"cublas{prefix}asum_v2"], 100, x, 1, total)
    _call(cublas[f"cublasI{letter.lower()}amax_v2"], 100, x, 1, index)
    _close(norm, [np.linalg.norm(x)])
    _close(total, [np.sum(np.abs(x.real) + np.abs(x.imag))])
    assert index[0] == np.argmax(np.abs(x.real) + np.abs(x.imag)) + 1
    _call(cublas[f"cublas{letter}scal_v2"], 100, alpha, x, 1)
    _close(x, alpha * _random(dtype, 100))


@pytest.mark.parametrize("letter", TYPES)
@pytest.mark.parametrize("operation", (N, T, C))
def test_matrix_and_vector(cublas, letter, operation):
    dtype = TYPES[letter]
    a, x, y = _random(dtype, 30, 20), _random(dtype, 30, seed=1), _random(dtype, 30, seed=2)
    rows, columns = (30, 20) if operation == N else (20, 30)
    expected = dtype(2) * (_op(a, operation) @ x[:columns]) + dtype(3) * y[:rows]
    _call(cublas[f"cublas{letter}gemv_v2"], operation, 30, 20, dtype(2), a, 30, x, 1, dtype(3), y, 1)
    _close(y[:rows], expected)
    expected = a + np.outer(x, y[:20])
    _call(cublas[f"cublas{letter}{'geru' if letter in 'CZ' else 'ger'}_v2"], 30, 20, dtype(1), x, 1, y, 1, a, 30)
    _close(a, expected)


@pytest.mark.parametrize("letter", TYPES)
@pytest.mark.parametrize("fill", (LOWER, UPPER))
@pytest.mark.parametrize("operation", (N, T, C))
@pytest.mark.parametrize("unit", (0, 1))
def test_triangles(cublas, letter, fill, operation, unit):
    dtype, n = TYPES[letter], 12
    stored = _random(dtype, n, n) + n * np.eye(n, dtype=dtype)
    stored = np.asfortranarray(stored)
    triangle = np.tril(stored) if fill == LOWER else np.triu(stored)
    if unit:
        np.fill_diagonal(triangle, 1)
        stored[:] = stored / n
        triangle = np.tril(stored, -1) if fill == LOWER else np.triu(stored, 1)
        triangle += np.eye(n, dtype=dtype)
    matrix = _op(triangle, operation)
    x = _random(dtype, n, seed=1)
    _call(cublas[f"cublas{letter}trmv_v2"], fill, operation, unit, n, stored, n, x, 1)
    _close(x, matrix @ _random(dtype, n, seed=1))
    _call(cublas[f"cublas{letter}trsv_v2"], fill, operation, unit, n, stored, n, x, 1)
    _close(x, _random(dtype, n, seed=1))
    packed = np.concatenate([stored[j:, j] if fill == LOWER else stored[: j + 1, j] for j in range(n)])
    _call(cublas[f"cublas{letter}tpmv_v2"], fill, operation, unit, n, packed, x, 1)
    _close(x, matrix @ _random(dtype, n, seed=1))
    for side, shape in ((LEFT, (n, 5)), (RIGHT, (5, n))):
        b = _random(dtype, *shape, seed=2)
        old = b.copy()
        _call(cublas[f"cublas{letter}trsm_v2"], side, fill, operation, unit, *shape, dtype(2), stored, n, b, shape[0])
        _close(matrix @ b if side == LEFT else b @ matrix, 2 * old)
        out = np.zeros_like(b)
        _call(cublas[f"cublas{letter}trmm_v2"], side, fill, operation, unit, *shape, dtype(1), stored, n, b, shape[0],
              out, shape[0])  # fmt: skip
        _close(out, 2 * old)


@pytest.mark.parametrize("letter", TYPES)
@pytest.mark.parametrize("fill", (LOWER, UPPER))
def test_symmetric_products_and_updates(cublas, letter, fill):
    dtype, n, k = TYPES[letter], 9, 6
    inside = np.tril(np.ones((n, n), bool)) if fill == LOWER else np.triu(np.ones((n, n), bool))
    square, b = _random(dtype, n, n), _random(dtype, n, k, seed=1)
    whole = np.where(inside, square, square.T)
    out = np.zeros((n, k), dtype, "F")
    _call(cublas[f"cublas{letter}symm_v2"], LEFT, fill, n, k, dtype(1), square, n, b, n, dtype(0), out, n)
    _close(out, whole @ b)
    c = square.copy("F")
    _call(cublas[f"cublas{letter}syrk_v2"], fill, N, n, k, dtype(2), b, n, dtype(1), c, n)
    _close(c, np.where(inside, 2 * b @ b.T + square, square))
    if letter not in "CZ":
        return
    real = dtype(0).real.dtype.type
    hermitian = np.where(inside, square, square.conj().T)
    np.fill_diagonal(hermitian, square.diagonal().real)
    _call(cublas[f"cublas{letter}hemm_v2"], LEFT, fill, n, k, dtype(1), square, n, b, n, dtype(0), out, n)
    _close(out, hermitian @ b)
    for operation, matrix in ((N, b), (C, np.asfortranarray(b.conj().T))):
        c = np.asfortranarray(hermitian)
        _call(cublas[f"cublas{letter}herk_v2"], fill, operation, n, k, real(2), matrix, matrix.shape[0], real(1), c, n)
        _close(c[inside], (2 * b @ b.conj().T + hermitian)[inside])


def test_geam_and_dgmm(cublas):
    a, b, c = _random(np.float32, 6, 4), _random(np.float32, 4, 6, seed=1), np.zeros((6, 4), np.float32, "F")
    _call(cublas.cublasSgeam, N, T, 6, 4, np.float32(2), a, 6, np.float32(3), b, 4, c, 6)
    _close(c, 2 * a + 3 * b.T)
    x = _random(np.float32, 6, seed=2)
    _call(cublas.cublasSdgmm, LEFT, 6, 4, a, 6, x, 1, c, 6)
    _close(c, x[:, None] * a)


def test_batched_factors_solve(cublas):
    a, b = _random(np.float64, 8, 8), _random(np.float64, 8, 3, seed=1)
    factors, right = a.copy("F"), b.copy("F")
    pointer = ctypes.c_void_p * 1
    pivots, info = np.zeros(8, np.int32), np.zeros(1, np.int32)
    _call(cublas.cublasDgetrfBatched, 8, pointer(factors.ctypes.data), 8, pivots, info, 1)
    expected, order = scipy.linalg.lu_factor(a)
    _close(factors, expected)
    np.testing.assert_array_equal(pivots, order + 1)
    for operation in (N, T):
        right[:] = b
        _call(cublas.cublasDgetrsBatched, operation, 8, 3, pointer(factors.ctypes.data), 8, pivots,
              pointer(right.ctypes.data), 8, info, 1)  # fmt: skip
        _close(_op(a, operation) @ right, b)


def test_a_missing_function_says_not_supported(cublas):
    assert cublas.cublasSgelsBatched() == 15
