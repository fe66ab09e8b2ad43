"""Which source of randomness causes the spread of a single configuration.

Every source can be drawn as in another trial while the rest stays (hierarchy.draws), so trial numbers are inputs like
any other: points A draw all sources from trials 0 to n - 1, points B from n to 2 n - 1, and a mixed point one source
from B's trial. What the sources make together is the difference between first-order and total index.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count

from memsim.analysis.choices import Convention
from memsim.analysis.result import RunResult
from memsim.analysis.sobol import Indices, indices
from memsim.gpu.config import GPU
from memsim.hierarchy.draws import active, with_start_alignment
from memsim.montecarlo.run import run
from memsim.studies.result import OUTPUTS, outputs_of
from memsim.support.errors import InputError
from memsim.trace.reader import Trace

POINTS = 64


@dataclass(frozen=True)
class BySource:
    """A kernel's spread on a GPU, by source.

    Attributes:
        kernel, gpu, digest: what was looked at; digest of the trace.
        sources: of randomness, as far as they draw anything on this GPU.
        outputs: indices by name of the output.
        trials: replays that it took.
    """

    kernel: str
    gpu: str
    digest: str
    sources: tuple[str, ...]
    outputs: dict[str, Indices]
    trials: int


def by_source(
    trace: Trace,
    gpu: GPU,
    *,
    points: int = POINTS,
    seed: int = 0,
    jobs: int = 1,
    convention: str = Convention.model,
    progress: Callable[[int, int], None] | None = None,
) -> BySource:
    """Split the variance of the trials by source; arguments as for :func:`memsim.sensitivity`.

    Args:
        points: n, a power of two; it takes n (sources + 2) replays.
        seed: of the trials; the points A are the trials of a run with this seed.

    Raises:
        InputError: a number of points that is no power of two, or a GPU on which nothing is random.
    """
    if points < 2 or points & (points - 1):
        raise InputError("sensitivity", "points", f"is {points}; give a power of two, for example {POINTS}")
    sources = active(with_start_alignment(gpu, trace))
    if not sources:
        raise InputError(gpu.name, "stochastic", "switches every source of randomness off; there is no spread to split")
    rows = redraws(sources, points)
    done = count(1)
    report = (lambda finished: progress(next(done), len(rows))) if progress else None
    trials = run(trace, gpu, trials=len(rows), seed=seed, jobs=jobs, progress=report, sources=rows)
    if len(trials.trial) < len(rows):
        raise InputError("sensitivity", "replays", f"are {len(trials.trial)} of {len(rows)}; the run was interrupted")
    found = outputs_of(RunResult(trials, convention))
    shaped = {name: values.reshape(len(sources) + 2, points) for name, values in found.items()}
    split = {name: indices(name, sources, of[0], of[1], of[2:]) for name, of in shaped.items() if name in OUTPUTS}
    return BySource(trace.kernel, gpu.name, trace.digest, sources, split, len(rows))


def redraws(sources: Sequence[str], points: int) -> list[dict[str, int]]:
    """For each replay, from which trial each source is drawn: A, B, then A with each source of B.

    >>> redraws(["alignment", "weights"], 1)[2:]
    [{'alignment': 1, 'weights': 0}, {'alignment': 0, 'weights': 1}]
    """
    both = [{source: k for source in sources} for k in range(2 * points)]
    mixed = [both[k] | {source: points + k} for source in sources for k in range(points)]
    return both + mixed
