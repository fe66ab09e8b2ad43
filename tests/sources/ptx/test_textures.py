"""Texture fetches and surface accesses against a model in numpy (CUDA C++ programming guide, "Texture Fetching")."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from texture_launches import RESULT, launch_of, random_texels

from memsim.gpu.presets import load_gpu
from memsim.sources.ptx import execute
from memsim.sources.ptx.textures import (
    BORDERED,
    CLAMP,
    LINEAR,
    MIRROR,
    POINT,
    WRAP,
)
from memsim.sources.ptx.trace import trace_launch
from memsim.support.errors import InputError
from memsim.trace.schema import OpKind, Space

# Their loops take longest to compile; `make check` runs them.
pytestmark = pytest.mark.slow


def fetched(body: str, texels: np.ndarray, coordinates: np.ndarray, **settings) -> np.ndarray:
    launch, memory, out = launch_of(body, texels, coordinates, **settings)
    execute(launch, memory)
    return out


def model(texels: np.ndarray, x: np.ndarray, modes, filtering, normalized, border) -> np.ndarray:
    """One fetch from texels as numbers, [..., component], by coordinates x, y, z."""
    extents = texels.shape[-2::-1]
    scaled = [float(c) * n if normalized else float(c) for c, n in zip(x, extents, strict=False)]
    if filtering == LINEAR:
        scaled = [one - 0.5 for one in scaled]
    low = [int(np.floor(one)) for one in scaled]
    weights = [np.round((one - at) * 256) / 256 for one, at in zip(scaled, low, strict=True)]
    total = np.zeros(texels.shape[-1])
    for corner in itertools.product((0, 1), repeat=len(extents)) if filtering == LINEAR else [(0,) * len(extents)]:
        share, place = 1.0, []
        for up, at, weight, n, mode in zip(corner, low, weights, extents, modes, strict=False):
            share *= (weight if up else 1 - weight) if filtering == LINEAR else 1.0
            i = at + up
            if mode == BORDERED and not 0 <= i < n:
                place.append(None)
            elif mode == WRAP and normalized:
                place.append(i % n)
            elif mode == MIRROR and normalized:
                place.append([*range(n), *reversed(range(n))][i % (2 * n)])
            else:
                place.append(min(max(i, 0), n - 1))
        value = np.full(len(total), border) if None in place else texels[tuple(reversed(place))].astype(np.float64)
        total += share * value
    return total


COORDINATES = np.random.default_rng(3).uniform(-1.5, 2.5, (32, 3)).astype(np.float32)


@pytest.mark.parametrize("mode", (WRAP, CLAMP, MIRROR, BORDERED))
@pytest.mark.parametrize("filtering", (POINT, LINEAR))
@pytest.mark.parametrize("normalized", (True, False))
@pytest.mark.parametrize("shape", ((9, 2), (5, 7, 1), (3, 4, 6, 4)))
def test_fetch_filters_and_addresses(shape, normalized, filtering, mode):
    texels, dimensions = random_texels(shape, np.float32), len(shape) - 1
    at = COORDINATES[:, :dimensions] * (1 if normalized else np.array(shape[-2::-1], np.float32))
    names = ["{%f2}", "{%f2, %f3}", "{%f2, %f3, %f4, %f4}"][dimensions - 1]
    body = f"tex.{dimensions}d.v4.f32.f32 {RESULT}, [%rd1, {names}];"
    modes, border = (mode,) * 3, 0.25
    found = fetched(body, texels, at, modes=modes, filter=filtering, normalized=normalized, border=(border,) * 4).view(
        np.float32
    )
    expected = [model(texels, x, modes, filtering, normalized, border) for x in at]
    np.testing.assert_allclose(found[:, : shape[-1]], expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", ("u1", "i1", "u2", "i2"))
def test_integers_are_read_as_fractions(dtype):
    texels = random_texels((5, 7, 4), dtype)
    largest = np.iinfo(dtype).max
    numbers = np.maximum(texels.astype(np.float64) / largest, -1)
    body = f"tex.2d.v4.f32.f32 {RESULT}, [%rd1, {{%f2, %f3}}];"
    found = fetched(body, texels, COORDINATES[:, :2], normalized_float=True, filter=LINEAR, normalized=True)
    modes = (CLAMP,) * 3
    expected = [model(numbers, x, modes, LINEAR, True, 0.0) for x in COORDINATES[:, :2]]
    np.testing.assert_allclose(found.view(np.float32), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", ("u1", "i1", "i2", "u4", "i4", "f4", "f2"))
def test_linear_memory_is_read_by_number(dtype):
    texels = random_texels((20, 1), dtype)
    at = np.arange(-4, 28, dtype=np.int32)[:, None]
    kind = {"f": "f32", "i": "s32", "u": "u32"}[np.dtype(dtype).kind]
    found = fetched(f"tex.1d.v4.{kind}.s32 {RESULT}, [%rd1, {{%r2}}];", texels, at, linear_memory=True)[:, 0]
    known = found.view({"f": np.float32, "i": np.int32, "u": np.uint32}[np.dtype(dtype).kind])
    assert known.tolist() == [texels[i, 0] if 0 <= i < 20 else 0 for i in range(-4, 28)]


def test_layers_are_clamped_and_not_filtered():
    texels = random_texels((3, 4, 6, 1), np.float32)
    at = np.zeros((32, 3), np.float32)
    at[:, 0] = np.arange(-8, 24).astype(np.int32).view(np.float32)
    at[:, 1:] = COORDINATES[:, :2]
    body = f"tex.a2d.v4.f32.f32 {RESULT}, [%rd1, {{%r2, %f3, %f4, %f4}}];"
    found = fetched(body, texels, at, layered=True, filter=LINEAR, normalized=True, modes=(WRAP,) * 3)
    layers = np.clip(np.arange(-8, 24).astype(np.uint32), 0, 2)  # numbers without a sign
    expected = [model(texels[k], x[1:], (WRAP,) * 3, LINEAR, True, 0.0)[0] for k, x in zip(layers, at, strict=True)]
    np.testing.assert_allclose(found[:, 0].view(np.float32), expected, rtol=1e-6, atol=1e-6)


def test_gather_gives_four_texels():
    texels = np.arange(12, dtype=np.float32).reshape(3, 4, 1)
    at = np.full((32, 2), 1.5, np.float32)
    found = fetched(f"tld4.r.2d.v4.f32.f32 {RESULT}, [%rd1, {{%f2, %f3}}];", texels, at).view(np.float32)
    assert found[0].tolist() == [9, 10, 6, 5]


def test_surface_stores_and_loads_count_bytes():
    texels = np.zeros((4, 16, 1), np.uint32)
    at = np.stack([4 * (np.arange(32) % 16), np.arange(32) // 16], 1).astype(np.int32)
    body = (
        "sust.b.2d.b32.trap [%rd1, {%r2, %r3}], {%r1};"
        "mov.b32 %r10, 0; suld.b.2d.b32.trap {%r6}, [%rd1, {%r2, %r10}];"
        "suld.b.2d.b32.zero {%r7}, [%rd1, {%r2, 9}];"
        "suq.width.b32 %r8, [%rd1];"
    )
    found = fetched(body, texels, at)
    assert texels[:2, :, 0].tolist() == np.arange(32).reshape(2, 16).tolist()
    assert found[:, 0].tolist() == [k % 16 for k in range(32)]
    assert set(found[:, 1]) == {0} and set(found[:, 2]) == {16}


def test_surface_store_outside_is_an_error():
    launch, memory, _ = launch_of(
        "sust.b.1d.b32.trap [%rd1, {%r2}], {%r1};", np.zeros((8, 1), np.uint32), np.full((32, 1), 32, np.int32)
    )
    with pytest.raises(InputError, match="write of 4 bytes at 0x"):
        execute(launch, memory)


def test_trace_has_the_texels_of_a_fetch(tmp_path):
    """Four rows of texels per lane at most; the two texels of a row share a sector but at its end."""
    texels, at = random_texels((8, 64, 1), np.float32), np.zeros((32, 2), np.float32)
    at[:, 0], at[:, 1] = np.arange(32) + 1, 3.0
    launch, memory, _ = launch_of(f"tex.2d.v4.f32.f32 {RESULT}, [%rd1, {{%f2, %f3}}];", texels, at, filter=LINEAR)
    trace = trace_launch(launch, memory, tmp_path / "t.h5", load_gpu("tesla-v100"), check=True)
    fetches = [k for k, op in enumerate(trace.ops) if op.space is Space.texture]
    assert [trace.ops[k].kind for k in fetches] == [OpKind.load] and trace.ops[fetches[0]].width == 4
    masks = [mask for chunk in trace.chunks() for mask in chunk.mask[np.isin(chunk.op, fetches)].tolist()]
    assert [mask.bit_count() for mask in masks] == [32, 4, 32, 4]
