"""Warp execution efficiency, as nvprof defines it: active lanes of 32 per executed warp instruction."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from experiments.cudamicrobench2021.programs import captured
from experiments.harness.study import Claim, Points
from memsim.trace.reader import Trace
from memsim.trace.schema import NO_OP

BENCHMARK, GPU = "WarpDivRedux", "tesla-v100"
THREADS = 25_600  # whose warps all do the same
PUBLISHED = {"slow": 85.71, "fast": 100.0}
NEAR = 5.0  # points


def execution_efficiency(trace: Trace) -> float:
    """Active lanes over all lanes of the traced warp instructions, percent.

    A row of a trace has one mask of lanes, for its access and for the compute run before it.
    """
    active = executed = 0
    for chunk in trace.chunks():
        instructions = chunk.compute_run + (chunk.op != NO_OP)
        masks = np.ascontiguousarray(chunk.mask).view(np.uint8).reshape(len(chunk.mask), -1)
        active += int(np.sum(np.unpackbits(masks, axis=1).sum(axis=1) * instructions))
        executed += int(instructions.sum())
    return 100 * active / (32 * executed)


def claims(downloaded: Path | None) -> Iterator[Claim]:
    """Of both versions of WarpDivRedux; none without the program, as a description has no instructions to count."""
    for version, published in PUBLISHED.items():
        trace = captured(BENCHMARK, version, THREADS, GPU, downloaded)
        if trace is not None:
            yield Claim(f"{BENCHMARK}: execution efficiency of the {version} version", published,
                        execution_efficiency(trace), unit="%",
                        source="Yi et al. 2021, text on figure 3; memsim: captured", aim=Points(NEAR))  # fmt: skip
