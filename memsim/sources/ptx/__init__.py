"""Kernels as PTX, run on the CPU for what their warps access: the front end of every language that compiles to it."""

from memsim.sources.ptx.launch import PtxLaunch
from memsim.sources.ptx.memory import DeviceMemory
from memsim.sources.ptx.trace import execute, load_loops, trace_launch
from memsim.support.deprecated import old_names

__all__ = ["PtxLaunch", "DeviceMemory", "execute", "load_loops", "trace_launch"]

__getattr__ = old_names(__name__)
