"""The cuBLASLt stand-in against numpy."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

R_32F, R_16F, COMPUTE_32F = 0, 2, 68
TRANSA, TRANSB, EPILOGUE, BIAS_POINTER = 3, 4, 7, 8
RELU, BIAS, GELU = 2, 4, 32
ROW_ORDER = 1


class Matmul:
    """One operation with its layouts."""

    def __init__(self, library, **attributes):
        self.library = library
        self.operation = ctypes.c_void_p()
        assert library.cublasLtMatmulDescCreate(ctypes.byref(self.operation), COMPUTE_32F, R_32F) == 0
        for attribute, value in attributes.values():
            kept = ctypes.c_int32(value) if attribute != BIAS_POINTER else ctypes.c_void_p(value)
            size = ctypes.c_size_t(ctypes.sizeof(kept))
            assert library.cublasLtMatmulDescSetAttribute(self.operation, attribute, ctypes.byref(kept), size) == 0

    def layout(self, kind, rows, columns, leading, order=0):
        made = ctypes.c_void_p()
        sizes = (ctypes.c_uint64(rows), ctypes.c_uint64(columns), ctypes.c_int64(leading))
        assert self.library.cublasLtMatrixLayoutCreate(ctypes.byref(made), kind, *sizes) == 0
        value = ctypes.c_int32(order)
        assert self.library.cublasLtMatrixLayoutSetAttribute(made, 1, ctypes.byref(value), ctypes.c_size_t(4)) == 0
        return made

    def run(self, a, a_layout, b, b_layout, d, d_layout):
        one, zero, nothing = ctypes.c_float(1), ctypes.c_float(0), ctypes.c_void_p()
        pointer = [ctypes.c_void_p(matrix.ctypes.data) for matrix in (a, b, d)]
        assert self.library.cublasLtMatmul(
            nothing, self.operation, ctypes.byref(one), pointer[0], a_layout, pointer[1], b_layout, ctypes.byref(zero),
            pointer[2], d_layout, pointer[2], d_layout, nothing, nothing, ctypes.c_size_t(0), nothing
        ) == 0  # fmt: skip


@pytest.fixture(scope="module")
def library(stand_in):
    return stand_in("libcublasLt.so.13")


@pytest.fixture
def matrices():
    rng = np.random.default_rng(0)
    return (np.asfortranarray(rng.standard_normal(shape).astype(np.float32)) for shape in ((6, 8), (8, 5)))


def _gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


@pytest.mark.parametrize(("epilogue", "apply"), [(RELU, lambda x: np.maximum(x, 0)), (GELU, _gelu)])
def test_epilogue_with_bias(library, matrices, epilogue, apply):
    a, b = matrices
    bias, d = np.linspace(-1, 1, 6, dtype=np.float32), np.zeros((6, 5), np.float32, "F")
    one = Matmul(library, epilogue=(EPILOGUE, epilogue | BIAS), bias=(BIAS_POINTER, bias.ctypes.data))
    one.run(a, one.layout(R_32F, 6, 8, 6), b, one.layout(R_32F, 8, 5, 8), d, one.layout(R_32F, 6, 5, 6))
    np.testing.assert_allclose(d, apply(a @ b + bias[:, None]), rtol=1e-5, atol=1e-5)


def test_row_order_and_transposition(library, matrices):
    a, b = matrices
    rows, d = np.ascontiguousarray(a), np.zeros((6, 5), np.float32)
    transposed = np.asfortranarray(b.T)
    one = Matmul(library, b=(TRANSB, 1))
    one.run(rows, one.layout(R_32F, 6, 8, 8, ROW_ORDER), transposed, one.layout(R_32F, 5, 8, 5),
            d, one.layout(R_32F, 6, 5, 5, ROW_ORDER))  # fmt: skip
    np.testing.assert_allclose(d, a @ b, rtol=1e-5, atol=1e-5)


def test_heuristic_returns_one_algorithm(library):
    found, results = ctypes.c_int(), ctypes.create_string_buffer(1024)
    none = ctypes.c_void_p()
    arguments = [none] * 7
    assert library.cublasLtMatmulAlgoGetHeuristic(*arguments, 8, results, ctypes.byref(found)) == 0
    assert found.value == 1


@pytest.mark.parametrize("release", [12, 13])
def test_cublaslt_is_found_through_cublas(stand_in, release):
    assert stand_in(f"libcublas.so.{release}").cublasLtMatmul
