"""The text of NVBit's mem_trace tool."""

from memsim.sources.nvbit.importing import import_nvbit

__all__ = ["import_nvbit"]
