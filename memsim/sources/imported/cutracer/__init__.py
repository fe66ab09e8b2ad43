"""CUTracer's records, one JSON object a line."""

from memsim.sources.imported.cutracer.importing import import_cutracer

__all__ = ["import_cutracer"]
