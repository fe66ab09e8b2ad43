"""Training of a neural network's first layer: the two kernels of Rodinia's backprop (Che et al., IISWC 2009).

``forward`` multiplies 16 inputs a block with their weights to 16 hidden units, sums the products over a tree in shared
memory and, as Rodinia does, leaves the tree where the weights were. ``adjust`` adds the gradient and a share of the
last change (momentum) to every weight; as the arrays may overlap, what is read after a store is loaded again.
"""

from typing import Literal

import numpy as np

from memsim import Launch, Thread, workload

SIDE = 16  # inputs and hidden units of a block
RATE = MOMENTUM = 0.3


def forward(t: Thread, inputs, weights, partial_sums):
    x, y, by = t.thread_idx.x, t.thread_idx.y, t.block_idx.y
    node = t.shared(SIDE, np.float32)
    matrix = t.shared((SIDE, SIDE), np.float32)
    row = SIDE * by + y + 1
    with t.where(x == 0):
        node[y] = inputs[row]
    t.sync()
    matrix[y, x] = weights[row, x + 1]
    t.sync()
    matrix[y, x] = matrix[y, x] * node[y]
    t.sync()
    for distance in (1, 2, 4, 8):
        with t.where(y % (2 * distance) == 0):
            matrix[y, x] = matrix[y, x] + matrix[y + distance, x]
        t.sync()
    weights[row, x + 1] = matrix[y, x]
    t.sync()
    with t.where(x == 0):
        partial_sums[by, y] = matrix[x, y]


def adjust(t: Thread, delta, inputs, weights, changes):
    x, y, by = t.thread_idx.x + 1, t.thread_idx.y, t.block_idx.y
    row = SIDE * by + y + 1
    weights[row, x] = weights[row, x] + (RATE * delta[x] * inputs[row] + MOMENTUM * changes[row, x])
    changes[row, x] = RATE * delta[x] * inputs[row] + MOMENTUM * changes[row, x]
    t.sync()
    with t.where((y == 0) & (by == 0)):
        weights[0, x] = weights[0, x] + (RATE * delta[x] + MOMENTUM * changes[0, x])
        changes[0, x] = RATE * delta[x] + MOMENTUM * changes[0, x]


def summed(weights: np.ndarray, inputs: np.ndarray) -> dict[str, np.ndarray]:
    """What ``forward`` leaves: in each block's row k the sum of as many rows as the lowest bit set in k says."""
    products = (weights[1:, 1:] * inputs[1:, None]).reshape(-1, SIDE, SIDE)
    tree = products.copy()
    for k in range(SIDE):
        tree[:, k] = products[:, k : k + (k & -k or SIDE)].sum(axis=1)
    after = weights.copy()
    after[1:, 1:] = tree.reshape(-1, SIDE)
    return {"weights": after, "partial_sums": products.sum(axis=1)}


@workload
def backprop(inputs: int = 65536, variant: Literal["forward", "adjust"] = "forward", data_seed: int = 1) -> Launch:
    """``inputs``, a multiple of 16 (Rodinia's default is 65536), and 16 hidden units; row and column 0 are the bias."""
    if inputs < SIDE or inputs % SIDE:
        raise ValueError(f"inputs is {inputs}; give a multiple of {SIDE}")
    rng = np.random.default_rng(data_seed)
    units = rng.random(inputs + 1, np.float32)
    units[0] = 1
    weights, changes = rng.random((2, inputs + 1, SIDE + 1), np.float32)
    delta = rng.random(SIDE + 1, np.float32)
    if variant == "forward":
        kernel, expected = forward, summed(weights, units)
        arguments = dict(inputs=units, weights=weights, partial_sums=np.zeros((inputs // SIDE, SIDE), np.float32))
    else:
        change = changes.copy()
        change[:, 1:] = RATE * np.outer(units, delta[1:]) + MOMENTUM * changes[:, 1:]
        added = np.concatenate([np.zeros_like(change[:, :1]), change[:, 1:]], axis=1)
        kernel, expected = adjust, {"weights": weights + added, "changes": change}
        arguments = dict(delta=delta, inputs=units, weights=weights, changes=changes)
    return Launch(
        kernel,
        grid=(1, inputs // SIDE),
        block=(SIDE, SIDE),
        arguments=arguments,
        registers=20,
        expected=lambda: expected,
    )
