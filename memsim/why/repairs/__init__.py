"""Traces and machines with one thing put right, by rules that look at nothing but the trace (docs/reference/findings.md).

A repair of a trace changes whole blocks, a chunk at a time; each stands in the file of what it does.
"""

from memsim.why.repairs.repair import Repair
from memsim.why.repairs.table import repairs

__all__ = ["Repair", "repairs"]
