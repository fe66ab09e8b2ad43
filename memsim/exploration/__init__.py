"""Tries the choices that a kernel declares, ranks them, and says which one decides: ``memsim explore``."""

from memsim.exploration.explore import MODELLED, SIMULATED, Exploration, Version, explore
from memsim.exploration.space import parse_vary

__all__ = ["explore", "parse_vary", "Exploration", "Version", "MODELLED", "SIMULATED"]
