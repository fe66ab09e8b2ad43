"""The paper's three kernels on 6144 x 6144 matrices, as snapshots of a machine that has been running for a while.

Matrices are zeros that nobody writes, so they take no memory.
"""

from __future__ import annotations

from runpy import run_path

import numpy as np

from memsim import Launch, Thread, workload
from memsim.support.library import find

# From the library's files, which are no package.
add = run_path(str(find("traces", ".py", "matrix_add")))["add"]
mixed = run_path(str(find("traces", ".py", "random_copy")))["mixed"]

N = 6144  # section V of the paper
WINDOW = 256  # most steps of the product that a snapshot may have
SHADOW = 13  # issue slots of a step of the product that wait for no load
GENERATOR = 180  # instructions of two random numbers


def product(t: Thread, a, b, n, steps):
    """`steps` iterations of the naive product's loop over k, which every block enters at a k of its own.

    A block takes n steps, so those that a GPU holds are at unrelated ones.

    The source has int indexes and 64-bit pointers. One step takes 17 issue slots on compute capability 2.0, where a
    multiplication takes two (16 lanes a clock, CUDA C Programming Guide 4.2, table of throughputs): sums for two
    indexes 2, two 64-bit addresses of two multiplications each 8, two loads 2, product and sum 2, loop 3. On the path
    from a datum to the next loads lie four of them: branch, index, two words of the address.
    """
    row = t.block_idx.y * t.block_dim.y + t.thread_idx.y
    column = t.block_idx.x * t.block_dim.x + t.thread_idx.x
    block = t.block_idx.y * t.grid_dim.x + t.block_idx.x
    first = (mixed(block.astype(np.uint32)) % (n - WINDOW)).astype(np.int32)
    first_a, first_b = row * n + first, first * n + column
    for step in t.range(steps):
        at_a, at_b = first_a + step, first_b + step * n
        a[at_a]
        b[at_b]
        t.compute(SHADOW, while_loading=True)


def scattered_copy(t: Thread, a, b, n, generator):
    """Each thread copies a random element. The paper prints no generator, but that it takes 33 to 42 registers.

    Those fit the one in the CUDA SDK of the day, a Mersenne twister of 19 words (MersenneTwister), one per thread:
    to seed 18 words 5 instructions each, two numbers of 25, two remainders of 20 ("below 20 instructions", CUDA C
    Programming Guide 4.2, integer arithmetic). Their order in memory is a hash's here, as random as a twister's.
    """
    thread = t.var(t.global_id, np.uint32)
    row, column = mixed(2 * thread + 1) % n, mixed(2 * thread + 2) % n
    t.compute(generator)
    b[row, column] = a[row, column]


# Registers of a thread: with 20 or fewer the SM is full, as the paper's figure 1 shows the product and the sum; blocks
# of 1024 threads that copy at random do not fit, and three of 256 do.
REGISTERS = {"product": 20, "add": 12, "scattered_copy": 40}


def _launch(kernel, rows: int, columns: int, **arguments) -> Launch:
    return Launch(kernel, (N // columns, N // rows), (columns, rows), arguments, REGISTERS[kernel.__name__])


def _matrix() -> np.ndarray:
    return np.zeros((N, N), np.int32)


@workload
def naive_product(rows: int = 16, columns: int = 16, steps: int = 192) -> Launch:
    a, b = _matrix().ravel(), _matrix().ravel()
    return _launch(product, rows, columns, a=a, b=b, n=N, steps=steps)


@workload
def matrix_sum(rows: int = 16, columns: int = 16) -> Launch:
    return _launch(add, rows, columns, a=_matrix(), b=_matrix(), c=_matrix())


@workload
def random_elements(rows: int = 16, columns: int = 16, generator: int = GENERATOR) -> Launch:
    return _launch(scattered_copy, rows, columns, a=_matrix(), b=_matrix(), n=N, generator=generator)
