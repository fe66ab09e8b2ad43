"""Texture fetches and surface accesses of machine code give the bits of the PTX machine."""

from __future__ import annotations

import numpy as np
import pytest
from sass_launches import VOLTA, as_machine_code, both_ways, needs_machine_code
from texture_launches import RESULT, launch_of, random_texels

from memsim.gpu.presets import load_gpu
from memsim.sources.ptx.textures import BORDERED, CLAMP, LINEAR, MIRROR, POINT, WRAP
from memsim.sources.ptx.trace import trace_launch
from memsim.trace.schema import Space

pytestmark = [needs_machine_code, pytest.mark.slow]
ALIKE = [VOLTA, 75, 86, 89, 100]  # their forms are those of 8.0 or of 12.0
FROM_MEMORY = "cvt.u64.u32 %rd1, %r5;"
_FLOATS = ("%f2", "%f3", "%f4")
_INTEGERS = ("%r2", "%r3", "%r4")


def _body(geometry: str, kind: str, coordinates: tuple[str, ...], level: str = "") -> str:
    """A fetch with as many elements as PTX wants; its level, if any, is in %r5."""
    of = "s32" if coordinates[0] == "%r3" or coordinates == _INTEGERS[: len(coordinates)] else "f32"
    elements = [*coordinates, coordinates[-1]] if len(coordinates) == 3 else coordinates
    how = f".level.{geometry}" if level else f".{geometry}"
    return f"tex{how}.v4.{kind}.{of} {RESULT}, [%rd1, {{{', '.join(elements)}}}]{', ' * bool(level)}{level};"


def _clear(names: str) -> str:
    """Leave results unused, so that ptxas does not ask for them."""
    return "".join(f"mov.b32 {name}, 0;" for name in names.split())


# name: body, shape of the texels, their type, settings
CASES = {
    "1d": (_body("1d", "f32", _FLOATS[:1]), (9, 2), "f4", {"normalized": True, "modes": (WRAP,) * 3}),
    "1d_linear": (_body("1d", "f32", _FLOATS[:1]), (9, 4), "f4", {"filter": LINEAR, "modes": (BORDERED,) * 3}),
    "1d_level": (_body("1d", "f32", _FLOATS[:1], "%f5"), (9, 4), "f4", {"filter": LINEAR}),
    "2d": (_body("2d", "f32", _FLOATS[:2]), (5, 7, 1), "f4", {"filter": POINT}),
    "2d_linear": (
        _body("2d", "f32", _FLOATS[:2]), (5, 7, 4), "f4",
        {"filter": LINEAR, "normalized": True, "modes": (MIRROR, WRAP, CLAMP)},
    ),
    "2d_level_zero": (_body("2d", "f32", _FLOATS[:2], "0f00000000"), (5, 7, 4), "f4", {"filter": LINEAR}),
    "2d_level": (_body("2d", "f32", _FLOATS[:2], "%f5"), (5, 7, 4), "f2", {"filter": LINEAR}),
    "2d_of_bytes": (_body("2d", "u32", _FLOATS[:2]), (5, 7, 4), "u1", {"modes": (BORDERED,) * 3}),
    "2d_fractions": (_body("2d", "f32", _FLOATS[:2]), (5, 7, 4), "i1", {"normalized_float": True, "filter": LINEAR}),
    "2d_x": (_body("2d", "f32", _FLOATS[:2]) + _clear("%r7 %r8 %r9"), (5, 7, 4), "f4", {}),
    "2d_y": (_body("2d", "f32", _FLOATS[:2]) + _clear("%r6 %r8 %r9"), (5, 7, 4), "f4", {}),
    "2d_yw": (_body("2d", "f32", _FLOATS[:2]) + _clear("%r6 %r8"), (5, 7, 4), "f4", {}),
    "2d_xyw": (_body("2d", "f32", _FLOATS[:2]) + _clear("%r8"), (5, 7, 4), "f4", {}),
    "2d_from_memory": (FROM_MEMORY + _body("2d", "f32", _FLOATS[:2]), (5, 7, 4), "f4", {"filter": LINEAR}),
    "3d": (_body("3d", "f32", _FLOATS), (3, 4, 6, 4), "f4", {"filter": LINEAR, "modes": (CLAMP, BORDERED, CLAMP)}),
    "3d_level": (_body("3d", "f32", _FLOATS, "%f5"), (3, 4, 6, 2), "i2", {"normalized_float": True}),
    "3d_from_memory": (FROM_MEMORY + _body("3d", "f32", _FLOATS), (3, 4, 6, 4), "f4", {"filter": LINEAR}),
    "1d_integers": (_body("1d", "f32", _INTEGERS[:1]), (20, 1), "f4", {"linear_memory": True}),
    "1d_integers_v4": (_body("1d", "s32", _INTEGERS[:1]), (20, 4), "i4", {"linear_memory": True}),
    "1d_integers_from_memory": (
        FROM_MEMORY + _body("1d", "u32", _INTEGERS[:1]), (20, 2), "u2", {"linear_memory": True}
    ),
    "2d_integers": (_body("2d", "s32", _INTEGERS[:2]), (5, 7, 2), "i2", {}),
    "2d_integers_level": (_body("2d", "s32", _INTEGERS[:2], "%r5"), (5, 7, 2), "i2", {}),
    "2d_integers_from_memory": (FROM_MEMORY + _body("2d", "s32", _INTEGERS[:2]), (5, 7, 2), "i2", {}),
    "3d_integers": (_body("3d", "f32", _INTEGERS), (3, 4, 6, 1), "f4", {"modes": (BORDERED,) * 3}),
    "layers_1d": (_body("a1d", "f32", ("%r5", "%f2")), (3, 9, 2), "f4", {"layered": True, "filter": LINEAR}),
    "layers_1d_integers": (_body("a1d", "s32", ("%r5", "%r3")), (3, 9, 2), "i4", {"layered": True}),
    "layers_2d": (
        _body("a2d", "f32", ("%r5", "%f2", "%f3")), (3, 4, 6, 4), "f4", {"layered": True, "filter": LINEAR}
    ),
    "layers_2d_level": (_body("a2d", "f32", ("%r5", "%f2", "%f3"), "%f4"), (3, 4, 6, 1), "f4", {"layered": True}),
    **{
        f"gather_{c}": (f"tld4.{c}.2d.v4.f32.f32 {RESULT}, [%rd1, {{%f2, %f3}}];", (5, 7, 4), "f4", {}) for c in "rgba"
    },
    "gather_from_memory": (
        FROM_MEMORY + f"tld4.b.2d.v4.s32.f32 {RESULT}, [%rd1, {{%f2, %f3}}];", (5, 7, 4), "i1", {}
    ),
    "extents": (
        "txq.width.b32 %r6, [%rd1]; txq.height.b32 %r7, [%rd1]; txq.depth.b32 %r8, [%rd1];", (3, 4, 6, 1), "f4", {}
    ),
    "surface_1d": ("suld.b.1d.v4.b32.clamp {%r6, %r7, %r8, %r9}, [%rd1, {%r2}];", (9, 4), "f4", {}),
    "surface_2d": ("suld.b.2d.v2.b32.zero {%r6, %r7}, [%rd1, {%r2, %r3}];", (5, 7, 2), "f4", {}),
    "surface_3d_bytes": ("suld.b.3d.b8.zero {%h1}, [%rd1, {%r2, %r3, %r4, %r4}]; cvt.u32.u16 %r6, %h1;",
                         (3, 4, 24, 1), "u1", {}),
    "surface_layers": ("suld.b.a2d.b32.zero {%r6}, [%rd1, {%r5, %r2, %r3, %r3}];", (3, 4, 6, 1), "i4",
                       {"layered": True}),
    "surface_from_memory": (FROM_MEMORY + "suld.b.2d.b32.zero {%r6}, [%rd1, {%r2, %r3}];", (8, 7, 1), "i4", {}),
    "surface_store": ("sust.b.2d.v2.b32.zero [%rd1, {%r2, %r3}], {%r4, %r1};", (5, 32, 2), "u4", {}),
    "surface_store_layers": ("cvt.u16.u32 %h1, %r1; sust.b.a1d.b16.zero [%rd1, {%r5, %r2}], {%h1};", (3, 64, 1), "u2",
                             {"layered": True}),
}  # fmt: skip


def _coordinates(name: str) -> np.ndarray:
    """Coordinates around a texture's texels; whole numbers where the case takes them so."""
    rng = np.random.default_rng(3)
    if "integers" in name or "surface" in name:
        found = rng.integers(-2, 10, (32, 4), np.int32)
        if "surface" in name:  # bytes, each lane its own
            found[:, 0] = np.arange(32) * {"surface_1d": 16, "surface_2d": 8, "surface_store": 8}.get(name, 4)
            found[:, 0] %= 24 if name in ("surface_layers", "surface_3d_bytes") else 1 << 20
    else:
        found = rng.uniform(-1.5, 8.5, (32, 4)).astype(np.float32).view(np.int32)
    if "layers" in name:
        found[:, 3] = rng.integers(-2, 5, 32)
    if "from_memory" in name:
        found[:, 3] = 7
    return found


@pytest.mark.parametrize("capability", (80, 90, 120))
@pytest.mark.parametrize("name", CASES)
def test_a_fetch_gives_the_bits_of_ptx(name, capability):
    _compare(name, capability)


@pytest.mark.parametrize("capability", ALIKE)
def test_fetches_of_other_architectures_give_them(capability):
    for name in (
        "1d_linear",
        "2d_xyw",
        "3d_from_memory",
        "2d_integers_level",
        "layers_2d",
        "gather_b",
        "surface_layers",
    ):
        _compare(name, capability)


def _compare(name: str, capability: int) -> None:
    body, shape, dtype, settings = CASES[name]

    def make():
        texels = random_texels(shape, dtype)
        launch, memory, out = launch_of(body, texels, _coordinates(name), **settings)
        return launch, memory, [out, texels]

    expected, found = both_ways(make, capability)
    assert name.startswith("surface_store") or expected[0].any()
    assert [one.tobytes() for one in found] == [one.tobytes() for one in expected]


@pytest.mark.parametrize("geometry", ("cube", "acube"))
def test_a_cube_is_read_as_in_ptx(geometry):
    """Machine code divides a direction by its largest part before the fetch, so that a texel's weight may differ."""
    layers = ("%r5",) * (geometry == "acube")
    elements = ", ".join([*layers, *_FLOATS, "%f4"][:4])
    body = f"tex.{geometry}.v4.f32.f32 {RESULT}, [%rd1, {{{elements}}}];"

    def make():
        texels = random_texels((12, 8, 8, 4), "f4")
        at = _coordinates("cube" + "_layers" * (geometry == "acube"))
        launch, memory, out = launch_of(body, texels, at, filter=LINEAR)
        return launch, memory, [out]

    expected, found = (one[0].view(np.float32) for one in both_ways(make, 80))
    np.testing.assert_allclose(found, expected, atol=0.05)


def test_the_trace_has_the_rows_of_ptx(tmp_path):
    texels, at = random_texels((8, 64, 1), np.float32), np.zeros((32, 2), np.float32)
    at[:, 0], at[:, 1] = np.arange(32) + 1, 3.0
    found = []
    for run in (lambda launch: launch, lambda launch: as_machine_code(launch, 80)):
        launch, memory, _ = launch_of(_body("2d", "f32", _FLOATS[:2]), texels, at, filter=LINEAR)
        trace = trace_launch(run(launch), memory, tmp_path / "t.h5", load_gpu("a100"))
        fetches = [k for k, op in enumerate(trace.ops) if op.space is Space.texture]
        masks = [mask for chunk in trace.chunks() for mask in chunk.mask[np.isin(chunk.op, fetches)].tolist()]
        found.append(([(trace.ops[k].kind, trace.ops[k].width) for k in fetches], masks))
    assert found[0] == found[1]
