"""The trials of one point, a trace on a GPU: which are finished, which to begin, and when there are enough."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from memsim.hierarchy.trial import Trial
from memsim.montecarlo.trial_cache import DEMAND, CachedTrials
from memsim.montecarlo.trials import Trials
from memsim.montecarlo.worker import TrialJob

Enough = Callable[[Trials], bool]


@dataclass(frozen=True)
class StoppingRule:
    """The number of trials per point.

    Attributes:
        least, most: trials.
        new: makes a callback that receives each next trial in order (Trials of one) and returns True when they are
            enough; None: `most` trials, whatever they are.
    """

    least: int
    most: int
    new: Callable[[], Enough] | None = None


@dataclass(eq=False)
class PointTrials:
    """The trials of one point.

    Attributes:
        job: what workers are given.
        texts: about, ops, arrays and sources of montecarlo.trials.Trials.
        rule: how many there are to be.
        cached: what any run has left of its trials, and what these leave.
        trace: what workers are given in its place, see teams.Team.share.
        label: of the point in a study, for messages: "of point 3".
        finished: trials by number.
        under_way: numbers of trials that workers have.
        finds_demand: whether a worker that no needed trial waits for finds what the trace asks of the GPU (DEMAND).
        used: how many trials, from the first on, are its answer; 0 while it is open.
        reached: whether the rule found them enough.
    """

    job: TrialJob
    texts: dict[str, Any]
    rule: StoppingRule
    cached: CachedTrials
    trace: Any = None
    label: str = ""
    finished: dict[int, Trial] = field(default_factory=dict)
    under_way: set[int] = field(default_factory=set)
    finds_demand: bool = False
    used: int = 0
    reached: bool = False
    _judged: int = 0

    def __post_init__(self) -> None:
        self._enough = self.rule.new() if self.rule.new is not None else None

    @property
    def answer(self) -> Trials | None:
        """The trials that answer the point, or as many of them as are finished."""
        chosen = {k: self.finished[k] for k in sorted(self.finished) if k < (self.used or self.rule.most)}
        return Trials.of(chosen, **self.texts) if chosen else None

    def next_trial(self, ahead: int) -> int | None:
        """The number of a trial to start, at most `ahead` beyond those known to be needed; None: no trial now."""
        if self.used:
            return None
        known = self.rule.most if self._enough is None else max(self.rule.least, self._judged + ahead)
        for number in range(self._judged, min(known, self.rule.most)):
            if number not in self.finished and number not in self.under_way:
                return number
        return None

    @property
    def lacks_demand(self) -> bool:
        """Whether to find what the trace asks of the GPU, as no worker does."""
        return self.finds_demand and not self.used and DEMAND not in self.under_way and not self.cached.has_demand

    def add(self, number: int, trial: Trial) -> None:
        """Add a finished trial, and apply the stopping rule to the first trials in order, whenever they finished."""
        self.finished[number] = trial
        while not self.used and self._judged in self.finished:
            enough = self._enough is not None and self._enough(
                Trials.of({self._judged: self.finished[self._judged]}, **self.texts)
            )
            self._judged += 1
            self.reached = enough and self._judged >= self.rule.least
            if self.reached or self._judged >= self.rule.most:
                self.used = self._judged
