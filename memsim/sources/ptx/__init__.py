"""Kernels as PTX, run on the CPU for what their warps access: the front end of every language that compiles to it."""

from memsim.sources.ptx.launch import Launch
from memsim.sources.ptx.memory import Memory
from memsim.sources.ptx.trace import execute, load_loops, trace_launch

__all__ = ["Launch", "Memory", "execute", "load_loops", "trace_launch"]
