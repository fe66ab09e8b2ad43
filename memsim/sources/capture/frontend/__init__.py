"""From CUDA C++ to an instrumented copy of it and a site table."""

from memsim.sources.capture.frontend.instrument import Instrumented, instrument

__all__ = ["Instrumented", "instrument"]
