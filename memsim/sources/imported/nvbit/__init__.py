"""The text of NVBit's mem_trace tool."""

from memsim.sources.imported.nvbit.export import export_nvbit
from memsim.sources.imported.nvbit.importing import import_nvbit

__all__ = ["export_nvbit", "import_nvbit"]
