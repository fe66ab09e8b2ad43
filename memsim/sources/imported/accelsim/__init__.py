"""Accel-Sim's processed traces, ``kernelslist.g`` and ``.traceg`` files: read and written."""

from memsim.sources.imported.accelsim.export import export_accelsim
from memsim.sources.imported.accelsim.importing import import_accelsim, import_only_kernel

__all__ = ["export_accelsim", "import_accelsim", "import_only_kernel"]
