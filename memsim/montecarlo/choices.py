"""What a run chooses among, each under its name."""

from __future__ import annotations

from enum import StrEnum


class Engine(StrEnum):
    """What replays a trace; the results are the same bit by bit."""

    compiled = "compiled"  # memsim.hierarchy: compiled loops over arrays
    reference = "reference"  # memsim.reference: SimPy processes, written to be read; for small traces
