"""The Python interface: describe or load a trace, simulate it, ask the result.

The command line is a thin layer on these functions. What they need is imported when they are called, so that
``import memsim`` and ``memsim --help`` are quick.
"""

from memsim.api.arguments import open_trace
from memsim.api.check import check, update
from memsim.api.judge import judge
from memsim.api.profile import profile_program
from memsim.api.record import capture, capture_ptx, trace
from memsim.api.replay import compare, simulate, simulate_program
from memsim.api.study import capacity, estimate, explore, sensitivity, uncertainty
from memsim.api.tuning import predicted_times, prune

__all__ = [
    "capacity", "capture", "capture_ptx", "check", "compare", "estimate", "explore", "judge", "open_trace",
    "predicted_times", "profile_program", "prune", "sensitivity", "simulate", "simulate_program", "trace",
    "uncertainty", "update",
]  # fmt: skip
