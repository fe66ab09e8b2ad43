"""The text of NVBit's mem_trace tool."""

from memsim.sources.imported.nvbit.importing import import_nvbit

__all__ = ["import_nvbit"]
