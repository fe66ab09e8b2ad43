"""The measured curves, and where on each of them to look."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

MEASURED = Path(__file__).with_name("measured")
SOURCE = "RRZE-HPC gpu-benches, gpu-latency"
PERMUTED = "markdewing/AI_kernels b6bc563, latency"
_QUICK_KB = 200  # the longest list of a quick run
LONG = 16000  # KB: a list whose simulation takes seconds
Range = tuple[float, float]  # of working sets, KB


@dataclass(frozen=True)
class Transition:
    """From one plateau to the next.

    Attributes:
        name: what is full.
        within: where it is looked for.
        low, high: names of the plateaus on either side.
    """

    name: str
    within: Range
    low: str
    high: str


@dataclass(frozen=True)
class Board:
    """A GPU's curve.

    Attributes:
        gpu: the preset.
        title: the GPU measured.
        plateaus: name -> where its latency is taken.
        transitions: in the order of size.
        sparse: where one row in `step` is simulated, in addition to those of plateaus and transitions.
        source: who measured it.
    """

    gpu: str
    title: str
    plateaus: dict[str, Range]
    transitions: list[Transition]
    sparse: Range
    step: int = 14
    source: str = SOURCE


BOARDS = [
    Board(
        "tesla-v100",
        "Tesla V100",
        {"L1": (60, 66), "L2": (1000, 1050), "memory": (9800, 10300)},
        [Transition("L1", (100, 172), "L1", "L2"), Transition("L2", (5600, 7400), "L2", "memory")],
        (2, 32000),
    ),
    Board(
        "a100",
        "A100 80 GB",
        {"L1": (60, 66), "near L2": (1000, 1050), "far L2": (24900, 25100), "memory": (136000, 157000)},
        [
            Transition("L1", (145, 232), "L1", "near L2"),
            Transition("one partition of L2", (17900, 25100), "near L2", "far L2"),
            Transition("both partitions", (37000, 60000), "far L2", "memory"),
        ],
        (2, 110000),
    ),
    Board(
        "gh200",
        "GH200",
        {"L1": (60, 66), "near L2": (1000, 1050), "far L2": (41000, 43000), "memory": (138000, 139000)},
        [
            Transition("L1", (205, 325), "L1", "near L2"),
            Transition("one partition of L2", (26000, 43000), "near L2", "far L2"),
            Transition("both partitions", (55000, 85000), "far L2", "memory"),
        ],
        (2, 110000),
    ),
    Board(
        "a40",
        "A40",
        {"L1": (60, 66), "L2": (1000, 1050), "memory": (15000, 19000)},
        [Transition("L1", (96, 164), "L1", "L2"), Transition("L2", (4900, 8700), "L2", "memory")],
        (2, 32000),
    ),
    Board(
        "l40",
        "L40",
        {"L1": (60, 66), "L2": (1000, 1050), "memory": (158000, 159000)},
        [Transition("L1", (85, 148), "L1", "L2"), Transition("L2", (83000, 136000), "L2", "memory")],
        (2, 110000),
    ),
    # Lists that are no single circle: see the README. Plateaus alone can be compared.
    Board(
        "rtx4090",
        "RTX 4090",
        {"L1": (50, 80), "L2": (990, 1400), "memory": (163000, 164000)},
        [],
        (2, 32000),
        source=PERMUTED,
    ),
    Board(
        "rtx5090",
        "RTX 5090",
        {"L1": (50, 80), "L2": (990, 1400), "memory": (163000, 164000)},
        [],
        (2, 32000),
        source=PERMUTED,
    ),
    Board(
        "b200",
        "B200",
        {"L1": (50, 80), "near L2": (990, 1400), "far L2": (86000, 87000), "memory": (425000, 426000)},
        [],
        (2, 32000),
        source=PERMUTED,
    ),
]


def curve(board: Board) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(working sets in KB, mean latencies in cycles, accesses of a run) as measured, from short lists to long ones."""
    with (MEASURED / f"{board.gpu}.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = ("working_set_kb", "latency", "iterations")
    kb, latency, iterations = (np.array([float(row[name]) for row in rows]) for name in names)
    return kb, latency, iterations.astype(np.int64)


def inside(kb: np.ndarray, where: Range) -> np.ndarray:
    """Which working sets lie in a range."""
    return (kb >= where[0]) & (kb <= where[1])


def chosen(board: Board, kb: np.ndarray, quick: bool) -> np.ndarray:
    """Which rows are simulated: of transitions all, or every other of long lists; quick: those of short lists."""
    plateaus = np.any([inside(kb, where) for where in board.plateaus.values()], axis=0)
    steep = np.any([inside(kb, transition.within) for transition in board.transitions], axis=0)
    steep &= (np.arange(len(kb)) % 2 == 0) | ((kb < LONG) & (not quick))
    if quick:
        return (plateaus | steep) & (kb < _QUICK_KB)
    return plateaus | steep | (inside(kb, board.sparse) & (np.arange(len(kb)) % board.step == 0))


def crossing(kb: np.ndarray, latency: np.ndarray, level: float) -> float:
    """The working set at which a curve first reaches a latency, interpolated between rows; nan if it never does.

    >>> float(crossing(np.array([1.0, 2.0]), np.array([10.0, 30.0]), 20.0))
    1.5
    """
    at = int(np.argmax(latency >= level))
    if latency[at] < level or at == 0:
        return float("nan")
    share = (level - latency[at - 1]) / (latency[at] - latency[at - 1])
    return float(kb[at - 1] + share * (kb[at] - kb[at - 1]))
