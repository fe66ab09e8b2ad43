"""Times of launches that repeat a loop, and of similar launches from them.

A sweep times one kernel for many sizes. Between two sizes, a matrix product differs in its number of blocks and of
iterations, while one iteration of a wave of blocks costs nearly the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

SIMILAR = 3.0  # largest ratio of two launches' blocks times iterations


@dataclass(frozen=True)
class SampleTime:
    """A launch's time by a sample.

    Attributes:
        iterations: of the main loop that the sample executes.
        milliseconds: of the whole launch, with so many iterations.
        busy: milliseconds for which its busiest pipe would be busy.
    """

    iterations: float
    milliseconds: float
    busy: float = 0.0

    def each_more_than(self, other: SampleTime) -> float:
        """Milliseconds of each iteration more than another sample has: not less than the busiest pipe needs.

        A few iterations may hide behind the loads and stores before and after the loop, but not all of a long loop's.

        >>> SampleTime(24, 3.0, busy=2.0).each_more_than(SampleTime(14, 2.5, busy=1.0))
        0.1
        """
        slopes = (self.milliseconds - other.milliseconds, self.busy - other.busy)
        return max(slopes) / (self.iterations - other.iterations)


@dataclass(frozen=True)
class LoopTimes:
    """A launch that was simulated.

    Attributes:
        waves: of blocks; of a few, the last one counts whole.
        iterations: of its main loop.
        milliseconds: of the whole launch.
        each: milliseconds per iteration, of all waves together.
    """

    waves: float
    iterations: float
    milliseconds: float
    each: float

    def scaled(self, waves: float, iterations: float) -> float:
        """Milliseconds of a launch of the same kernel.

        >>> LoopTimes(2.0, 100, 120.0, 1.0).scaled(4.0, 200)
        440.0
        """
        return (self.milliseconds + self.each * (iterations - self.iterations)) * waves / self.waves


def most_similar(known: Sequence[LoopTimes], waves: float, iterations: float) -> LoopTimes | None:
    """The launch with the most similar work; None: there is no similar one.

    >>> known = [LoopTimes(2.0, 100, 120.0, 1.0), LoopTimes(4.0, 200, 440.0, 2.0)]
    >>> most_similar(known, 5.0, 250).waves
    4.0
    >>> most_similar(known, 20.0, 400) is None
    True
    """
    work = waves * iterations
    ratios = {}
    for one in known:
        ratio = max(work, one.waves * one.iterations) / min(work, one.waves * one.iterations)
        if ratio <= SIMILAR:
            ratios[ratio] = one
    return ratios[min(ratios)] if ratios else None
