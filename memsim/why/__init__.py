"""Why a kernel is slow: findings with file, line and array, their evidence, and what to try (docs/why.md)."""

from memsim.why.finding import LEAST_EXCESS, Cause, Finding
from memsim.why.findings import explained, findings
from memsim.why.regime import Regime, regime

__all__ = ["LEAST_EXCESS", "Cause", "Finding", "Regime", "explained", "findings", "regime"]
