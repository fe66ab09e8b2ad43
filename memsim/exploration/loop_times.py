"""Times of launches whose loop was cut, and of similar launches from them.

A sweep times one kernel for many sizes. Between two sizes, a matrix product differs in its number of blocks and of
iterations, while one iteration of a wave of blocks costs nearly the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memsim.exploration.shorter_loops import LENGTHS

SIMILAR = 3.0  # largest ratio of two launches' blocks times iterations


@dataclass(frozen=True)
class LoopTimes:
    """A launch that was simulated with two lengths of its loop.

    Attributes:
        waves: of blocks; of a few, the last one counts whole.
        iterations: of the whole loop.
        milliseconds: of the launch with each of LENGTHS.
    """

    waves: float
    iterations: int
    milliseconds: tuple[float, float]

    def of(self, waves: float, iterations: int) -> float:
        """Milliseconds of a launch of the same kernel.

        >>> LoopTimes(2.0, 100, (6.0, 11.0)).of(4.0, 200)
        400.0
        """
        short, long = self.milliseconds
        each = (long - short) / (LENGTHS[1] - LENGTHS[0])
        return (long + each * (iterations - 1 - LENGTHS[1])) * waves / self.waves

    @property
    def whole(self) -> float:
        """Milliseconds of the launch itself."""
        return self.of(self.waves, self.iterations)


def most_similar(known: Sequence[LoopTimes], waves: float, iterations: int) -> LoopTimes | None:
    """The launch with the most similar work; None: there is no similar one.

    >>> known = [LoopTimes(2.0, 100, (6.0, 11.0)), LoopTimes(4.0, 200, (12.0, 22.0))]
    >>> most_similar(known, 5.0, 250).waves
    4.0
    >>> most_similar(known, 20.0, 400) is None
    True
    """
    work = waves * iterations
    ratios = [max(work, one.waves * one.iterations) / min(work, one.waves * one.iterations) for one in known]
    if not ratios or min(ratios) > SIMILAR:
        return None
    return known[ratios.index(min(ratios))]
