"""Traces and machines with one cause removed, by rules that read only the trace (docs/reference/findings.md).

A repair of a trace changes whole blocks, a chunk at a time; each stands in the file of what it does.
"""

from memsim.why.repairs.repair import Repair
from memsim.why.repairs.table import repairs

__all__ = ["Repair", "repairs"]
