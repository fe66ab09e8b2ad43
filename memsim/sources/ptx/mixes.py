"""Sums of segments, each distinct one a number: what the compute runs of rows are made of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memsim.sources.ptx.classes import Segment
from memsim.sources.ptx.machine.log import FULL
from memsim.trace.schema import INSTRUCTION_CLASSES, LINKS, MIX, MOST_MIXES, TENSOR_TYPES


class LaunchMixes:
    """Mixes by number; 0 is the empty one. The machine walks from one to the next by a table [mix, segment]."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self._segments = segments
        self.mixes: list[Segment] = [Segment()]
        self._numbers = {self.mixes[0]: 0}
        self.next = np.full((64, max(len(segments), 1)), -1, np.int32)
        self.compute_runs = np.zeros((64, 2), np.int64)
        for segment in range(len(segments)):
            self.learn(0, segment)

    def learn(self, mix: int, segment: int) -> None:
        """What a mix and a segment make together."""
        total = self.mixes[mix] + self._segments[segment]
        if total not in self._numbers and len(self.mixes) == MOST_MIXES:
            self.next[mix, segment] = FULL
            return
        if total not in self._numbers:
            self._numbers[total] = len(self.mixes)
            self.mixes.append(total)
            if len(self.mixes) > len(self.compute_runs):
                self.compute_runs = np.concatenate([self.compute_runs, np.zeros_like(self.compute_runs)])
                self.next = np.concatenate([self.next, np.full_like(self.next, -1)])
            self.compute_runs[self._numbers[total]] = total.compute_run, total.critical_path
        self.next[mix, segment] = self._numbers[total]

    def table(self) -> np.ndarray:
        """MIX records, for the writer."""
        table = np.zeros(len(self.mixes), MIX)
        for row, mix in zip(table, self.mixes, strict=True):
            for name, count in zip(INSTRUCTION_CLASSES, mix.counts, strict=True):
                row[f"count_{name}"] = count
            for name, links in zip(LINKS, mix.critical_links, strict=True):
                row[f"critical_{name}"] = links
            row["count_tensor"], row["stall_cycles"] = mix.tensors, mix.stalls
            for name, macs in zip(TENSOR_TYPES, mix.macs, strict=True):
                row[f"count_{name}"] = macs
        return table
