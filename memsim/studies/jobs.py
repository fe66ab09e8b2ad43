"""What a study replays: one job a trace on a GPU, whichever points share it, and the rule that ends each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from memsim.analysis.stopping import narrower_than
from memsim.hierarchy.trial import Trial
from memsim.montecarlo.trial_cache import CachedTrials, key_of
from memsim.montecarlo.trials import Trials
from memsim.studies.node import NodeTask
from memsim.studies.study import StudyDesign, StudyRun

Enough = Callable[[Trials], bool]


@dataclass(frozen=True)
class Rule:
    """How many trials a job gets.

    Attributes:
        least, most: trials.
        new: makes a callback that receives each next trial in order (Trials of one) and returns True when they are
            enough; None: `most` trials, whatever they are.
    """

    least: int
    most: int
    new: Callable[[], Enough] | None

    @classmethod
    def of(cls, study: StudyDesign) -> Rule:
        asked = study.written
        if asked.until is None:
            return cls(asked.trials, asked.trials, None)
        return cls(asked.min_trials, asked.max_trials, partial(narrower_than, asked.until, time=asked.until_time))


@dataclass
class StudyJob:
    """The trials of one trace on one GPU.

    Attributes:
        runs: of the study that ask for it: more than one where points agree in all that matters.
        task: what workers are given.
        trace: what they are given in its place, see executors.Team.share.
        texts: about, ops and arrays of montecarlo.trials.Trials.
        finished: trials by number.
        under_way: numbers of trials that workers have.
        used: how many trials, from the first on, are its answer; 0 while it is open.
        cached: what any run or study has left of its trials, and what these leave.
    """

    runs: list[StudyRun]
    task: NodeTask
    trace: Any
    texts: dict[str, Any]
    rule: Rule
    finished: dict[int, Trial] = field(default_factory=dict)
    under_way: set[int] = field(default_factory=set)
    used: int = 0
    cached: CachedTrials | None = None
    _asked: int = 0
    _enough: Enough | None = None

    def __post_init__(self) -> None:
        self._enough = self.rule.new() if self.rule.new is not None else None

    @cached_property
    def key(self) -> str:
        """Names all that its trials depend on."""
        return key_of(self.texts["about"])

    @property
    def trials(self) -> Trials | None:
        """Its answer, or as much of it as there is."""
        chosen = {k: self.finished[k] for k in sorted(self.finished) if k < (self.used or self.rule.most)}
        return Trials.of(chosen, **self.texts) if chosen else None

    def next_trial(self, ahead: int) -> int | None:
        """A trial to begin: at most `ahead` beyond those known to be needed; None: none for now."""
        if self.used:
            return None
        known = self.rule.most if self._enough is None else max(self.rule.least, self._asked + ahead)
        for number in range(self._asked, min(known, self.rule.most)):
            if number not in self.finished and number not in self.under_way:
                return number
        return None

    def add(self, finished: Mapping[int, Trial]) -> None:
        """Take in trials, and ask the rule about the first ones in order: when they come does not matter."""
        self.finished.update(finished)
        while not self.used and self._asked in self.finished:
            reached = self._told(self.finished[self._asked])
            self._asked += 1
            if self._asked >= self.rule.most or (self._asked >= self.rule.least and reached):
                self.used = self._asked

    def _told(self, trial: Trial) -> bool:
        return self._enough is not None and self._enough(Trials.of({self._asked: trial}, **self.texts))
