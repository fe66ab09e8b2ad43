"""Where traces come from: kernels described in Python."""

from memsim.sources.describe import Constant, Launch, Thread, Workload, load_workload, workload
from memsim.sources.record import record

__all__ = ["record", "workload", "Launch", "Thread", "Constant", "Workload", "load_workload"]
