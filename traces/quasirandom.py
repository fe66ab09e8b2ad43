"""Quasi-random numbers by a table of direction numbers, the two kernels of the CUDA sample quasirandomGenerator.

``generate`` exclusive-ors one table entry for every bit set in a number's position (Niederreiter, "Low-discrepancy and
low-dispersion sequences", J. Number Theory 1988); a row of threads makes one dimension. ``normal`` maps equidistant
points to normal deviates by the inverse of the cumulative distribution (Moro, "The Full Monte", Risk 1995). Both only
write.
"""

from typing import Literal

import numpy as np
from scipy.special import ndtri

from memsim import Launch, Thread, workload
from memsim.sources import Constant

DIMENSIONS, BITS = 3, 31
SCALE = np.float32(1 / (1 << BITS))
# Moro's coefficients: a rational function in the middle, a polynomial in log(-log(p)) at the ends.
ABOVE = (2.50662823884, -18.61500062529, 41.39119773534, -25.44106049637)
BELOW = (-8.4735109309, 23.08336743743, -21.06224101826, 3.13082909833)
TAIL = (0.337475482272615, 0.976169019091719, 0.160797971491821, 0.0276438810333863, 0.0038405729373609,
        0.0003951896511919, 3.21767881768e-05, 2.888167364e-07, 3.960315187e-07)  # fmt: skip


def generate(t: Thread, table, output, seed, n):
    dimension = t.thread_idx.y
    entries = [table[bit, dimension] for bit in range(BITS)]
    stride = t.block_dim.x * t.grid_dim.x
    for position in t.range(t.block_idx.x * t.block_dim.x + t.thread_idx.x, n, stride):
        data = position + seed
        result = sum((entries[bit] * (data >> bit & 1) for bit in range(1, BITS)), entries[0] * (data & 1))
        output[dimension, position] = (result + 1).astype(np.float32) * SCALE


def deviate(t: Thread, p):
    """The value below which a normal variable falls with probability ``p``."""
    y = p - 0.5
    middle = abs(y) < 0.42
    z = t.select(middle, y * y, np.log(-np.log(np.minimum(p, 1 - p))))
    rational = y * polynomial(ABOVE, z) / (polynomial(BELOW, z) * z + 1)
    tail = polynomial(TAIL, z)
    return t.select(middle, rational, t.select(y < 0, -tail, tail))


def polynomial(coefficients, x):
    value = x * 0 + coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        value = value * x + coefficient
    return value


def normal(t: Thread, output, n, distance):
    for position in t.range(t.global_id, n, t.block_dim.x * t.grid_dim.x):
        output[position] = deviate(t, (position + 1) * distance)


@workload
def quasirandom(
    n: int = 1 << 20, variant: Literal["generate", "normal"] = "generate", grid: int = 128, data_seed: int = 1
) -> Launch:
    """``n`` points of three dimensions, by ``grid`` blocks of 128 x 3 (generate) or 128 threads (normal)."""
    if n < 1 or grid < 1:
        raise ValueError(f"n is {n} and grid {grid}; give positive numbers")
    # One bit an entry and dimension, as in a table of direction numbers a triangle of ones: sums are exclusive-ors.
    order = np.stack([np.random.default_rng([data_seed, d]).permutation(BITS) for d in range(DIMENSIONS)], axis=1)
    table = np.int32(1) << order.astype(np.int32)
    positions = np.arange(n)

    def generated() -> dict[str, np.ndarray]:
        set_bits = positions[:, None] >> np.arange(BITS) & 1
        values = np.stack([set_bits @ table[:, d].astype(np.int64) for d in range(DIMENSIONS)])
        return {"output": (values + 1) / 2.0**BITS}

    if variant == "generate":
        arguments = dict(table=Constant(table), output=np.zeros((DIMENSIONS, n), np.float32), seed=0, n=n)
        return Launch(generate, grid, (128, DIMENSIONS), arguments, registers=40, expected=generated)
    count = DIMENSIONS * n
    arguments = dict(output=np.zeros(count, np.float32), n=count, distance=1 / (count + 1))
    return Launch(
        normal,
        grid=grid,
        block=128,
        arguments=arguments,
        registers=24,
        fast_math=True,  # the sample's logarithms are intrinsics
        expected=lambda: {"output": ndtri(np.arange(1, count + 1) / (count + 1))},
    )
