"""A cause with its places, and what putting it right wins."""

from __future__ import annotations

from dataclasses import dataclass

from memsim.analysis.statistics import Sample
from memsim.why.finding import LEAST_EXCESS, Cause, Finding


@dataclass(frozen=True)
class Gain:
    """What a replay of the repaired trace, or on the repaired machine, saved.

    Attributes:
        repair: what was put right, in words that follow "with".
        share: of the kernel's time, trial by trial, each beside the trial of the same draws as it was.
    """

    repair: str
    share: Sample


@dataclass(frozen=True)
class Explanation:
    """One cause.

    Attributes:
        cause: what is wrong.
        findings: where, the costliest place first.
        excess: share of the memory time that goes into it, 0 to 1.
        bound: share of the kernel's time that can be won at most: the busiest part of what is then left takes the rest.
        gain: that was predicted by a replay; None: none was made, or no rule on a trace puts this right.
    """

    cause: Cause
    findings: tuple[Finding, ...]
    excess: float
    bound: float
    gain: Gain | None = None

    @property
    def at_stake(self) -> float:
        """What it wins as far as is known: as predicted, else what is in excess, within the bound."""
        return min(self.excess, self.bound) if self.gain is None else self.gain.share.mean

    def rank(self) -> tuple[int, float, int]:
        """A key that sorts: what wins in a replay, what was not replayed, what wins next to nothing; each by what is at
        stake; of those that are alike, roots before what follows from them."""
        rank = 1 if self.gain is None else 0 if self.gain.share.mean >= LEAST_EXCESS else 2
        return rank, -round(self.at_stake, 2), list(Cause).index(self.cause)
