"""The declaration of the hardware prefetcher of L2: kinds, counters, laws, figures of merit.

The figures of merit are those of Srinath, Mutlu, Kim and Patt, *Feedback Directed Prefetching*, HPCA 2007, section 2.2,
and of Jain and Lin's survey for coverage. Everything counts 32-byte sectors unless it says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING

from memsim.gpu.component import Component, ComponentRatio, Counts
from memsim.gpu.geometry import Problem, power_of_two

if TYPE_CHECKING:
    from memsim.gpu.config import GPU


class PrefetcherKind(StrEnum):
    """Which lines L2 fetches before a request for them."""

    none = "none"  # no prefetcher
    next_line = "next_line"  # the lines behind one that missed or was prefetched (Smith, ACM Comp. Surveys 14(3), 1982)
    stride = "stride"  # along the stride of an instruction on an SM (Chen and Baer, IEEE Trans. Computers 44(5), 1995)
    stream = "stream"  # ahead of runs of near misses in one direction (Srinath et al., HPCA 2007, section 2.1)


def _ratio(part: float, total: float) -> float:
    return part / total if total else float("nan")


def _used(counts: Counts) -> float:
    return float(counts["useful"] + counts["late"])


def _problems(gpu: GPU) -> Iterator[Problem]:
    """Prefetches are for an L2, and within pages of whole lines."""
    own = gpu.prefetcher
    if own.kind is PrefetcherKind.none:
        return
    if not gpu.l2.enabled:
        yield "prefetcher.kind", f"is {own.kind}; without an L2 give none"
    if not power_of_two(own.page_bytes) or own.page_bytes < gpu.l1.line_bytes:
        right = f"a power of two from l1.line_bytes = {gpu.l1.line_bytes} on"
        yield "prefetcher.page_bytes", f"is {own.page_bytes}; give {right}"


PREFETCHER = Component(
    section="prefetcher",
    chooser="kind",
    off=PrefetcherKind.none,
    problems=_problems,
    is_compiled=True,
    l2_reads=lambda of, _, reads: reads - of["sectors"],
    counters={
        "requests": "lines that it requested from L2",
        "redundant": "of these, lines that were present or under way",
        "dropped": "of these, lines for which there was no way or MSHR",
        "sent": "of these, lines that were fetched",
        "sectors": "sectors fetched",
        "useful": "of these, sectors that a request found present",
        "late": "of these, sectors that a request found under way",
        "unused": "of these, sectors evicted before any request for them",
        "left": "of these, sectors that L2 holds at the end, without a request for them",
    },
    laws={
        "prefetches are not all redundant, dropped or sent": lambda of: (
            of["requests"] == of["redundant"] + of["dropped"] + of["sent"]
        ),
        "prefetched sectors are not all used, evicted or left": lambda of: (
            of["sectors"] == of["useful"] + of["late"] + of["unused"] + of["left"]
        ),
    },
    ratios=(
        ComponentRatio(
            "coverage",
            "prefetched sectors that were used, over these and the read sectors that missed",
            lambda of, missed: _ratio(_used(of), _used(of) + missed),
        ),
        ComponentRatio(
            "accuracy",
            "prefetched sectors that were used, over all of them",
            lambda of, _: _ratio(_used(of), float(of["sectors"])),
        ),
        ComponentRatio(
            "lateness",
            "used sectors that were still under way, over all used ones",
            lambda of, _: _ratio(float(of["late"]), _used(of)),
        ),
    ),
)
