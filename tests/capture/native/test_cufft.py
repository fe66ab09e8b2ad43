"""The cuFFT stand-in against numpy.fft."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

C2C, R2C, C2R, Z2Z, D2Z, Z2D = 0x29, 0x2A, 0x2C, 0x69, 0x6A, 0x6C
FORWARD, INVERSE = -1, 1


@pytest.fixture(scope="module")
def cufft(stand_in):
    return stand_in("libcufft.so.12")


def _pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


def _plan(cufft, shape, kind, batch=1):
    handle = ctypes.c_int()
    sizes = (ctypes.c_int * len(shape))(*shape)
    assert cufft.cufftPlanMany(ctypes.byref(handle), len(shape), sizes, None, 1, 0, None, 1, 0, kind, batch) == 0
    return handle


def _random(shape, dtype):
    rng = np.random.default_rng(0)
    values = rng.standard_normal(shape)
    return (values + 1j * rng.standard_normal(shape) if np.issubdtype(dtype, np.complexfloating) else values).astype(
        dtype
    )


@pytest.mark.parametrize("n", (1, 2, 7, 16, 30, 97, 121, 360, 1009, 1024))
def test_every_length(cufft, n):
    data = _random((3, n), np.complex128)
    out = np.empty_like(data)
    plan = _plan(cufft, (n,), Z2Z, 3)
    assert cufft.cufftExecZ2Z(plan, _pointer(data), _pointer(out), FORWARD) == 0
    np.testing.assert_allclose(out, np.fft.fft(data), rtol=1e-9, atol=1e-9)
    assert cufft.cufftExecZ2Z(plan, _pointer(out), _pointer(out), INVERSE) == 0
    np.testing.assert_allclose(out, n * data, rtol=1e-9, atol=1e-9 * n)


@pytest.mark.parametrize("shape", ((8,), (6, 9), (4, 6, 10), (5, 3, 7)))
def test_real_transforms_of_every_rank(cufft, shape):
    axes = tuple(range(1, len(shape) + 1))
    data = _random((2, *shape), np.float32)
    spectrum = np.empty((2, *shape[:-1], shape[-1] // 2 + 1), np.complex64)
    assert cufft.cufftExecR2C(_plan(cufft, shape, R2C, 2), _pointer(data), _pointer(spectrum)) == 0
    np.testing.assert_allclose(spectrum, np.fft.rfftn(data, axes=axes), rtol=1e-3, atol=1e-3)
    back = np.empty_like(data)
    assert cufft.cufftExecC2R(_plan(cufft, shape, C2R, 2), _pointer(spectrum), _pointer(back)) == 0
    np.testing.assert_allclose(back, np.prod(shape) * data, rtol=1e-3, atol=1e-2)


def test_real_transform_in_place_is_padded(cufft):
    data = np.zeros((4, 8))
    data[:, :6] = _random((4, 6), np.float64)
    expected = np.fft.rfft2(data[:, :6])
    assert cufft.cufftExecD2Z(_plan(cufft, (4, 6), D2Z), _pointer(data), _pointer(data)) == 0
    np.testing.assert_allclose(data.view(np.complex128), expected, rtol=1e-9, atol=1e-9)


def test_strided_batch(cufft):
    data = _random((10, 4), np.complex64)  # four signals, interleaved
    out, handle = np.empty_like(data), ctypes.c_int()
    ten = (ctypes.c_int * 1)(10)
    assert cufft.cufftPlanMany(ctypes.byref(handle), 1, ten, ten, 4, 1, ten, 4, 1, C2C, 4) == 0
    assert cufft.cufftExecC2C(handle, _pointer(data), _pointer(out), FORWARD) == 0
    np.testing.assert_allclose(out, np.fft.fft(data, axis=0), rtol=1e-4, atol=1e-4)


def test_plans_of_another_type_are_refused(cufft):
    data = _random((8,), np.complex64)
    assert cufft.cufftExecR2C(_plan(cufft, (8,), C2C), _pointer(data), _pointer(data)) == 3
    assert cufft.cufftExecC2C(12345, _pointer(data), _pointer(data), FORWARD) == 1
