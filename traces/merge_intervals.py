"""Merging sorted runs by short intervals: the last step of a pass of the CUDA sample mergeSort.

Satish, Harris and Garland, "Designing Efficient Sorting Algorithms for Manycore GPUs" (IPDPS 2009), section 5. Every
128th key of two runs, and its rank in the other run, cut both into intervals of at most 128 keys. A block merges one
interval of either run in shared memory; intervals begin anywhere, so that most loads and stores straddle lines.
"""

import numpy as np

from memsim import Launch, Thread, workload

SAMPLE = 128  # keys between samples, and threads of a block


def intervals(t: Thread, keys, values, limits_a, limits_b, sorted_keys, sorted_values, run):
    key = t.shared(2 * SAMPLE, np.int32)
    value = t.shared(2 * SAMPLE, np.int32)
    bounds = t.shared(4, np.int32)
    tid, block = t.thread_idx.x, t.block_idx.x
    interval = block % (2 * run // SAMPLE)
    base = (block - interval) * SAMPLE
    with t.where(tid == 0):
        end_a, end_b = t.var(run), t.var(run)
        start_a, start_b = limits_a[block], limits_b[block]
        with t.where(interval + 1 < 2 * run // SAMPLE):
            end_a.set(limits_a[block + 1])
            end_b.set(limits_b[block + 1])
        bounds[0] = start_a
        bounds[1] = start_b
        bounds[2] = end_a - start_a
        bounds[3] = end_b - start_b
    t.sync()
    from_a, from_b, count_a, count_b = (bounds[k] for k in range(4))
    in_a, in_b = tid < count_a, tid < count_b
    with t.where(in_a):
        key[tid] = keys[base + from_a + tid]
        value[tid] = values[base + from_a + tid]
    with t.where(in_b):
        key[SAMPLE + tid] = keys[base + run + from_b + tid]
        value[SAMPLE + tid] = values[base + run + from_b + tid]
    t.sync()
    a, value_a, place_a = t.var(0), t.var(0), t.var(0)
    b, value_b, place_b = t.var(0), t.var(0), t.var(0)
    with t.where(in_a):
        a.set(key[tid])
        value_a.set(value[tid])
        place_a.set(tid + rank(t, a, key, SAMPLE, count_b, np.less))
    with t.where(in_b):
        b.set(key[SAMPLE + tid])
        value_b.set(value[SAMPLE + tid])
        place_b.set(tid + rank(t, b, key, 0, count_a, np.less_equal))
    t.sync()
    with t.where(in_a):
        key[place_a] = a
        value[place_a] = value_a
    with t.where(in_b):
        key[place_b] = b
        value[place_b] = value_b
    t.sync()
    to = base + from_a + from_b
    with t.where(in_a):
        sorted_keys[to + tid] = key[tid]
        sorted_values[to + tid] = value[tid]
    with t.where(in_b):
        sorted_keys[to + count_a + tid] = key[count_a + tid]
        sorted_values[to + count_a + tid] = value[count_a + tid]


def rank(t: Thread, sought, key, first, count, before):
    """How many of `count` keys from `first` on come before the sought one, by halving."""
    found = t.var(0)
    with t.where(count > 0):
        for halving in t.range(SAMPLE.bit_length()):
            tried = np.minimum(found + (SAMPLE >> halving), count)
            with t.where(before(key[first + tried - 1], sought)):
                found.set(tried)
    return found


def limits(keys: np.ndarray, run: int) -> tuple[np.ndarray, np.ndarray]:
    """Where the intervals of every pair of runs begin, in the first run and in the second."""
    at = np.arange(0, run, SAMPLE)
    pairs = keys.reshape(-1, 2, run)
    in_a = [np.sort(np.concatenate([at, np.searchsorted(a, b[at], side="right")])) for a, b in pairs]
    in_b = [np.sort(np.concatenate([np.searchsorted(b, a[at], side="left"), at])) for a, b in pairs]
    return np.concatenate(in_a).astype(np.int32), np.concatenate(in_b).astype(np.int32)


@workload
def merge_intervals(n: int = 1 << 19, run: int = 1 << 14, data_seed: int = 1) -> Launch:
    """``n`` random int32 with values, in sorted runs of ``run``, a multiple of 128: pairs of runs become one."""
    if run < SAMPLE or run % SAMPLE or n < 1 or n % (2 * run):
        raise ValueError(f"n is {n} and run {run}; give a multiple of {SAMPLE} as run, and of two runs as n")
    keys = np.random.default_rng(data_seed).integers(0, n, n, np.int32)
    keys = np.sort(keys.reshape(-1, run), axis=1).reshape(-1)
    values = np.arange(n, dtype=np.int32)
    limits_a, limits_b = limits(keys, run)

    def expected() -> dict[str, np.ndarray]:
        order = np.argsort(keys.reshape(-1, 2 * run), axis=1, kind="stable")
        order = (order + np.arange(0, n, 2 * run)[:, None]).reshape(-1)
        return {"sorted_keys": keys[order], "sorted_values": values[order]}

    arguments = dict(keys=keys, values=values, limits_a=limits_a, limits_b=limits_b)
    arguments |= dict(sorted_keys=np.zeros_like(keys), sorted_values=np.zeros_like(values), run=run)
    return Launch(intervals, grid=n // SAMPLE, block=SAMPLE, arguments=arguments, registers=32, expected=expected)
