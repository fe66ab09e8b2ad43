"""Simulate the rows chosen of each measured curve, and compare plateaus, capacities and the shape of transitions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.harness.parallel import mapped
from experiments.harness.readme import markdown
from experiments.harness.scoreboard import significant
from experiments.harness.study import Claim, Outcome, Setting, Within
from experiments.pointer_chase.boards import BOARDS, Board, Transition, chosen, crossing, curve, inside
from experiments.pointer_chase.chain import latency
from experiments.pointer_chase.figure import draw
from memsim.gpu.presets import load_gpu

AIM = Within(0.05)
QUICK = ("tesla-v100", "rtx4090")
SHARES = {0.1: "a tenth", 0.5: "half", 0.9: "nine tenths"}


@dataclass(frozen=True)
class Compared:
    """One GPU's curve: measured in full, simulated where `rows` says.

    Attributes:
        kb, measured: all rows, KB and cycles.
        rows: bool, those simulated.
        simulated: cycles, of those.
    """

    board: Board
    kb: np.ndarray
    measured: np.ndarray
    rows: np.ndarray
    simulated: np.ndarray


def run(setting: Setting) -> Outcome:
    """All boards; quick: two of them, and only short lists."""
    compared = _simulate(setting)
    draw({one.board.gpu: (one.kb[one.rows], one.simulated) for one in compared}, setting.figures / "curves.png")
    claims = [claim for one in compared for claim in _claims(one)]
    rows = [[c.claim, significant(c.published), significant(c.ours), c.unit, c.error, c.verdict] for c in claims]
    points = [[f"{one.board.title}", *_errors(one)] for one in compared]
    return Outcome(
        claims,
        {
            "comparison": markdown(["", "measured", "memsim", "unit", "error", ""], rows),
            "points": markdown(["", "rows simulated", "mean error of latency", "median", "largest", "at"], points),
        },
    )


def _simulate(setting: Setting) -> list[Compared]:
    """Every chosen row of every board, the longest lists first."""
    boards = [board for board in BOARDS if board.gpu in QUICK or not setting.quick]
    curves = {board.gpu: curve(board) for board in boards}
    rows = {board.gpu: chosen(board, curves[board.gpu][0], setting.quick) for board in boards}
    todo = [(board.gpu, int(row)) for board in boards for row in np.flatnonzero(rows[board.gpu])]
    todo.sort(key=lambda one: -curves[one[0]][0][one[1]])
    points = [(gpu, curves[gpu][0][row], int(curves[gpu][2][row])) for gpu, row in todo]
    found = dict(zip(todo, mapped(_point, points, setting.jobs, "lists"), strict=True))
    return [
        Compared(board, *curves[board.gpu][:2], rows[board.gpu],
                 np.array([found[board.gpu, int(row)] for row in np.flatnonzero(rows[board.gpu])]))
        for board in boards
    ]  # fmt: skip


def _point(point: tuple[str, float, int]) -> float:
    gpu, kb, iterations = point
    return latency(load_gpu(gpu), kb, iterations)


def _claims(one: Compared) -> list[Claim]:
    """Plateaus, then the working sets at which each transition is a tenth, half and nine tenths over."""
    kb, measured = one.kb[one.rows], one.measured[one.rows]
    claims = []
    levels = {}
    for name, where in one.board.plateaus.items():
        at = inside(kb, where)
        levels[name] = float(one.measured[inside(one.kb, where)].mean())
        if at.any():
            ours = float(one.simulated[at].mean())
            claims.append(_claim(one.board, f"latency of {name}", float(measured[at].mean()), ours, "cycles"))
    for transition in one.board.transitions:
        if inside(kb, transition.within).any():
            claims += _capacities(one, transition, levels[transition.low], levels[transition.high])
    return claims


def _capacities(one: Compared, transition: Transition, low: float, high: float) -> list[Claim]:
    """Between the measured plateaus, or those that memsim has there."""
    claims = []
    for share, words in SHARES.items():
        level = low + share * (high - low)
        there = inside(one.kb, transition.within)
        here = inside(one.kb[one.rows], transition.within)
        measured = crossing(one.kb[there], one.measured[there], level)
        if np.isnan(measured):
            continue  # the range ends before
        ours = crossing(one.kb[one.rows][here], one.simulated[here], level)
        claims.append(_claim(one.board, f"{transition.name} is {words} left behind at", measured, ours, "KB"))
    return claims


def _claim(board: Board, claim: str, measured: float, ours: float, unit: str) -> Claim:
    return Claim(f"{board.title}: {claim}", measured, ours, None, unit, board.source, aim=AIM)


def _errors(one: Compared) -> list[str]:
    """Of the latencies of all rows simulated."""
    off = np.abs(one.simulated / one.measured[one.rows] - 1)
    worst = int(np.argmax(off))
    return [str(len(off)), f"{100 * off.mean():.1f} %", f"{100 * np.median(off):.1f} %", f"{100 * off.max():.0f} %",
            f"{one.kb[one.rows][worst]:,.0f} KB"]  # fmt: skip
