"""Scores of a linear support vector machine, one sample a thread: a sum over its features.

The three versions that Hong and Kim (ISCA 2009, section 2.4) compare of a face classifier's kernel: ``naive`` has all
in global memory, samples one after the other; ``constant`` has the weights in constant memory; ``optimized`` also has
the samples by feature, so that accesses coalesce. One load a feature and one store are table 5's 819 accesses.
"""

from typing import Literal

import numpy as np

from memsim import Launch, Thread, workload
from memsim.sources import Constant


def score(t: Thread, samples, weights, out, n, features, by_feature, steps, extra):
    sample = t.global_id
    with t.where(sample < n):
        total = t.var(0.0)
        for feature in t.range(steps):
            total += samples[feature * n + sample if by_feature else sample * features + feature] * weights[feature]
            t.compute(extra)
        out[sample] = total


@workload
def svm(
    n: int = 12288,
    features: int = 818,
    variant: Literal["naive", "constant", "optimized"] = "optimized",
    steps: int = 0,
    block: int = 256,
    extra: int = 0,
    data_seed: int = 1,
) -> Launch:
    """``n`` samples of float32 ``features``; ``steps`` of them are summed, 0: all.

    ``extra``: instructions of a feature that a compiler adds to these.
    """
    steps = steps or features
    if not 1 <= steps <= features:
        raise ValueError(f"steps is {steps}; give 1 to {features} features")
    rng = np.random.default_rng(data_seed)
    samples, weights = rng.random((n, features), np.float32), rng.standard_normal(features, np.float32)
    by_feature = variant == "optimized"
    laid_out = np.ascontiguousarray(samples.T) if by_feature else samples
    arguments = dict(
        samples=laid_out.ravel(), weights=weights if variant == "naive" else Constant(weights),
        out=np.zeros(n, np.float32), n=n, features=features, by_feature=by_feature, steps=steps, extra=extra,
    )  # fmt: skip
    return Launch(
        score,
        grid=-(-n // block),
        block=block,
        arguments=arguments,
        registers=9,
        shared_bytes=44,
        expected=lambda: {"out": samples[:, :steps] @ weights[:steps]},
    )
