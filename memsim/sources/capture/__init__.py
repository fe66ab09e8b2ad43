"""Traces from real runs: CUDA C++ instrumented at its source, run, and its accesses merged into warp instructions."""

from memsim.sources.capture.build import Sources
from memsim.sources.capture.session import Captured, capture
from memsim.sources.capture.wanted import Wanted

__all__ = ["Captured", "Sources", "Wanted", "capture"]
