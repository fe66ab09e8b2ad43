"""The result of a study: the trials of every point, and outputs computed from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from memsim.analysis.choices import Convention
from memsim.analysis.result import RunResult
from memsim.analysis.statistics import Sample
from memsim.analysis.table import frame_of
from memsim.hierarchy.counters import CountUnit, Event, Level
from memsim.montecarlo.trials import Trials
from memsim.studies import store
from memsim.studies.store import StudyCase
from memsim.support.errors import InputError

if TYPE_CHECKING:
    import pandas
    import xarray

# The numbers of a simulation that a study follows from point to point: one value a trial each.
_OF: dict[str, tuple[str, Callable[[RunResult], Sample]]] = {
    "l1_read": ("L1 read hit ratio", lambda result: result.l1_read),
    "l2_read": ("L2 read hit ratio", lambda result: result.l2_read),
    "l2_write": ("L2 write hit ratio", lambda result: result.l2_write),
    "cycles": ("SM cycles of the traced blocks", lambda result: result.cycles),
    "time_ms": ("time of the kernel, ms", lambda result: result.kernel_time),
    "tm": ("loaded DRAM latency (Tm), SM cycles", lambda result: result.memory_latency),
}
OUTPUTS = {name: words for name, (words, _) in _OF.items()}  # output -> what it is, with its unit
RATIOS = ("l1_read", "l2_read", "l2_write")
_HITS = [Event.read_hit, Event.write_hit, Event.atomic_hit]

Point = Mapping[str, Any]  # dotted name of a field -> its value at one point of the design


class StudyTrials:
    """The finished trials of all points of a design, for every case.

    Args:
        points: of the design, each field's name -> value; the same names in each.
        cases: kernels and GPUs, each of which is simulated at every point.
        trials: (number of the point, number of the case) -> finished trials; a pair may be absent (a study that was
            interrupted, or a point that was rejected).
        about: the study as written (see studies.store), and how long it took.
        convention: of the hit ratios.

    ::

        study = StudyResult([{"l1.ways": 4}, {"l1.ways": 8}], [Case("spmv", "tesla-c2050")], trials)
        study.output("l1_read")              # f8 [point, trial], nan where a point has fewer trials
        study.result(point=1).l2_read.mean   # all that is known of one point
    """

    def __init__(
        self,
        points: Sequence[Point],
        cases: Sequence[StudyCase],
        trials: Mapping[tuple[int, int], Trials],
        about: Mapping[str, Any] | None = None,
        convention: str = Convention.model,
    ) -> None:
        self.points = tuple(dict(point) for point in points)
        self.cases = tuple(cases)
        self.trials = dict(trials)
        self.about = dict(about or {})
        self.convention = Convention(convention)
        self._results: dict[tuple[int, int], RunResult] = {}

    @classmethod
    def load(cls, path: str | Path, convention: str = Convention.model) -> Self:
        """Read a study file.

        Raises:
            InputError: the file is damaged or no study.
        """
        return cls(*store.load(path), convention)

    def save(self, path: str | Path) -> None:
        """Write a study file, whole or not at all."""
        store.save(path, self)

    @property
    def fields(self) -> tuple[str, ...]:
        """The names that the points give values to, in the order of the design."""
        return tuple(self.points[0]) if self.points else ()

    @property
    def varied(self) -> tuple[str, ...]:
        """The fields whose value is not the same at all points."""
        return tuple(name for name in self.fields if len({repr(point[name]) for point in self.points}) > 1)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names that :meth:`output` knows."""
        return tuple(OUTPUTS)

    def result(self, point: int, case: int = 0) -> RunResult:
        """The result of a case at a point.

        Raises:
            KeyError: it was not simulated.
        """
        key = point, case
        if key not in self._results:
            self._results[key] = RunResult(self.trials[key], self.convention)
        return self._results[key]

    def __iter__(self) -> Iterator[tuple[int, int, RunResult]]:
        """(point, case, result) of everything that was simulated, by point, then case."""
        for point, case in sorted(self.trials):
            yield point, case, self.result(point, case)

    @cached_property
    def n_trials(self) -> int:
        """One more than the largest number of a finished trial: the length of an output's second axis."""
        return max((int(trials.trial.max()) + 1 for trials in self.trials.values() if len(trials.trial)), default=0)

    def output(self, name: str, case: int = 0) -> np.ndarray:
        """An output of a case: f8 [point, trial number]; nan where a trial was not run or has no such ratio.

        The same trial number drew the same at every point, so rows may be subtracted trial by trial.

        Raises:
            InputError: an unknown output.
        """
        if name not in OUTPUTS:
            raise InputError("study", name, f"is not an output; give one of {', '.join(OUTPUTS)}")
        return self._table[name][:, case]

    def sample(self, name: str, point: int, case: int = 0) -> Sample:
        """An output of a case at a point, over the trials that were run."""
        values = self.output(name, case)[point]
        return Sample(values[np.isfinite(values)])

    def means(self, name: str, case: int = 0) -> np.ndarray:
        """Mean over trials of an output: f8 [point]; nan where there is none."""
        return np.array([self.sample(name, point, case).mean for point in range(len(self.points))])

    @cached_property
    def _table(self) -> dict[str, np.ndarray]:
        """Output -> f8 [point, case, trial]."""
        shape = len(self.points), len(self.cases), self.n_trials
        table = {name: np.full(shape, np.nan) for name in OUTPUTS}
        for point, case, result in self:
            for name, values in outputs_of(result).items():
                table[name][point, case, result.trials.trial] = values
        return table

    def to_frame(self) -> pandas.DataFrame:
        """A pandas DataFrame, a row a finished trial: point, kernel, gpu, trial, the point's fields and the outputs.

        Raises:
            InputError: pandas is not installed.
        """
        rows = []
        for point, case, result in self:
            outputs = outputs_of(result)
            about = {"point": point, "kernel": self.cases[case].kernel, "gpu": self.cases[case].gpu}
            for row, trial in enumerate(result.trials.trial.tolist()):
                values = {name: float(found[row]) for name, found in outputs.items()}
                rows.append(about | self.points[point] | {"trial": trial} | values)
        return frame_of(rows)

    def to_xarray(self, case: int = 0) -> xarray.Dataset:
        """An xarray Dataset of a case.

        Its variables are the outputs, [point, trial], and the sectors that each static instruction requested of each
        level and found there, ``asked`` and ``hit``, [point, trial, op, level]. The varied fields are coordinates of
        point.

        Raises:
            InputError: xarray is not installed.
        """
        try:
            import xarray
        except ImportError:
            raise InputError("to_xarray", "xarray", "is not installed; pip install 'memsim[frame]'") from None
        n_ops = max((len(trials.ops) for (_, of), trials in self.trials.items() if of == case), default=0)
        shape = len(self.points), self.n_trials, n_ops, len(Level)
        counted = {name: np.full(shape, np.nan) for name in ("asked", "hit")}
        texts: list[str] = []
        for point in range(len(self.points)):
            if (point, case) in self.trials:
                trials = self.trials[point, case]
                texts = [op["text"] for op in trials.ops]
                sectors = trials.counters[:, :-1, :, :, CountUnit.sectors].astype(float)
                counted["asked"][point, trials.trial] = sectors.sum(axis=-1)
                counted["hit"][point, trials.trial] = sectors[..., _HITS].sum(axis=-1)
        outputs = {name: (("point", "trial"), self.output(name, case)) for name in OUTPUTS}
        events = {name: (("point", "trial", "op", "level"), values) for name, values in counted.items()}
        fields = {name: ("point", [point[name] for point in self.points]) for name in self.varied}
        labels = {"op": texts, "level": [level.name for level in Level]}
        return xarray.Dataset(outputs | events, coords=fields | labels, attrs={"case": str(self.cases[case])})


def outputs_of(result: RunResult) -> dict[str, np.ndarray]:
    """Every output by name: f8 [trials], nan in a trial where it does not exist (a ratio of nothing)."""
    return {name: np.asarray(sample(result).values, float) for name, (_, sample) in _OF.items()}
