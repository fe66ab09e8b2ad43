"""Tries the choices that a kernel declares, ranks them, and says which one decides: ``memsim explore``."""

from memsim.exploration.explore import explore
from memsim.exploration.prune import predicted_times
from memsim.exploration.search import MODELLED, SIMULATED, Effort, Exploration, Version
from memsim.exploration.space import parse_vary
from memsim.exploration.tuned import explore_tuned, is_program

__all__ = [
    "explore",
    "explore_tuned",
    "is_program",
    "parse_vary",
    "predicted_times",
    "Effort",
    "Exploration",
    "Version",
    "MODELLED",
    "SIMULATED",
]
