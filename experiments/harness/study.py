"""What a study is given, and what it gives back."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

Interval = tuple[float, float]


class Aim(Protocol):
    """What is asked of a claim."""

    def met(self, published: float, ours: float) -> bool: ...


@dataclass(frozen=True)
class Within:
    """A relative error of at most `share`, either way.

    >>> Within(0.05).met(published=100, ours=104), Within(0.05).met(published=100, ours=94)
    (True, False)
    >>> print(Within(0.05))
    within 5 %
    """

    share: float

    def met(self, published: float, ours: float) -> bool:
        return abs(ours - published) <= self.share * abs(published)

    def __str__(self) -> str:
        return f"within {self.share:.3g}" if self.share >= 1 else f"within {100 * self.share:.3g} %"


@dataclass(frozen=True)
class Points:
    """An absolute error of at most so much, in the claim's own unit (percentage points where that is %).

    >>> Points(3.5).met(published=50, ours=53), Points(0).met(published=20, ours=20)
    (True, True)
    """

    most: float

    def met(self, published: float, ours: float) -> bool:
        return abs(ours - published) <= self.most

    def __str__(self) -> str:
        return f"within {self.most:g}" if self.most else "equal"


@dataclass(frozen=True)
class WithinFactor:
    """Ours over the published figure, or the other way round, is at most so much.

    >>> WithinFactor(2).met(published=2, ours=1.1), WithinFactor(2).met(published=2, ours=0.9)
    (True, False)
    >>> print(WithinFactor(2))
    within a factor of 2
    """

    factor: float

    def met(self, published: float, ours: float) -> bool:
        return published * ours > 0 and max(ours / published, published / ours) <= self.factor

    def __str__(self) -> str:
        return f"within a factor of {self.factor:g}"


@dataclass(frozen=True)
class WithinLog:
    """Of ratios, as gains: the logarithm has a relative error of at most `share`, so that both go the same way.

    >>> WithinLog(0.25).met(published=4, ours=3), WithinLog(0.25).met(published=1.1, ours=0.95)
    (True, False)
    >>> print(WithinLog(0.25))
    logarithm within 25 %
    """

    share: float

    def met(self, published: float, ours: float) -> bool:
        return ours > 0 and abs(math.log(ours / published)) <= self.share * abs(math.log(published))

    def __str__(self) -> str:
        return f"logarithm within {100 * self.share:.3g} %"


@dataclass(frozen=True)
class AtLeast:
    """Ours reaches a bound; nothing published is needed."""

    bound: float

    def met(self, published: float, ours: float) -> bool:
        return ours >= self.bound

    def __str__(self) -> str:
        return f"≥ {self.bound:g}"


@dataclass(frozen=True)
class AtMost:
    """Ours stays below a bound; nothing published is needed."""

    bound: float

    def met(self, published: float, ours: float) -> bool:
        return ours <= self.bound

    def __str__(self) -> str:
        return f"≤ {self.bound:g}"


@dataclass(frozen=True)
class Claim:
    """One row of the scoreboard.

    Attributes:
        claim: what is compared.
        published: the published or measured figure; nan where only a bound is asked for.
        ours: memsim's.
        interval: that holds ours, 95 % confidence; None where it has none.
        unit: of all of them: ``%`` gives an error in percentage points, any other a relative one.
        source: where the published figure stands.
        aim: the target for our figure. Figures without a target belong into a study's tables.
    """

    claim: str
    published: float
    ours: float
    interval: Interval | None = None
    unit: str = ""
    source: str = ""
    aim: Aim = field(kw_only=True)

    @property
    def error(self) -> str:
        """Ours less published: percentage points for ratios, else relative to the published figure.

        >>> Claim("L1", 50.0, 52.5, unit="%", aim=Points(3)).error, Claim("time", 200, 190, aim=Within(0.1)).error
        ('+2.5 pp', '-5.0 %')
        """
        if math.isnan(self.published) or math.isnan(self.ours):
            return ""
        if self.unit == "%":
            return f"{self.ours - self.published:+.1f} pp"
        return f"{100 * (self.ours / self.published - 1):+.1f} %" if self.published else ""

    @property
    def verdict(self) -> str:
        """``met`` or ``missed``.

        >>> Claim("L1", 50.0, 52.5, unit="%", aim=Points(3.5)).verdict
        'met'
        """
        return "met" if self.aim.met(self.published, self.ours) else "missed"


@dataclass(frozen=True)
class Setting:
    """How a study is to be run.

    Attributes:
        quick: on small snapshots, as the tests do; else at the sizes of the README.
        jobs: worker processes.
        figures: folder for its pictures.
    """

    quick: bool
    jobs: int
    figures: Path


@dataclass(frozen=True)
class Outcome:
    """What a study found.

    Attributes:
        claims: its rows of the scoreboard.
        tables: name -> Markdown; a full run writes them into the study's README (:mod:`experiments.harness.readme`).
    """

    claims: list[Claim]
    tables: dict[str, str] = field(default_factory=dict)
