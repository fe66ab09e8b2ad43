"""Assigns points to the nearest of some centres, one point a thread: kmeans of Rodinia (Che et al., IISWC 2009).

Centres are in constant memory; every centre reads all features of the point again, a feature of all points after the
other, so that lanes share lines (Rodinia reads them as a texture).
"""

import numpy as np

from memsim import Launch, Thread, workload
from memsim.sources import Constant, Texture


def nearest(t: Thread, features, centres, membership, points, n_centres, n_features):
    point = t.global_id
    with t.where(point < points):
        best, least = t.var(-1), t.var(3.0e38)
        for centre in t.range(n_centres):
            distance = t.var(0.0)
            for j in t.range(n_features):
                difference = features[j, point] - centres[centre, j]
                distance += difference * difference
            with t.where(distance < least):
                least.set(distance)
                best.set(centre)
        membership[point] = best


@workload
def kmeans(points: int = 819200, features: int = 34, centres: int = 5, block: int = 256, data_seed: int = 1) -> Launch:
    """``points`` of ``features`` random float32 each; these sizes are those of Rodinia's script."""
    rng = np.random.default_rng(data_seed)
    values = rng.random((features, points), np.float32)
    middle = rng.random((centres, features), np.float32)

    def expected() -> dict[str, np.ndarray]:
        distances = [((values - each[:, None]) ** 2).sum(axis=0) for each in middle]
        return {"membership": np.argmin(distances, axis=0)}

    return Launch(
        nearest,
        grid=-(-points // block),
        block=block,
        arguments=dict(
            features=Texture(values),
            centres=Constant(middle),
            membership=np.zeros(points, np.int32),
            points=points,
            n_centres=centres,
            n_features=features,
        ),
        registers=20,
        expected=expected,
    )
