"""CUDA C++ programs whose kernels run as PTX: the host's part as in ``sources/capture``, the device's as compiled."""

from memsim.sources.ptx.cpp.best import capture_best
from memsim.sources.ptx.cpp.session import capture_by_ptx

__all__ = ["capture_best", "capture_by_ptx"]
