"""Why a kernel is slow (docs/reference/findings.md), in four nouns.

A *cause* is a kind of problem. A *finding* is a cause at one place in the source, with its evidence. A *bottleneck* is
a cause with all its findings. Its *gain* is the share of the time that a replay without the cause saves.
"""

from memsim.why.bottlenecks import find_bottlenecks, has_profiles
from memsim.why.explain import Bottlenecks, explain
from memsim.why.finding import LEAST_SHARE, Bottleneck, Cause, Finding, Gain
from memsim.why.regime import Regime, regime

__all__ = [
    "LEAST_SHARE",
    "Cause",
    "Bottlenecks",
    "Bottleneck",
    "Finding",
    "Gain",
    "Regime",
    "explain",
    "has_profiles",
    "find_bottlenecks",
    "regime",
]
