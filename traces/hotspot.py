"""Temperature of a chip from its power, several steps a launch: hotspot of Rodinia (Che et al., IISWC 2009).

A block loads a tile with an apron as wide as the number of steps, and takes the steps in shared memory on ever smaller
parts of it: ghost zones after Meng and Skadron (ICS 2009). So tiles overlap, and rows of stores are 48 bytes long.
"""

import numpy as np

from memsim import Launch, Thread, workload

SIDE = 16  # threads of a block, and cells of its tile with apron
AMBIENT = 80.0


def step(t: Thread, power, before, after, n, steps, rates):
    temperature = t.shared((SIDE, SIDE), np.float32)
    heat = t.shared((SIDE, SIDE), np.float32)
    following = t.shared((SIDE, SIDE), np.float32)
    tx, ty = t.thread_idx.x, t.thread_idx.y
    left, top = (SIDE - 2 * steps) * t.block_idx.x - steps, (SIDE - 2 * steps) * t.block_idx.y - steps
    x, y = left + tx, top + ty
    on_chip = (x >= 0) & (x < n) & (y >= 0) & (y < n)
    with t.where(on_chip):
        temperature[ty, tx] = before[y, x]
        heat[ty, tx] = power[y, x]
    t.sync()
    west, east = np.maximum(tx - 1, -left), np.minimum(tx + 1, n - 1 - left)
    north, south = np.maximum(ty - 1, -top), np.minimum(ty + 1, n - 1 - top)
    by_power, by_x, by_y, by_ambient = rates
    for k in t.range(steps):
        inside = on_chip & (np.minimum(tx, ty) > k) & (np.maximum(tx, ty) < SIDE - 1 - k)
        with t.where(inside):
            here = temperature[ty, tx]
            along_y = temperature[south, tx] + temperature[north, tx] - 2 * here
            along_x = temperature[ty, east] + temperature[ty, west] - 2 * here
            gained = by_power * heat[ty, tx] + by_y * along_y + by_x * along_x + by_ambient * (AMBIENT - here)
            following[ty, tx] = here + gained
        t.sync()
        if k < steps - 1:
            with t.where(inside):
                temperature[ty, tx] = following[ty, tx]
            t.sync()
        else:
            with t.where(inside):
                after[y, x] = following[ty, tx]


@workload
def hotspot(n: int = 1024, steps: int = 2, data_seed: int = 1) -> Launch:
    """``n`` x ``n`` cells of float32, ``steps`` of 1 to 7 a launch (Rodinia's script has 512 and 2)."""
    if n < 1 or not 1 <= steps <= SIDE // 2 - 1:
        raise ValueError(f"n is {n} and steps {steps}; give a positive n, and 1 to {SIDE // 2 - 1} steps")
    rng = np.random.default_rng(data_seed)
    before, power = (rng.uniform(low, high, (n, n)).astype(np.float32) for low, high in ((320, 330), (0, 1)))
    by_power, by_x, by_y, by_ambient = rates = (0.5, 0.1, 0.2, 0.001)

    def expected() -> dict[str, np.ndarray]:
        now = before.astype(np.float64)
        for _ in range(steps):
            padded = np.pad(now, 1, mode="edge")
            along_y = padded[2:, 1:-1] + padded[:-2, 1:-1] - 2 * now
            along_x = padded[1:-1, 2:] + padded[1:-1, :-2] - 2 * now
            now = now + by_power * power + by_x * along_x + by_y * along_y + by_ambient * (AMBIENT - now)
        return {"after": now}

    blocks = -(-n // (SIDE - 2 * steps))
    return Launch(
        step,
        grid=(blocks, blocks),
        block=(SIDE, SIDE),
        arguments=dict(power=power, before=before, after=np.zeros_like(before), n=n, steps=steps, rates=rates),
        registers=36,
        expected=expected,
    )
