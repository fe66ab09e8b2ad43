"""Traces and machines with one cause removed, by rules that read only the trace (docs/reference/findings.md).

A transform of a trace changes whole blocks, a chunk at a time; each stands in the file of what it does.
"""

from memsim.why.transforms.table import find_transforms
from memsim.why.transforms.transform import Transform

__all__ = ["Transform", "find_transforms"]
