"""Times and L1 misses of three kernels for every shape of block, against the paper's tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from experiments.harness.study import AtLeast, AtMost, Claim, Outcome, Setting, Within
from experiments.torres2011 import figure, shape_claims, tables
from experiments.torres2011.cells import (
    ADD,
    COUNTER,
    MISSES,
    MULTIPLY,
    RANDOM,
    SHAPES,
    TIMES,
    TITLES,
    Cells,
    Score,
    Shape,
    published,
    score,
)  # fmt: skip
from experiments.torres2011.kernels import GENERATOR
from experiments.torres2011.predict import COMPARED, FULL, L1, QUICK, Job, Prediction, jobs, predict

IN_FORCE = "16 KB"  # the toolkit's default; section III of the paper
LONG_GENERATOR = 5700  # issue slots that the published cell of 8 x 32 threads leaves a warp: see the README
DOUBTED: Shape = (16, 4)  # its misses contradict its time: see the README
FEW: list[Shape] = [(1, 4), (1, 64), (2, 256), (8, 32), (16, 2), (32, 32), (64, 2)]
PRINTED = {RANDOM: "table II", ADD: "table III(a)", MULTIPLY: "table IV(a)", MISSES: "table IV(b)"}
AIMS = {RANDOM: 0.97, ADD: 0.97, MULTIPLY: 0.97, MISSES: 0.9}

Key = tuple[str, str | int]  # table and option of a job


def run(setting: Setting) -> Outcome:
    """Predict every cell, and compare ours with the published ones."""
    shapes = FEW if setting.quick else SHAPES
    theirs = {table: published(table) for table in PRINTED}
    model = Model.of(predict(_jobs(setting.quick, shapes, theirs), setting.jobs), shapes)
    options = [option for table, option in model.ms if table == MULTIPLY]
    wait = host_wait(model.ms[ADD, ""], theirs[ADD])
    ours = model.printed(wait, IN_FORCE, GENERATOR)
    scores = {table: score(ours[table], theirs[table]) for table in PRINTED}
    figure.draw(ours, theirs, scores, setting.figures / "cells.png")
    tables.write_cells(setting.figures / "predictions.csv", model.every(wait), model.every(0))
    rows = {TITLES[table]: scores[table] for table in PRINTED} | _alternatives(model, theirs, wait, options)
    grids = {table: tables.grid(ours[table], theirs[table]) for table in PRINTED}
    claims = [*_claims(scores, wait), *shape_claims.claims(
        model.ms[MULTIPLY, IN_FORCE], model.ms[RANDOM, GENERATOR], model.ms[RANDOM, "off"], setting.quick
    )]  # fmt: skip
    return Outcome(claims, {"scores": tables.of_scores(rows), **grids})


@dataclass(frozen=True)
class Model:
    """Means of the trials by table and option, then by shape.

    Attributes:
        ms: time of the kernel, milliseconds.
        misses: L1 load misses of one SM, millions, of the product alone.
    """

    ms: Mapping[Key, Cells]
    misses: Mapping[str | int, Cells]

    @classmethod
    def of(cls, predictions: Sequence[Prediction], shapes: Sequence[Shape]) -> Model:
        ms: dict[Key, Cells] = {}
        misses: dict[str | int, Cells] = {}
        for one in predictions:
            job = one.job
            alike = [shape for shape in shapes if job.table == RANDOM and math.prod(shape) == math.prod(job.shape)]
            for shape in alike or [job.shape]:
                ms.setdefault((job.table, job.option), {})[shape] = float(np.mean(one.ms))
            if one.misses:
                misses.setdefault(job.option, {})[job.shape] = float(np.mean(one.misses))
        return cls(ms, misses)

    def printed(self, wait: float, l1: str | int, generator: int) -> dict[str, Cells]:
        """The cells of the paper's tables as its timer, which reads `wait` too much, and its counter show them."""
        of = {RANDOM: (RANDOM, generator), ADD: (ADD, ""), MULTIPLY: (MULTIPLY, l1)}
        times = {table: {shape: ms + wait for shape, ms in self.ms[key].items()} for table, key in of.items()}
        return times | {MISSES: {shape: min(count, COUNTER) for shape, count in self.misses[l1].items()}}

    def every(self, wait: float) -> dict[str, Cells]:
        """The same, and the copy with the longer generator as a table of its own."""
        long = self.printed(wait, IN_FORCE, LONG_GENERATOR)[RANDOM]
        return self.printed(wait, IN_FORCE, GENERATOR) | {f"{RANDOM}_generator_{LONG_GENERATOR}": long}


def host_wait(kernel: Mapping[Shape, float], theirs: Mapping[Shape, float]) -> float:
    """What the paper's timer reads beyond the kernel, milliseconds: the median over the sum's cells.

    >>> host_wait({(1, 1): 1.0, (1, 2): 3.0, (1, 4): 9.0}, {(1, 1): 29.0, (1, 2): 31.0, (1, 4): 38.0})
    28.0
    """
    return float(np.median([theirs[shape] - kernel[shape] for shape in theirs if shape in kernel]))


def _jobs(quick: bool, shapes: Sequence[Shape], theirs: Mapping[str, Mapping[Shape, float]]) -> list[Job]:
    """What is to be simulated; other L1s only for what is published.

    The copy knows a thread by its number in the grid alone: one shape stands for all of its size.
    """
    size = QUICK if quick else FULL
    compared = [shape for shape in shapes if shape in theirs[MULTIPLY] or shape in theirs[MISSES]]
    sizes = sorted({(1, math.prod(shape)) for shape in shapes})
    return [
        *jobs(shapes, MULTIPLY, [IN_FORCE], size),
        *jobs([] if quick else compared, MULTIPLY, [option for option in L1 if option != IN_FORCE], COMPARED),
        *jobs(shapes, ADD, [""], size),
        *jobs(sizes, RANDOM, [GENERATOR, LONG_GENERATOR, "off"], size),
    ]


def _alternatives(
    model: Model, theirs: Mapping[str, Mapping[Shape, float]], wait: float, options: Sequence[str | int]
) -> dict[str, Score]:
    """Scores of what was not chosen: without the timer's wait, with other L1s, with a longer generator."""
    alone, long = model.printed(0, IN_FORCE, GENERATOR), model.printed(wait, IN_FORCE, LONG_GENERATOR)
    found = {f"{TITLES[table]}: the kernel alone": score(alone[table], theirs[table]) for table in TIMES}
    rest = {shape: cell for shape, cell in theirs[MISSES].items() if shape != DOUBTED}
    found[f"{TITLES[MISSES]}: without {DOUBTED[0]} x {DOUBTED[1]}"] = score(long[MISSES], rest)
    found[f"{TITLES[RANDOM]}: a generator of {LONG_GENERATOR}"] = score(long[RANDOM], theirs[RANDOM])
    for option in options:
        if option != IN_FORCE:
            other = model.printed(wait, option, GENERATOR)
            asked = [MULTIPLY] if option == "off" else [MULTIPLY, MISSES]
            found |= {f"{TITLES[table]}: L1 {option}": score(other[table], theirs[table]) for table in asked}
    return found


def _claims(scores: Mapping[str, Score], wait: float) -> Iterator[Claim]:
    for table, found in scores.items():
        source, title = f"Torres et al., HPCS 2011, {PRINTED[table]}", TITLES[table].rsplit(",", 1)[0]
        yield Claim(f"{title}: log-correlation", math.nan, found.correlation, source=source, aim=AtLeast(AIMS[table]))
        yield Claim(f"{title}: median of memsim over published", 1.0, found.ratio, unit="x", source=source,
                    aim=Within(0.1))  # fmt: skip
        yield Claim(f"{title}: mean abs. log2 error", 0.0, found.octaves, unit="octaves", source=source,
                    aim=AtMost(0.25))  # fmt: skip
