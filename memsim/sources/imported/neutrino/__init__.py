"""Neutrino's traces of addresses."""

from memsim.sources.imported.neutrino.importing import Probe, import_neutrino

__all__ = ["Probe", "import_neutrino"]
