"""The cheapest way down a grid, several rows a launch: Rodinia's pathfinder (Che et al., IISWC 2009).

A block takes the steps in shared memory on ever fewer columns, with a margin at both sides as wide as the steps, so
blocks overlap and their rows begin anywhere in a line.
"""

import numpy as np

from memsim import Launch, Thread, workload

BLOCK = 256


def descend(t: Thread, wall, costs, cheapest, columns, steps):
    last = t.shared(BLOCK, np.int32)
    now = t.shared(BLOCK, np.int32)
    x = t.thread_idx.x
    left = (BLOCK - 2 * steps) * t.block_idx.x - steps
    column = left + x
    on_grid = (column >= 0) & (column < columns)
    with t.where(on_grid):
        last[x] = costs[column]
    t.sync()
    west, east = np.maximum(x - 1, -left), np.minimum(x + 1, columns - 1 - left)
    for k in t.range(steps):
        inside = on_grid & (x > k) & (x < BLOCK - 1 - k)
        with t.where(inside):
            now[x] = np.minimum(np.minimum(last[west], last[x]), last[east]) + wall[k, column]
        t.sync()
        if k < steps - 1:
            with t.where(inside):
                last[x] = now[x]
            t.sync()
    with t.where(on_grid & (x >= steps) & (x < BLOCK - steps)):
        cheapest[column] = now[x]


@workload
def pathfinder(columns: int = 100_000, steps: int = 20, data_seed: int = 1) -> Launch:
    """A grid of ``columns``, of which a launch takes ``steps`` rows, 1 to 127 (Rodinia's script has 100,000 and 20)."""
    if columns < 1 or not 1 <= steps < BLOCK // 2:
        raise ValueError(f"columns is {columns} and steps {steps}; give a positive number, and 1 to {BLOCK // 2 - 1}")
    rng = np.random.default_rng(data_seed)
    wall, costs = rng.integers(0, 10, (steps, columns), np.int32), rng.integers(0, 10, columns, np.int32)

    def expected() -> dict[str, np.ndarray]:
        now = costs
        for row in wall:
            beyond = np.pad(now, 1, mode="edge")
            now = row + np.minimum(np.minimum(beyond[:-2], now), beyond[2:])
        return {"cheapest": now}

    return Launch(
        descend,
        grid=-(-columns // (BLOCK - 2 * steps)),
        block=BLOCK,
        arguments=dict(wall=wall, costs=costs, cheapest=np.zeros(columns, np.int32), columns=columns, steps=steps),
        registers=16,
        expected=expected,
    )
