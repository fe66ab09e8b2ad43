"""The headers that a captured program is compiled with: CUDA C++ on the host, and the probes that log its accesses.

``memsim_probe.h`` is what the front end puts first in an instrumented file. Files with CUDA's own names
(``cuda_runtime.h``, ``cooperative_groups.h``, ...) are what the user's ``#include`` lines find; ``memsim/`` holds the
parts, one idea a file. The same headers are what libclang parses: there ``__global__`` and the like stay attributes.
"""

from pathlib import Path

FOLDER = Path(__file__).parent
"""The include path that holds the headers."""
