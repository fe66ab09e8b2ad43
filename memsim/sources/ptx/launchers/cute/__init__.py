"""CuTe DSL without a GPU: its compiler makes PTX; what its host code asks of CUDA's runtime has stand-ins."""

from memsim.sources.ptx.launchers.cute.catching import cute_caught

__all__ = ["cute_caught"]
