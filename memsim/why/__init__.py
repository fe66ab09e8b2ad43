"""Why a kernel is slow: causes with file, line and array, their evidence, what putting them right wins, and what to try
(docs/reference/findings.md)."""

from memsim.why.explain import Explained, explain
from memsim.why.explanation import Explanation, Gain
from memsim.why.finding import LEAST_EXCESS, Cause, Finding
from memsim.why.findings import explained, explanations
from memsim.why.regime import Regime, regime

__all__ = [
    "LEAST_EXCESS",
    "Cause",
    "Explained",
    "Explanation",
    "Finding",
    "Gain",
    "Regime",
    "explain",
    "explained",
    "explanations",
    "regime",
]
