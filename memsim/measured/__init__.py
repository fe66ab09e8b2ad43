"""Counters of real GPUs, as Nsight Compute leaves them: ``ncu --csv`` and ``.ncu-rep`` (docs/how_to/profiler.md)."""

from memsim.measured.beside import Beside, MetricLine, beside
from memsim.measured.launch import MeasuredLaunch
from memsim.measured.report import read_report
from memsim.support.deprecated import old_names

__all__ = ["Beside", "MetricLine", "MeasuredLaunch", "beside", "read_report"]

__getattr__ = old_names(__name__)
