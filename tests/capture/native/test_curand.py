"""The cuRAND stand-in: distributions by a Kolmogorov-Smirnov test, and reproducible sequences."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
import scipy.stats

TYPES = {"xorwow": 101, "mrg32k3a": 121, "mtgp32": 141, "mt19937": 142, "philox": 161}
SOBOL32, SCRAMBLED_SOBOL32, SOBOL64 = 201, 202, 203
N = 20000


@pytest.fixture(scope="module")
def curand(stand_in):
    return stand_in("libcurand.so.10")


class Generator:
    def __init__(self, library, kind, seed=1):
        self.library, self.handle = library, ctypes.c_void_p()
        assert library.curandCreateGenerator(ctypes.byref(self.handle), kind) == 0
        if kind < 200:
            assert library.curandSetPseudoRandomGeneratorSeed(self.handle, ctypes.c_ulonglong(seed)) == 0

    def numbers(self, function, dtype, *parameters, n=N):
        out = np.empty(n, dtype)
        pointer = ctypes.c_void_p(out.ctypes.data)
        assert self.library[f"curandGenerate{function}"](self.handle, pointer, ctypes.c_size_t(n), *parameters) == 0
        return out


@pytest.mark.parametrize("kind", TYPES.values(), ids=TYPES)
def test_distributions(curand, kind):
    one, double = Generator(curand, kind), ctypes.c_double
    uniform = one.numbers("Uniform", np.float32)
    assert uniform.min() > 0 and uniform.max() <= 1
    assert scipy.stats.kstest(uniform, "uniform").pvalue > 1e-4
    assert scipy.stats.kstest(one.numbers("UniformDouble", np.float64), "uniform").pvalue > 1e-4
    normal = one.numbers("NormalDouble", np.float64, double(3), double(2))
    assert scipy.stats.kstest(normal, "norm", (3, 2)).pvalue > 1e-4
    logs = np.log(one.numbers("LogNormalDouble", np.float64, double(1), double(0.5)))
    assert scipy.stats.kstest(logs, "norm", (1, 0.5)).pvalue > 1e-4
    integers = one.numbers("", np.uint32)
    assert scipy.stats.kstest(integers / 2**32, "uniform").pvalue > 1e-4


@pytest.mark.parametrize("mean", (0.5, 10.0, 1000.0))
def test_poisson_has_its_mean_and_variance(curand, mean):
    counts = Generator(curand, TYPES["philox"]).numbers("Poisson", np.uint32, ctypes.c_double(mean))
    assert abs(counts.mean() - mean) < 5 * np.sqrt(mean / N)
    assert counts.var() == pytest.approx(mean, rel=0.06)


def test_seed_and_offset_reproduce_a_sequence(curand):
    first, again, other = (Generator(curand, 101, seed) for seed in (7, 7, 8))
    numbers = first.numbers("Uniform", np.float32, n=100)
    np.testing.assert_array_equal(again.numbers("Uniform", np.float32, n=100), numbers)
    assert not np.array_equal(other.numbers("Uniform", np.float32, n=100), numbers)
    assert curand.curandSetGeneratorOffset(again.handle, ctypes.c_ulonglong(40)) == 0
    np.testing.assert_array_equal(again.numbers("Uniform", np.float32, n=60), numbers[40:])


@pytest.mark.parametrize("kind", (SOBOL32, SCRAMBLED_SOBOL32))
def test_sobol_points_are_spread_evenly(curand, kind):
    one, dimensions, points = Generator(curand, kind), 10, 1024
    assert curand.curandSetQuasiRandomGeneratorDimensions(one.handle, dimensions) == 0
    sample = one.numbers("UniformDouble", np.float64, n=dimensions * points).reshape(dimensions, points).T
    random = np.random.default_rng(0).random((points, dimensions))
    assert scipy.stats.qmc.discrepancy(sample) < 0.1 * scipy.stats.qmc.discrepancy(random)


def test_odd_count_of_normal_numbers_is_refused(curand):
    one, out = Generator(curand, 101), np.empty(3, np.float32)
    pointer = ctypes.c_void_p(out.ctypes.data)
    arguments = (ctypes.c_size_t(3), ctypes.c_float(0), ctypes.c_float(1))
    assert curand.curandGenerateNormal(one.handle, pointer, *arguments) == 105
