"""One step of a breadth-first search over a graph's nodes, a thread each (Harish and Narayanan, HiPC 2007).

The first kernel of Rodinia's bfs (Che et al., IISWC 2009): threads whose node is on the frontier visit its neighbours.
In the first step that is one thread, and all others load a byte.
"""

import numpy as np

from memsim import Launch, Thread, workload

BLOCK = 512


def visit(t: Thread, nodes, edges, frontier, reached, visited, cost, n):
    i = t.global_id
    with t.where(i < n), t.where(frontier[i] != 0):
        frontier[i] = 0
        first = nodes[i, 0]
        for edge in t.range(first, first + nodes[i, 1]):
            other = edges[edge]
            with t.where(visited[other] == 0):
                cost[other] = cost[i] + 1
                reached[other] = 1


@workload
def bfs(n: int = 1 << 16, degree: int = 6, source: int = 0, data_seed: int = 1) -> Launch:
    """A random graph of ``n`` nodes with ``degree`` edges each, at the first step from node ``source``."""
    if n < 1 or degree < 1 or not 0 <= source < n:
        raise ValueError(
            f"n is {n}, degree {degree}, source {source}; give a node or more, an edge or more, and a node"
        )
    edges = np.random.default_rng(data_seed).integers(0, n, n * degree, np.int32)
    nodes = np.stack([np.arange(n, dtype=np.int32) * degree, np.full(n, degree, np.int32)], axis=1)
    at_source = np.zeros(n, np.uint8)
    at_source[source] = 1
    cost = np.where(at_source, 0, -1).astype(np.int32)

    def expected() -> dict[str, np.ndarray]:
        reached = np.zeros(n, np.uint8)
        reached[edges[source * degree : (source + 1) * degree]] = 1
        reached[source] = 0
        found = np.where(reached, 1, cost)
        return {"frontier": np.zeros(n, np.uint8), "reached": reached, "cost": found}

    return Launch(
        visit,
        grid=-(-n // BLOCK),
        block=BLOCK,
        arguments=dict(nodes=nodes, edges=edges, frontier=at_source.copy(), reached=np.zeros(n, np.uint8),
                       visited=at_source, cost=cost.copy(), n=n),
        registers=16,
        expected=expected,
    )  # fmt: skip
