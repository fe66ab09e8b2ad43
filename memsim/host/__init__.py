"""Between host and GPU: copies, launches, streams, graphs and unified memory, as SimPy processes.

The rest of memsim looks into one kernel; this room looks at the program around it. Time is microseconds.

    program = HostProgram()                              # what the host's thread does, call by call
    stream = program.stream()
    program.copy(1 << 20, Direction.to_gpu, stream)  # cudaMemcpyAsync of pinned memory
    program.kernel("axpy", KernelWork(4096, 640, 5.0), stream)
    program.synchronize()
    timeline = simulate(program, load_gpu("tesla-v100"))
"""

from memsim.host.program import Direction, Graph, HostProgram, KernelWork, Managed, Nested, Stream, Touch
from memsim.host.system import simulate
from memsim.host.timeline import Span, Timeline

__all__ = [
    "Direction",
    "Graph",
    "Managed",
    "Nested",
    "HostProgram",
    "Span",
    "Stream",
    "Timeline",
    "Touch",
    "KernelWork",
    "simulate",
]
