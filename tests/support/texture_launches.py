"""A warp that fetches from a texture, and texels for it."""

from __future__ import annotations

import numpy as np

from memsim.sources.ptx import DeviceMemory, PtxLaunch
from memsim.sources.ptx.textures import FLOAT, SIGNED, UNSIGNED, BoundTexture

KINDS = {"f": FLOAT, "i": SIGNED, "u": UNSIGNED}
KERNEL = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 texture, .param .u64 in, .param .u64 out)
{{
.reg .b16 %h<8>; .reg .b32 %r<16>; .reg .b64 %rd<16>; .reg .f32 %f<16>;
ld.param.u64 %rd1, [texture]; ld.param.u64 %rd2, [in]; ld.param.u64 %rd3, [out];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd4, %r1, 16; add.s64 %rd5, %rd2, %rd4; add.s64 %rd6, %rd3, %rd4;
ld.global.v4.b32 {{%r2, %r3, %r4, %r5}}, [%rd5];
mov.b32 %f2, %r2; mov.b32 %f3, %r3; mov.b32 %f4, %r4; mov.b32 %f5, %r5;
mov.b32 %r6, 0; mov.b32 %r7, 0; mov.b32 %r8, 0; mov.b32 %r9, 0;
{body}
st.global.v4.b32 [%rd6], {{%r6, %r7, %r8, %r9}};
ret;
}}
"""
RESULT = "{%r6, %r7, %r8, %r9}"


def launch_of(
    body: str, texels: np.ndarray, coordinates: np.ndarray, **settings
) -> tuple[PtxLaunch, DeviceMemory, np.ndarray]:
    """A warp that runs the body; ``texels`` is [z, y, x, component], with the axes that the texture has."""
    out, memory = np.zeros((32, 4), np.uint32), DeviceMemory()
    given = np.zeros((32, 4), coordinates.dtype)
    given[:, : coordinates.shape[1]] = coordinates
    address = memory.add(texels, "texels")
    extents = (*texels.shape[-2::-1], 0, 0)[:3]
    if settings.get("layered") and texels.ndim == 3:
        extents = (extents[0], 0, extents[1])
    row = extents[0] * texels.shape[-1] * texels.itemsize
    bits = (8 * texels.itemsize,) * texels.shape[-1] + (0,) * (4 - texels.shape[-1])
    kind = KINDS[texels.dtype.kind]
    memory.textures[7] = BoundTexture(address, extents, row, row * max(extents[1], 1), bits, kind, **settings)
    arguments = [7, memory.add(given, "in"), memory.add(out, "out")]
    return PtxLaunch(KERNEL.format(body=body), "k", (1, 1, 1), (32, 1, 1), arguments), memory, out


def random_texels(shape, dtype) -> np.ndarray:
    rng = np.random.default_rng(5)
    if np.dtype(dtype).kind == "f":
        return rng.standard_normal(shape).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype, endpoint=True)
