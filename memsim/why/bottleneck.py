"""A cause with its places, and the speed-up that removing it is predicted to give."""

from __future__ import annotations

from dataclasses import dataclass, replace

from memsim.analysis.statistics import Interval, Sample
from memsim.why.finding import LEAST_EXCESS, Cause, Finding


@dataclass(frozen=True)
class Gain:
    """What a replay of the transformed trace, or on the transformed machine, saved.

    Attributes:
        transform: the change, in words that follow "with".
        share: of the kernel's time, trial by trial, each compared with the original trial of the same draws.
        bound: share of the kernel's time that a replay without any waiting would save: the busiest part of the GPU
            still has its work to do. Never less than the mean of `share`.
    """

    transform: str
    share: Sample
    bound: float

    @property
    def interval(self) -> Interval | None:
        """The 95 % interval of the mean, up to the bound; None of a single trial."""
        its = self.share.interval()
        return None if its is None else Interval(its.low, min(its.high, self.bound))


@dataclass(frozen=True)
class Bottleneck:
    """One cause.

    Attributes:
        cause: what is wrong.
        findings: where, the costliest place first.
        excess: attributable share of the memory time, 0 to 1.
        bound: upper bound of the share of the kernel's time that can be saved: the busiest part of the GPU takes the
            rest.
            With a gain it is the replay's own; without one it is estimated from what each place is hoped to save.
        gain: predicted by a replay; None: none was made, or no rule on a trace removes the cause.
    """

    cause: Cause
    findings: tuple[Finding, ...]
    excess: float
    bound: float
    gain: Gain | None = None

    def replayed(self, gain: Gain) -> Bottleneck:
        """The same cause with a replay's gain and its bound, within which the findings share their costs."""
        scale = min(1.0, gain.bound / max(sum(one.excess for one in self.findings), 1e-9))
        findings = tuple(replace(one, cost=one.excess * max(scale, 0.0)) for one in self.findings)
        return replace(self, findings=findings, gain=gain, bound=gain.bound)

    @property
    def expected_saving(self) -> float:
        """The share of the time that it is expected to save: as predicted, else the attributable share within the
        bound."""
        return min(self.excess, self.bound) if self.gain is None else self.gain.share.mean

    def rank(self) -> tuple[int, float, int]:
        """A key that sorts: causes whose replay is faster, causes without a replay, causes whose replay is hardly
        faster; each by its expected saving; among equals, root causes before their consequences."""
        rank = 1 if self.gain is None else 0 if self.gain.share.mean >= LEAST_EXCESS else 2
        return rank, -round(self.expected_saving, 2), list(Cause).index(self.cause)
