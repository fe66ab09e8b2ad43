"""Searching a B+ tree, a query a block and a key of the node a thread: b+tree of Rodinia (Che et al., IISWC 2009).

After Fix, Wilkes and Skadron, "Accelerating Braided B+ Tree Searches on a GPU with CUDA" (A4MMC 2011). All threads read
the node's keys; the one whose two keys enclose the query's descends to its child. ``find`` looks one key up, ``range``
the two ends of a range at once. Nodes lie in the order of their levels, as structs of 517 words: nothing is aligned.
"""

from typing import Literal

import numpy as np

from memsim import Launch, Thread, workload

ORDER = 256  # keys of a node, and threads of a block
# A node's words: number, ORDER + 1 children or records, ORDER + 1 keys, whether it is a leaf, keys used.
CHILD, KEY, NODE = 1, ORDER + 2, 2 * ORDER + 5
LOWEST, HIGHEST = np.iinfo(np.int32).min, np.iinfo(np.int32).max


def find(t: Thread, nodes, records, current, following, key, answers, height):
    query, thread = t.block_idx.x, t.thread_idx.x
    for _ in t.range(height):
        node = current[query] * NODE
        wanted = key[query]
        with t.where(nodes[node + (KEY + thread)] <= wanted):
            encloses = nodes[node + (KEY + 1 + thread)] > wanted
            with t.where(encloses):
                child = nodes[following[query] * NODE + (CHILD + thread)]  # the same node: following is current yet
                with t.where(child < len(nodes) // NODE):
                    following[query] = child
        t.sync()
        with t.where(thread == 0):
            current[query] = following[query]
        t.sync()
    node = current[query] * NODE
    with t.where(nodes[node + (KEY + thread)] == key[query]):
        answers[query] = records[nodes[node + (CHILD + thread)]]


def ends(t: Thread, nodes, current, following, last, last_following, key, last_key, first_record, count, height):
    query, thread = t.block_idx.x, t.thread_idx.x
    for _ in t.range(height):
        node = current[query] * NODE
        wanted = key[query]
        with t.where(nodes[node + (KEY + thread)] <= wanted):
            encloses = nodes[node + (KEY + 1 + thread)] > wanted
            with t.where(encloses):
                following[query] = nodes[node + (CHILD + thread)]
        node = last[query] * NODE
        wanted = last_key[query]
        with t.where(nodes[node + (KEY + thread)] <= wanted):
            encloses = nodes[node + (KEY + 1 + thread)] > wanted
            with t.where(encloses):
                last_following[query] = nodes[node + (CHILD + thread)]
        t.sync()
        with t.where(thread == 0):
            current[query] = following[query]
            last[query] = last_following[query]
        t.sync()
    node = current[query] * NODE
    with t.where(nodes[node + (KEY + thread)] == key[query]):
        first_record[query] = nodes[node + (CHILD + thread)]
    t.sync()
    node = last[query] * NODE
    with t.where(nodes[node + (KEY + thread)] == last_key[query]):
        count[query] = nodes[node + (CHILD + thread)] - first_record[query] + 1


def level(starts: np.ndarray, first_below: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes over children whose smallest keys are ``starts``: (nodes [., NODE], their own smallest keys).

    Nodes are half full, as insertion in order leaves them; a child's number counts from ``first_below``.
    """
    cuts = np.arange(0, max(1, len(starts) - ORDER // 2 + 1), ORDER // 2)
    nodes = np.zeros((len(cuts), NODE), np.int32)
    for node, low, high in zip(nodes, cuts, [*cuts[1:], len(starts)], strict=True):
        own = np.arange(low, high)
        node[CHILD : CHILD + len(own)] = first_below + own
        node[KEY:-2] = HIGHEST
        node[KEY : KEY + len(own)] = starts[own]
        node[KEY] = LOWEST
        node[-1] = len(own) + 1
    return nodes, starts[cuts]


def tree(n: int) -> tuple[np.ndarray, int]:
    """A tree of the keys 0 to n - 1: (its nodes [., NODE], root first; steps from the root to a leaf)."""
    cuts = np.arange(0, max(1, n - ORDER // 2 + 1), ORDER // 2)
    leaves = np.zeros((len(cuts), NODE), np.int32)
    for leaf, low, high in zip(leaves, cuts, [*cuts[1:], n], strict=True):
        leaf[KEY:-2] = HIGHEST
        leaf[KEY] = LOWEST
        leaf[KEY + 1 : KEY + 1 + high - low] = np.arange(low, high)
        leaf[CHILD + 1 : CHILD + 1 + high - low] = np.arange(low, high)
        leaf[-2:] = 1, high - low + 2
    levels, starts = [leaves], cuts
    while len(levels[0]) > 1:
        above, starts = level(starts, 0)
        levels.insert(0, above)
    first = np.cumsum([len(nodes) for nodes in levels])
    for nodes, below in zip(levels[:-1], first[:-1], strict=True):
        nodes[:, CHILD:KEY] += (below * (nodes[:, KEY : KEY + ORDER + 1] != HIGHEST)).astype(np.int32)
    nodes = np.concatenate(levels)
    nodes[:, 0] = np.arange(len(nodes))
    return nodes, len(levels) - 1


@workload
def btree(
    keys: int = 1_000_000,
    queries: int = 10_000,
    variant: Literal["find", "range"] = "find",
    width: int = 3000,
    data_seed: int = 1,
) -> Launch:
    """``queries`` of random keys out of ``keys``, or of ranges of ``width`` (Rodinia: 10,000; 6,000 of 3,000)."""
    if not 1 < width + 1 < keys or queries < 1:
        raise ValueError(f"keys is {keys}, width {width}, queries {queries}; give more keys than width, and a query")
    rng = np.random.default_rng(data_seed)
    nodes, height = tree(keys)
    of_query = lambda dtype: np.zeros(queries, dtype)  # noqa: E731
    common = dict(nodes=nodes.reshape(-1), height=height, current=of_query(np.int64), following=of_query(np.int64))
    if variant == "find":
        key = rng.integers(0, keys, queries, np.int32)
        records = rng.integers(0, 1 << 30, keys, np.int32)
        arguments = common | dict(records=records, key=key, answers=of_query(np.int32))
        expected = {"answers": records[key]}
    else:
        key = rng.integers(0, keys - width, queries, np.int32)
        arguments = common | dict(last=of_query(np.int64), last_following=of_query(np.int64), key=key)
        arguments |= dict(last_key=key + np.int32(width), first_record=of_query(np.int32), count=of_query(np.int32))
        expected = {"first_record": key, "count": np.full(queries, width + 1)}
    return Launch(
        find if variant == "find" else ends,
        grid=queries,
        block=ORDER,
        arguments=arguments,
        registers=24,
        expected=lambda: expected,
    )
