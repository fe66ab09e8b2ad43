"""Accel-Sim's processed traces, ``kernelslist.g``, ``.traceg`` and ``.tracez`` files: read, and as text written."""

from memsim.sources.imported.accelsim.export import export_accelsim
from memsim.sources.imported.accelsim.importing import import_accelsim, import_only_kernel

__all__ = ["export_accelsim", "import_accelsim", "import_only_kernel"]
