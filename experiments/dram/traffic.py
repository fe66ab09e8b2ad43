"""Requests to one channel: where they go, and when they come."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.dram.memory import BANKS, Memory

KINDS = (
    "stream", "four streams", "random", "bank conflict", "random, a quarter writes", "random, half writes",
    "four streams, one writes",
)  # fmt: skip
WRITES = {"random, a quarter writes": 0.25, "random, half writes": 0.5}  # share of requests, drawn
LOADS = tuple(tenth / 10 for tenth in range(1, 10))
CLOCKS = 1_000_000  # that a list may span
MOST = 40_000  # requests of a list


@dataclass(frozen=True)
class Traffic:
    """Requests in order of time: i8 arrays of one length.

    Attributes:
        clock: of the memory, when the request comes. Gaps are drawn from the geometric distribution.
        write: 1 for a write.
        bank, row, column: where it goes.
    """

    clock: np.ndarray
    write: np.ndarray
    bank: np.ndarray
    row: np.ndarray
    column: np.ndarray


def peak_interval(memory: Memory, kind: str) -> float:
    """Clocks between requests at the most bandwidth that the timing table allows this traffic.

    A stream is bound by the data bus (and, within one bank, by its group), random requests by activates, requests to
    one bank by its row cycle; refresh takes its share of all of them.
    """
    t = memory.timing
    row_cycle = max(t["ras"], t["rcd"] + t["rtp"]) + t["rp"]
    bus = max(t["ccd"], t["burst"])
    if kind == "stream":
        bound = max(bus, t.get("ccd_l", 0))
    elif kind.startswith("four streams"):
        bound = bus
    else:
        banks = 1 if kind == "bank conflict" else BANKS
        bound = max(bus, t["rrd"], t["faw"] / 4, row_cycle / banks)
    return bound / (1 - t["rfc"] / t["refi"])


def requests(memory: Memory, kind: str, load: float, seed: int = 1) -> Traffic:
    """Traffic of a kind at a share `load` of its peak."""
    rng = np.random.default_rng([seed, KINDS.index(kind), round(100 * load)])
    interval = peak_interval(memory, kind) / load
    n = min(MOST, int(CLOCKS / interval))
    i = np.arange(n)
    if "stream" in kind:
        streams = 4 if kind.startswith("four streams") else 1  # each in its own share of the banks, and in a bank group
        line, banks = i // streams, BANKS // streams
        bank = line // memory.columns % banks * streams + i % streams
        row, column = line // (memory.columns * banks) % memory.rows, line % memory.columns
    elif kind == "bank conflict":
        bank, row, column = 0 * i, i % memory.rows, 0 * i
    else:
        bank, row, column = (rng.integers(most, size=n) for most in (BANKS, memory.rows, memory.columns))
    write = (i % 4 == 0) & (kind == "four streams, one writes")
    if kind in WRITES:
        write = rng.random(n) < WRITES[kind]
    return Traffic(np.cumsum(rng.geometric(1 / interval, n)), write.astype(np.int64), bank, row, column)
