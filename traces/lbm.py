"""One step of a lattice-Boltzmann flow in three dimensions: D3Q19, one relaxation time, periodic, one cell a thread.

The model is that of Qian, d'Humieres and Lallemand (Europhysics Letters, 1992). A cell gathers what its neighbours sent
and stores in order (pull), or loads in order and sends to its neighbours (push); the 19 values of a cell lie in as many
arrays (soa) or side by side (aos): Wellein et al., "On the single processor performance of simple lattice Boltzmann
kernels" (Computers & Fluids, 2006).
"""

import itertools
from typing import Literal

import numpy as np

from memsim import Launch, Thread, workload

VELOCITIES = [c for c in itertools.product((-1, 0, 1), repeat=3) if sum(map(abs, c)) <= 2]  # (x, y, z)
WEIGHTS = [(1 / 3, 1 / 18, 1 / 36)[sum(map(abs, c))] for c in VELOCITIES]


def step(t: Thread, source, target, extents, pitch, omega, pull, soa):
    width, height, depth = extents
    x, y, z = t.block_idx.x * t.block_dim.x + t.thread_idx.x, t.block_idx.y, t.block_idx.z
    here = (z * height + y) * pitch + x
    away = []
    for cx, cy, cz in VELOCITIES:
        sign = -1 if pull else 1
        to_x, to_y = (x + (sign * cx + width)) % width, (y + (sign * cy + height)) % height
        away.append(((z + (sign * cz + depth)) % depth * height + to_y) * pitch + to_x)
    f = []
    for q in range(19):
        cell = away[q] if pull else here
        f.append(source[(q, cell) if soa else (cell, q)])
    for q, value in enumerate(collided(f, omega)):
        cell = here if pull else away[q]
        target[(q, cell) if soa else (cell, q)] = value


def collided(f, omega):
    """The values after relaxation towards equilibrium."""
    density = sum(f)
    ux, uy, uz = (sum(c[k] * value for c, value in zip(VELOCITIES, f, strict=True) if c[k]) / density for k in range(3))
    rest = 1.0 - 1.5 * (ux * ux + uy * uy + uz * uz)
    after = []
    for (cx, cy, cz), weight, value in zip(VELOCITIES, WEIGHTS, f, strict=True):
        along = 3.0 * (cx * ux + cy * uy + cz * uz)
        equilibrium = weight * density * (rest + along + 0.5 * along * along)
        after.append(value + omega * (equilibrium - value))
    return after


@workload
def lbm(
    width: int = 64,
    height: int = 64,
    depth: int = 64,
    order: Literal["pull", "push"] = "push",
    layout: Literal["soa", "aos"] = "soa",
    block: int = 64,
    padding: int = 0,
    omega: float = 1.2,
    data_seed: int = 1,
) -> Launch:
    """``width`` x ``height`` x ``depth`` cells of 19 random float32 each, ``padding`` unused ones after each row;
    ``block`` divides the width.
    """
    if min(width, height, depth, block) < 1 or width % block or padding < 0:
        raise ValueError(f"blocks of {block} cells do not divide a width of {width}; give a divisor")
    shape = 19, depth, height, width
    before = np.random.default_rng(data_seed).uniform(0.5, 1, shape).astype(np.float32)

    def laid_out(f: np.ndarray) -> np.ndarray:
        padded = np.pad(f, [(0, 0)] * 3 + [(0, padding)]).reshape(19, -1)
        return padded if layout == "soa" else np.ascontiguousarray(padded.T)

    source = laid_out(before)

    def expected() -> dict[str, np.ndarray]:
        f, c = before.astype(np.float64), np.array(VELOCITIES)

        def streamed(f: np.ndarray) -> np.ndarray:
            return np.stack([np.roll(f[q], (cz, cy, cx), (0, 1, 2)) for q, (cx, cy, cz) in enumerate(VELOCITIES)])

        f = streamed(f) if order == "pull" else f
        density = f.sum(axis=0)
        u = np.einsum("qk,qzyx->kzyx", c, f) / density
        cu, uu = np.einsum("qk,kzyx->qzyx", c, u), (u**2).sum(axis=0)
        weights = np.array(WEIGHTS)[:, None, None, None]
        f = (1 - omega) * f + omega * weights * density * (1 + 3 * cu + 4.5 * cu**2 - 1.5 * uu)
        return {"target": laid_out(f if order == "pull" else streamed(f))}

    arguments = dict(source=source, target=np.zeros_like(source), extents=(width, height, depth), omega=omega)
    return Launch(
        step,
        grid=(width // block, height, depth),
        block=block,
        arguments=arguments | dict(pitch=width + padding, pull=order == "pull", soa=layout == "soa"),
        registers=63,
        expected=expected,
    )
