"""Kernel descriptions: SIMT Python over vectors of lanes, in the shape of CUDA."""

from memsim.sources.describe.kernel_file import load_workload
from memsim.sources.describe.memory import Constant
from memsim.sources.describe.recorder import Recorder
from memsim.sources.describe.thread import Thread
from memsim.sources.describe.workload import Launch, Workload, workload

__all__ = ["Launch", "Thread", "Constant", "Workload", "workload", "load_workload", "Recorder"]
