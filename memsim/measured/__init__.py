"""Counters of real GPUs, as Nsight Compute leaves them: ``ncu --csv`` and ``.ncu-rep`` (docs/how_to/profiler.md)."""

from memsim.measured.comparison import MetricLine, ReportComparison, compare_with_report
from memsim.measured.launch import MeasuredLaunch
from memsim.measured.report import read_report

__all__ = ["ReportComparison", "MetricLine", "MeasuredLaunch", "compare_with_report", "read_report"]
