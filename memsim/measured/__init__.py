"""Counters of real GPUs, as Nsight Compute leaves them: ``ncu --csv`` and ``.ncu-rep`` (docs/how_to/profiler.md)."""

from memsim.measured.beside import Beside, Line, beside
from memsim.measured.launch import MeasuredLaunch
from memsim.measured.report import read_report

__all__ = ["Beside", "Line", "MeasuredLaunch", "beside", "read_report"]
