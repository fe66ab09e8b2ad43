"""The cuSPARSE stand-in against scipy.sparse."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

INDEX_32, BASE_0, R_64F = 2, 0, 1
AS_IS, TRANSPOSED = 0, 1
BY_COLUMNS, BY_ROWS = 1, 2
LOWER, UPPER = 0, 1


@pytest.fixture(scope="module")
def cusparse(stand_in):
    return stand_in("libcusparse.so.12")


def _pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


def _size(value):
    return ctypes.c_int64(value)


def _matrix(seed=0, shape=(30, 20), density=0.2):
    return scipy.sparse.random_array(shape, density=density, rng=np.random.default_rng(seed), format="csr")


def _descriptor(cusparse, matrix):
    made = ctypes.c_void_p()
    sizes = [_size(n) for n in (*matrix.shape, matrix.nnz)]
    if matrix.format == "coo":
        parts, types = (*matrix.coords, matrix.data), (INDEX_32, BASE_0, R_64F)
    else:
        parts, types = (matrix.indptr, matrix.indices, matrix.data), (INDEX_32, INDEX_32, BASE_0, R_64F)
    create = cusparse[f"cusparseCreate{matrix.format.capitalize()}"]
    assert create(ctypes.byref(made), *sizes, *map(_pointer, parts), *types) == 0
    return made


def _vector(cusparse, values):
    made = ctypes.c_void_p()
    assert cusparse.cusparseCreateDnVec(ctypes.byref(made), _size(values.size), _pointer(values), R_64F) == 0
    return made


def _dense(cusparse, values, order=BY_ROWS):
    made, leading = ctypes.c_void_p(), values.shape[1 if order == BY_ROWS else 0]
    sizes = [_size(n) for n in (*values.shape, leading)]
    assert cusparse.cusparseCreateDnMat(ctypes.byref(made), *sizes, _pointer(values), R_64F, order) == 0
    return made


def _number(value):
    return ctypes.byref(ctypes.c_double(value))


@pytest.mark.parametrize("layout", ("csr", "csc", "coo"))
@pytest.mark.parametrize("operation", (AS_IS, TRANSPOSED))
def test_spmv(cusparse, layout, operation):
    matrix = _matrix()
    matrix = getattr(matrix, f"to{layout}")()
    used = matrix.T if operation else matrix
    x, y = np.arange(used.shape[1], dtype=float), np.ones(used.shape[0])
    expected = 2 * (used @ x) + 3 * y
    assert cusparse.cusparseSpMV(None, operation, _number(2), _descriptor(cusparse, matrix), _vector(cusparse, x),
                                 _number(3), _vector(cusparse, y), R_64F, 0, None) == 0  # fmt: skip
    np.testing.assert_allclose(y, expected)


@pytest.mark.parametrize("order", (BY_COLUMNS, BY_ROWS))
@pytest.mark.parametrize("transposed", (0, 1))
def test_spmm(cusparse, order, transposed):
    matrix, memory = _matrix(), "C" if order == BY_ROWS else "F"
    b = np.array(np.random.default_rng(1).random((7, 20) if transposed else (20, 7)), order=memory)
    c = np.zeros((30, 7), order=memory)
    assert cusparse.cusparseSpMM(None, AS_IS, transposed, _number(1), _descriptor(cusparse, matrix),
                                 _dense(cusparse, b, order), _number(0), _dense(cusparse, c, order), R_64F, 0,
                                 None) == 0  # fmt: skip
    np.testing.assert_allclose(c, matrix @ (b.T if transposed else b))


@pytest.mark.parametrize("fill", (LOWER, UPPER))
@pytest.mark.parametrize("operation", (AS_IS, TRANSPOSED))
def test_triangular_solve(cusparse, fill, operation):
    matrix = scipy.sparse.csr_array(_matrix(shape=(20, 20)) + 5 * scipy.sparse.eye_array(20))
    descriptor = _descriptor(cusparse, matrix)
    assert cusparse.cusparseSpMatSetAttribute(descriptor, 0, ctypes.byref(ctypes.c_int(fill)), ctypes.c_size_t(4)) == 0
    triangle = (scipy.sparse.tril if fill == LOWER else scipy.sparse.triu)(matrix).toarray()
    x, y, work = np.arange(20.0), np.zeros(20), ctypes.c_void_p()
    assert cusparse.cusparseSpSV_createDescr(ctypes.byref(work)) == 0
    assert cusparse.cusparseSpSV_solve(None, operation, _number(2), descriptor, _vector(cusparse, x),
                                       _vector(cusparse, y), R_64F, 0, work) == 0  # fmt: skip
    np.testing.assert_allclose((triangle.T if operation else triangle) @ y, 2 * x, atol=1e-12)


def test_product_of_sparse_matrices(cusparse):
    a, b = _matrix(), _matrix(1, (20, 25))
    expected = scipy.sparse.csr_array(a @ b)
    offsets, made, work = np.zeros(31, np.int32), ctypes.c_void_p(), ctypes.c_void_p()
    assert cusparse.cusparseCreateCsr(ctypes.byref(made), _size(30), _size(25), _size(0), _pointer(offsets), None, None,
                                      INDEX_32, INDEX_32, BASE_0, R_64F) == 0  # fmt: skip
    assert cusparse.cusparseSpGEMM_createDescr(ctypes.byref(work)) == 0
    product = (None, AS_IS, AS_IS, _number(1), _descriptor(cusparse, a), _descriptor(cusparse, b), _number(0), made,
               R_64F, 0, work)  # fmt: skip
    size, buffer = ctypes.c_size_t(), ctypes.create_string_buffer(16)
    for function in ("workEstimation", "compute"):
        for place in (None, buffer):
            assert cusparse[f"cusparseSpGEMM_{function}"](*product, ctypes.byref(size), place) == 0
    rows, columns, entries = ctypes.c_int64(), ctypes.c_int64(), ctypes.c_int64()
    cusparse.cusparseSpMatGetSize(made, ctypes.byref(rows), ctypes.byref(columns), ctypes.byref(entries))
    indices, values = np.zeros(entries.value, np.int32), np.zeros(entries.value)
    assert cusparse.cusparseCsrSetPointers(made, _pointer(offsets), _pointer(indices), _pointer(values)) == 0
    assert cusparse.cusparseSpGEMM_copy(*product) == 0
    found = scipy.sparse.csr_array((values, indices, offsets), shape=(30, 25))
    np.testing.assert_allclose(found.toarray(), expected.toarray())


def test_conversions(cusparse):
    matrix = _matrix()
    dense = np.zeros((30, 20))
    assert cusparse.cusparseSparseToDense(None, _descriptor(cusparse, matrix), _dense(cusparse, dense), 0, None) == 0
    np.testing.assert_array_equal(dense, matrix.toarray())
    offsets, rows, values = np.zeros(21, np.int32), np.zeros(matrix.nnz, np.int32), np.zeros(matrix.nnz)
    assert cusparse.cusparseCsr2cscEx2(
        None, 30, 20, matrix.nnz, _pointer(matrix.data), _pointer(matrix.indptr), _pointer(matrix.indices),
        _pointer(values), _pointer(offsets), _pointer(rows), R_64F, 1, BASE_0, 0, None
    ) == 0  # fmt: skip
    np.testing.assert_array_equal(scipy.sparse.csc_array((values, rows, offsets), shape=(30, 20)).toarray(), dense)
    out = np.zeros(31, np.int32)
    assert cusparse.cusparseXcoo2csr(None, _pointer(matrix.tocoo().coords[0]), matrix.nnz, 30, _pointer(out), 0) == 0
    np.testing.assert_array_equal(out, matrix.indptr)
