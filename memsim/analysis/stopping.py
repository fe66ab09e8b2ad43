"""How sure the hit ratios are while trials come in, and when they are sure enough."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from memsim.analysis.choices import Convention
from memsim.analysis.result import Result
from memsim.analysis.statistics import Ratio
from memsim.montecarlo.trials import Trials


def widest(ratios: dict[str, Ratio]) -> tuple[str, float] | None:
    """The ratio whose 95 % interval of the mean is the widest, and that width; None while no ratio has an interval."""
    widths = {name: interval.width for name, ratio in ratios.items() if (interval := ratio.interval())}
    return max(widths.items(), key=lambda item: item[1]) if widths else None


def narrower_than(width: float, convention: str = Convention.model) -> Callable[[Trials], bool]:
    """A rule for :func:`memsim.montecarlo.run`: enough when the 95 % interval of every ratio is narrower than `width`.

    A ratio of accesses that the kernel does not make is left out; where there is none at all, two trials are enough.
    """

    def enough(trials: Trials) -> bool:
        found = widest(Result(trials, convention).ratios)
        return len(trials.trial) > 1 and (found is None or found[1] < width)

    return enough


class Running:
    """The ratios of the trials so far, for a progress bar.

    Args:
        convention: of the ratios.
    """

    def __init__(self, convention: str = Convention.model) -> None:
        self._convention = Convention(convention)
        self._values: dict[str, list[np.ndarray]] = {}
        self.trials = 0

    def add(self, trials: Trials) -> str:
        """Take in finished trials; returns the widest interval so far in words, or nothing before there is one."""
        self.trials += len(trials.trial)
        for name, ratio in Result(trials, self._convention).ratios.items():
            self._values.setdefault(name, []).append(ratio.values)
        ratios = {name: Ratio(np.concatenate(values), self._convention) for name, values in self._values.items()}
        found = widest(ratios)
        if found is None:
            return ""
        name, width = found
        level, access = name.split("_")
        return f"{level.upper()} {access} {ratios[name].mean:.2%} ± {width / 2:.2%}"
