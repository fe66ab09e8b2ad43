"""How often the prediction interval holds the measured time of a program that it was not made from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from experiments.harness.readme import markdown
from experiments.harness.study import Claim, Outcome, Points, Setting
from memsim.analysis.model_error import LEVEL, LaunchError, measured_errors, model_error
from memsim.report.figure_style import BLUE, ORANGE, panels, styled, write

FAMILIES = {"3": "Kepler", "7": "Volta", "8": "Ampere and Ada", "9": "Hopper"}
LEAST_PROGRAMS = 5  # of a family whose coverage is a claim of its own
NEAR = 5  # points that coverage may be off


def run(setting: Setting) -> Outcome:
    """Leave out one program after the other, on all GPUs."""
    errors = measured_errors()
    held = [(one, holds(one, errors)) for one in errors]
    _draw(errors, setting.figures / "errors.png")
    return Outcome(list(_claims(held)), {"coverage": _table(errors, held)})


def holds(one: LaunchError, errors: Sequence[LaunchError]) -> bool:
    """Whether the interval from all other programs holds a launch's error."""
    found = model_error(one.family, [other for other in errors if other.program != one.program])
    return found.low <= one.error <= found.high


def _claims(held: Sequence[tuple[LaunchError, bool]]) -> Iterator[Claim]:
    groups = {"all GPUs": [*held]}
    for family, name in FAMILIES.items():
        of = [(one, yes) for one, yes in held if one.family == family]
        if len({one.program for one, _ in of}) >= LEAST_PROGRAMS:
            groups[name] = of
    for name, of in groups.items():
        share = 100 * float(np.mean([yes for _, yes in of]))
        name = f"{name}: launches of a program left out that the interval of {LEVEL:.0%} holds"
        yield Claim(name, 100 * LEVEL, share, unit="%", aim=Points(NEAR))


def _table(errors: Sequence[LaunchError], held: Sequence[tuple[LaunchError, bool]]) -> str:
    rows = []
    for family, name in FAMILIES.items():
        of = [one for one in errors if one.family == family]
        interval = model_error(family).interval(1.0)
        share = 100 * np.mean([yes for one, yes in held if one.family == family])
        programs = len({one.program for one in of})
        rows.append([name, str(programs), str(len(of)), f"{interval.low:.2f}", f"{interval.high:.2f}", f"{share:.0f}"])
    headers = ["GPUs", "programs", "launches", "low / predicted", "high / predicted", "held, program left out, %"]
    return markdown(headers, rows)


def _draw(errors: Sequence[LaunchError], path: Path) -> None:
    with styled():
        figure, axes = panels(1, len(FAMILIES), 9.0, 3.2, sharey=True)
        for axis, (family, name) in zip(axes, FAMILIES.items(), strict=True):
            of = [one for one in errors if one.family == family]
            programs = list(dict.fromkeys(one.program for one in of))
            interval = model_error(family).interval(1.0)
            axis.axhspan(interval.low, interval.high, color=ORANGE, alpha=0.2)
            axis.plot(
                [programs.index(one.program) for one in of], np.exp([one.error for one in of]), "o", ms=3, color=BLUE
            )
            axis.set_title(name)
            axis.set_xlabel("program")
            axis.xaxis.get_major_locator().set_params(integer=True)
        axes[0].set_ylabel("measured / predicted time")
        axes[0].set_yscale("log", base=2)
        axes[0].yaxis.set_major_formatter("{x:g}")
        write(figure, path)
